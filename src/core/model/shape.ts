// Shapes of values that the ledger keeps, and of saved plans: each is the part of JSON Schema that a value is checked by, and the type of the value
// follows from it. So a value is declared once, in its room, and a new field cannot be forgotten where it is read again. A validator compiled ahead, as for
// users' files, would be ten times the size of the shapes, and every command that opens a ledger would load it.
import { onceFor } from './once.ts'
import type { Credits, Instant } from './units.ts'

/** What values are checked by. The messages of faults name what was `x-wanted`. */
export interface Checked {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly if?: Checked
  readonly else?: Checked
  readonly items?: Checked
  readonly additionalProperties?: Checked
  readonly properties?: Readonly<Record<string, Checked>>
  readonly required?: readonly string[]
  readonly oneOf?: readonly Checked[]
  readonly 'x-wanted'?: string
}

declare const values: unique symbol

export interface Shape<T = unknown> extends Checked {
  /** The type of its values, for the compiler alone. */
  readonly [values]?: T
}

/** The type of the values of a shape. */
export type Of<S> = S extends Shape<infer T> ? T : never

interface Optional<T = unknown> {
  readonly optional: Shape<T>
}

type Fields = Readonly<Record<string, Shape | Optional>>

/** An object with these fields: those that may be absent, and the others. */
type Made<F> = Flat<
  { readonly [K in keyof F as F[K] extends Optional ? never : K]: Of<F[K]> } & {
    readonly [K in keyof F as F[K] extends Optional ? K : never]?: F[K] extends Optional<infer T> ? T : never
  }
>

type Flat<T> = { [K in keyof T]: T[K] }

type MadeOfKind<K> = { [Name in keyof K]: Flat<{ readonly kind: Name } & Made<K[Name]>> }[keyof K]

/** A value that is checked as a whole; `wanted`: what it is, in words. */
export const leaf = <T>(wanted: string, checked: Checked): Shape<T> => ({ ...checked, 'x-wanted': wanted })

/** A number, with the words for what it means. */
export const numeric = <T extends number>(wanted: string): Shape<T> => leaf(wanted, { type: 'number' })

export const text = leaf<string>('a text', { type: 'string' })
export const number = numeric<number>('a number')
export const instant = numeric<Instant>('a number')
export const amount = numeric<Credits>('a number')
export const boolean = leaf<boolean>('true or false', { type: 'boolean' })
export const anything: Shape = {}

/** One of a few texts. */
export const oneOf = <const T extends string>(options: readonly T[]): Shape<T> => leaf(options.join(' or '), { enum: options })

/** A word, or a value that fits the shape. */
export const orWord = <const W extends string | null, T>(word: W, shape: Shape<T>): Shape<W | T> => ({ if: { const: word }, else: shape })

export const list = <T>(items: Shape<T>): Shape<readonly T[]> => leaf('a list', { type: 'array', items })

/** An object with arbitrary keys. */
export const record = <T>(item: Shape<T>): Shape<Readonly<Record<string, T>>> =>
  leaf('an object', { type: 'object', additionalProperties: item })

/** A field that may be absent. */
export const optional = <T>(shape: Shape<T>): Optional<T> => ({ optional: shape })

/** An object with these fields; other fields are ignored. */
export const shape = <F extends Fields>(fields: F): Shape<Made<F>> => leaf('an object', objectOf(fields))

/** An object with some of these fields. */
export const partsOf = <F extends Readonly<Record<string, Shape>>>(fields: F): Shape<{ readonly [K in keyof F]?: Of<F[K]> }> =>
  leaf('an object', { type: 'object', properties: fields })

function objectOf(fields: Fields): Checked {
  const all = Object.entries(fields)
  return {
    type: 'object',
    required: all.flatMap(([name, field]) => ('optional' in field ? [] : [name])),
    properties: Object.fromEntries(all.map(([name, field]) => [name, 'optional' in field ? field.optional : field])),
  }
}

/** Whether a value fits its shape, apart from what is in it. */
function fits(value: unknown, { type, enum: words, pattern, minimum = -Infinity, maximum = Infinity }: Checked): boolean {
  if (words) return words.includes(value)
  if (type === 'integer') return typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum
  return (type === undefined || type === typeOf(value)) && (pattern === undefined || new RegExp(pattern).test(String(value)))
}

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

/** A union by `kind`, with the other fields of each kind. */
export const byKind = <K extends Readonly<Record<string, Fields>>>(kinds: K): Shape<MadeOfKind<K>> =>
  leaf('an object', {
    type: 'object',
    oneOf: Object.entries(kinds).map(([kind, fields]) => objectOf({ kind: { const: kind }, ...fields })),
  })

/** A value that does not fit its shape. */
export class Undecodable extends Error {
  override readonly name = 'Undecodable'
}

/** `path` is the place of the value, such as `.scope.kind`. */
export const unlike = (path: string, expected: string, value: unknown): string =>
  `${path === '' ? 'the value' : path} is ${described(value)} and should be ${expected}`

const described = (value: unknown): string => {
  if (value === undefined) return 'missing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'string' && value.length > 40 ? 'a long text' : JSON.stringify(value)
}

/** The most faults in one message. */
const MAX_FAULTS = 3

/** Throws `Undecodable` when a value at a path has faults. */
export function mustFit<T>(value: unknown, wanted: Shape<T>, path = ''): asserts value is T {
  const faults: string[] = []
  checkFor(wanted)(value, path, faults)
  if (faults.length === 0) return
  const more = faults.length - MAX_FAULTS
  throw new Undecodable([...faults.slice(0, MAX_FAULTS), ...(more > 0 ? [`and ${more} more`] : [])].join('; '))
}

/** Adds the faults of the value at a path. */
type Check = (value: unknown, path: string, faults: string[]) => void

/** Made once for each shape, because there may be tens of thousands of rows. */
const checkFor = onceFor((schema: Checked): Check => {
  const { if: word, else: otherwise, items, oneOf, additionalProperties } = schema
  if (word && otherwise) {
    const check = checkFor(otherwise)
    return (value, path, faults) => (value === word.const ? undefined : check(value, path, faults))
  }
  const inside = items
    ? checkItems(checkFor(items))
    : oneOf
      ? checkKind(oneOf)
      : additionalProperties
        ? checkEntries(checkFor(additionalProperties))
        : checkFields(schema)
  const wanted = schema['x-wanted'] ?? 'something else'
  return (value, path, faults) => {
    if (fits(value, schema)) inside(value, path, faults)
    else faults.push(unlike(path, wanted, value))
  }
})

const checkItems =
  (check: Check): Check =>
  (value, path, faults) => {
    if (Array.isArray(value)) for (const [at, one] of value.entries()) check(one, `${path}[${at}]`, faults)
  }

const checkEntries =
  (check: Check): Check =>
  (value, path, faults) => {
    for (const [key, one] of Object.entries(Object(value))) check(one, `${path}[${JSON.stringify(key)}]`, faults)
  }

function checkFields({ properties = {}, required = [] }: Checked): Check {
  const fields = Object.entries(properties).map(([name, one]) => ({
    ...{ name, step: `.${name}`, isRequired: required.includes(name) },
    check: checkFor(one),
  }))
  if (fields.length === 0) return () => undefined
  return (value, path, faults) => {
    for (const { name, step, isRequired, check } of fields) {
      const field = own(value, name)
      if (isRequired || field !== undefined) check(field, path + step, faults)
    }
  }
}

function checkKind(branches: readonly Checked[]): Check {
  const kinds = new Map(branches.map((branch) => [branch.properties?.['kind']?.const, checkFor(branch)]))
  const wanted = [...kinds.keys()].join(' or ')
  return (value, path, faults) => {
    const kind = own(value, 'kind')
    const check = kinds.get(kind)
    if (check) check(value, path, faults)
    else faults.push(unlike(`${path}.kind`, wanted, kind))
  }
}

const own = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
