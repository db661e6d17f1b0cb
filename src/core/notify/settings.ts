// The settings of `notify` in the config, as plain data: who is told what, where, and in which words, with the defaults, and the link to ask
// for more; and what each medium makes of the words. Values are data: each becomes one line of printable text, so none can add a header, a line of
// a mail, a mention, a link or markup. Slack and Teams get elements without markup. Secrets of channels are kept elsewhere.
import { clipped, printable } from '../escape/text.ts'

/** What an address may ask for: `{email}`, `{cap}`, `{used}`. */
export const REQUEST_PLACEHOLDERS = ['email', 'cap', 'used'] as const

/** What is known of a person; what is not known is left empty. */
interface RequestValues {
  readonly email: string
  readonly cap?: number | 'none' | undefined
  /** Add-on credits. */
  readonly used?: number | undefined
}

const REQUEST_PLACEHOLDER = /\{([^{}]*)\}/g

/** Placeholders of an address that are not known. */
export const unknownInRequest = (url: string): readonly string[] => {
  const known: readonly string[] = REQUEST_PLACEHOLDERS
  return [...url.matchAll(REQUEST_PLACEHOLDER)].flatMap(([, name = '']) => (known.includes(name) ? [] : [name]))
}

/** The address for one person. */
export function requestLink(url: string, { email, cap, used }: RequestValues): string {
  const values: Readonly<Record<string, string>> = { email, cap: String(cap ?? ''), used: used === undefined ? '' : String(used) }
  return url.replace(REQUEST_PLACEHOLDER, (_all, name: string) => encodeURIComponent(values[name] ?? ''))
}

/** How mail is encrypted on the way to its server. */
export const TLS_MODES = ['starttls', 'implicit', 'none'] as const
export type TlsMode = (typeof TLS_MODES)[number]

/** Where a message goes: a person's own address, or a target that the config names. A webhook is known by its name, because its address is a secret. */
export type Target = { readonly kind: 'email'; readonly address: string } | { readonly kind: 'webhook'; readonly name: string }

/** The owner of a group or a pool. */
export interface Owner {
  readonly of: { readonly kind: 'group'; readonly id: string } | { readonly kind: 'pool'; readonly name: string }
  readonly targets: readonly Target[]
}

/** Minutes since midnight in the time zone of the settings. When the start is later than the end, they span midnight. */
export interface QuietHours {
  readonly fromMinute: number
  readonly untilMinute: number
}

export interface Template {
  readonly subject: string
  readonly text: string
}

/** Placeholders of each kind of message. */
export const PLACEHOLDERS = {
  person: ['email', 'name', 'workspace', 'threshold', 'percent', 'used', 'cap', 'left', 'source', 'stop', 'cycleEnd'],
  pool: ['pool', 'workspace', 'threshold', 'percent', 'used', 'credits', 'left', 'exhausted', 'cycleEnd'],
  digest: ['of', 'workspace', 'day', 'members', 'used', 'source', 'atCap', 'nearCap', 'people', 'changes', 'cycleEnd'],
  event: ['event', 'title', 'of', 'workspace', 'count', 'items', 'revision', 'held', 'rejected'],
} as const

export type MessageKind = keyof typeof PLACEHOLDERS
export const MESSAGE_KINDS = ['person', 'pool', 'digest', 'event'] as const satisfies readonly MessageKind[]

export const DIGESTS = ['off', 'daily', 'monthly'] as const
export type Digest = (typeof DIGESTS)[number]

/** Events that owners and channels can be told about. */
export const EVENTS = ['held', 'applied', 'reverted', 'grantEnding', 'paused', 'rejected'] as const
export type EventKind = (typeof EVENTS)[number]

/** The settings of one workspace. */
export interface NotifySettings {
  /** Percent of a person's cap at which they are told, rising; empty: nobody is told. */
  readonly people: readonly number[]
  /** Percent of a pool's credits at which its owners are told, rising. */
  readonly pools: readonly number[]
  readonly owners: readonly Owner[]
  readonly digest: Digest
  /** Events that owners and channels are told about. */
  readonly events: readonly EventKind[]
  /** Webhooks that no owner names: they are told of the events of the whole workspace. */
  readonly channels: readonly string[]
  /** IANA name, for quiet hours, days and dates. */
  readonly timezone: string
  readonly quietHours?: QuietHours
  readonly templates: Readonly<Record<MessageKind, Template>>
  /** Where people ask for more, with `REQUEST_PLACEHOLDERS`. */
  readonly requestUrl?: string
}

export const DEFAULT_POOL_THRESHOLDS: readonly number[] = [80]

export const DEFAULT_TEMPLATES: NotifySettings['templates'] = {
  person: {
    subject: '{percent} % of your add-on credits are used',
    text:
      'You have used {used} of the {cap} add-on credits that your cap in {workspace} allows until {cycleEnd}; {left} are left ({source}).\n\n' +
      'What stops you first: {stop}. At the cap, requests that need add-on credits are refused until the next billing cycle, or until your cap is raised.',
  },
  pool: {
    subject: 'Pool {pool}: {percent} % of its credits are used',
    text:
      'The pool {pool} in {workspace} has used {used} of its {credits} add-on credits; {left} are left until {cycleEnd}. ' +
      'Expected to be used up: {exhausted}.',
  },
  digest: {
    subject: '{of}: {used} add-on credits used',
    text:
      '{of} in {workspace}, {day}\n\n{used} add-on credits used in the billing cycle that ends on {cycleEnd} ({source}).\n' +
      '{members} people; {atCap} at their cap, {nearCap} at 85 % of it or more.\n\n{people}\n\n{changes}',
  },
  event: { subject: '{of}: {title}', text: '{of} in {workspace}: {title} ({count}).\n\n{items}\n\nPolicy revision: {revision}' },
}

/** Values by placeholder; a list becomes several lines. */
export type Values = Readonly<Record<string, string | number | readonly string[]>>

const PLACEHOLDER = /\{\{|\}\}|\{([^{}]*)\}/g

/** Placeholders in a template that this kind of message does not have. */
export function unknownPlaceholders(text: string, kind: MessageKind): readonly string[] {
  const known: readonly string[] = PLACEHOLDERS[kind]
  return [...text.matchAll(PLACEHOLDER)].flatMap(([, name]) => (name === undefined || known.includes(name.trim()) ? [] : [name.trim()]))
}

/** A template filled with values; `{{` and `}}` are braces. */
const filled = (text: string, values: Values): string =>
  text.replace(PLACEHOLDER, (found, name: string | undefined) => {
    if (name === undefined) return found.charAt(0)
    const key = name.trim()
    return lineOf(Object.hasOwn(values, key) ? (values[key] ?? '') : '')
  })

/** Longer values are cut. Choice. */
const MOST_IN_VALUE = 200

function lineOf(value: Values[string]): string {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return clipped(value, MOST_IN_VALUE)
  return value.map((line) => clipped(line, MOST_IN_VALUE)).join('\n')
}

const MOST_IN_SUBJECT = 150

/** Subject and text; the subject is one line, whatever the template holds. */
export const written = (template: Template, values: Values): Template => ({
  subject: clipped(filled(template.subject, values), MOST_IN_SUBJECT).trim(),
  text: filled(template.text, values).trimEnd(),
})

export const WEBHOOK_FORMATS = ['slack', 'teams', 'json'] as const
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]

/** A message for a webhook. */
export interface WebhookMessage extends Template {
  /** `test`: sent by hand, about nothing. */
  readonly kind: MessageKind | 'test'
  readonly workspace: string
  readonly values: Values
}

/** The request body, by format. */
export const PAYLOADS: Readonly<Record<WebhookFormat, (message: WebhookMessage) => unknown>> = {
  slack: slackPayload,
  teams: teamsPayload,
  json: ({ kind, workspace, subject, text, values }) => ({
    apiVersion: 'capkeeper/v1',
    kind: 'Notification',
    about: kind,
    workspace,
    subject,
    text,
    values,
  }),
}

/** Slack takes 3000 characters in an element. */
const MOST_IN_SLACK = 2_900

/** Escapes what begins a mention, a channel or a link in Slack. */
const slackText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Elements of type `plain_text` have no markup; `text` is what a notification shows. */
function slackPayload({ subject, text }: WebhookMessage): unknown {
  const element = (shown: string) => ({
    type: 'section',
    text: { type: 'plain_text', text: clipped(shown, MOST_IN_SLACK, printable), emoji: false },
  })
  return { text: slackText(subject), mrkdwn: false, link_names: false, blocks: [element(subject), element(text)] }
}

/** Puts an invisible character between braces, because cards look for dates and expressions within them. */
const cardText = (text: string): string => text.replace(/(?<=[{$])(?=\{)/g, '\u2060')

/** Text runs in an adaptive card have no Markdown; a text block would. */
function teamsPayload({ subject, text }: WebhookMessage): unknown {
  const line = (shown: string, weight: 'Bolder' | 'Default') => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text: cardText(shown === '' ? ' ' : shown), weight }],
  })
  const body = [line(subject, 'Bolder'), ...text.split('\n').map((one) => line(one, 'Default'))]
  const card = { $schema: 'http://adaptivecards.io/schemas/adaptive-card.json', type: 'AdaptiveCard', version: '1.4', body }
  return { type: 'message', attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content: card }] }
}
