// Events and what digests say of changes: whom they touch, told once, at most six times an hour, and again only where they surely did not arrive.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { userScope } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { EVENTS } from '../../../src/core/notify/settings.ts'
import { afterwards, due as dueOf, NOON, NOTIFY } from '../../support/notify.ts'

type Given = NonNullable<Parameters<typeof dueOf>[0]>
type Happening = NonNullable<Given['happened']>[number]

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const GROUPS = [
  { id: 'grp_r', name: 'Research', emails: ['ada@example.com', 'bob@example.com'] },
  { id: 'grp_p', name: 'Platform', emails: ['cleo@example.com'] },
]
const lead = (id: string) => ({ of: { kind: 'group', id }, targets: [{ kind: 'email', address: `${id}@example.com` }] }) as const
const SETTINGS: typeof NOTIFY = {
  ...NOTIFY,
  ...{ people: [], pools: [], owners: [lead('grp_r'), lead('grp_p')], events: EVENTS, channels: ['ops'] },
}

const due = (given: Given = {}) =>
  dueOf({ settings: SETTINGS, groups: GROUPS, revision: 'present', label: (email) => `<${email.length}>`, ...given })
const event = (kind: Happening['kind'], id: string, more: Partial<Happening> = {}): Happening => ({
  kind,
  id,
  at: NOON - MINUTE,
  text: '1 → 2',
  ...more,
})
const ADA = { scope: userScope('ada@example.com') }

const CHANNEL = { ...SETTINGS, owners: [] }

test.each([{}, { cycle: undefined }])('a receiver who is named twice is told once, also where no cycle is known: %j', (known) => {
  const found = due({
    settings: { ...SETTINGS, owners: [lead('grp_r'), lead('grp_r')], channels: [] },
    happened: [event('held', 'h')],
    ...known,
  })
  expect(found.messages).toHaveLength(1)
})

test('an event of more than 20 parts says how many more there are', () => {
  const happened = Array.from({ length: 25 }, (_, index) => event('held', 'h', { scope: userScope(`p${index}@example.com`) }))
  const values = due({ happened }).messages[0]?.values
  expect([values?.['count'], values?.['items']]).toEqual([25, expect.objectContaining({ length: 21 })])
})

test('an event is told also after one that was told by a clock that was a year ahead, and once', () => {
  const ahead = NOON + 365 * 24 * HOUR
  let told: Given['told'] = afterwards(due({ now: ahead, happened: [event('held', 'a', { at: ahead })], settings: CHANNEL }), 'sent', ahead)
  for (const [minutes, ids, count] of [
    [0, ['a', 'b'], 1],
    [20, ['a', 'b'], 0],
    [30, ['b', 'c'], 1],
  ] as const) {
    const now = NOON + minutes * MINUTE
    const found = due({ now, told, happened: ids.map((id) => event('held', id)), settings: CHANNEL })
    expect(found.messages).toHaveLength(count)
    if (count > 0) told = afterwards(found, 'sent', now)
  }
})

test('an event is told once, and messages of a kind go to a receiver at most six times an hour, whatever happens, also where groups are not known for a while', () => {
  const step = { kind: fc.constantFrom(...EVENTS), minutes: fc.integer({ min: 1, max: 12 }), isKnown: fc.boolean(), isWide: fc.boolean() }
  const steps = fc.array(fc.record(step), { maxLength: 60 })
  fc.assert(
    fc.property(steps, (all) => {
      let [now, told]: [number, Given['told']] = [NOON, undefined]
      const happened: Happening[] = []
      const times = new Map<string, number[]>()
      const seen: string[] = []
      for (const { kind, minutes, isKnown, isWide } of all) {
        now += minutes * MINUTE
        happened.push(event(kind, `${happened.length}`, { ...(!isWide && ADA), at: now, text: `${happened.length}` }))
        const found = due({ now, told, happened, settings: { ...SETTINGS, owners: [lead('grp_r')] }, groups: isKnown ? GROUPS : [] })
        for (const { key, values } of found.messages) {
          times.set(key, [...(times.get(key) ?? []), now])
          if (Array.isArray(values['items'])) seen.push(...values['items'].map((item) => `${key} ${item}`))
        }
        told = afterwards(found, 'sent', now)
      }
      expect(new Set(seen).size).toBe(seen.length)
      for (const list of times.values())
        for (const at of list) expect(list.filter((one) => one >= at && one < at + HOUR).length).toBeLessThanOrEqual(6)
    }),
    { numRuns: 60 },
  )
})

const settings = { ...SETTINGS, owners: [lead('grp_r')], digest: 'daily', events: [], channels: [] } as const
const person = (name: string, used: number, source: 'measured' | 'estimated' = 'measured') =>
  ({ email: `${name}@example.com`, cap: credits(100), used: credits(used), source }) as const

test('a digest counts several, names twenty, and tells of a figure that only comes from elsewhere', () => {
  const many = (used: number, source?: 'estimated') => Array.from({ length: 22 }, (_, index) => person(`p${index}`, used, source))
  const groups = [{ id: 'grp_r', name: 'Research', emails: many(0).map(({ email }) => email) }]
  const told = afterwards(due({ settings, groups, people: many(1, 'estimated') }))
  const now = NOON + 24 * HOUR
  const happened = (['applied', 'foreign', 'reverted', 'hold', 'revision'] as const).flatMap((kind) =>
    ['a', 'b'].map((id) => event(kind, `${kind}${id}`, { at: now - MINUTE })),
  )
  const [next] = due({ settings, groups, now, told, happened, people: many(100) }).messages
  expect(next?.values['changes']).toEqual([
    'What changed: 2 caps written, 2 foreign changes, 2 foreign changes reverted, 2 holds in the workspace, 2 policy revisions.',
    expect.stringMatching(/^Newly at their cap: (<1\d>, ){20}and 2 more\.$/),
    'The figure moved by coverage, not by use alone: it is measured now, before it was estimated.',
  ])
})
