// The pieces that the documents of /api/v1 are made of, as schemas: each is the source of the type, of the OpenAPI document and of the tests
// that hold answers against it. Only the generator loads these files; others take their types from documents/types.ts.
import Type, { type Static, type TProperties, type TSchema } from 'typebox'
import { CAUSES, CHANGE_RESULTS, EFFECTS, GUARD_CODES } from '../../../../core/model/change.ts'
import { SEVERITIES } from '../../../../core/model/condition.ts'
import { BANDS, GRANT_STATES, MODES, RECONCILE_RESULTS, SCOPE_STATES } from '../../../../core/model/events.ts'
import { SCOPE_KINDS } from '../../../../core/model/scope.ts'

/** A mapping of these keys and no other. */
export const object = <T extends TProperties>(description: string, properties: T) =>
  Type.Object(properties, { additionalProperties: false, description })

export const optional = <T extends TSchema>(schema: T) => Type.Optional(schema)

export const list = <T extends TSchema>(items: T, description: string) => Type.Array(items, { description })

export const words = <const T extends string>(all: readonly T[], description?: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [...all], ...(description !== undefined && { description }) })

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

export const cap = (description = 'Whole credits, or `none`: nothing is set and the next wider cap applies.') =>
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
export const tone = words(['good', 'warn', 'bad'], 'Whether a person should look.')

export const place = object('A line of a policy file.', {
  file: text(),
  line: Type.Integer({ minimum: 1 }),
  column: Type.Integer({ minimum: 1 }),
  url: optional(text('The line at the revision in force, where `sourceUrl` of the config says how its address is made.')),
})

/** What stands at the head of every document. */
export const head = <const K extends string>(kind: K) => ({
  apiVersion: Type.Literal('capkeeper/v1'),
  kind: Type.Literal(kind),
  at: instant('When this was made.'),
  peopleShown: words(['hash', 'email'], 'How people are shown.'),
})

/** The head of a document about one workspace. */
export const headOf = <const K extends string>(kind: K) => ({ ...head(kind), workspace: text('The name of the workspace.') })

/** What a list that comes in pages says of itself. */
export const paged = <T extends TSchema>(items: T, description: string) => ({
  total: count('How many there are in all pages.'),
  page: Type.Integer({ minimum: 1 }),
  limit: Type.Integer({ minimum: 1, description: 'The most on one page.' }),
  items: Type.Array(items, { description }),
})

export const cycle = object('The billing cycle.', { start: instant('Its first instant.'), end: instant('The first instant of the next.') })

export const balance = object('Credits of the whole team in this cycle, as the service last said.', {
  readAt: instant('When it was read.'),
  creditsPerSeat: figure('Included in each seat.'),
  seats: count('Paid seats.'),
  addOnAvailable: figure('Add-on credits of this cycle, used ones included.'),
  addOnUsed: figure('Add-on credits that are used.'),
})

export const condition = object('Something that is so now, and since when.', {
  type: text(),
  severity: words(SEVERITIES),
  subject: text('What it is about, such as a scope, a hold or the workspace.'),
  reason: text('A code of docs/codes.md.'),
  message: text('A sentence.'),
  since: instant('When it began.'),
})

export const problem = object('Something wrong in a policy file.', {
  severity: words(['error', 'warning']),
  code: text(),
  message: text(),
  at: optional(place),
  sourceLine: optional(text('The text of the line.')),
  length: optional(Type.Integer({ minimum: 1, description: 'How many characters of it are meant, from the column on.' })),
  hint: optional(text('The way out.')),
})

export const projection = object('Credits that the team will have used at the end of the cycle.', {
  p10: figure('1 of 10 cycles ends below.'),
  p50: figure('Half of them end below.'),
  p90: figure('9 of 10 end below.'),
})

/** The type of a schema, which nobody changes. */
export type Shape<T extends TSchema> = Frozen<Static<T>>

type Frozen<T> = T extends readonly (infer One)[]
  ? readonly Frozen<One>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T
