// The schema of the config file, from which everything else is made, as policy/schema/source.ts says. Only the generator loads this file.
// It compares no two values: durations that add up, a start above max and workspaces of one name are rules of their own.
import type { Static } from 'typebox'
import { DEFAULT_GUARDS, type GuardCode } from '../../core/model/change.ts'
import { MODES } from '../../core/model/events.ts'
import { DIGESTS, type Digest, type MessageKind, PLACEHOLDERS, TLS_MODES } from '../../core/notify/settings.ts'
import { WEBHOOK_FORMATS } from '../../core/notify/text.ts'
import { choice, DIALECT, filled, flag, leaf, list, object, optional, orNothing, pattern, text, word } from '../../policy/schema/build.ts'
import {
  HOUR_PATTERN,
  INTERVAL_PATTERN,
  LISTEN_PATTERN,
  MAIL_PATTERN,
  percentPattern,
  TOO_SHORT_PATTERN,
  URL_PATTERN,
} from '../../policy/schema/patterns.ts'
import { API_VERSION, CONFIG_KIND } from '../../policy/words.ts'

const interval = (description: string) =>
  orNothing(
    leaf<string>(
      'interval',
      { type: 'string', pattern: INTERVAL_PATTERN, not: { type: 'string', pattern: TOO_SHORT_PATTERN } },
      description,
    ),
  )

const number = (least: number, most: number, description?: string) =>
  leaf<number>('number', { type: 'number', minimum: least, maximum: most }, description)
const whole = (least: number, most: number, description?: string) =>
  leaf<number>('number', { type: 'integer', minimum: least, maximum: most }, description)

/** The name of an HTTP header. */
const HEADER_PATTERN = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$"
/** Nothing but a web address may become a link. */
const SOURCE_URL_PATTERN = '^\\s*https?://[^\\s"<>]{1,1000}\\s*$'

/** `off` and `false` switch a guard off, `on` and `true` leave it at its default. Helm and others write `off` back as false. */
const SWITCH = { enum: ['on', 'off', true, false, 'true', 'false'] }
export type Switch = 'on' | 'off' | boolean | 'true' | 'false'

/** `15%`, `15 %` or 15: the same in every guard. */
const percent = (most: number) => [
  { type: 'string', pattern: percentPattern(most) },
  { type: 'number', minimum: 0, maximum: most },
]
export type Percent = string | number
const PERCENT = leaf<Percent>('percent', { anyOf: percent(100) })

/** The most that a raise may be allowed, in percent: beyond what is left, within reason. */
const MOST_RAISE = 10_000
const MOST_FLOOR = 1_000_000
const TIMES = whole(1, 1000)

const SHARE_MAP = object('Holds when more than both are reached.', { percent: optional(PERCENT), floor: optional(whole(0, MOST_FLOOR)) })
const BREAKER_MAP = object('Failed changes in a row, or their share of those to be written.', {
  inARow: optional(TIMES),
  percent: optional(PERCENT),
})
const CONTESTED_MAP = object('Foreign changes of one scope.', { times: optional(TIMES) })

const SHARE = leaf<Switch | Percent | Static<typeof SHARE_MAP>>('share', { anyOf: [SWITCH, ...percent(100), SHARE_MAP] })
const guard = {
  switch: leaf<Switch>('switch', SWITCH),
  share: SHARE,
  shrink: leaf<Switch | Percent>(
    'percent-or-off',
    { anyOf: [SWITCH, ...percent(100)] },
    `Percent of the people; default ${DEFAULT_GUARDS.rosterShrink}.`,
  ),
  raise: leaf<Switch | Percent>(
    'percent-or-off',
    { anyOf: [SWITCH, ...percent(MOST_RAISE)] },
    'Percent of the add-on credits remaining; default 100.',
  ),
  breaker: leaf<Switch | Percent | Static<typeof BREAKER_MAP>>(
    'percent-or-off',
    { anyOf: [SWITCH, ...percent(100), BREAKER_MAP] },
    'When failing writes stop; default 3 in a row or 10 %.',
  ),
  contested: leaf<Switch | number | Static<typeof CONTESTED_MAP>>(
    'times',
    { anyOf: [SWITCH, { type: 'integer', minimum: 1, maximum: 1000 }, CONTESTED_MAP] },
    'Foreign changes of one scope within 24 h; default 3.',
  ),
}
const BY_CODE = {
  emptyPolicy: optional(guard.switch),
  rosterShrink: optional(guard.shrink),
  maxAffected: optional(guard.share),
  maxLowered: optional(guard.share),
  maxBlocked: optional(guard.share),
  maxCleared: optional(guard.share),
  maxRaise: optional(guard.raise),
  protected: optional(guard.switch),
  readQuality: optional(guard.share),
  breaker: optional(guard.breaker),
  semantics: optional(guard.switch),
  contested: optional(guard.contested),
} satisfies Record<GuardCode, unknown>

const GUARDS = object('Limits; see the manual.', BY_CODE)

const PATH = optional(text())
const KEY_REFERENCE = object(
  'Where a key is found: in a file, or in an environment variable.',
  { file: PATH, env: PATH },
  {
    'x-kind': 'key-reference',
    allOf: [{ 'x-rule': 'key-reference', oneOf: [{ required: ['file'] }, { required: ['env'] }] }],
  },
)
const LEDGER_TOKEN = object(
  'Where the token is found that /ledger asks for; needed unless listen is loopback.',
  { file: PATH, env: PATH },
  {
    'x-kind': 'key-reference',
    'x-secret': true,
    allOf: [{ 'x-rule': 'key-reference', oneOf: [{ required: ['file'] }, { required: ['env'] }] }],
  },
)
const AUTH = object(
  'Who may look at the pages, /api/v1, /status and /ledger: whoever shows a token, or whom a proxy has let in.',
  {
    token: optional({ ...LEDGER_TOKEN, description: 'Where the token is found that readers send as Authorization: Bearer.' }),
    proxyHeader: optional(
      pattern('header', HEADER_PATTERN, 'The header in which the proxy names the groups of the reader, with commas between.'),
    ),
    from: list('Addresses and networks of the proxy, such as 10.0.0.0/8; its header counts from nowhere else.', text()),
    metrics: orNothing(flag('Check /metrics as well; default false.')),
  },
  {
    allOf: [
      {
        'x-rule': 'auth',
        oneOf: [
          { required: ['token'], not: { anyOf: [{ required: ['proxyHeader'] }, { required: ['from'] }] } },
          { required: ['proxyHeader', 'from'], not: { required: ['token'] } },
        ],
      },
    ],
  },
)

const VIEWER = object('Readers and what they see.', {
  groups: list("Groups of the proxy's header; * for whoever it lets in.", text()),
  workspaces: list('Names of workspaces; * for all.', text()),
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
  { 'x-kind': 'keys', 'x-secret': true },
)

const RATE = object('Requests per second.', {
  start: orNothing(number(0.1, 1000, 'Where learning starts; default 5.')),
  max: orNothing(number(0.1, 1000, 'Never more than this; default 10.')),
  concurrency: orNothing(whole(1, 64, 'Requests in flight; default 8.')),
})

const WORKSPACE = object('One team account of the service.', {
  name: text(),
  baseUrl: orNothing(pattern('url', URL_PATTERN, 'Address of the service.')),
  caFile: orNothing(text('CA certificates (PEM) that the service is checked against in place of the usual ones; relative to this file.')),
  allowPlainHttp: orNothing(flag('Allow http:// to another machine, where the key travels unencrypted; default false.')),
  keys: orNothing(KEYS),
  policies: list('Policy files and folders, relative to this file.', text()),
  mode: orNothing(choice(MODES, 'enforce; audit: plan and measure, never write; paused. Default enforce.')),
  capSemantics: orNothing(
    choice(['layered', 'copied'], 'Whether the service keeps caps per scope (default) or copies wide ones to members.'),
  ),
  capReads: orNothing(
    choice(
      ['auto', 'explicit', 'inherited'],
      "Whether a read shows only a scope's own cap (explicit) or the cap that applies (inherited); default auto: found out by evidence.",
    ),
  ),
  interval: interval('How often caps are read, from 100ms to 20d; default 5m.'),
  usageInterval: interval('How often people, use and balance are read, from 100ms to 20d; default 15m.'),
  usageLag: interval('How old the figures of a reading of use can be, from 100ms to 20d; default 3h30m. Pools wait for it.'),
  onDrift: orNothing(choice(['heal', 'alert'], 'What a change by somebody else gets; default heal.')),
  prune: orNothing(flag('Clear caps that are ours and that no policy declares any more; default true.')),
  undeclaredUsers: orNothing(choice(['ignore', 'report'], 'Sweep for user caps that are not ours; default ignore.')),
  guards: orNothing(GUARDS),
  rate: orNothing(RATE),
})

const METRICS = object('Series per person.', {
  perUser: orNothing(
    leaf<'off' | 'top' | 'all' | false | 'false'>('per-user', { enum: ['off', 'top', 'all', false, 'false'] }, 'Default off.'),
  ),
  userLabel: orNothing(choice(['hash', 'email'], 'Default hash.')),
})

const SECRET_REFERENCE = (what: string) =>
  object(
    `Where ${what} is found: in a file, or in an environment variable.`,
    { file: PATH, env: PATH },
    {
      'x-kind': 'secret-reference',
      'x-secret': true,
      allOf: [{ 'x-rule': 'key-reference', oneOf: [{ required: ['file'] }, { required: ['env'] }] }],
    },
  )

const mail = (description: string) => pattern('email', MAIL_PATTERN, description)
const hour = (description: string) => pattern('hour', HOUR_PATTERN, description)
const THRESHOLD = leaf<number>('whole', { type: 'integer', minimum: 1, maximum: 100 })

const EMAIL = object('The mail server, and who sends.', {
  host: text('Name or address of the mail server.'),
  port: orNothing(whole(1, 65_535, 'Default 587; 465 with tls: implicit, 25 with tls: none.')),
  tls: orNothing(
    choice(
      TLS_MODES,
      'starttls (default): encrypted or not at all; implicit: encrypted from the start; none: only to this machine, or without user.',
    ),
  ),
  from: mail('The address that mails come from.'),
  replyTo: orNothing(mail('Where answers go; default: from.')),
  user: optional(text('The user at the mail server; none: no login.')),
  password: optional(SECRET_REFERENCE("the user's password")),
  caFile: orNothing(
    text('CA certificates (PEM) that the mail server is checked against, in place of the usual ones; relative to this file.'),
  ),
})

const WEBHOOK = object('A chat channel or a program that is told.', {
  name: text('What owners call it; unique.'),
  url: SECRET_REFERENCE('its address, which is a secret,'),
  format: orNothing(choice(WEBHOOK_FORMATS, 'slack, teams (a card for Workflows), or json (default).')),
})

const OWNER = object(
  'Who answers for a group or a pool.',
  {
    workspace: optional(text('The workspace; may be left out when there is only one.')),
    group: optional(text('group_id: pools of this group, and digests of it; or pool.')),
    pool: optional(text('Name of a pool; or group.')),
    email: list('Addresses of the owners.', mail('An address.')),
    webhook: optional(text('Name of a webhook.')),
  },
  { allOf: [{ 'x-rule': 'owner-of', oneOf: [{ required: ['group'] }, { required: ['pool'] }] }] },
)

const TEMPLATE = (kind: MessageKind) =>
  object(`Placeholders: ${PLACEHOLDERS[kind].map((name) => `{${name}}`).join(', ')}. {{ and }} are braces.`, {
    subject: optional(text('One line.')),
    text: optional(text('The message.')),
  })

const NOTIFY = object('Who is told of what.', {
  email: orNothing(EMAIL),
  webhooks: list('Where owners are told beside e-mail.', WEBHOOK),
  people: filled(
    'Percent of their cap at which people are told, by e-mail, once a billing cycle each; such as [85, 100]. Absent: nobody is.',
    THRESHOLD,
  ),
  pools: filled('Percent of the credits of a pool at which its owners are told, once a billing cycle each; default [80].', THRESHOLD),
  owners: list('Owners of groups and pools.', OWNER),
  digest: orNothing(
    leaf<Digest | false | 'false'>(
      'digest',
      { enum: [...DIGESTS, false, 'false'] },
      'What owners are sent regularly, at eight; default off.',
    ),
  ),
  timezone: orNothing(pattern('timezone', '\\S', 'IANA time zone of quiet hours, days and dates, such as Europe/Berlin; default UTC.')),
  quietHours: orNothing(
    object('Nothing goes out between these times of day; what is still true goes out after them.', {
      from: hour('Such as 19:00.'),
      until: hour('Such as 08:00.'),
    }),
  ),
  templates: orNothing(
    object('Other words for the messages.', {
      person: orNothing(TEMPLATE('person')),
      pool: orNothing(TEMPLATE('pool')),
      digest: orNothing(TEMPLATE('digest')),
    }),
  ),
})

/** The config file. */
export const CONFIG = object(
  'How capkeeper runs; everything has a default but the address and the key.',
  {
    apiVersion: word(API_VERSION),
    kind: word(CONFIG_KIND),
    listen: orNothing(pattern('listen', LISTEN_PATTERN, 'host:port of the HTTP server; default 127.0.0.1:9464.')),
    people: orNothing(choice(['hash', 'email'], 'How people show; default email on loopback, else hash.')),
    ledger: orNothing(
      text('The durable record, relative to this file; :memory: for none; or a PostgreSQL address such as postgres://host/name.'),
    ),
    ledgerToken: optional(LEDGER_TOKEN),
    auth: optional(AUTH),
    viewers: list('Which groups see which workspaces, with auth.proxyHeader; left out: everybody it lets in sees all.', VIEWER),
    sourceUrl: orNothing(
      pattern('source-url', SOURCE_URL_PATTERN, 'Address of a policy line, for links, with {revision}, {file} and {line} in it.'),
    ),
    approvals: orNothing(
      choice(
        ['separate', 'together'],
        "Whether a policy's approval may arrive with the change that it releases; default separate: only after it was shown.",
      ),
    ),
    metrics: orNothing(METRICS),
    pricePerCredit: orNothing(
      leaf<number>('price', { type: 'number', exclusiveMinimum: 0, maximum: 1_000_000 }, 'Turns credits into money in reports.'),
    ),
    currency: orNothing(pattern('currency', '^\\s*[A-Z]{3}\\s*$', 'Of pricePerCredit, in three letters (ISO 4217), for reports.')),
    notify: orNothing(NOTIFY),
    workspaces: list('Each is kept independently of the others.', WORKSPACE),
  },
  { $schema: DIALECT, $id: 'urn:capkeeper:schema:config', title: 'capkeeper config' },
)

export type ConfigText = Static<typeof CONFIG>
export type WorkspaceText = Static<typeof WORKSPACE>
export type GuardsText = Static<typeof GUARDS>
export type NotifyText = Static<typeof NOTIFY>
export type OwnerText = Static<typeof OWNER>
