// The published JSON Schemas (2020-12) of policies and of the config: what `capkeeper schema` prints, what editors complete and check
// with, and where the parsers take the known keys from. What the parsers take a schema takes. It sees values after YAML and one document at
// a time, so it refuses less than they do: 1e3 is 1000 to it, it compares no two values and adds none up, and it knows nothing of duplicates,
// of time zones, of groups declared elsewhere or of workspaces.
import { DEFAULT_GUARDS, GUARD_CODES } from '../core/model/change.ts'
import { MODES } from '../core/model/events.ts'
import { MAX_CAP } from '../core/model/units.ts'
import { INTERVAL_PATTERN, LISTEN_PATTERN, percentPattern, TIME_PATTERN, TOO_SHORT_PATTERN, URL_PATTERN } from './schema-patterns.ts'

export const API_VERSION = 'capkeeper/v1'
export const POLICY_KIND = 'CapPolicy'
export const CONFIG_KIND = 'Config'

/** A JSON Schema; plain JSON. */
export type JsonSchema = { readonly [keyword: string]: unknown }

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

const object = (description: string, properties: Record<string, JsonSchema>, required: readonly string[] = [], more: JsonSchema = {}) => ({
  type: 'object',
  description,
  additionalProperties: false,
  properties,
  ...(required.length > 0 ? { required } : {}),
  ...more,
})

const list = (description: string, items: JsonSchema) => ({ type: ['array', 'null'], description, items })
const described = (schema: JsonSchema, description: string) => ({ ...schema, description })

/** A key with nothing behind it counts as left out, so that its value can be commented out. */
const orNothing = (schema: JsonSchema): JsonSchema => {
  const { enum: words, type } = schema
  return { ...schema, ...(Array.isArray(words) ? { enum: [...words, null] } : { type: [type, 'null'].flat() }) }
}

const TEXT = { type: ['string', 'number'], minLength: 1, pattern: '\\S' } as const
const EMAIL = { type: 'string', pattern: '^\\s*[^\\s@:]+@[^\\s@:]+\\s*$' } as const
const PATH = TEXT
const TIME = { type: 'string', pattern: TIME_PATTERN } as const
const CAP = {
  anyOf: [{ type: 'integer', minimum: 0, maximum: MAX_CAP }, { const: 'none' }],
  description:
    'Whole add-on credits per person, or none: nothing is set at this scope and the next wider one applies. 0 needs allowZero: true beside it.',
}
const GRANT_CAP = { type: 'integer', minimum: 0, maximum: MAX_CAP }
const ALLOW_ZERO = { type: 'boolean', description: 'Says that a cap of 0 is meant; a service may read a stored 0 back as "no cap".' }
const REASON = described(TEXT, 'Why; shown in plans, in explain and in the history.')

/** A cap of 0 stands only beside `allowZero: true`. */
const ZERO_RULE = {
  if: { properties: { cap: { const: 0 } }, required: ['cap'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { properties: { allowZero: { const: true } }, required: ['allowZero'] },
}

const METADATA = object(
  'Names the document.',
  {
    name: described(TEXT, 'Unique among all policy documents.'),
    labels: {
      type: ['object', 'null'],
      description: 'Free key and value pairs.',
      additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
    },
    annotations: {
      type: ['object', 'null'],
      description: 'Free key and value pairs.',
      additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
    },
  },
  ['name'],
)

const TEAM = object(
  'The cap of everybody without a group or user cap.',
  { cap: CAP, allowZero: ALLOW_ZERO, reason: REASON },
  ['cap'],
  ZERO_RULE,
)

const GROUP = object(
  'The cap of the members of one group. Without cap the group is only made known, for a grant.',
  {
    id: described(TEXT, 'group_id of the service; used for caps.'),
    name: described(TEXT, 'group_name of the service; used to list the members.'),
    cap: CAP,
    allowZero: ALLOW_ZERO,
    reason: REASON,
  },
  ['id', 'name'],
  ZERO_RULE,
)

const USER = object(
  'The cap of one person; it wins over group and team.',
  { email: described(EMAIL, 'Compared trimmed and case-insensitively.'), cap: CAP, allowZero: ALLOW_ZERO, reason: REASON },
  ['email', 'cap'],
  ZERO_RULE,
)

const GRANT = object(
  'A temporary cap on top of the above; the base comes back by itself.',
  {
    user: described(EMAIL, 'The person it is for; or group, or team.'),
    group: described(TEXT, 'The group_id it is for.'),
    team: { const: true, description: 'It is for the team.' },
    cap: described(GRANT_CAP, 'The cap while it lasts; or add.'),
    add: { type: 'integer', minimum: 1, maximum: MAX_CAP, description: 'Credits on top of the base cap.' },
    allowZero: ALLOW_ZERO,
    from: described(TIME, 'Date (its start, in spec.timezone) or RFC 3339 instant; absent: from now on.'),
    until: {
      anyOf: [TIME, { const: 'cycleEnd' }],
      description: 'Date (through its end, in spec.timezone), RFC 3339 instant, or cycleEnd: the end of the cycle that contains from.',
    },
    reason: REASON,
    ticket: described(TEXT, 'Where it was asked for.'),
  },
  ['until', 'reason'],
  {
    allOf: [
      { oneOf: [{ required: ['user'] }, { required: ['group'] }, { required: ['team'] }] },
      { oneOf: [{ required: ['cap'] }, { required: ['add'] }] },
      ZERO_RULE,
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      { if: { properties: { until: { const: 'cycleEnd' } }, required: ['until'] }, then: { required: ['from'] } },
    ],
  },
)

const SPEC = object('What is asked.', {
  workspace: described(TEXT, 'The workspace that this document is for; may be left out when there is only one.'),
  timezone: described(
    { type: ['string', 'null'], pattern: '\\S' },
    'IANA time zone of the dates in this document, such as Europe/Berlin; default UTC.',
  ),
  onGroupConflict: {
    enum: ['min', 'max'],
    description: 'The cap of a person in several groups with different caps; without it that person is rejected and reported.',
  },
  team: TEAM,
  groups: list('Caps of groups.', GROUP),
  users: list('Caps of people.', USER),
  grants: list('Temporary caps.', GRANT),
  protected: list('People whose cap capkeeper never lowers, blocks or clears.', EMAIL),
  approvals: list('Ids of holds that review has released; 12 hex digits.', {
    type: ['string', 'number'],
    pattern: '^\\s*[0-9A-Fa-f]{12}\\s*$',
  }),
})

/** JSON Schema of one policy document. */
export const POLICY_SCHEMA = {
  $schema: DIALECT,
  $id: 'urn:capkeeper:schema:policy',
  title: 'capkeeper policy',
  ...object(
    'Caps of one workspace: the team, groups, users, and temporary grants.',
    { apiVersion: { const: API_VERSION }, kind: { const: POLICY_KIND }, metadata: METADATA, spec: SPEC },
    ['apiVersion', 'kind', 'metadata', 'spec'],
  ),
}

const DURATION = { type: 'string', pattern: INTERVAL_PATTERN, not: { type: 'string', pattern: TOO_SHORT_PATTERN } }
/** On is the default of a guard that has more to say. */
const SWITCH = { enum: ['on', 'off', true, false, 'true', 'false'] }
const PERCENT_TEXT = { type: 'string', pattern: percentPattern(100) }
const SHARE = {
  anyOf: [
    SWITCH,
    PERCENT_TEXT,
    object('Holds when more than both are reached.', {
      percent: { type: 'number', minimum: 0, maximum: 100 },
      floor: { type: 'integer', minimum: 0, maximum: 1_000_000 },
    }),
  ],
}
const SHRINK = { anyOf: [SWITCH, PERCENT_TEXT, { type: 'number', minimum: 0, maximum: 100 }] }
const MOST_RAISE = 10_000
const RAISE_TEXT = { type: 'string', pattern: percentPattern(MOST_RAISE) }
const RAISE = { anyOf: [SWITCH, RAISE_TEXT, { type: 'number', minimum: 0, maximum: MOST_RAISE }] }
const IN_A_ROW = { type: 'integer', minimum: 1, maximum: 1000 }
const PERCENT = { type: 'number', minimum: 0, maximum: 100 }
const BREAKER_MAP = object('Failed changes in a row, or their share of those to be written.', { inARow: IN_A_ROW, percent: PERCENT })
const BREAKER = { anyOf: [SWITCH, PERCENT_TEXT, PERCENT, BREAKER_MAP] }
const CONTESTED_MAP = object('Foreign changes of one scope.', { times: IN_A_ROW })
const CONTESTED = { anyOf: [SWITCH, IN_A_ROW, CONTESTED_MAP] }

function guardSchema(code: string): JsonSchema {
  if (code === 'emptyPolicy' || code === 'protected' || code === 'semantics') return SWITCH
  if (code === 'rosterShrink') return described(SHRINK, `Percent of the people; default ${DEFAULT_GUARDS.rosterShrink}.`)
  if (code === 'maxRaise') return described(RAISE, 'Percent of the add-on credits remaining; default 100.')
  if (code === 'breaker') return described(BREAKER, 'When failing writes stop; default 3 in a row or 10 %.')
  if (code === 'contested') return described(CONTESTED, 'Foreign changes of one scope within 24 h; default 3.')
  return SHARE
}

const KEY_REFERENCE = {
  ...object('Where a key is found: in a file, or in an environment variable.', { file: PATH, env: PATH }),
  oneOf: [{ required: ['file'] }, { required: ['env'] }],
}
const KEYS = object('Service keys; the four of one permission fall back to default.', {
  default: KEY_REFERENCE,
  analyticsRead: KEY_REFERENCE,
  teamsRead: KEY_REFERENCE,
  billingRead: KEY_REFERENCE,
  billingWrite: KEY_REFERENCE,
})
const REQUESTS = { type: 'number', minimum: 0.1, maximum: 1000 }
const RATE = object('Requests per second.', {
  start: described(orNothing(REQUESTS), 'Where learning starts; default 5.'),
  max: described(orNothing(REQUESTS), 'Never more than this; default 10.'),
  concurrency: { type: ['integer', 'null'], minimum: 1, maximum: 64, description: 'Requests in flight; default 8.' },
})

const WORKSPACE = object(
  'One team account of the service.',
  {
    name: TEXT,
    baseUrl: { type: ['string', 'null'], pattern: URL_PATTERN, description: 'Address of the service.' },
    caFile: described(
      orNothing(PATH),
      'CA certificates (PEM) that the service is checked against in place of the usual ones; relative to this file.',
    ),
    allowPlainHttp: {
      type: ['boolean', 'null'],
      description: 'Allow http:// to another machine, where the key travels unencrypted; default false.',
    },
    keys: orNothing(KEYS),
    policies: described(list('', PATH), 'Policy files and folders, relative to this file.'),
    mode: { enum: [...MODES, null], description: 'enforce; audit: plan and measure, never write; paused. Default enforce.' },
    capSemantics: {
      enum: ['layered', 'copied', null],
      description: 'Whether the service keeps caps per scope (default) or copies wide ones to members.',
    },
    interval: described(orNothing(DURATION), 'How often caps are read, from 100ms to 20d; default 5m.'),
    usageInterval: described(orNothing(DURATION), 'How often people, use and balance are read, from 100ms to 20d; default 15m.'),
    onDrift: { enum: ['heal', 'alert', null], description: 'What a change by somebody else gets; default heal.' },
    prune: { type: ['boolean', 'null'], description: 'Clear caps that are ours and that no policy declares any more; default true.' },
    undeclaredUsers: { enum: ['ignore', 'report', null], description: 'Sweep for user caps that are not ours; default ignore.' },
    guards: orNothing(object('Limits; see the manual.', Object.fromEntries(GUARD_CODES.map((code) => [code, guardSchema(code)])))),
    rate: orNothing(RATE),
  },
  ['name'],
)

const METRICS = object('Series per person.', {
  perUser: { enum: ['off', 'top', 'all', false, 'false', null], description: 'Default off.' },
  userLabel: { enum: ['hash', 'email', null], description: 'Default hash.' },
})

/** JSON Schema of the config file. */
export const CONFIG_SCHEMA = {
  $schema: DIALECT,
  $id: 'urn:capkeeper:schema:config',
  title: 'capkeeper config',
  ...object(
    'How capkeeper runs; everything has a default but the address and the key.',
    {
      apiVersion: { const: API_VERSION },
      kind: { const: CONFIG_KIND },
      listen: { type: ['string', 'null'], pattern: LISTEN_PATTERN, description: 'host:port of the HTTP server; default 127.0.0.1:9464.' },
      people: { enum: ['hash', 'email', null], description: 'How people show; default email on loopback, else hash.' },
      ledger: described(orNothing(PATH), 'The durable record, relative to this file; :memory: for none.'),
      ledgerToken: {
        anyOf: [KEY_REFERENCE, { type: 'null' }],
        description: 'Where the token is found that /ledger asks for; needed unless listen is loopback.',
      },
      metrics: orNothing(METRICS),
      pricePerCredit: {
        type: ['number', 'null'],
        exclusiveMinimum: 0,
        maximum: 1_000_000,
        description: 'Turns credits into money in reports.',
      },
      workspaces: list('Each is kept independently of the others.', WORKSPACE),
    },
    ['apiVersion', 'kind'],
  ),
}

const keysOf = (schema: { readonly properties: object }): readonly string[] => Object.keys(schema.properties)

/** The keys that each mapping of a policy may have. */
export const POLICY_KEYS = {
  document: keysOf(POLICY_SCHEMA),
  metadata: keysOf(METADATA),
  spec: keysOf(SPEC),
  team: keysOf(TEAM),
  group: keysOf(GROUP),
  user: keysOf(USER),
  grant: keysOf(GRANT),
}

/** The keys that each mapping of the config may have. */
export const CONFIG_KEYS = {
  document: keysOf(CONFIG_SCHEMA),
  metrics: keysOf(METRICS),
  workspace: keysOf(WORKSPACE),
  keys: keysOf(KEYS),
  keyReference: keysOf(KEY_REFERENCE),
  guards: GUARD_CODES,
  breaker: keysOf(BREAKER_MAP),
  contested: keysOf(CONTESTED_MAP),
  rate: keysOf(RATE),
}
