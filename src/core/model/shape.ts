// Shapes of values that the ledger keeps, and of saved plans: each is the part of JSON Schema that a value is checked by, and the type of the value
// follows from it. So a value is declared once, in its room, and a new field cannot be forgotten where it is read again.
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
export function fits(value: unknown, { type, enum: words, pattern, minimum = -Infinity, maximum = Infinity }: Checked): boolean {
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
