// The pieces of the schemas of policies and config. Only the generator loads these files; others import their types. `kind` names how a value
// is converted and what is said of a wrong one (kinds.ts).
import Type, { type Static, type TProperties, type TSchema } from 'typebox'

type Json = Readonly<Record<string, unknown>>

/** A schema in plain JSON for values of a type. */
export const leaf = <T>(kind: string, schema: Json, description?: string) =>
  Type.Unsafe<T>({ ...schema, ...(description === undefined ? {} : { description }), 'x-kind': kind })

/** A mapping with these keys and no others. */
export const object = <T extends TProperties>(description: string, properties: T, more: Json = {}) =>
  Type.Object(properties, { additionalProperties: false, description, ...more })

export const optional = <T extends TSchema>(schema: T) => Type.Optional(schema)

/** An optional key without a value counts as left out, so that its value can be commented out. */
export function orNothing<T extends TSchema>(schema: T) {
  const json: Json = Object.fromEntries(Object.entries(schema))
  const { enum: words, type } = json
  const more = Array.isArray(words) ? { enum: [...words, null] } : { type: [type, 'null'].flat() }
  return Type.Optional(Type.Unsafe<Static<T>>({ ...json, ...more }))
}

/** An optional list that may be empty. */
export const list = <T extends TSchema>(description: string, items: T) =>
  Type.Optional(Type.Unsafe<readonly Static<T>[]>({ type: ['array', 'null'], description, items }))

/** An optional list that must not be empty. */
export const filled = <T extends TSchema>(description: string, items: T) =>
  Type.Optional(Type.Unsafe<readonly Static<T>[]>({ type: 'array', minItems: 1, description, items }))

/** A text; a number is taken as written. */
export const text = (description?: string, kind = 'text') => leaf<string>(kind, { type: ['string', 'number'], pattern: '\\S' }, description)

/** A text of a certain form. */
export const pattern = (kind: string, regularExpression: string, description?: string) =>
  leaf<string>(kind, { type: 'string', pattern: regularExpression }, description)

export const flag = (description: string) => leaf<boolean>('flag', { type: 'boolean' }, description)

export const choice = <const T extends string>(words: readonly T[], description: string) => leaf<T>('choice', { enum: words }, description)

export const word = <const T extends string>(one: T) => leaf<T>('word', { const: one })

export const DIALECT = 'https://json-schema.org/draft/2020-12/schema'
