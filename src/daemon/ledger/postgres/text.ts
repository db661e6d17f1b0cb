// Escapes the sign NUL in names and keys: PostgreSQL cannot store it, and the service may send it.

/** A text as it is stored. */
export const keptText = (text: string): string => (/[\\\0]/.test(text) ? text.replace(/\\/g, '\\\\').replaceAll('\0', '\\0') : text)

/** The text of a stored one. */
export const textKept = (kept: unknown): string => String(kept).replace(/\\(.)/gs, (_, sign: string) => (sign === '0' ? '\0' : sign))
