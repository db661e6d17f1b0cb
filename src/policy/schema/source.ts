// The schema of policies, the source of the type, the validator, the schema for editors, and the known keys in messages, with the forms of values that
// it shares with the config: each with its pattern and with what is said of a wrong one. Only the generator loads this file. It describes one
// document: duplicates, time zones, undeclared groups and workspaces are checked elsewhere.

import type { Static, TProperties, TSchema } from 'typebox'
import Type from 'typebox'
import { MAX_CAP } from '../../core/model/units.ts'
import { API_VERSION, POLICY_KIND } from '../bounds.ts'
import type { Wrong } from './check.ts'
import type { Kind } from './kinds.ts'

type Json = Readonly<Record<string, unknown>>

/** What is said of a wrong value; `kind`: where there is more to it (kinds.ts). */
export type Form = Wrong & { readonly kind?: Kind }

/** A schema in plain JSON for values of a type. */
export const leaf = <T>({ kind, ...wrong }: Form, schema: Json, description?: string) =>
  Type.Unsafe<T>({ ...schema, description, 'x-wrong': wrong, 'x-kind': kind })

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

const NOT_TEXT = { code: 'NOT_TEXT', what: 'not a text' } as const

/** A text; a number is taken as written. */
export const text = (description?: string) =>
  leaf<string>({ ...NOT_TEXT, text: 'as written', kind: 'text' }, { type: ['string', 'number'], pattern: '\\S' }, description)

/** A value of a certain form. */
export const pattern = (form: Form, regularExpression: string, description?: string) =>
  leaf<string>(form, { type: 'string', pattern: regularExpression }, description)

export const flag = (description: string) =>
  leaf<boolean>(
    { code: 'NOT_BOOLEAN', what: 'not true or false', hint: 'write true or false, without quotes' },
    { type: 'boolean' },
    description,
  )

/** `more`: values that count as one of the words. */
export const choice = <const T extends string, const More = never>(words: readonly T[], description: string, more: readonly More[] = []) =>
  leaf<T | More>(
    { code: 'UNKNOWN_VALUE', what: `not one of ${words.join(', ')}`, kind: 'choice' },
    { enum: [...words, ...more] },
    description,
  )

export const word = <const T extends string>(one: T, kind: Kind = 'word') =>
  leaf<T>({ code: 'KIND', what: `not ${one}`, kind }, { const: one })

/** A whole number of digits alone, unless `kind` says otherwise. */
export const whole = (least: number, most: number, description?: string, form: Partial<Form> = { kind: 'whole' }) =>
  leaf<number>(
    { code: 'NUMBER', what: `not a whole number from ${least} to ${most}`, ...form },
    { type: 'integer', minimum: least, maximum: most },
    description,
  )

export const email = (regularExpression: string, description?: string) =>
  pattern(
    { code: 'EMAIL', what: 'not an e-mail address', hint: 'write it as name@example.com', kind: 'email' },
    regularExpression,
    description,
  )

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
const spaced = (pattern: string): string => `^\\s*${pattern}\\s*$`

const PORT = upTo(65_535)
const UNIT = '(ms|s|m|h|d)'
const DATE = '[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])'
const HOURS = '([01][0-9]|2[0-3])'

/** A date or an RFC 3339 instant; 31 February is accepted here. */
const TIME_PATTERN = spaced(`${DATE}([Tt ]${HOURS}:[0-5][0-9]:([0-5][0-9]|60)(\\.[0-9]+)?([Zz]|[+-]${HOURS}:[0-5][0-9]))?`)

/** An e-mail address without a display name. */
export const mail = (description: string) => email(spaced('[^\\s@:<>(),;"\\\\\\[\\]]+@[^\\s@:<>(),;"\\\\\\[\\]]+'), description)

export const hour = (description: string) =>
  pattern({ code: 'TIME', what: 'not a time of day', hint: 'write it like 19:00' }, spaced(`${HOURS}:[0-5][0-9]`), description)

/** From 100 ms to 20 days, but for a sum of several parts. */
export const interval = (description: string) =>
  orNothing(
    leaf<string>(
      { code: 'DURATION', what: 'not a duration', hint: 'write a duration such as 90s, 5m, 2h or 1d', kind: 'interval' },
      {
        type: 'string',
        pattern: spaced(`([0-9]{1,9}ms|${upTo(1_728_000)}s|${upTo(28_800)}m|${upTo(480)}h|${upTo(20)}d)+`),
        not: { type: 'string', pattern: spaced(`(0+${UNIT})*(0*[0-9]{1,2}ms)?(0+${UNIT})*`) },
      },
      description,
    ),
  )

/** `15%`, `15 %` or 15, of at most `most`. */
export const percent = (most: number) => [
  { type: 'string', pattern: spaced(`(${upTo(most - 1)}(\\.[0-9]+)?|0*${most}(\\.0+)?)\\s*%`) },
  { type: 'number', minimum: 0, maximum: most },
]

/** Texts of a form, of which messages quote a wrong one. */
const quoted = (wrong: readonly [code: Form['code'], what: string, hint: string], regularExpression: string, kind?: Kind) => {
  const [code, what, hint] = wrong
  return (description: string) => pattern({ code, what, hint, text: 'quoted', kind }, regularExpression, description)
}

export const timezone = quoted(['TIMEZONE', 'not a known time zone', 'write a name of the IANA database such as Europe/Berlin'], '\\S')

export const header = quoted(
  ['AUTH', 'not the name of a header', 'write one name without spaces, such as X-Forwarded-Groups'],
  "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$",
)

export const listen = quoted(
  ['ADDRESS', 'not host:port', 'write 127.0.0.1:9464, or 0.0.0.0:9464 for all addresses'],
  spaced(`(\\[[0-9A-Fa-f:.]+\\]|[^\\s:/\\[\\]]*):${PORT}`),
)

export const url = quoted(
  ['URL', 'not an address', 'write it like https://service.example/api/v1'],
  spaced(`[Hh][Tt][Tt][Pp][Ss]?://(\\[[0-9A-Fa-f:.]+\\]|[^\\s@?#/:\\[\\]\\\\%<>^|]+)(:(${PORT})?)?(/[^@?#]*)?`),
  'url',
)

/** Only a web address may become a link. */
export const sourceUrl = quoted(
  ['URL', 'not a web address', 'write it like https://git.example/acme/caps/blob/{revision}/{file}#L{line}'],
  '^\\s*https?://[^\\s"<>]{1,1000}\\s*$',
)

/** A link that values are filled into leads to the same place for everybody: https, and nothing to fill in before the path. */
export const requestUrl = quoted(
  [
    'URL',
    'not an https address with nothing to fill in before its path',
    'write it like https://git.example/acme/caps/issues/new?person={email}&cap={cap}&used={used}',
  ],
  '^\\s*https://[^\\s"<>{}/?#@\\\\]{1,255}/[^\\s"<>]{0,1000}\\s*$',
)

export const currency = quoted(
  ['UNKNOWN_VALUE', 'not a currency', 'write the three letters of ISO 4217, such as EUR'],
  '^\\s*[A-Z]{3}\\s*$',
)

/** Exactly one of these keys. */
export const onlyOne = (code: Form['code'], ...keys: readonly string[]) => ({
  'x-rule': 'only-one',
  'x-wrong': { code, what: `exactly one of ${keys.join(', ')}` },
  oneOf: keys.map((key) => ({ required: [key] })),
})

export const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

/** The longest time that a condition may ask about, in days. */
const MAX_DAYS = 3650

const person = (description?: string) => email('^\\s*[^\\s@:]+@[^\\s@:]+\\s*$', description)
const WRITE_A_CAP = 'write the credits per person, such as 500'
const CAP = leaf<number | 'none'>(
  { code: 'CAP', what: `not a whole number from 0 to ${MAX_CAP}, or none`, hint: `${WRITE_A_CAP}, or none`, kind: 'cap' },
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

const LABELS = orNothing(
  Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: 'object',
    description: 'Free key and value pairs.',
    additionalProperties: { type: ['string', 'number', 'boolean', 'null'], 'x-wrong': NOT_TEXT },
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
  { email: person('Compared trimmed and case-insensitively.'), cap: CAP, allowZero: ALLOW_ZERO, reason: optional(REASON) },
  SETS_A_CAP,
)

const credits = (kind: 'grant-cap' | 'add', least: number, description: string) =>
  whole(least, MAX_CAP, description, { code: 'CAP', hint: WRITE_A_CAP, kind })

const GRANT = object(
  'A temporary cap on top of the above; the base comes back by itself.',
  {
    user: optional(person('The person it is for; or group, or team.')),
    group: optional(text('The group_id it is for.')),
    team: optional(leaf<true>({ code: 'NOT_BOOLEAN', what: 'not true', kind: 'team-flag' }, { const: true }, 'It is for the team.')),
    cap: optional(credits('grant-cap', 0, 'The cap while it lasts; or add.')),
    add: optional(credits('add', 1, 'Credits on top of the base cap.')),
    allowZero: ALLOW_ZERO,
    from: optional(
      pattern(
        { code: 'TIME', what: 'not a date or an RFC 3339 instant', text: 'trimmed', kind: 'from' },
        TIME_PATTERN,
        'Date (its start, in spec.timezone) or RFC 3339 instant; absent: from now on.',
      ),
    ),
    until: leaf<string>(
      { code: 'TIME', what: 'not a date, an RFC 3339 instant or cycleEnd', text: 'trimmed', kind: 'until' },
      { anyOf: [{ type: 'string', pattern: TIME_PATTERN }, { const: 'cycleEnd' }] },
      'Date (through its end, in spec.timezone), RFC 3339 instant, or cycleEnd: the end of the cycle that contains from.',
    ),
    reason: REASON,
    ticket: optional(text('Where it was asked for.')),
  },
  {
    allOf: [
      onlyOne('GRANT_SCOPE', 'user', 'group', 'team'),
      onlyOne('GRANT_AMOUNT', 'cap', 'add'),
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

const days = (description: string) => whole(1, MAX_DAYS, description)

/** `listed` is no column. */
const ATTRIBUTES = leaf<{ readonly listed?: boolean } & Readonly<Record<string, string>>>(
  { code: 'RULE_WHEN', what: 'not a mapping of columns', hint: 'write it like {costCenter: CC-12}, or {listed: false}' },
  {
    type: 'object',
    minProperties: 1,
    properties: { listed: flag('Whether the person is in the people file.') },
    additionalProperties: leaf<string>({ ...NOT_TEXT, hint: 'write "" for an empty cell', kind: 'attribute' }, { type: 'string' }),
  },
  'Columns of the people file with their exact text; listed: false is for people who are not in it.',
)

const WHEN = object(
  'Conditions on a person in the roster; all of them must hold.',
  {
    email: optional(
      pattern(
        {
          ...{ code: 'EMAIL_PATTERN', what: 'not a pattern for e-mail addresses', kind: 'glob' },
          hint: 'write it as "*@contractor.example": * is any text, ? one character',
        },
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
    emails: filled('The people.', person()),
    when: optional(WHEN),
    attributes: optional(ATTRIBUTES),
  },
  { allOf: [onlyOne('POOL_MEMBERS', 'groups', 'emails', 'when', 'attributes')] },
)

const wholeCredits = (least: number, description: string) => whole(least, MAX_CAP, description)

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
  timezone: orNothing(timezone('IANA time zone of the dates in this document, such as Europe/Berlin; default UTC.')),
  onGroupConflict: optional(
    choice(['min', 'max'], 'The cap of a person in several groups with different caps; without it that person is rejected and reported.'),
  ),
  team: optional(TEAM),
  groups: list('Caps of groups.', GROUP),
  users: list('Caps of people.', USER),
  grants: list('Temporary caps.', GRANT),
  rules: list('Caps for people who match a condition; the first rule that matches counts.', PEOPLE_RULE),
  pools: list('Budgets over the caps of several people.', POOL),
  protected: list('People whose cap capkeeper never lowers, blocks or clears.', person()),
  approvals: list(
    'Ids of holds that review has released; 32 hex digits.',
    leaf<string>(
      { code: 'APPROVAL', what: 'not a hold id', kind: 'approval' },
      { type: ['string', 'number'], pattern: '^\\s*[0-9A-Fa-f]{32}\\s*$' },
    ),
  ),
})

/** One policy document. */
export const POLICY = object(
  'Caps of one workspace: the team, groups, users, and temporary grants.',
  { apiVersion: word(API_VERSION), kind: word(POLICY_KIND, 'policy-kind'), metadata: METADATA, spec: SPEC },
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
