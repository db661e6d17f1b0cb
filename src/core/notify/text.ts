// Templates and what each medium makes of them. Values are data: each becomes one line of printable text, so none can add a header, a line of
// a mail, a mention, a link or markup. Slack and Teams get elements without markup.
import { clipped } from '../escape/terminal.ts'
import { type MessageKind, PLACEHOLDERS, type Template } from './settings.ts'

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
  const element = (shown: string) => ({ type: 'section', text: { type: 'plain_text', text: clipped(shown, MOST_IN_SLACK), emoji: false } })
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
