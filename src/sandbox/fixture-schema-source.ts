// The format of fixture files: people, groups, caps, keys, the balance and raw rows of use, as a schema from which the types and the published
// JSON Schema are made. The rows are those of use.ts, so that a new column is part of the format by itself. Only the generator loads this
// file; docs/fixture.md explains the format.
import Type, { type Static, type TProperties, type TSchema } from 'typebox'
import { MAX_CAP } from '../core/model/units.ts'
import { FIXTURE_API_VERSION, FIXTURE_KIND } from './fixture-schema.ts'
import { PERMISSIONS, type Permission, TEAM_STATUSES, type TeamStatus } from './store.ts'
import { type ColumnKind, USE_COLUMNS, USE_SOURCES, type UseSource } from './use.ts'

type Json = Readonly<Record<string, unknown>>

const text = (description: string, more: Json = {}) => Type.String({ minLength: 1, maxLength: 500, description, ...more })
const whole = (description: string, more: Json = {}) => Type.Integer({ minimum: 0, maximum: MAX_CAP, description, ...more })
const instant = (description: string, more: Json = {}) => Type.String({ format: 'date-time', description, ...more })
const email = (description: string) => Type.String({ pattern: EMAIL, maxLength: 320, description })
const words = <const T extends string>(some: readonly T[], more: Json = {}) => Type.Unsafe<T>({ enum: some, ...more })
const list = <T extends TSchema>(items: T, description: string) => Type.Unsafe<readonly Static<T>[]>({ type: 'array', items, description })
const object = <T extends TProperties>(properties: T, description: string) =>
  Type.Object(properties, { additionalProperties: false, description })
const optional = <T extends TSchema>(schema: T) => Type.Optional(schema)

const EMAIL = '^[^\\s@]+@[^\\s@]+$'

const PERSON = object(
  {
    email: email('compares case-insensitively'),
    id: optional(whole('place in the roster; default: the place in this list. With a seed, it decides how the person works')),
    name: optional(text('default: the e-mail')),
    role: optional(text('an open list', { default: 'member' })),
    status: optional(
      words<TeamStatus>(TEAM_STATUSES, { default: 'APPROVED', description: 'the membership status, without USER_TEAM_STATUS_' }),
    ),
    disabled: optional(Type.Boolean({ default: false, description: 'access was switched off by an administrator' })),
    apiKey: optional(text('hashed form of their API key; default: made from the e-mail')),
    signupAt: optional(instant('when they signed up', { default: '2024-01-01T00:00:00Z' })),
  },
  'one person',
)

const GROUP = object(
  {
    id: text('the group_id that caps are set with', { pattern: '^\\S(.*\\S)?$' }),
    name: text('the group_name that lists and queries use'),
    members: optional(list(email('a person of this file'), 'nobody when left out')),
  },
  'one group',
)

const KEY = object(
  {
    secret: text('what requests carry as service_key; invented, never a real one'),
    permissions: list(words<Permission>(PERMISSIONS), 'what the key may do'),
    group: optional(text('id of a group: the key sees nothing but that group')),
  },
  'one key',
)

const BALANCE = object(
  {
    creditsPerSeat: optional(whole('prompt credits of each seat and cycle', { default: 500 })),
    seats: optional(whole('default: one for each approved person')),
    addOnAvailable: optional(whole('add-on credits of this cycle; default: worked out from the cycle before')),
  },
  'the figures of the team credit balance; what is used follows from the rows',
)

const COLUMN: Readonly<Record<ColumnKind, object>> = {
  whole: { type: 'integer', minimum: 0, maximum: MAX_CAP, default: 0 },
  instant: instant('when; not after asOf'),
  text: text('an open list'),
  tick: { type: 'boolean', default: false },
  counts: { type: 'object', additionalProperties: { type: 'integer', minimum: 0, maximum: MAX_CAP }, default: {} },
}

const ROWS: Readonly<Record<UseSource, string>> = {
  agent: 'agent (Cascade) use: one entry of one conversation; cents are hundredths of a credit',
  autocomplete: 'autocomplete, by person, hour, language, ide and version',
  chat: 'responses of the legacy chat',
  command: 'commands, declined ones too',
  typing: 'bytes that people typed by themselves; they count for percent code written alone',
}

/** A row as it stands in the file: `person` is an e-mail, `at` an RFC 3339 instant. */
export interface FixtureRow extends Readonly<Record<string, unknown>> {
  readonly person: string
  readonly at: string
}

/** The columns that a row must name: all but figures, ticks and counts, which are 0, false and {} when left out. */
function rowSchema(source: UseSource) {
  const columns: readonly (readonly [string, ColumnKind])[] = Object.entries(USE_COLUMNS[source])
  const schemas = columns.map(([name, kind]) => [name, name === 'person' ? email('a person of this file') : COLUMN[kind]] as const)
  const required = columns.filter(([name, kind]) => name === 'person' || kind === 'instant' || kind === 'text').map(([name]) => name)
  const rest = { properties: Object.fromEntries(schemas), required, additionalProperties: false }
  return Type.Unsafe<FixtureRow>({ type: 'object', description: ROWS[source], ...rest })
}

const USE = Type.Unsafe<{ readonly [Source in UseSource]?: readonly FixtureRow[] }>({
  type: 'object',
  description: 'raw rows of use',
  properties: Object.fromEntries(USE_SOURCES.map((source) => [source, list(rowSchema(source), ROWS[source])])),
  required: [],
  additionalProperties: false,
})

const CAPS = Type.Unsafe<Readonly<Record<string, number>>>({
  type: 'object',
  propertyNames: { pattern: '^(team|group:.+|[^\\s@]+@[^\\s@]+)$' },
  additionalProperties: whole('whole add-on credits per person'),
  description: 'by scope: team, group:ID or an e-mail',
})

/** What a fixture file may say. product.md, section 8. */
export const FIXTURE = Type.Object(
  {
    $schema: optional(Type.String({ description: 'for editors' })),
    apiVersion: Type.Unsafe<typeof FIXTURE_API_VERSION>({ const: FIXTURE_API_VERSION }),
    kind: Type.Unsafe<typeof FIXTURE_KIND>({ const: FIXTURE_KIND }),
    asOf: optional(instant('the instant of this state: the time of the sandbox starts here; default: the present')),
    seed: optional(whole('people go on working as this seed says; without it nobody uses anything by themselves')),
    balance: optional(BALANCE),
    people: list(PERSON, 'in the order of the roster'),
    groups: optional(list(GROUP, 'people may be in several')),
    caps: optional(CAPS),
    keys: optional(list(KEY, 'beside the five keys that are always there')),
    use: optional(USE),
  },
  {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'capkeeper sandbox fixture',
    description: 'A company on the embedded service: who is there, what is set, and what was used.',
    additionalProperties: false,
  },
)

/** A file that keeps to the schema. */
export type FixtureDocument = Readonly<Static<typeof FIXTURE>>
export type FixturePerson = Readonly<Static<typeof PERSON>>
