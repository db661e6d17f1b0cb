// The link by which a person asks for more: a web address with placeholders in its path or query, whose values are encoded. It never lets a value
// choose where the link leads.

/** What an address may ask for: `{email}`, `{cap}`, `{used}`. */
export const REQUEST_PLACEHOLDERS = ['email', 'cap', 'used'] as const

/** What is known of a person; what is not known is left empty. */
interface RequestValues {
  readonly email: string
  readonly cap?: number | 'none' | undefined
  /** Add-on credits. */
  readonly used?: number | undefined
}

const PLACEHOLDER = /\{([^{}]*)\}/g

/** Placeholders of an address that are not known. */
export const unknownInRequest = (url: string): readonly string[] => {
  const known: readonly string[] = REQUEST_PLACEHOLDERS
  return [...url.matchAll(PLACEHOLDER)].flatMap(([, name = '']) => (known.includes(name) ? [] : [name]))
}

/** The address for one person. */
export function requestLink(url: string, { email, cap, used }: RequestValues): string {
  const values: Readonly<Record<string, string>> = { email, cap: String(cap ?? ''), used: used === undefined ? '' : String(used) }
  return url.replace(PLACEHOLDER, (_all, name: string) => encodeURIComponent(values[name] ?? ''))
}
