// The pieces of the ledger's schema. Only the generator loads this file. Each piece has the type of its values, and `shape` demands a piece for
// every field of a type, so that a new field cannot be forgotten.
import Type, { type Static, type TObject, type TProperties, type TUnsafe } from 'typebox'

type Json = Readonly<Record<string, unknown>>

/** The schema of values of a type. */
export type Of<T> = TUnsafe<T>

/** `wanted` names the expected value in messages. */
const leaf = <T>(wanted: string, schema: Json): Of<T> => Type.Unsafe<T>({ ...schema, 'x-wanted': wanted })

const OBJECT = { 'x-wanted': 'an object' }

/** A number, with the words for what it means. */
export const numeric = <T extends number>(wanted: string): Of<T> => leaf<T>(wanted, { type: 'number' })

export const text = leaf<string>('a text', { type: 'string' })
export const number = numeric<number>('a number')
export const boolean = leaf<boolean>('true or false', { type: 'boolean' })
export const anything = Type.Unsafe<unknown>({})

/** One of a few texts. */
export const oneOf = <T extends string>(options: readonly T[]): Of<T> => leaf<T>(options.join(' or '), { enum: options })

/** A word, or a value that fits the schema. */
export const orWord = <T, W extends string>(word: W, schema: Of<T>): Of<T | W> => Type.Unsafe<T | W>({ if: { const: word }, else: schema })

export const list = <T>(items: Of<T>): Of<readonly T[]> => leaf<readonly T[]>('a list', { type: 'array', items })

/** An object with arbitrary keys. */
export const record = <T>(item: Of<T>): Of<Readonly<Record<string, T>>> =>
  leaf<Readonly<Record<string, T>>>('an object', { type: 'object', additionalProperties: item })

interface Optional<T> {
  readonly optional: Of<T>
}

/** A field that may be absent. */
export const optional = <T>(schema: Of<T>): Optional<T> => ({ optional: schema })

type Fields<T> = { readonly [K in keyof T]-?: object extends Pick<T, K> ? Optional<Exclude<T[K], undefined>> : Of<T[K]> }

/** An object with these fields; other fields are ignored. */
export const shape = <T extends object>(fields: Fields<T>): Of<T> => leaf<T>('an object', objectOf(fields))

function objectOf(fields: object): Json {
  const all = Object.entries<Of<unknown> | Optional<unknown>>({ ...fields })
  const isOptional = (field: Of<unknown> | Optional<unknown>): field is Optional<unknown> => 'optional' in field
  return {
    type: 'object',
    required: all.flatMap(([name, field]) => (isOptional(field) ? [] : [name])),
    properties: Object.fromEntries(all.map(([name, field]) => [name, isOptional(field) ? field.optional : field])),
  }
}

type OfKind<T extends { readonly kind: string }, K> = T extends unknown ? (K extends T['kind'] ? T : never) : never

/** A union by `kind`, with the other fields of each kind. */
export const byKind = <T extends { readonly kind: string }>(
  kinds: {
    readonly [K in T['kind']]: Fields<Omit<OfKind<T, K>, 'kind'>>
  },
): Of<T> =>
  leaf<T>('an object', {
    type: 'object',
    oneOf: Object.entries<object>(kinds).map(([kind, fields]) => objectOf({ kind: Type.Unsafe<unknown>({ const: kind }), ...fields })),
  })

/** An object whose type follows from its fields. */
export const object = <T extends TProperties>(properties: T): Of<Static<TObject<T>>> =>
  Type.Unsafe<Static<TObject<T>>>(Type.Object(properties, OBJECT))

/** An object with some of these fields. */
export const partsOf = <T extends object>(properties: { readonly [K in keyof T]: Of<T[K]> }): Of<Partial<T>> =>
  leaf<Partial<T>>(OBJECT['x-wanted'], { type: 'object', properties })

/** A schema in which pieces with a name are written once, as definitions. */
export function written(root: object, pieces: Readonly<Record<string, object>>): Json {
  const names = new Map(Object.entries(pieces).map(([name, piece]) => [piece, name]))
  const brief = (schema: object): Json =>
    JSON.parse(JSON.stringify(schema, (key, one) => (key === '' || !names.has(one) ? one : { $ref: `#/$defs/${names.get(one)}` })))
  return { ...brief(root), $defs: Object.fromEntries(Object.entries(pieces).map(([name, piece]) => [name, brief(piece)])) }
}
