// Templates and media: what is sent where the config has no words of its own, and that untrusted text stays data in each medium.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  DEFAULT_POOL_THRESHOLDS,
  DEFAULT_TEMPLATES,
  MESSAGE_KINDS,
  PAYLOADS,
  requestLink,
  unknownInRequest,
  unknownPlaceholders,
  written,
} from '../../../src/core/notify/settings.ts'

const HOSTILE = [
  'a\r\nBcc: eve@example.com',
  '<!channel> <https://evil.example|click>',
  '[click](https://evil.example) *bold* _it_',
  '{{DATE(2026-11-22T00:00:00Z,SHORT)}} \u0024{toUpper(x)}',
  '\u202egnp.exe',
  '{cap} {email}',
  '</textarea><script>alert(1)</script>',
]

const figures = { workspace: 'acme', percent: 90, used: 90, left: 10, source: 'estimated', stop: 'the pool, now', cycleEnd: '2026-12-01' }

test.each<readonly [(typeof MESSAGE_KINDS)[number], Parameters<typeof written>[1], string, string]>([
  [
    'person',
    { cap: 100 },
    '90 % of your add-on credits are used',
    'You have used 90 of the 100 add-on credits that your cap in acme allows until 2026-12-01; 10 are left (estimated).\n\n' +
      'What stops you first: the pool, now. At the cap, requests that need add-on credits are refused until the next billing cycle, or until your cap is raised.',
  ],
  [
    'pool',
    { pool: 'research', credits: 100, exhausted: 'now' },
    'Pool research: 90 % of its credits are used',
    'The pool research in acme has used 90 of its 100 add-on credits; 10 are left until 2026-12-01. Expected to be used up: now.',
  ],
  [
    'digest',
    { of: 'Research', day: '2026-11-22', members: 9, atCap: 1, nearCap: 2, people: ['ada: 100 of 100', 'bob: 90 of 100'] },
    'Research: 90 add-on credits used',
    'Research in acme, 2026-11-22\n\n90 add-on credits used in the billing cycle that ends on 2026-12-01 (estimated).\n' +
      '9 people; 1 at their cap, 2 at 85 % of it or more.\n\nada: 100 of 100\nbob: 90 of 100',
  ],
])('a %s message says what happened, the figures and until when', (kind, values, subject, text) =>
  expect(written(DEFAULT_TEMPLATES[kind], { ...figures, ...values })).toEqual({ subject, text }),
)

test('owners of a pool are told at 80 % where the config says nothing else', () => expect(DEFAULT_POOL_THRESHOLDS).toEqual([80]))

describe('a template', () => {
  test.each([
    ['{ used }', '5'],
    ['{{used}}', '{used}'],
    ['{people}', 'one\ntwo'],
    ['{absent}', ''],
    [' {name} \n', ' {cap} {{x}}'],
  ])('%j becomes %j, and a subject without the blanks', (template, text) => {
    const values = { used: 5, cap: 10, people: ['one', 'two'], name: '{cap} {{x}}' }
    expect(written({ subject: template, text: template }, values)).toEqual({ subject: text.replace('\n', ' ').trim(), text })
  })

  test('tells which placeholders are unknown, and has none by default', () => {
    for (const kind of MESSAGE_KINDS) expect(unknownPlaceholders(Object.values(DEFAULT_TEMPLATES[kind]).join(), kind)).toEqual([])
    expect(unknownPlaceholders('{emial} { cap } {{x}} { caps } {}', 'person')).toEqual(['emial', 'caps', ''])
  })
})

describe('untrusted text', () => {
  test.each([...HOSTILE, 'x'.repeat(10_000)])(
    'is one short line of a subject, plain to Slack, and a run without expressions to Teams: %j',
    (name) => {
      const made = written({ subject: 'For {name}', text: '{name}' }, { name })
      expect(made.subject).toMatch(/^[^\p{Cc}\p{Cf}]{1,150}$/u)
      expect(made.text.split('\n')).toHaveLength(1)
      const payload = (format: 'slack' | 'teams') =>
        JSON.stringify(PAYLOADS[format]({ kind: 'pool', workspace: 'acme', values: {}, ...made }))
      const { text: top, blocks } = JSON.parse(payload('slack')) as { text: string; blocks: { text: { type: string } }[] }
      expect(top).not.toMatch(/[<>]/)
      expect(blocks.map((block) => block.text.type)).toEqual(['plain_text', 'plain_text'])
      const types = [...payload('teams').matchAll(/"type":"(\w+)"/g)].map(([, type]) => type)
      expect(new Set(types)).toEqual(new Set(['message', 'AdaptiveCard', 'RichTextBlock', 'TextRun']))
      expect(payload('teams')).not.toMatch(/\{\{|\$\{/)
    },
  )

  test('reads back from JSON as what was sent', () => {
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
    ...{ subject: '<r&d>: {{5}}', text: 'one\n\ntwo & {{three}}' },
  } as const

  test('is a message of two sections to Slack, without markup, names or emoji', () => {
    const element = (text: string) => ({ type: 'section', text: { type: 'plain_text', text, emoji: false } })
    expect(PAYLOADS.slack(message)).toEqual({
      ...{ text: '&lt;r&amp;d&gt;: {{5}}', mrkdwn: false, link_names: false },
      blocks: [element('<r&d>: {{5}}'), element('one\n\ntwo & {{three}}')],
    })
  })

  test('of more than Slack takes is cut, with its lines', () => {
    const { blocks } = PAYLOADS.slack({ ...message, text: 'line\n'.repeat(1000) }) as { blocks: readonly { text: { text: string } }[] }
    expect(blocks[1]?.text.text).toBe(`${'line\n'.repeat(580).slice(0, 2899)}…`)
  })

  test('is a card of one block a line to Teams, in which no line is empty', () => {
    const line = (text: string, weight: string) => ({ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text, weight }] })
    const body = [line('<r&d>: {\u2060{5}}', 'Bolder'), ...['one', ' ', 'two & {\u2060{three}}'].map((text) => line(text, 'Default'))]
    const card = { $schema: 'http://adaptivecards.io/schemas/adaptive-card.json', type: 'AdaptiveCard', version: '1.4', body }
    expect(PAYLOADS.teams(message)).toEqual({
      type: 'message',
      attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content: card }],
    })
  })

  test('is its own fields to others, under the name of our format', () => {
    const { kind: about, ...rest } = message
    expect(PAYLOADS.json(message)).toEqual({ apiVersion: 'capkeeper/v1', kind: 'Notification', about, ...rest })
  })
})

test.each<readonly [string, Parameters<typeof requestLink>[1], string]>([
  ['with all that is known', { email: 'a+b@x.com', cap: 5, used: 7 }, 'https://ask?who=a%2Bb%40x.com&cap=5&used=7&x='],
  ['without a cap', { email: 'a', cap: 'none', used: 0 }, 'https://ask?who=a&cap=none&used=0&x='],
  ['where only the person is known', { email: 'a' }, 'https://ask?who=a&cap=&used=&x='],
])('the link to ask for more is filled %s', (_name, values, link) => {
  expect(requestLink('https://ask?who={email}&cap={cap}&used={used}&x={x}', values)).toBe(link)
})

test('placeholders of the link that are not known are named', () => {
  expect(unknownInRequest('https://ask?{email}{cap}{used}{x}&{Email}{}')).toEqual(['x', 'Email', ''])
})
