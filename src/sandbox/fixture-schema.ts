// The format of fixture files as a JSON Schema (2020-12), and as types: people, groups, caps, keys, the balance and raw rows of use. The
// rows are those of use.ts, so that a new column is part of the format by itself. docs/fixture.md explains it.
import { MAX_CAP } from '../core/model/units.ts'
import { PERMISSIONS, type Permission, TEAM_STATUSES, type TeamStatus } from './store.ts'
import { type ColumnKind, USE_COLUMNS, USE_SOURCES, type UseSource } from './use.ts'

export const FIXTURE_API_VERSION = 'capkeeper/v1'
export const FIXTURE_KIND = 'SandboxFixture'
/** Where the running sandbox serves the schema. */
export const FIXTURE_SCHEMA_PATH = '/fixture.schema.json'

export interface FixturePerson {
  readonly email: string
  readonly id?: number
  readonly name?: string
  readonly role?: string
  readonly status?: TeamStatus
  readonly disabled?: boolean
  readonly apiKey?: string
  readonly signupAt?: string
}

export interface FixtureGroup {
  readonly id: string
  readonly name: string
  readonly members?: readonly string[]
}

export interface FixtureKey {
  readonly secret: string
  readonly permissions: readonly Permission[]
  readonly group?: string
}

/** A row as it stands in the file: `person` is an e-mail, `at` an RFC 3339 instant. */
export interface FixtureRow extends Readonly<Record<string, unknown>> {
  readonly person: string
  readonly at: string
}

/** A file that keeps to the schema. */
export interface FixtureDocument {
  readonly asOf?: string
  readonly seed?: number
  readonly balance?: { readonly creditsPerSeat?: number; readonly seats?: number; readonly addOnAvailable?: number }
  readonly people: readonly FixturePerson[]
  readonly groups?: readonly FixtureGroup[]
  readonly caps?: Readonly<Record<string, number>>
  readonly keys?: readonly FixtureKey[]
  readonly use?: { readonly [Source in UseSource]?: readonly FixtureRow[] }
}

type Schema = Readonly<Record<string, unknown>>
type Members<T> = { readonly [Name in keyof T]-?: Schema }

const text = (description: string, more: Schema = {}): Schema => ({ type: 'string', minLength: 1, maxLength: 500, description, ...more })
const whole = (description: string, more: Schema = {}): Schema => ({
  ...{ type: 'integer', minimum: 0, maximum: MAX_CAP, description, ...more },
})
const instant = (description: string): Schema => ({ type: 'string', format: 'date-time', description })
const email = (description: string): Schema => ({ type: 'string', pattern: EMAIL, maxLength: 320, description })
const list = (items: Schema, description: string): Schema => ({ type: 'array', items, description })
const object = (properties: Schema, required: readonly string[], description: string): Schema => ({
  ...{ type: 'object', description, properties, required, additionalProperties: false },
})

const EMAIL = '^[^\\s@]+@[^\\s@]+$'

const PERSON: Members<FixturePerson> = {
  email: email('compares case-insensitively'),
  id: whole('place in the roster; default: the place in this list. With a seed, it decides how the person works'),
  name: text('default: the e-mail'),
  role: text('an open list', { default: 'member' }),
  status: { enum: TEAM_STATUSES, default: 'APPROVED', description: 'the membership status, without USER_TEAM_STATUS_' },
  disabled: { type: 'boolean', default: false, description: 'access was switched off by an administrator' },
  apiKey: text('hashed form of their API key; default: made from the e-mail'),
  signupAt: { ...instant('when they signed up'), default: '2024-01-01T00:00:00Z' },
}

const GROUP: Members<FixtureGroup> = {
  id: text('the group_id that caps are set with', { pattern: '^\\S(.*\\S)?$' }),
  name: text('the group_name that lists and queries use'),
  members: list(email('a person of this file'), 'nobody when left out'),
}

const KEY: Members<FixtureKey> = {
  secret: text('what requests carry as service_key; invented, never a real one'),
  permissions: list({ enum: PERMISSIONS }, 'what the key may do'),
  group: text('id of a group: the key sees nothing but that group'),
}

const BALANCE: Members<Required<FixtureDocument>['balance']> = {
  creditsPerSeat: whole('prompt credits of each seat and cycle', { default: 500 }),
  seats: whole('default: one for each approved person'),
  addOnAvailable: whole('add-on credits of this cycle; default: worked out from the cycle before'),
}

const COLUMN: Readonly<Record<ColumnKind, Schema>> = {
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

/** The columns that a row must name: all but figures, ticks and counts, which are 0, false and {} when left out. */
function rowSchema(source: UseSource): Schema {
  const columns: readonly (readonly [string, ColumnKind])[] = Object.entries(USE_COLUMNS[source])
  const schemas = columns.map(([name, kind]) => [name, name === 'person' ? email('a person of this file') : COLUMN[kind]])
  const required = columns.filter(([name, kind]) => name === 'person' || kind === 'instant' || kind === 'text').map(([name]) => name)
  return object(Object.fromEntries(schemas), required, ROWS[source])
}

const MEMBERS: Members<FixtureDocument> = {
  asOf: instant('the instant of this state: the time of the sandbox starts here; default: the present'),
  seed: whole('people go on working as this seed says; without it nobody uses anything by themselves'),
  balance: object(BALANCE, [], 'the figures of the team credit balance; what is used follows from the rows'),
  people: list(object(PERSON, ['email'], 'one person'), 'in the order of the roster'),
  groups: list(object(GROUP, ['id', 'name'], 'one group'), 'people may be in several'),
  caps: {
    type: 'object',
    propertyNames: { pattern: '^(team|group:.+|[^\\s@]+@[^\\s@]+)$' },
    additionalProperties: whole('whole add-on credits per person'),
    description: 'by scope: team, group:ID or an e-mail',
  },
  keys: list(object(KEY, ['secret', 'permissions'], 'one key'), 'beside the five keys that are always there'),
  use: object(Object.fromEntries(USE_SOURCES.map((source) => [source, list(rowSchema(source), ROWS[source])])), [], 'raw rows of use'),
}

/** What a fixture file may say. product.md, section 8. */
export const FIXTURE_SCHEMA: Schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'capkeeper sandbox fixture',
  ...object(
    {
      $schema: { type: 'string', description: 'for editors' },
      apiVersion: { const: FIXTURE_API_VERSION },
      kind: { const: FIXTURE_KIND },
      ...MEMBERS,
    },
    ['apiVersion', 'kind', 'people'],
    'A company on the embedded service: who is there, what is set, and what was used.',
  ),
}
