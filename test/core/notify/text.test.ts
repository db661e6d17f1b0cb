// Templates and media: untrusted text stays data in each of them.
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { DEFAULT_TEMPLATES, MESSAGE_KINDS } from '../../../src/core/notify/settings.ts'
import { filled, PAYLOADS, unknownPlaceholders, written } from '../../../src/core/notify/text.ts'

const HOSTILE = [
  'a\r\nBcc: eve@example.com',
  '<!channel> <https://evil.example|click>',
  '[click](https://evil.example) *bold* _it_',
  '{{DATE(2026-11-22T00:00:00Z,SHORT)}} \u0024{toUpper(x)}',
  '\u202egnp.exe',
  '{cap} {email}',
  '</textarea><script>alert(1)</script>',
]

describe('a template', () => {
  test.each([
    ['{used} of {cap}', '5 of 10'],
    ['{ used }', '5'],
    ['{{used}}', '{used}'],
    ['a } b {', 'a } b {'],
    ['{people}', 'one\ntwo'],
    ['{absent}', ''],
  ])('%s becomes %s', (template, expected) => {
    expect(filled(template, { used: 5, cap: 10, people: ['one', 'two'] })).toBe(expected)
  })

  it('does not fill a placeholder inside a value', () => {
    expect(filled('{name}', { name: '{cap} {{x}}', cap: 5 })).toBe('{cap} {{x}}')
  })

  it.each(MESSAGE_KINDS)('of a %s has only known placeholders by default', (kind) => {
    const { subject, text } = DEFAULT_TEMPLATES[kind]
    expect(unknownPlaceholders(`${subject}${text}`, kind)).toEqual([])
  })

  it('tells which placeholders are unknown', () => {
    expect(unknownPlaceholders('{emial} { cap } {{x}} { caps } {}', 'person')).toEqual(['emial', 'caps', ''])
  })

  it('becomes a text that may begin with blanks, and a subject that does not', () => {
    expect(written({ subject: ' {name} ', text: ' {name} \n' }, { name: 'x' })).toEqual({ subject: 'x', text: ' x' })
  })
})

describe('untrusted text', () => {
  it.each(HOSTILE)('makes neither a second line nor a second header of a subject: %j', (value) => {
    const { subject, text } = written({ subject: 'For {name}', text: '{name}' }, { name: value })
    expect(subject).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    expect(text.split('\n')).toHaveLength(1)
  })

  it('is short in a subject', () => {
    expect(written({ subject: '{name}{name}', text: '' }, { name: 'x'.repeat(10_000) }).subject.length).toBeLessThanOrEqual(150)
  })

  it.each(HOSTILE)('is plain text to Slack: %j', (value) => {
    const { subject, text } = written({ subject: '{name}', text: '{name}' }, { name: value })
    const payload = JSON.stringify(PAYLOADS.slack({ kind: 'pool', workspace: 'acme', subject, text, values: {} }))
    const { text: top, blocks } = JSON.parse(payload) as { text: string; blocks: { text: { type: string } }[] }
    expect(top).not.toMatch(/[<>]/)
    expect(blocks.map((block) => block.text.type)).toEqual(['plain_text', 'plain_text'])
  })

  it.each(HOSTILE)('is a run of text to Teams, without expressions: %j', (value) => {
    const { subject, text } = written({ subject: '{name}', text: '{name}' }, { name: value })
    const payload = JSON.stringify(PAYLOADS.teams({ kind: 'pool', workspace: 'acme', subject, text, values: {} }))
    const types = [...payload.matchAll(/"type":"(\w+)"/g)].map(([, type]) => type)
    expect(new Set(types)).toEqual(new Set(['message', 'AdaptiveCard', 'RichTextBlock', 'TextRun']))
    expect(payload).not.toMatch(/\{\{|\$\{/)
  })

  it('reads back from every payload as what was sent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 100 }), (name) => {
        const message = {
          kind: 'digest',
          workspace: 'acme',
          values: { name },
          ...written({ subject: 's', text: '{name}' }, { name }),
        } as const
        expect(JSON.parse(JSON.stringify(PAYLOADS.json(message)))).toMatchObject({ about: 'digest', text: message.text })
      }),
    )
  })
})

describe('a message', () => {
  const message = {
    kind: 'pool',
    workspace: 'acme',
    values: { pool: 'r&d', used: 5 },
    subject: '<r&d>: {{5}}',
    text: 'one\n\ntwo & {{three}}',
  } as const

  it('is a message of two sections to Slack, without markup, names or emoji', () => {
    const element = (text: string) => ({ type: 'section', text: { type: 'plain_text', text, emoji: false } })
    expect(PAYLOADS.slack(message)).toEqual({
      ...{ text: '&lt;r&amp;d&gt;: {{5}}', mrkdwn: false, link_names: false },
      blocks: [element('<r&d>: {{5}}'), element('one two & {{three}}')],
    })
  })

  it('is a card of one block a line to Teams, in which no line is empty', () => {
    const line = (text: string, weight: string) => ({ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text, weight }] })
    const body = [line('<r&d>: {\u2060{5}}', 'Bolder'), ...['one', ' ', 'two & {\u2060{three}}'].map((text) => line(text, 'Default'))]
    const card = { $schema: 'http://adaptivecards.io/schemas/adaptive-card.json', type: 'AdaptiveCard', version: '1.4', body }
    expect(PAYLOADS.teams(message)).toEqual({
      type: 'message',
      attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content: card }],
    })
  })

  it('is its own fields to others, under the name of our format', () => {
    const { kind: about, ...rest } = message
    expect(PAYLOADS.json(message)).toEqual({ apiVersion: 'capkeeper/v1', kind: 'Notification', about, ...rest })
  })
})
