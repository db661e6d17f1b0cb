// The schema of policies, the source of the type, the validator, the schema for editors, and the known keys in messages, with the pieces that other
// schemas share. Only the generator loads this file. It describes one document: duplicates, time zones, undeclared groups and workspaces are checked
// elsewhere.

import type { Static, TProperties, TSchema } from 'typebox'
import Type from 'typebox'
import { MAX_CAP } from '../../core/model/units.ts'
import { API_VERSION, POLICY_KIND } from '../bounds.ts'

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

/** The whole numbers from 0 to `most`, with any leading zeros. */
function upTo(most: number): string {
  const digits = String(most)
  const shorter = digits.length > 1 ? [`[0-9]{1,${digits.length - 1}}`] : []
  const below = [...digits].flatMap((digit, at) => {
    const rest = digits.length - at - 1
    return digit === '0' ? [] : [`${digits.slice(0, at)}[0-${Number(digit) - 1}]${rest > 0 ? `[0-9]{${rest}}` : ''}`]
  })
  return `0*(${[...shorter, ...below, digits].join('|')})`
}

/** White space around a text is accepted where the parsers trim it. */
const whole = (pattern: string): string => `^\\s*${pattern}\\s*$`

const PORT = upTo(65_535)
const UNIT = '(ms|s|m|h|d)'

export const LISTEN_PATTERN = whole(`(\\[[0-9A-Fa-f:.]+\\]|[^\\s:/\\[\\]]*):${PORT}`)

export const URL_PATTERN = whole(`[Hh][Tt][Tt][Pp][Ss]?://(\\[[0-9A-Fa-f:.]+\\]|[^\\s@?#/:\\[\\]\\\\%<>^|]+)(:(${PORT})?)?(/[^@?#]*)?`)

/** Each part is at most 20 days; their sum is not checked here. */
export const INTERVAL_PATTERN = whole(`([0-9]{1,9}ms|${upTo(1_728_000)}s|${upTo(28_800)}m|${upTo(480)}h|${upTo(20)}d)+`)

/** Durations below 100 ms, except those with several parts above 0. */
export const TOO_SHORT_PATTERN = whole(`(0+${UNIT})*(0*[0-9]{1,2}ms)?(0+${UNIT})*`)

/** `15%` or `2.5 %`, of at most `most`. */
export const percentPattern = (most: number): string => whole(`(${upTo(most - 1)}(\\.[0-9]+)?|0*${most}(\\.0+)?)\\s*%`)

const DATE = '[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])'
const HOURS = '([01][0-9]|2[0-3])'

/** A date or an RFC 3339 instant; 31 February is accepted here. */
const TIME_PATTERN = whole(`${DATE}([Tt ]${HOURS}:[0-5][0-9]:([0-5][0-9]|60)(\\.[0-9]+)?([Zz]|[+-]${HOURS}:[0-5][0-9]))?`)

export const HOUR_PATTERN = whole(`${HOURS}:[0-5][0-9]`)

/** An e-mail address without a display name. */
export const MAIL_PATTERN = whole('[^\\s@:<>(),;"\\\\\\[\\]]+@[^\\s@:<>(),;"\\\\\\[\\]]+')

/** The longest time that a condition may ask about, in days. */
const MAX_DAYS = 3650

const email = (description?: string) => pattern('email', '^\\s*[^\\s@:]+@[^\\s@:]+\\s*$', description)
const CAP = leaf<number | 'none'>(
  'cap',
  { anyOf: [{ type: 'integer', minimum: 0, maximum: MAX_CAP }, { const: 'none' }] },
  'Whole add-on credits per person, or none: nothing is set at this scope and its ancestor applies. 0 needs allowZero: true beside it.',
)
const ALLOW_ZERO = optional(flag('Says that a cap of 0 is meant; a service may read a stored 0 back as "no cap".'))
const REASON = text('Why; shown in plans, in explain and in the history.')

/** A cap of 0 needs `allowZero: true` beside it. */
const ZERO_RULE = {
  'x-rule': 'zero',
  if: { properties: { cap: { const: 0 } }, required: ['cap'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { properties: { allowZero: { const: true } }, required: ['allowZero'] },
}
const SETS_A_CAP = { allOf: [ZERO_RULE] }

const oneOf = (rule: string, keys: readonly string[]) => ({ 'x-rule': rule, oneOf: keys.map((key) => ({ required: [key] })) })

const LABELS = orNothing(
  Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: 'object',
    description: 'Free key and value pairs.',
    additionalProperties: { type: ['string', 'number', 'boolean', 'null'], 'x-kind': 'label' },
  }),
)

const METADATA = object('Names the document.', { name: text('Unique among all policy documents.'), labels: LABELS, annotations: LABELS })

const TEAM = object(
  'The cap of everybody without a group or user cap.',
  { cap: CAP, allowZero: ALLOW_ZERO, reason: optional(REASON) },
  { ...SETS_A_CAP, 'x-kind': 'team' },
)

const GROUP = object(
  'The cap of the members of one group. Without cap the group is only declared, for a grant, a rule or a pool.',
  {
    id: text('group_id of the service; used for caps.'),
    name: text('group_name of the service; used to list the members.'),
    cap: optional(CAP),
    allowZero: ALLOW_ZERO,
    reason: optional(REASON),
  },
  SETS_A_CAP,
)

const USER = object(
  'The cap of one person; it wins over group and team.',
  { email: email('Compared trimmed and case-insensitively.'), cap: CAP, allowZero: ALLOW_ZERO, reason: optional(REASON) },
  SETS_A_CAP,
)

const credits = (kind: string, least: number, description: string) =>
  leaf<number>(kind, { type: 'integer', minimum: least, maximum: MAX_CAP }, description)

const GRANT = object(
  'A temporary cap on top of the above; the base comes back by itself.',
  {
    user: optional(email('The person it is for; or group, or team.')),
    group: optional(text('The group_id it is for.')),
    team: optional(leaf<true>('team-flag', { const: true }, 'It is for the team.')),
    cap: optional(credits('grant-cap', 0, 'The cap while it lasts; or add.')),
    add: optional(credits('add', 1, 'Credits on top of the base cap.')),
    allowZero: ALLOW_ZERO,
    from: optional(pattern('from', TIME_PATTERN, 'Date (its start, in spec.timezone) or RFC 3339 instant; absent: from now on.')),
    until: leaf<string>(
      'until',
      { anyOf: [{ type: 'string', pattern: TIME_PATTERN }, { const: 'cycleEnd' }] },
      'Date (through its end, in spec.timezone), RFC 3339 instant, or cycleEnd: the end of the cycle that contains from.',
    ),
    reason: REASON,
    ticket: optional(text('Where it was asked for.')),
  },
  {
    allOf: [
      oneOf('grant-scope', ['user', 'group', 'team']),
      oneOf('grant-amount', ['cap', 'add']),
      ZERO_RULE,
      {
        'x-rule': 'cycle-end',
        if: { properties: { until: { const: 'cycleEnd' } }, required: ['until'] },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { required: ['from'] },
      },
    ],
  },
)

const days = (description: string) => leaf<number>('whole', { type: 'integer', minimum: 1, maximum: MAX_DAYS }, description)

/** `listed` is no column. */
const ATTRIBUTES = leaf<{ readonly listed?: boolean } & Readonly<Record<string, string>>>(
  'attributes',
  {
    type: 'object',
    minProperties: 1,
    properties: { listed: flag('Whether the person is in the people file.') },
    additionalProperties: { type: 'string', 'x-kind': 'attribute' },
  },
  'Columns of the people file with their exact text; listed: false is for people who are not in it.',
)

const WHEN = object(
  'Conditions on a person in the roster; all of them must hold.',
  {
    email: optional(
      pattern(
        'glob',
        '^\\s*[^\\s:]*[@*?][^\\s:]*\\s*$',
        'Pattern over the whole address, such as *@contractor.example: * is any text, ? one character.',
      ),
    ),
    role: optional(text('The role in the team, such as admin or member.')),
    groups: filled('Ids of groups declared in spec.groups; one of them is enough.', text()),
    inactiveDays: optional(days('No use for at least so many days, counted back from the newest use of anybody.')),
    joinedWithinDays: optional(days('Signed up at most so many days ago.')),
    activeDays: optional(
      object('Active on few days.', {
        below: days('On fewer days than this'),
        within: days('of the last so many days.'),
      }),
    ),
    attributes: optional(ATTRIBUTES),
  },
  {
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    allOf: [{ 'x-rule': 'when', if: { maxProperties: 0 }, then: false }],
  },
)

const PEOPLE_RULE = object(
  'A cap for everybody who matches; of several rules the first one counts. A cap, or a grant, of the person wins over it.',
  { name: text('Unique in the workspace.'), when: WHEN, cap: CAP, allowZero: ALLOW_ZERO, reason: optional(REASON) },
  SETS_A_CAP,
)

const POOL_MEMBERS = object(
  'Who shares the pool: groups, or emails, or when, or attributes.',
  {
    groups: filled('Ids of groups declared in spec.groups.', text()),
    emails: filled('The people.', email()),
    when: optional(WHEN),
    attributes: optional(ATTRIBUTES),
  },
  { allOf: [oneOf('pool-members', ['groups', 'emails', 'when', 'attributes'])] },
)

const wholeCredits = (least: number, description: string) =>
  leaf<number>('whole', { type: 'integer', minimum: least, maximum: MAX_CAP }, description)

const POOL = object('A budget of add-on credits for a set of people and a cycle, kept by moving their caps.', {
  name: text('Unique in the workspace.'),
  members: POOL_MEMBERS,
  credits: wholeCredits(1, 'Add-on credits per billing cycle, for all members together.'),
  share: optional(
    choice(['need', 'equal'], 'How what is left is dealt out: by the pace of each member (default), or the same to everybody.'),
  ),
  min: optional(wholeCredits(0, 'The cap of no member falls below it while the pool lasts; default 0.')),
  max: optional(wholeCredits(1, 'The cap of no member rises above it.')),
})

const SPEC = object('What is asked.', {
  workspace: optional(text('The workspace that this document is for; may be left out when there is only one.')),
  timezone: orNothing(pattern('timezone', '\\S', 'IANA time zone of the dates in this document, such as Europe/Berlin; default UTC.')),
  onGroupConflict: optional(
    choice(['min', 'max'], 'The cap of a person in several groups with different caps; without it that person is rejected and reported.'),
  ),
  team: optional(TEAM),
  groups: list('Caps of groups.', GROUP),
  users: list('Caps of people.', USER),
  grants: list('Temporary caps.', GRANT),
  rules: list('Caps for people who match a condition; the first rule that matches counts.', PEOPLE_RULE),
  pools: list('Budgets over the caps of several people.', POOL),
  protected: list('People whose cap capkeeper never lowers, blocks or clears.', email()),
  approvals: list(
    'Ids of holds that review has released; 32 hex digits.',
    leaf<string>('approval', { type: ['string', 'number'], pattern: '^\\s*[0-9A-Fa-f]{32}\\s*$' }),
  ),
})

/** One policy document. */
export const POLICY = object(
  'Caps of one workspace: the team, groups, users, and temporary grants.',
  { apiVersion: word(API_VERSION), kind: leaf<typeof POLICY_KIND>('policy-kind', { const: POLICY_KIND }), metadata: METADATA, spec: SPEC },
  { $schema: DIALECT, $id: 'urn:capkeeper:schema:policy', title: 'capkeeper policy' },
)

export type PolicyText = Static<typeof POLICY>
export type SpecText = Static<typeof SPEC>
export type RuleText = Static<typeof TEAM>
export type GroupText = Static<typeof GROUP>
export type UserText = Static<typeof USER>
export type GrantText = Static<typeof GRANT>
export type WhenText = Static<typeof WHEN>
export type PeopleRuleText = Static<typeof PEOPLE_RULE>
export type PoolText = Static<typeof POOL>
