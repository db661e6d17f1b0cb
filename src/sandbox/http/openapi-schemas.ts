// The requests and answers of the operations as JSON Schemas. Tables of properties are checked against the types of the wire format: a
// missing field does not compile. The schemas describe the sandbox under the switches in force.
import type {
  AnalyticsRequest,
  BalanceAnswer,
  CascadeRequest,
  CascadeSource,
  UsageConfigRequest,
  UserPageRequest,
  WireCascadeLine,
  WireCascadeRun,
  WireCascadeTool,
  WireScope,
  WireUser,
} from '../../api/wire.ts'
import type { Operation } from '../../core/model/observed.ts'
import { MAX_CAP } from '../../core/model/units.ts'

import { type AnalyticsField, type AnalyticsSource, FILTERS, sourcesServed } from '../analytics/fields.ts'
import { MAX_ALIAS, MAX_PARTS } from '../analytics/query.ts'
import { IDES } from '../company/company.ts'
import { MODES, TOOLS } from '../company/work.ts'
import { TEAM_STATUSES } from '../store.ts'
import type { Switches } from '../switches.ts'

export type Schema = Readonly<Record<string, unknown>>

const UNSPECIFIED = 'QUERY_AGGREGATION_UNSPECIFIED'
const SHIFTED_DATE = 'date UTC-x'
/** Names of the shifted date; offsets are 14 hours at most. */
const SHIFTED_PATTERN = '^date UTC[+-]\\d{1,2}(:[0-5]\\d|\\.(25|5|50|75))?$'

/** `USER_DATA` of `QUERY_DATA_SOURCE_USER_DATA`. */
const shortName = (source: AnalyticsSource): string => source.name.replace('QUERY_DATA_SOURCE_', '')

/** Both spellings of each field, and the pattern of the shifted date if the source has it. */
function namesOf(fields: readonly AnalyticsField[]): Schema {
  const names = fields
    .filter((field) => field.name !== SHIFTED_DATE)
    .flatMap((field) => [field.name, ...(field.liveName ? [field.liveName] : [])])
  const shifted = fields.some((field) => field.name === SHIFTED_DATE)
  const listed = { type: 'string', enum: names }
  return shifted ? { anyOf: [listed, { type: 'string', pattern: SHIFTED_PATTERN }] } : listed
}

const ALIAS: Schema = { type: 'string', minLength: 1, maxLength: MAX_ALIAS }

function selectionSchema(source: AnalyticsSource): Schema {
  const selectable = source.fields.filter((field) => field.functions.length > 0)
  const groups = Object.groupBy(selectable, (field) => field.functions.join())
  const shapes = Object.values(groups).map((fields = []): Schema => {
    const functions = fields[0]?.functions ?? []
    // Choice: where nothing is aggregated, numbers too are valid as raw rows.
    const all = functions.some((one) => one === UNSPECIFIED) ? functions : [UNSPECIFIED, ...functions]
    return {
      type: 'object',
      required: ['field'],
      properties: {
        field: namesOf(fields),
        name: { ...ALIAS, description: 'the alias; by default {aggregation_function}_{field} in lower case, such as sum_num_acceptances' },
        aggregation_function: { type: 'string', enum: all, default: UNSPECIFIED },
      },
    }
  })
  return { anyOf: shapes }
}

function filterSchema(source: AnalyticsSource): Schema {
  return {
    type: 'object',
    required: ['name', 'filter', 'value'],
    properties: {
      name: namesOf(source.fields.filter((field) => field.filterable)),
      filter: { type: 'string', enum: Object.keys(FILTERS) },
      value: { type: 'string', description: 'always a text: a date as YYYY-MM-DD, a boolean as true or false' },
    },
  }
}

function groupSchema(source: AnalyticsSource): Schema {
  return {
    type: 'object',
    required: ['field', 'name'],
    properties: { field: namesOf(source.fields.filter((field) => field.groupable)), name: { ...ALIAS, description: 'the alias' } },
  }
}

/** A Markdown table of the fields: meaning, functions and uses. */
function fieldTable(source: AnalyticsSource): string {
  const rows = source.fields.map(({ name, meaning, functions, values, groupable }) => {
    const taken = functions.length > 0 ? functions.map((one) => one.replace('QUERY_AGGREGATION_', '')).join(', ') : 'only filters'
    const known = values ? `; one of ${values.join(', ')}` : ''
    return `| ${name} | ${meaning}${known} | ${taken} | ${groupable ? 'yes' : 'no'} |`
  })
  return ['| field | meaning | functions | group-by |', '|---|---|---|---|', ...rows].join('\n')
}

function querySchema(source: AnalyticsSource): Schema {
  const parts = (items: Schema, more: Schema = {}): Schema => ({ type: 'array', maxItems: MAX_PARTS, items, ...more })
  const groupable = source.fields.some((field) => field.groupable)
  return {
    type: 'object',
    description: `${source.meaning}\n\n${fieldTable(source)}`,
    required: ['data_source', 'selections'],
    properties: {
      data_source: { const: source.name },
      selections: parts({ $ref: `#/components/schemas/Selection.${shortName(source)}` }, { minItems: 1 }),
      filters: parts({ $ref: `#/components/schemas/Filter.${shortName(source)}` }),
      aggregations: groupable ? parts({ $ref: `#/components/schemas/Aggregation.${shortName(source)}` }) : undefined,
    },
  }
}

/** The schemas of queries by name, for the data sources that are served under the switches; `Query` is any of them. */
function querySchemas(switches: Switches): Readonly<Record<string, Schema>> {
  const sources = sourcesServed(switches)
  const each = sources.flatMap((source): readonly (readonly [string, Schema])[] => [
    [`Query.${shortName(source)}`, querySchema(source)],
    [`Selection.${shortName(source)}`, selectionSchema(source)],
    [`Filter.${shortName(source)}`, filterSchema(source)],
    ...(source.fields.some((field) => field.groupable) ? [[`Aggregation.${shortName(source)}`, groupSchema(source)] as const] : []),
  ])
  const refs = sources.map((source) => ({ $ref: `#/components/schemas/Query.${shortName(source)}` }))
  return { Query: { oneOf: refs }, ...Object.fromEntries(each) }
}

type KeyOf<T> = T extends unknown ? keyof T : never
/** One schema for each field of a type, or of the members of a union. */
type Properties<T> = { readonly [Name in KeyOf<T>]-?: Schema }

const text = (description: string, more: Schema = {}): Schema => ({ type: 'string', description, ...more })
const time = (description: string): Schema => ({ type: 'string', format: 'date-time', description })
const digits = (description: string): Schema => ({ type: 'string', pattern: '^\\d+$', description })
const list = (items: Schema, more: Schema = {}): Schema => ({ type: 'array', items, ...more })
const object = (properties: Schema, required: readonly string[] = []): Schema => ({ type: 'object', properties, required })

const SERVICE_KEY = text('the credential; judged before the rest of the request')
const request = (properties: Schema, required: readonly string[] = [], more: Schema = {}): Schema => ({
  ...object({ service_key: SERVICE_KEY, ...properties }, ['service_key', ...required]),
  ...more,
})

/** An empty text counts as not given. */
const given = (description: string): Schema => text(description, { minLength: 1 })
const GROUP_NAME = given('restricts to the people of one group, by its name')

const ANALYTICS: Properties<AnalyticsRequest> = {
  group_name: GROUP_NAME,
  start_timestamp: time('of PCW queries: from when; without it everything there is'),
  end_timestamp: time('of PCW queries: until when; without it the present'),
  query_requests: list({ $ref: '#/components/schemas/Query' }, { minItems: 1, maxItems: MAX_PARTS }),
}

const USER_PAGE: Properties<UserPageRequest> = {
  group_name: GROUP_NAME,
  start_timestamp: time('affects activeDays only; default: one year before now'),
  end_timestamp: time('affects activeDays only; default: now'),
}

const none = (description: string): Schema => ({ type: 'object', maxProperties: 0, description })
const SOURCES: Readonly<Record<CascadeSource, Schema>> = {
  cascade_lines: none('lines suggested and accepted by day'),
  cascade_runs: none('model, mode, messages and credits of each entry of a conversation'),
  cascade_tool_usage: none('how often each tool was used'),
}

const CASCADE: Properties<CascadeRequest> = {
  group_name: given('restricts to a group; not together with emails'),
  start_timestamp: time('range start; without it everything there is'),
  end_timestamp: time('range end; without it the present'),
  emails: list({ type: 'string' }, { description: 'restricts to these people; not together with group_name' }),
  ide_types: list({ type: 'string', enum: IDES }, { description: 'without it all; of cli alone only runs are reported' }),
  query_requests: list(
    { oneOf: Object.entries(SOURCES).map(([name, schema]) => ({ ...object({ [name]: schema }, [name]), additionalProperties: false })) },
    { minItems: 1, maxItems: MAX_PARTS },
  ),
}

const SCOPE: Properties<WireScope> = {
  team_level: { type: 'boolean', description: 'true: every user on the team' },
  group_id: given('every user in this group'),
  user_email: given('one user'),
}
const ONE_SCOPE: readonly Schema[] = [
  { required: ['team_level'], properties: { team_level: { const: true } } },
  { required: ['group_id'] },
  { required: ['user_email'] },
]

const WRITE: Properties<UsageConfigRequest> = {
  ...SCOPE,
  set_add_on_credit_cap: { type: 'integer', minimum: 0, maximum: MAX_CAP, description: 'the new cap, in whole credits per person' },
  clear_add_on_credit_cap: { type: 'boolean', description: 'true: removes the cap' },
}
const ONE_CHANGE: readonly Schema[] = [
  { required: ['set_add_on_credit_cap'] },
  { required: ['clear_add_on_credit_cap'], properties: { clear_add_on_credit_cap: { const: true } } },
]

/** The request of each operation. docs/service.md, Requests. */
export const REQUEST_SCHEMAS: Readonly<Record<Operation, Schema>> = {
  Analytics: request(ANALYTICS, ['query_requests']),
  UserPageAnalytics: request(USER_PAGE),
  CascadeAnalytics: request(CASCADE, ['query_requests'], { not: { required: ['group_name', 'emails'] } }),
  GetUsageConfig: request(SCOPE, [], { oneOf: ONE_SCOPE }),
  UsageConfig: request(WRITE, [], { allOf: [{ oneOf: ONE_CHANGE }, { oneOf: ONE_SCOPE }] }),
  GetTeamCreditBalance: request({}),
}

/** A 64-bit figure, as the switch `--int64` has it. */
const figure = ({ int64 }: Switches, description: string): Schema =>
  int64 === 'string' ? digits(description) : { type: 'integer', minimum: 0, description }

function userSchema(switches: Switches): Schema {
  const properties: Properties<WireUser> = {
    name: text('display name'),
    email: text('e-mail address'),
    lastUpdateTime: time('last activity'),
    apiKey: text('hashed form of the API key'),
    activeDays: { type: 'integer', minimum: 0, description: 'days with any autocomplete acceptance, agent use or command in the range' },
    disableService: { const: true, description: 'present only when access was switched off' },
    disableCodeium: { const: true, description: 'disableService as live deployments spell it' },
    role: text('role in the team; an open list', { examples: ['admin', 'member'] }),
    signupTime: time('sign-up'),
    lastAutocompleteUsageTime: time('latest use of autocomplete'),
    lastChatUsageTime: time('latest use of the agent'),
    lastCommandUsageTime: time('latest use of commands'),
    promptCreditsUsed: figure(switches, 'credits used in this cycle, in cents (100 = 1 credit), whatever the range'),
    teamStatus: text('membership', { enum: TEAM_STATUSES.map((status) => `USER_TEAM_STATUS_${status}`) }),
  }
  const { disableService, disableCodeium, ...common } = properties
  const named = switches.names === 'live' ? { disableCodeium } : { disableService }
  const days = switches.zeros === 'kept' ? ['activeDays'] : []
  return object({ ...common, ...named }, ['name', 'email', 'lastUpdateTime', 'apiKey', ...days, 'teamStatus'])
}

const LINE: Properties<WireCascadeLine> = {
  day: time('midnight of the day'),
  linesSuggested: digits('lines suggested'),
  linesAccepted: digits('lines accepted; may be absent when zero'),
}
const RUN: Properties<WireCascadeRun> = {
  day: time('midnight of the day'),
  model: text('display name of the model; an open list'),
  mode: text('planner mode; an open list', { examples: [...new Set(MODES)] }),
  messagesSent: digits('messages'),
  cascadeId: text('the conversation; may be split over several entries'),
  promptsUsed: digits('credits in cents (100 = 1 credit); may be absent'),
}
const TOOL: Properties<WireCascadeTool> = { tool: text('an open list', { examples: TOOLS.map(([tool]) => tool) }), count: digits('uses') }

/** The wrapper of a source with the array of the same name. */
const wrapped = (name: string, item: Schema): Schema => object({ [name]: object({ [name]: list(object(item)) }) }, [name])

function balanceSchema(switches: Switches): Schema {
  const properties: Properties<BalanceAnswer> = {
    promptCreditsPerSeat: figure(switches, 'prompt credits of each seat'),
    numSeats: figure(switches, 'seats; need not equal the number of people'),
    addOnCreditsAvailable: figure(switches, 'add-on credits of this cycle, recomputed at its start'),
    addOnCreditsUsed: figure(switches, 'add-on credits used in this cycle'),
    billingCycleStart: time('cycle start'),
    billingCycleEnd: time('cycle end'),
  }
  return object(properties, switches.zeros === 'kept' ? Object.keys(properties) : ['billingCycleStart', 'billingCycleEnd'])
}

function capSchema({ capSpelling }: Switches): Schema {
  const cap = { type: 'integer', minimum: 0, maximum: MAX_CAP, description: 'absent: no cap is configured at this scope' }
  return object({
    addOnCreditCap: capSpelling === 'snake' ? undefined : cap,
    add_on_credit_cap: capSpelling === 'camel' ? undefined : cap,
  })
}

const CYCLE = { billingCycleStart: time('of the cycle that promptCreditsUsed is counted in'), billingCycleEnd: time('its end') }

/** The answer of each operation. */
export function answerSchemas(switches: Switches): Readonly<Record<Operation, Schema>> {
  const items = list(object({ item: { type: 'object', additionalProperties: { type: 'string' } } }, ['item']))
  const kept = (name: string): readonly string[] => (switches.zeros === 'kept' ? [name] : [])
  const runs = [wrapped('cascadeLines', LINE), wrapped('cascadeRuns', RUN), wrapped('cascadeToolUsage', TOOL)]
  return {
    Analytics: object({ queryResults: list(object({ responseItems: items }, kept('responseItems'))) }, ['queryResults']),
    UserPageAnalytics: object({ userTableStats: list({ $ref: '#/components/schemas/User' }), ...CYCLE }, [
      ...kept('userTableStats'),
      ...Object.keys(CYCLE),
    ]),
    CascadeAnalytics: object({ queryResults: list({ oneOf: runs }) }, ['queryResults']),
    GetUsageConfig: capSchema(switches),
    UsageConfig: { type: 'object', maxProperties: 0 },
    GetTeamCreditBalance: balanceSchema(switches),
  }
}

/** The schemas that other schemas refer to. */
export const sharedSchemas = (switches: Switches): Readonly<Record<string, Schema>> => ({
  ...querySchemas(switches),
  User: userSchema(switches),
})
