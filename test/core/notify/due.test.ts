// Laws of messages: at most one for each threshold and cycle; and what is too long, or too odd, for messages.txt.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { channelOf, tellsEnded } from '../../../src/core/notify/due.ts'
import { CYCLE, cap, DAY, type PlainCap } from '../../support/declare.ts'
import { afterwards, begun, cutOff, due as dueOf, NOTIFY } from '../../support/notify.ts'

type Given = NonNullable<Parameters<typeof dueOf>[0]>
type Settings = typeof NOTIFY
type Owner = Settings['owners'][number]
type Person = NonNullable<Given['people']>[number]

const START = CYCLE.startAt
const CHAT = { kind: 'webhook', name: 'chat' } as const
const GROUP = { kind: 'group', id: 'g1' } as const

const due = (settings: Partial<Settings>, given: Given) =>
  dueOf({ label: (email) => `<${email}>`, ...given, settings: { ...NOTIFY, ...settings } }).messages
const person = (email: string, used: number, most: PlainCap = 100, more: Partial<Person> = {}): Person => ({
  ...{ email, used: credits(used), source: 'measured', cap: cap(most), ...more },
})

test('a person is told where to ask for more, by a link that has their figures encoded', () => {
  const requestUrl = 'https://git.example/new?for={email}&cap={cap}&used={used}'
  const templates = { ...NOTIFY.templates, person: { subject: 's', text: 'my own text' } }
  const texts = (settings: Partial<Settings>) => due(settings, { people: [person('a&b=c d', 90)] }).map(({ text }) => text)
  expect(texts({ requestUrl, templates })).toEqual([
    'my own text\n\nTo ask for more: https://git.example/new?for=a%26b%3Dc%20d&cap=100&used=90',
  ])
  expect(texts({})[0]).not.toContain('ask for more')
})

test('a person is told of a threshold once in a cycle, and is told while they stay above it, whatever happens', () => {
  const step = fc.record({
    used: fc.array(fc.integer({ min: 0, max: 130 }), { minLength: 3, maxLength: 3 }),
    passes: fc.integer({ min: 1, max: 20 * 3600 }),
    outcome: fc.constantFrom('sent' as const, 'refused' as const, 'rejected' as const, 'unknown' as const, 'crash' as const),
  })
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
      let now = START + 3600_000
      let told: Given['told']
      const arrived = new Map<string, number>()
      for (const { used, passes, outcome } of steps) {
        const startAt = START + Math.floor((now - START) / (30 * DAY)) * 30 * DAY
        const people = used.map((amount, index) => person(`p${index}`, amount))
        const found = dueOf({ now, cycle: { startAt, endAt: startAt + 30 * DAY }, people, told: told && begun(told, now) })
        if (!found.told) throw new Error('a cycle is known')
        told = outcome === 'crash' ? cutOff(found, now) : afterwards(found, outcome, now)
        const mayHave = outcome === 'sent' || outcome === 'unknown' || outcome === 'crash'
        for (const { key, level } of mayHave ? found.messages : []) {
          const id = `${startAt} ${key}`
          expect(level).toBeGreaterThan(arrived.get(id) ?? 0)
          arrived.set(id, level)
        }
        for (const { email, used: one = 0 } of outcome === 'sent' ? people : [])
          if (one >= 85) expect([undefined, 'sending']).not.toContain(told.entries[JSON.stringify(['person', email])]?.state)
        now += passes * 1000
      }
    }),
  )
})

const digests = (of: Owner['of'], given: Given, more: Partial<Settings> = {}) =>
  due({ digest: 'daily', people: [], pools: [], owners: [{ of, targets: [CHAT] }], ...more }, given)
test.each([
  [20, []],
  [25, ['and 5 more']],
])('a digest in which %i are equally near names them by address, and after twenty how many more', (count, last) => {
  const emails = Array.from({ length: count }, (_, at) => `p${10 + at}`)
  const near = [...emails.slice(7), ...emails.slice(0, 7).toReversed()].map((email) => person(email, 90))
  const first = emails.slice(0, 20).map((email) => `<${email}>: 90 of 100`)
  expect(digests(GROUP, { people: near, groups: [{ id: 'g1', name: 'R', emails }] })[0]?.values['people']).toEqual([...first, ...last])
})

test.each([
  ['monthly', '2026-11-15T23:59Z', true],
  ['monthly', '2026-11-16T00:00Z', false],
  ['daily', '2026-11-01T00:00Z', false],
] as const)('a digest of the cycle that ended is %s told at %s: %s', (digest, at, expected) =>
  expect(tellsEnded({ digest }, CYCLE, Date.parse(at))).toBe(expected),
)

test.each([
  ['["person","webhook x"]', 'e-mail'],
  ['["pool","research","webhook chat"]', 'webhook chat'],
  ['["pool","webhook x","mail a@example.com"]', 'e-mail'],
  ['["digest","daily","group","g1",7]', 'e-mail'],
])('what failed is counted by its channel, never by a person: %s', (key, channel) => expect(channelOf(key)).toBe(channel))
