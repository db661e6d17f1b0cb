// Pieces of the schemas of /api/v1, which are the source of the types, of the OpenAPI document and of the tests of answers. Only the generator loads these
// files; other code imports the types of documents/types.ts.
import Type, { type Static, type TArray, type TInteger, type TProperties, type TSchema } from 'typebox'
import { CAUSES, CHANGE_RESULTS, EFFECTS, GUARD_CODES } from '../../../../core/model/change.ts'
import { SEVERITIES } from '../../../../core/model/condition.ts'
import { BANDS, GRANT_STATES, MODES, RECONCILE_RESULTS, SCOPE_STATES } from '../../../../core/model/events.ts'
import { SCOPE_KINDS } from '../../../../core/model/scope.ts'

/** A mapping of these keys and no other. */
export const object = <T extends TProperties>(description: string, properties: T) =>
  Type.Object(properties, { additionalProperties: false, description })

export const optional = <T extends TSchema>(schema: T) => Type.Optional(schema)

export const list = <T extends TSchema>(items: T, description: string) => Type.Array(items, { description })

/** The first items of a list, and how many more there are. */
export const bounded = <const K extends string, T extends TSchema>(name: K, items: T, description: string) =>
  ({ [name]: list(items, description), [`${name}Omitted`]: count('How many more there are.') }) as Record<K, TArray<T>> &
    Record<`${K}Omitted`, TInteger>

/** The same of objects. */
export const listOf = <T extends TProperties>(description: string, of: string, properties: T) => list(object(of, properties), description)
export const boundedOf = <const K extends string, T extends TProperties>(name: K, description: string, of: string, properties: T) =>
  bounded(name, object(of, properties), description)

export const words = <const T extends string>(all: readonly T[], description?: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [...all], description })

/** One number for each of these words. */
export const counts = <const T extends string>(all: readonly T[], description: string) =>
  Type.Unsafe<Record<T, number>>({
    type: 'object',
    description,
    additionalProperties: false,
    required: [...all],
    properties: Object.fromEntries(all.map((word) => [word, { type: 'integer', minimum: 0 }])),
  })

export const text = (description?: string) => Type.String(description === undefined ? {} : { description })
export const flag = (description: string) => Type.Boolean({ description })
export const count = (description: string) => Type.Integer({ minimum: 0, description })
export const figure = (description: string) => Type.Number({ description })
export const instant = (description: string) => Type.String({ format: 'date-time', description: `${description} RFC 3339, UTC.` })
export const day = (description: string) => Type.String({ format: 'date', description: `${description} A day of UTC.` })

export const cap = (description = 'Whole credits, or `none`: no cap is set here, and that of an ancestor applies.') =>
  Type.Unsafe<number | 'none'>({ oneOf: [{ type: 'integer', minimum: 0 }, { const: 'none' }], description })

export const observed = (description = 'What was read: whole credits, `none`, or `unknown`.') =>
  Type.Unsafe<number | 'none' | 'unknown'>({ oneOf: [{ type: 'integer', minimum: 0 }, { enum: ['none', 'unknown'] }], description })

export const scopeKind = words(SCOPE_KINDS)
export const scopeName = text('`team`, `group:ID`, or a person as people are shown.')
export const scopeState = words(SCOPE_STATES)
export const band = words(BANDS, 'How near a person is to the cap in force, in percent of it.')
export const mode = words(MODES)
export const cause = words(CAUSES, 'Why desired and observed differ.')
export const effect = words(EFFECTS)
export const guard = words(GUARD_CODES)
export const changeResult = words(CHANGE_RESULTS)
export const grantState = words(GRANT_STATES)
export const reconcileResult = words(RECONCILE_RESULTS)
export const tone = words(['good', 'warn', 'bad'], 'Whether it needs a person.')

export const place = object('A line of a policy file.', {
  file: text(),
  line: Type.Integer({ minimum: 1 }),
  column: Type.Integer({ minimum: 1 }),
  url: optional(text('The line at the revision in force, where the config has `sourceUrl`.')),
})

/** The first fields of every document. */
export const head = <const K extends string>(kind: K) => ({
  apiVersion: Type.Literal('capkeeper/v1'),
  kind: Type.Literal(kind),
  at: instant('When this was made.'),
  peopleShown: words(['hash', 'email'], 'How people are shown.'),
})

/** A document about one workspace. */
export const documentOf = <const K extends string, T extends TProperties>(kind: K, description: string, properties: T) =>
  object(description, { ...head(kind), workspace: text('The name of the workspace.'), ...properties })

/** The fields of a list in pages. */
export const paged = <T extends TSchema>(items: T, description: string) => ({
  total: count('Items on all pages.'),
  page: Type.Integer({ minimum: 1 }),
  limit: Type.Integer({ minimum: 1, description: 'The most on one page.' }),
  items: Type.Array(items, { description }),
})

export const cycle = object('The billing cycle.', { start: instant('Its first instant.'), end: instant('The first instant of the next.') })

export const balance = object('Credits of the whole team in this cycle, as the service last said.', {
  readAt: instant('When it was read.'),
  creditsPerSeat: figure('Included in each seat.'),
  seats: count('Paid seats.'),
  addOnAvailable: figure('Add-on credits of this cycle, including those used.'),
  addOnUsed: figure('Add-on credits that are used.'),
})

export const condition = object('A condition that is true now.', {
  type: text(),
  severity: words(SEVERITIES),
  subject: text('A scope, a hold, the workspace, or a part of what is read.'),
  reason: text('A code of docs/codes.md.'),
  message: text('A sentence.'),
  since: instant('When it began.'),
})

/** `at`: how the document names the line. */
export const problemWith = <T extends TSchema>(at: T) => ({
  severity: words(['error', 'warning']),
  code: text(),
  message: text(),
  at,
  sourceLine: optional(text('The text of the line; of a very long line the part around the place.')),
  sourceColumn: optional(Type.Integer({ minimum: 1, description: 'The column at which `sourceLine` begins; absent: 1.' })),
  length: optional(Type.Integer({ minimum: 1, description: 'How many characters of the line are wrong, from the column on.' })),
  hint: optional(text('The way out.')),
})

export const problem = object('A problem in a policy file.', problemWith(optional(place)))

/** Of a pool. */
export const dealt = optional(
  figure(
    'Sum over the members of the greatest of use, cap in force, cap dealt and any cap lowered too lately for use under it to show; absent while somebody counts at no cap.',
  ),
)

export const projection = object('Credits that the team will have used at the end of the cycle.', {
  p10: figure('10 % of outcomes are lower.'),
  p50: figure('Half of the outcomes are lower.'),
  p90: figure('90 % of outcomes are lower.'),
})

/** The type of a schema, readonly throughout. */
export type Shape<T extends TSchema> = Frozen<Static<T>>

type Frozen<T> = T extends readonly (infer One)[]
  ? readonly Frozen<One>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T
