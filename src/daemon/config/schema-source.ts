// The schema of the config file: source of its types, its validation and the published schema. Only the generator loads this file. It compares no two
// values; file.ts does.
import type { Static } from 'typebox'
import { DEFAULT_GUARDS, type GuardCode } from '../../core/model/change.ts'
import { MODES } from '../../core/model/events.ts'
import { DIGESTS, EVENTS, type MessageKind, PLACEHOLDERS, TLS_MODES, WEBHOOK_FORMATS } from '../../core/notify/settings.ts'
import { API_VERSION, CONFIG_KIND } from '../../policy/bounds.ts'
import {
  choice,
  currency,
  DIALECT,
  type Form,
  filled,
  flag,
  header,
  hour,
  interval,
  leaf,
  list,
  listen,
  mail,
  object,
  onlyOne,
  optional,
  orNothing,
  pattern,
  percent,
  requestUrl,
  sourceUrl,
  text,
  timezone,
  url,
  whole,
  word,
} from '../../policy/schema/source.ts'

const number = (least: number, most: number, description: string) =>
  leaf<number>(
    { code: 'NUMBER', what: `not a number from ${least} to ${most}` },
    { type: 'number', minimum: least, maximum: most },
    description,
  )
/** Also written with a point, such as 5.0. */
const integer = (least: number, most: number, description?: string) => whole(least, most, description, {})

/** A file, or an address of PostgreSQL; no other address. */
const LEDGER_PATTERN = '^\\s*([Pp][Oo][Ss][Tt][Gg][Rr][Ee][Ss]([Qq][Ll])?://|(?![A-Za-z][A-Za-z0-9+.-]*://)\\S)'
/** `off` and `false` switch a guard off, `on` and `true` leave it at its default. Helm writes `off` as false. */
const SWITCH = { enum: ['on', 'off', true, false, 'true', 'false'] }
/** YAML 1.1 reads `off` as false, and Helm writes it so. */
const NO = [false, 'false'] as const
type Switch = 'on' | 'off' | boolean | 'true' | 'false'

export type Percent = string | number
const wrongPercent = (most: number, hint: string): Form => ({ code: 'NUMBER', what: `not a percentage from 0 to ${most}`, hint })
const PERCENT = leaf<Percent>(wrongPercent(100, 'write 15%'), { anyOf: percent(100) })

/** In percent of the remaining add-on credits. */
const MOST_RAISE = 10_000
const MOST_FLOOR = 1_000_000
const TIMES = integer(1, 1000)

const SHARE_MAP = object('Holds when more than both are reached.', { percent: optional(PERCENT), floor: optional(integer(0, MOST_FLOOR)) })
const BREAKER_MAP = object('Failed changes in a row, or their share of those to be written.', {
  inARow: optional(TIMES),
  percent: optional(PERCENT),
})
const CONTESTED_MAP = object('Foreign changes of one scope.', { times: optional(TIMES) })

const OR_OFF = 'write 20%, or off'
const guard = {
  switch: leaf<Switch>({ code: 'NOT_BOOLEAN', what: 'not on or off', hint: 'write on or off' }, SWITCH),
  share: leaf<Switch | Percent | Static<typeof SHARE_MAP>>(
    { code: 'NUMBER', what: 'not a share of the people', hint: 'write 15%, {percent: 15, floor: 3}, or off' },
    { anyOf: [SWITCH, ...percent(100), SHARE_MAP] },
  ),
  shrink: leaf<Switch | Percent>(
    wrongPercent(100, OR_OFF),
    { anyOf: [SWITCH, ...percent(100)] },
    `Percent of the people; default ${DEFAULT_GUARDS.rosterShrink}.`,
  ),
  raise: leaf<Switch | Percent>(
    wrongPercent(MOST_RAISE, OR_OFF),
    { anyOf: [SWITCH, ...percent(MOST_RAISE)] },
    'Percent of the add-on credits remaining; default 100.',
  ),
  breaker: leaf<Switch | Percent | Static<typeof BREAKER_MAP>>(
    wrongPercent(100, OR_OFF),
    { anyOf: [SWITCH, ...percent(100), BREAKER_MAP] },
    'When failing writes stop; default 3 in a row or 10 %.',
  ),
  contested: leaf<Switch | number | Static<typeof CONTESTED_MAP>>(
    { code: 'NUMBER', what: 'not a whole number from 1 to 1000' },
    { anyOf: [SWITCH, TIMES, CONTESTED_MAP] },
    'Foreign changes of one scope within 24 h; default 3.',
  ),
}
const BY_CODE = {
  emptyPolicy: optional(guard.switch),
  rosterShrink: optional(guard.shrink),
  directoryShrink: optional(guard.shrink),
  maxAffected: optional(guard.share),
  maxLowered: optional(guard.share),
  maxBlocked: optional(guard.share),
  maxCleared: optional(guard.share),
  maxRaise: optional(guard.raise),
  protected: optional(guard.switch),
  readQuality: optional(guard.share),
  breaker: optional(guard.breaker),
  semantics: optional(guard.switch),
  envelope: optional(guard.switch),
  contested: optional(guard.contested),
} satisfies Record<GuardCode, unknown>

const GUARDS = object('Limits; see the manual.', BY_CODE)

const PATH = optional(text())
const SECRET = { 'x-secret': true }
const reference = (what: string, description: string, notes: Readonly<Record<string, unknown>> = {}) =>
  object(
    description,
    { file: PATH, env: PATH },
    {
      ...notes,
      'x-wrong': { code: 'KEY_REFERENCE', what: `not a reference to a ${what}` },
      'x-kind': 'key-reference',
      allOf: [{ ...onlyOne('KEY_REFERENCE', 'file', 'env'), 'x-rule': 'key-reference' }],
    },
  )
const KEY_REFERENCE = reference('key', 'The key, in a file or in an environment variable.')
const LEDGER_TOKEN = reference(
  'key',
  'The token for /ledger, in a file or in an environment variable; needed unless listen is loopback.',
  SECRET,
)
const AUTH = object(
  'Which readers may see the pages, /api/v1, /status and /ledger: those with a token, or those let in by a proxy.',
  {
    token: optional({ ...LEDGER_TOKEN, description: 'The token that readers send as Authorization: Bearer.' }),
    proxyHeader: optional(header('The header in which the proxy names the groups of the reader, with commas between.')),
    emailHeader: optional(header('The header in which the proxy names the address of the reader; with viewers.')),
    from: filled('Addresses and networks of the proxy, such as 10.0.0.0/8; its header counts only from them.', text()),
    metrics: orNothing(flag('Check /metrics as well; default false.')),
  },
  {
    allOf: [
      {
        'x-rule': 'auth',
        oneOf: [
          { required: ['token'], not: { anyOf: [{ required: ['proxyHeader'] }, { required: ['emailHeader'] }, { required: ['from'] }] } },
          { required: ['proxyHeader', 'from'], not: { required: ['token'] } },
        ],
      },
    ],
  },
)

const VIEWER = object('Groups of readers and what they see.', {
  groups: list("Groups of the proxy's header; * for every reader it lets in; or self.", text()),
  workspaces: list('Names of workspaces; * for all. Only with self it may be left out, and then is all.', text()),
  only: optional(object('Only the people of some groups of the policies.', { groups: list('Ids of groups in the policies.', text()) })),
  self: orNothing(flag('Everybody sees themselves; needs auth.emailHeader.')),
  people: orNothing(choice(['email', 'hash'], 'How the people that it shows are shown to its readers; default: as people says.')),
})

const KEYS = object(
  'Service keys; the four of one permission fall back to default.',
  {
    default: optional(KEY_REFERENCE),
    analyticsRead: optional(KEY_REFERENCE),
    teamsRead: optional(KEY_REFERENCE),
    billingRead: optional(KEY_REFERENCE),
    billingWrite: optional(KEY_REFERENCE),
  },
  {
    ...SECRET,
    'x-wrong': {
      code: 'KEY_REFERENCE',
      what: 'not a mapping of references to keys',
      hint: 'write keys: {default: {file: PATH}} or keys: {default: {env: NAME}}',
    },
  },
)

const RATE = object('Requests per second.', {
  start: orNothing(number(0.1, 1000, 'Where learning starts; default 5.')),
  max: orNothing(number(0.1, 1000, 'Never more than this; default 10.')),
  concurrency: orNothing(integer(1, 64, 'Requests in flight; default 8.')),
})

const DIRECTORY = object('The people file: a CSV with a header that says more of people than the service does.', {
  file: text('The file, relative to this one; at most 16 MiB and 100,000 rows.'),
  id: text('The column with the e-mail address.'),
  columns: filled('The columns that policies and reports may name; all others are dropped.', text()),
})

const HISTORY = { code: 'DURATION', what: 'neither off nor 1d to 400d', hint: 'write a number of days such as 180d, or off' } as const

const WORKSPACE = object('One team account of the service.', {
  name: text(),
  baseUrl: orNothing(url('Address of the service.')),
  caFile: orNothing(text('CA certificates (PEM) for the service, in place of the default ones; relative to this file.')),
  allowPlainHttp: orNothing(flag('Allow http:// to another machine, where the key travels unencrypted; default false.')),
  keys: orNothing(KEYS),
  policies: list('Policy files and folders, relative to this file.', text()),
  directory: orNothing(DIRECTORY),
  mode: orNothing(choice(MODES, 'enforce; audit: plan and measure, never write; paused. Default enforce.')),
  capSemantics: orNothing(
    choice(['layered', 'copied'], 'Whether the service keeps caps per scope (default) or copies team and group caps to members.'),
  ),
  capReads: orNothing(
    choice(
      ['auto', 'explicit', 'inherited'],
      'Whether a read shows only the explicitly set cap (explicit) or also an inherited one (inherited); default auto: established by evidence.',
    ),
  ),
  interval: interval('How often caps are read, from 100ms to 20d; default 5m.'),
  usageInterval: interval('How often people, use and balance are read, from 100ms to 20d; default 15m.'),
  usageLag: interval('How old the figures of a reading of use can be, from 100ms to 20d; default 3h30m. Pools wait for it.'),
  history: orNothing(
    pattern(
      { ...HISTORY, text: 'as written', kind: 'history' },
      String.raw`^\s*(off|0*([1-9]|[1-9][0-9]|[1-3][0-9]{2}|400)d)\s*$`,
      'How many past days of people are read after the start, from 1d to 400d, or off; default 180d.',
    ),
  ),
  onDrift: orNothing(choice(['heal', 'alert'], 'heal (default) reverts foreign changes; alert only shows them.')),
  prune: orNothing(flag('Clear caps of capkeeper that no policy declares any more; default true.')),
  undeclaredUsers: orNothing(choice(['ignore', 'report'], 'report looks for user caps that no policy declares; default ignore.')),
  guards: orNothing(GUARDS),
  rate: orNothing(RATE),
})

const ENVELOPE = object('What a team may decide in a policy folder of its own.', {
  name: text('Unique; plans and problems name it.'),
  workspace: text('The name of a workspace.'),
  policies: list('Policy files and folders of the team, relative to this file.', text()),
  groups: list('Ids of groups of the policies that the team decides about.', text()),
  maxCap: integer(0, 2_147_483_647, 'No cap in the folder is higher.'),
  sum: orNothing(integer(0, 9_007_199_254_740_991, 'The highest caps of all people whom the folder reaches, together.')),
  maxPeople: orNothing(integer(0, 1_000_000, 'How many people the folder may reach.')),
  grants: orNothing(
    object('Bounds on grants; absent: none are allowed.', {
      maxDays: integer(1, 3660, 'No grant is longer; grants of a scope less than 7 days apart count as one.'),
      maxAdd: integer(0, 2_147_483_647, 'No grant is higher than maxCap and this together.'),
    }),
  ),
})

const METRICS = object('Series per person.', {
  perUser: orNothing(choice(['off', 'top', 'all'], 'Default off.', NO)),
  userLabel: orNothing(choice(['hash', 'email'], 'Default hash.')),
})

const secret = (what: string) => reference('secret', `${what}, in a file or in an environment variable.`, SECRET)

const THRESHOLD = whole(1, 100)

const EMAIL = object('The mail server and the sender.', {
  host: text('Name or address of the mail server.'),
  port: orNothing(integer(1, 65_535, 'Default 587; 465 with tls: implicit, 25 with tls: none.')),
  tls: orNothing(
    choice(
      TLS_MODES,
      'starttls (default): encrypted or not at all; implicit: encrypted from the start; none: only to this machine, or without user.',
    ),
  ),
  from: mail('Address of the sender.'),
  replyTo: orNothing(mail('Where answers go; default: from.')),
  user: optional(text('The user at the mail server; none: no login.')),
  password: optional(secret("The user's password")),
  caFile: orNothing(text('CA certificates (PEM) for the mail server, in place of the default ones; relative to this file.')),
})

const WEBHOOK = object('A chat channel or a program that gets messages.', {
  name: text('A unique name, for owners.'),
  url: secret('Its address, which is a secret'),
  format: orNothing(choice(WEBHOOK_FORMATS, 'slack, teams (a card for Workflows), or json (default).')),
})

const OWNER = object(
  'Owners of a group or a pool.',
  {
    workspace: optional(text('The workspace; may be left out when there is only one.')),
    group: optional(text('group_id: pools of this group, and digests of it; or pool.')),
    pool: optional(text('Name of a pool; or group.')),
    email: list('Addresses of the owners.', mail('An address.')),
    webhook: optional(text('Name of a webhook.')),
  },
  { allOf: [onlyOne('NOTIFY_OWNER', 'group', 'pool')] },
)

const TEMPLATE = (kind: MessageKind) =>
  object(`Placeholders: ${PLACEHOLDERS[kind].map((name) => `{${name}}`).join(', ')}. {{ and }} are braces.`, {
    subject: optional(text('One line.')),
    text: optional(text('The message.')),
  })

const NOTIFY = object('Messages to people and owners.', {
  email: orNothing(EMAIL),
  webhooks: list('Channels for owners beside e-mail.', WEBHOOK),
  people: filled(
    'Percent of their cap at which people get an e-mail, once in a billing cycle each; such as [85, 100]. Absent: no messages to people.',
    THRESHOLD,
  ),
  pools: filled(
    'Percent of the credits of a pool at which its owners get a message, once in a billing cycle each; default [80].',
    THRESHOLD,
  ),
  owners: list('Owners of groups and pools.', OWNER),
  digest: orNothing(choice(DIGESTS, 'How often owners get a digest, at eight; default off.', NO)),
  events: filled(
    'Events that the owners of the groups they touch, and webhooks without an owner, are told about; default none.',
    choice(EVENTS, 'An event.'),
  ),
  timezone: orNothing(timezone('IANA time zone of quiet hours, days and dates, such as Europe/Berlin; default UTC.')),
  quietHours: orNothing(
    object('No message is sent between these times of day; those that still apply are sent afterwards.', {
      from: hour('Such as 19:00.'),
      until: hour('Such as 08:00.'),
    }),
  ),
  templates: orNothing(
    object('Your own texts of the messages.', {
      person: orNothing(TEMPLATE('person')),
      pool: orNothing(TEMPLATE('pool')),
      digest: orNothing(TEMPLATE('digest')),
      event: orNothing(TEMPLATE('event')),
    }),
  ),
})

const NO_LEDGER = { code: 'ADDRESS', what: '', hint: 'write the path of a file, or an address that begins with postgres://' } as const

/** The config file. */
export const CONFIG = object(
  'How capkeeper runs. Everything but the address and the key has a default.',
  {
    apiVersion: word(API_VERSION),
    kind: word(CONFIG_KIND),
    listen: orNothing(listen('host:port of the HTTP server; default 127.0.0.1:9464.')),
    people: orNothing(choice(['hash', 'email'], 'How people are shown; default email on loopback, else hash.')),
    ledger: orNothing(
      leaf<string>(
        { ...NO_LEDGER, text: 'quoted', kind: 'ledger' },
        { type: ['string', 'number'], pattern: LEDGER_PATTERN },
        'The durable record, relative to this file; :memory: for none; or a PostgreSQL address such as postgres://host/name.',
      ),
    ),
    ledgerToken: optional(LEDGER_TOKEN),
    auth: optional(AUTH),
    viewers: list('Which groups see which workspaces, with auth.proxyHeader; absent: every reader sees all.', VIEWER),
    sourceUrl: orNothing(sourceUrl('Address of a policy line, for links, with {revision}, {file} and {line} in it.')),
    requests: orNothing(
      object('Where people ask for more.', {
        url: requestUrl('Link to a form, with {email}, {cap} and {used} in it where wanted; https.'),
      }),
    ),
    approvals: orNothing(
      choice(
        ['separate', 'together'],
        'Whether an approval in a policy may come with the change that it releases; default separate: only after the hold was shown.',
      ),
    ),
    metrics: orNothing(METRICS),
    pricePerCredit: orNothing(
      leaf<number>(
        { code: 'NUMBER', what: 'not a number from 0 to 1000000', kind: 'price' },
        { type: 'number', exclusiveMinimum: 0, maximum: 1_000_000 },
        'Turns credits into money in reports.',
      ),
    ),
    currency: orNothing(currency('Of pricePerCredit, in three letters (ISO 4217), for reports.')),
    creditsPerSeat: orNothing(integer(1, 1_000_000, 'What a seat includes in each cycle, for past use where the balance cannot be read.')),
    notify: orNothing(NOTIFY),
    envelopes: list('Policy folders in which teams decide within bounds.', ENVELOPE),
    workspaces: list('Each is managed independently of the others.', WORKSPACE),
  },
  { $schema: DIALECT, $id: 'urn:capkeeper:schema:config', title: 'capkeeper config' },
)

export type ConfigText = Static<typeof CONFIG>
export type WorkspaceText = Static<typeof WORKSPACE>
export type GuardsText = Static<typeof GUARDS>
export type NotifyText = Static<typeof NOTIFY>
export type EnvelopeText = Static<typeof ENVELOPE>
export type ViewerText = Static<typeof VIEWER>
export type OwnerText = Static<typeof OWNER>
