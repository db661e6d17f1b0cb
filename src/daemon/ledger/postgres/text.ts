// Names and keys as PostgreSQL can hold them: it has no place for the sign NUL, which the service may put into a name all the same.

/** A text as it is kept. */
export const keptText = (text: string): string => (/[\\\0]/.test(text) ? text.replace(/\\/g, '\\\\').replaceAll('\0', '\\0') : text)

/** What was kept, as it was. */
export const textKept = (kept: unknown): string => String(kept).replace(/\\(.)/gs, (_, sign: string) => (sign === '0' ? '\0' : sign))
