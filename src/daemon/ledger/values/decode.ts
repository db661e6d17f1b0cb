// Reads JSON that lies in the ledger back into the types of core, field by field: what was written by another version, or damaged on the
// disk, must be noticed and never believed. `shape` makes the compiler insist on a decoder for every field of a type, so that a field
// added to a type cannot be lost on its way through the ledger.

/** Gives back a value of type T, or throws `Undecodable`; `path` is where the value stands, such as `.scope.kind`. */
export type Decode<T> = (value: unknown, path: string) => T

/** A value that is not what the ledger keeps there. */
export class Undecodable extends Error {
  override readonly name = 'Undecodable'
  constructor(path: string, expected: string, value: unknown) {
    super(`${path === '' ? 'the value' : path} is ${describe(value)} and should be ${expected}`)
  }
}

const describe = (value: unknown): string => {
  if (value === undefined) return 'missing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'string' && value.length > 40 ? 'a long text' : JSON.stringify(value)
}

/** Decodes JSON text. Throws `Undecodable`. */
export function decodeJson<T>(text: unknown, decode: Decode<T>): T {
  if (typeof text !== 'string') throw new Undecodable('', 'JSON', text)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Undecodable('', 'JSON', text)
  }
  return decode(value, '')
}

export const text: Decode<string> = (value, path) => {
  if (typeof value !== 'string') throw new Undecodable(path, 'a text', value)
  return value
}

export const number: Decode<number> = (value, path) => {
  if (typeof value !== 'number') throw new Undecodable(path, 'a number', value)
  return value
}

export const boolean: Decode<boolean> = (value, path) => {
  if (typeof value !== 'boolean') throw new Undecodable(path, 'true or false', value)
  return value
}

export const anything: Decode<unknown> = (value) => value

/** One of a few texts. */
export const oneOf =
  <T extends string>(options: readonly T[]): Decode<T> =>
  (value, path) => {
    const found = options.find((option) => option === value)
    if (found === undefined) throw new Undecodable(path, options.join(' or '), value)
    return found
  }

export const list =
  <T>(item: Decode<T>): Decode<readonly T[]> =>
  (value, path) => {
    if (!Array.isArray(value)) throw new Undecodable(path, 'a list', value)
    return value.map((one, index) => item(one, `${path}[${index}]`))
  }

/** An object with arbitrary keys. */
export const record =
  <T>(item: Decode<T>): Decode<Readonly<Record<string, T>>> =>
  (value, path) =>
    Object.fromEntries(Object.entries(objectAt(value, path)).map(([key, one]) => [key, item(one, `${path}[${JSON.stringify(key)}]`)]))

interface Optional<T> {
  readonly optional: Decode<T>
}

/** A field that may be absent. */
export const optional = <T>(decode: Decode<T>): Optional<T> => ({ optional: decode })

type Fields<T> = { readonly [K in keyof T]-?: object extends Pick<T, K> ? Optional<Exclude<T[K], undefined>> : Decode<T[K]> }

/** An object with exactly these fields; others are left out. */
export const shape =
  <T extends object>(fields: Fields<T>): Decode<T> =>
  (value, path) => {
    const source = objectAt(value, path)
    const found: Record<string, unknown> = {}
    for (const [name, field] of Object.entries<Decode<unknown> | Optional<unknown>>(fields)) {
      if (typeof field === 'function') found[name] = field(source[name], `${path}.${name}`)
      else if (source[name] !== undefined) found[name] = field.optional(source[name], `${path}.${name}`)
    }
    return found as T
  }

/** A union told apart by its `kind`. */
export const byKind =
  <T extends { readonly kind: string }>(kinds: { readonly [K in T['kind']]: Decode<Extract<T, { readonly kind: K }>> }): Decode<T> =>
  (value, path) => {
    const kind = objectAt(value, path)['kind']
    const decode = Object.entries<Decode<T>>(kinds).find(([name]) => name === kind)?.[1]
    if (!decode) throw new Undecodable(`${path}.kind`, Object.keys(kinds).join(' or '), kind)
    return decode(value, path)
  }

function objectAt(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Undecodable(path, 'an object', value)
  return value as Readonly<Record<string, unknown>>
}
