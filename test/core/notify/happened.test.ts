// Events and what digests say of changes: whom they touch, told once, at most six times an hour, and again only where they surely did not arrive.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { groupScope, TEAM, userScope } from '../../../src/core/model/scope.ts'
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
const to = ({ messages }: ReturnType<typeof due>): readonly string[] =>
  messages.map((one) => `${one.to.kind === 'email' ? one.to.address : one.to.name} ${one.values['event']}`)

describe('an event', () => {
  test.each([
    ['about a group is told to its owner and to the channel', { scope: groupScope('grp_p') }, ['grp_p@example.com applied', 'ops applied']],
    ['about the team is told to everybody', { scope: TEAM }, ['grp_r@example.com applied', 'grp_p@example.com applied', 'ops applied']],
  ])('%s', (_case, scope, expected) => {
    expect(to(due({ happened: [event('applied', 'a', scope)] }))).toEqual(expected)
  })

  test('names people as `people` says, and carries the revision, and what is held and rejected', () => {
    const happened = [event('held', 'h', ADA), event('rejected', 'r', ADA), event('applied', 'a', { ...ADA, revision: 'abc' })]
    const [held, applied] = due({ happened, settings: CHANNEL }).messages
    expect(held?.values).toMatchObject({ event: 'held', revision: 'present', held: 1, rejected: 1, items: ['<15>: 1 → 2'] })
    expect(applied?.values).toMatchObject({ event: 'applied', revision: 'abc' })
    expect(JSON.stringify([held, applied])).not.toContain('ada')
  })

  const CHANNEL = { ...SETTINGS, owners: [] }
  test.each<readonly [Happening['kind'], string]>([
    ['held', 'changes are held'],
    ['applied', 'caps were written'],
    ['reverted', 'foreign changes were reverted'],
    ['grantEnding', 'grants end within a day'],
    ['paused', 'writing is paused'],
    ['rejected', 'scopes are rejected and left alone'],
  ])('%s has a title, and a line for each scope', (kind, title) => {
    const happened = [event(kind, 'a', { scope: TEAM }), event(kind, 'b', { scope: groupScope('grp_p') }), event(kind, 'c')]
    expect(due({ happened, settings: CHANNEL }).messages.map(({ values }) => values)).toMatchObject([
      { title, of: 'Workspace', count: 3, items: ['team: 1 → 2', 'group:grp_p: 1 → 2', '1 → 2'] },
    ])
  })

  test('is told to one address once for each group and pool that it owns', () => {
    const targets = [{ kind: 'email', address: 'lead@example.com' }] as const
    const pool = { of: { kind: 'pool', name: 'lab' }, targets } as const
    const settings = { ...SETTINGS, channels: [], owners: [{ ...lead('grp_r'), targets }, { ...lead('grp_p'), targets }, pool] }
    const told = due({ happened: [event('held', 'h', { scope: TEAM })], settings })
    expect(told.messages.map(({ values }) => values['of'])).toEqual(['Research', 'Platform', 'Pool lab'])
    expect(to(due({ happened: [event('held', 'h', { scope: TEAM })], settings, told: afterwards(told), now: NOON + HOUR }))).toEqual([])
  })

  test.each<readonly [string, Happening['kind'], number, number]>([
    ['a write of a day ago is told no more', 'applied', 24 * HOUR, 0],
    ['a write of almost a day ago is told', 'applied', 24 * HOUR - 1, 1],
    ['a revert of a day ago is told no more', 'reverted', 24 * HOUR, 0],
    ['what is held for longer is told', 'held', 99 * HOUR, 1],
  ])('%s', (_name, kind, age, count) => {
    expect(due({ happened: [event(kind, 'a', { at: NOON - age })], settings: CHANNEL }).messages).toHaveLength(count)
  })

  test.each<readonly [string, number, number]>([
    ['waits for ten minutes after the last of its kind', 10 * MINUTE - 1, 0],
    ['is told ten minutes after the last of its kind', 10 * MINUTE, 1],
  ])('%s', (_name, afterMs, count) => {
    const told = afterwards(due({ happened: [event('held', 'a')], settings: CHANNEL }))
    const happened = [event('held', 'a'), event('held', 'b')]
    expect(due({ happened, told, settings: CHANNEL, now: NOON + afterMs }).messages).toHaveLength(count)
  })

  test('needs no billing cycle, and is not told again once there is one', () => {
    const happened = [event('held', 'h', ADA)]
    const first = due({ cycle: undefined, happened })
    expect(to(first)).toEqual(['grp_r@example.com held', 'ops held'])
    const told = afterwards(first)
    expect(to(due({ told, happened, now: NOON + HOUR }))).toEqual([])
  })

  test('of more than 20 parts says how many more there are', () => {
    const happened = Array.from({ length: 25 }, (_, index) => event('held', 'h', { scope: userScope(`p${index}@example.com`) }))
    const values = due({ happened }).messages[0]?.values
    expect([values?.['count'], values?.['items']]).toEqual([25, expect.objectContaining({ length: 21 })])
  })

  test('that surely did not arrive is sent again with what came since, and no sooner than its wait', () => {
    const happened = [event('held', 'h', ADA)]
    const settings = CHANNEL
    const told = afterwards(due({ happened, settings }), 'refused')
    expect(to(due({ happened, settings, told, now: NOON + 30_000 }))).toEqual([])
    const more = [...happened, event('held', 'i', ADA)]
    const again = due({ happened: more, settings, told, now: NOON + 2 * MINUTE })
    expect(again.messages[0]?.values).toMatchObject({ count: 2 })
    const after = afterwards(again, 'sent', NOON + 2 * MINUTE)
    expect(Object.values(after.entries)[0]).toMatchObject({ state: 'sent', tries: 2 })
    expect(to(due({ happened: more, settings, told: after, now: NOON + HOUR }))).toEqual([])
  })

  test('is told once, and messages of a kind go to a receiver at most six times an hour, whatever happens', () => {
    const steps = fc.array(fc.record({ kind: fc.constantFrom(...EVENTS), minutes: fc.integer({ min: 1, max: 12 }) }), { maxLength: 60 })
    fc.assert(
      fc.property(steps, (all) => {
        let [now, told]: [number, Given['told']] = [NOON, undefined]
        const happened: Happening[] = []
        const times = new Map<string, number[]>()
        const seen: string[] = []
        for (const { kind, minutes } of all) {
          now += minutes * MINUTE
          happened.push(event(kind, `${happened.length}`, { ...ADA, at: now, text: `${happened.length}` }))
          const found = due({ now, told, happened, settings: CHANNEL })
          for (const { key, values } of found.messages) {
            times.set(key, [...(times.get(key) ?? []), now])
            if (Array.isArray(values['items'])) seen.push(...values['items'])
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
})

describe('a digest', () => {
  const settings = { ...SETTINGS, owners: [lead('grp_r')], digest: 'daily', events: [], channels: [] } as const
  const person = (name: string, used: number, source: 'measured' | 'estimated' = 'measured') =>
    ({ email: `${name}@example.com`, cap: credits(100), used: credits(used), source }) as const

  test('tells what changed since the last one, who is newly at the cap, and a figure that moved by coverage', () => {
    const first = due({ settings, people: [person('ada', 100, 'estimated')], happened: [event('applied', 'a', ADA)] })
    expect(first.messages[0]?.values['changes']).toEqual(['What changed: 1 cap written.'])
    const told = afterwards(first)
    const now = NOON + 24 * HOUR
    const at = now - MINUTE
    const happened = [
      event('applied', 'a', ADA),
      event('foreign', 'f', { ...ADA, at }),
      event('reverted', 'r', { ...ADA, at }),
      event('hold', 'h', { at }),
      event('revision', 'v', { at }),
      event('applied', 'c', { at, scope: userScope('cleo@example.com') }),
    ]
    const [next] = due({ settings, now, told, happened, people: [person('ada', 100), person('bob', 120)] }).messages
    expect(next?.values['changes']).toEqual([
      'What changed: 1 foreign change, 1 foreign change reverted, 1 hold in the workspace, 1 policy revision.',
      'Newly at their cap: <15>.',
      'The figure moved by coverage, not by use alone: use is known of 2 of 2 people, before of 1 of 2; it is measured now, before it was estimated.',
    ])
    expect(next?.text).toContain('What changed: 1 foreign change')
  })

  test('counts several, names twenty, and tells of a figure that only comes from elsewhere', () => {
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
      expect.stringMatching(/^Newly at their cap: (<1\d>, ){19}<1\d> and 2 more\.$/),
      'The figure moved by coverage, not by use alone: it is measured now, before it was estimated.',
    ])
  })

  test.each(['daily', 'monthly'] as const)('that is the first looks back as far as it is sent: %s', (digest) => {
    const lookBackMs = (digest === 'daily' ? 1 : 31) * 24 * HOUR
    const happened = [event('applied', 'a', { at: NOON - lookBackMs + 1 }), event('applied', 'b', { at: NOON - lookBackMs })]
    const cycle = { startAt: NOON - 40 * 24 * HOUR, endAt: NOON + 1 }
    const [first] = due({ settings: { ...settings, digest }, happened, people: [person('ada', 1)], cycle }).messages
    expect(first?.values['changes']).toEqual(['What changed: 1 cap written.'])
  })

  test('that is sent again says the same', () => {
    const told = afterwards(due({ settings, people: [person('ada', 10)] }))
    const now = NOON + 24 * HOUR
    const given = { settings, people: [person('ada', 100)], happened: [event('applied', 'a', { ...ADA, at: now - MINUTE })] }
    const failed = due({ ...given, told, now })
    const after = afterwards(failed, 'refused', now)
    const again = due({ ...given, told: after, now: now + 5 * MINUTE })
    expect(again.messages[0]?.values['changes']).toEqual(['What changed: 1 cap written.', 'Newly at their cap: <15>.'])
  })
})
