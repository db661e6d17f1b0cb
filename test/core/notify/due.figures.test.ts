// What a message says, to the letter of its figures: the order of people, the end of a pool, and whom a digest names.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { channelOf, type DueInputs, type PersonUse, type PoolUse, tellsEnded } from '../../../src/core/notify/due.ts'
import type { NotifySettings, Owner } from '../../../src/core/notify/settings.ts'
import { CYCLE, due as dueOf, NOTIFY } from '../../support/notify.ts'

const CHAT = { kind: 'webhook', name: 'chat' } as const
const BOSS = { kind: 'email', address: 'boss@example.com' } as const

const due = (settings: Partial<NotifySettings>, given: Partial<DueInputs>) =>
  dueOf({ label: (email) => `<${email}>`, ...given, settings: { ...NOTIFY, ...settings } }).messages

const person = (email: string, used: number, cap: number | undefined = 100, more: Partial<PersonUse> = {}): PersonUse => ({
  ...{ email, used: credits(used), source: 'measured' },
  ...(cap !== undefined && { cap: credits(cap) }),
  ...more,
})
const pool = (more: Partial<PoolUse> = {}): PoolUse => ({ name: 'research', groups: ['g1'], credits: 1000, used: 800, ...more })

describe('a person', () => {
  const figures = { email: 'ada', threshold: 85, percent: 87, used: 87.5, cap: 100, left: 12.5, cycleEnd: '2026-12-01', workspace: 'acme' }

  test.each<readonly [string, Partial<PersonUse>, object]>([
    ['under their name', { name: 'Ada' }, { name: 'Ada', source: 'as the service measures it' }],
    ['under their address without a name', {}, { name: 'ada', source: 'as the service measures it' }],
    ['under their address with a blank name', { name: ' ' }, { name: 'ada', source: 'as the service measures it' }],
    ['what is estimated as estimated', { source: 'estimated' }, { name: 'ada', source: 'estimated' }],
  ])('is told their own figures, %s', (_title, more, expected) => {
    const [message, ...rest] = due({}, { people: [person('ada', 87.5, 100, more)] })
    expect(rest).toEqual([])
    expect(message).toMatchObject({ key: '["person","ada"]', kind: 'person', workspace: 'acme', to: { kind: 'email', address: 'ada' } })
    expect(message?.values).toEqual({ ...figures, stop: 'not known', ...expected })
  })

  test('whose use has no known source is told nothing', () => {
    const { source: _, ...one } = person('ada', 90)
    expect(due({}, { people: [one] })).toEqual([])
  })

  test('at a higher threshold comes first', () => {
    const people = [person('a', 90), person('b', 100), person('c', 90), person('d', 120)]
    expect(due({}, { people }).map(({ to, level }) => [to, level])).toEqual(
      [...['b', 'd', 'a', 'c']].map((address, at) => [{ kind: 'email', address }, at < 2 ? 100 : 85]),
    )
  })
})

describe('a pool', () => {
  const byPool: Owner = { of: { kind: 'pool', name: 'research' }, targets: [CHAT, BOSS] }

  test.each<readonly [string, Partial<PoolUse>, object]>([
    ['not in this cycle', {}, { percent: 80, used: 800, left: 200 }],
    ['2026-11-25', { exhaustedAt: Date.parse('2026-11-25T10:00Z') }, { percent: 80, used: 800, left: 200 }],
    ['now', { used: 1000 }, { percent: 100, used: 1000, left: 0 }],
    ['now', { used: 1001, exhaustedAt: CYCLE.startAt }, { percent: 100, used: 1001, left: 0 }],
  ])('is used up: %s', (exhausted, more, expected) => {
    const messages = due({ owners: [byPool] }, { pools: [pool(more)] })
    expect(messages.map(({ key, to }) => [JSON.parse(key), to])).toEqual([
      [['pool', 'research', 'webhook chat'], CHAT],
      [['pool', 'research', 'mail boss@example.com'], BOSS],
    ])
    const always = { pool: 'research', workspace: 'acme', threshold: 80, credits: 1000, cycleEnd: '2026-12-01' }
    for (const { values } of messages) expect(values).toEqual({ ...always, exhausted, ...expected })
  })

  test.each<readonly [string, Owner['of'], Partial<PoolUse>, number]>([
    ['its own owners', { kind: 'pool', name: 'research' }, {}, 1],
    ['the owners of its groups', { kind: 'group', id: 'g1' }, {}, 1],
    ['no owners of another pool', { kind: 'pool', name: 'other' }, {}, 0],
    ['no owners of another group, even with the same id', { kind: 'group', id: 'research' }, {}, 0],
    ['nobody while it has no credits', { kind: 'pool', name: 'research' }, { credits: 0, used: 0 }, 0],
  ])('tells %s', (_title, of, more, count) =>
    expect(due({ owners: [{ of, targets: [CHAT] }] }, { pools: [pool(more)] })).toHaveLength(count),
  )
})

describe('a digest', () => {
  const groups = [
    { id: 'g0', name: 'Design', emails: ['eve'] },
    { id: 'g1', name: 'Research', emails: ['ada', 'bob', 'cyd', 'dan'] },
  ]
  const ofGroup: Owner['of'] = { kind: 'group', id: 'g1' }
  const ofPool: Owner['of'] = { kind: 'pool', name: 'research' }
  const digests = (of: Owner['of'], given: Partial<DueInputs>) =>
    due({ digest: 'daily', people: [], pools: [], owners: [{ of, targets: [CHAT] }] }, { groups, ...given })
  const common = { changes: ['What changed: nothing.'], workspace: 'acme', day: '2026-11-22', cycleEnd: '2026-12-01' }
  const people = [
    ...[person('eve', 100), person('dan', 85), person('cyd', 84.99), person('ada', 100, 100, { source: 'estimated' })],
    person('bob', 300, 200),
  ]
  const named = ['<bob>: 300 of 200', '<ada>: 100 of 100', '<dan>: 85 of 100']
  const counts = { members: 4, atCap: 2, nearCap: 3, people: named, source: 'estimated' }

  test('of a group counts its members, and names who is near their cap, the nearest first', () => {
    const [message] = digests(ofGroup, { people })
    expect(JSON.parse(message?.key ?? '')).toEqual(['digest', 'daily', 'group', 'g1', 'webhook chat'])
    expect(message?.values).toEqual({ ...common, ...counts, of: 'Research', used: 569.99 })
  })

  test('of a pool has the use that the pool counts', () => {
    const [message] = digests(ofPool, { people, pools: [pool({ name: 'other', groups: [] }), pool({ used: 700 })] })
    expect(JSON.parse(message?.key ?? '')).toEqual(['digest', 'daily', 'pool', 'research', 'webhook chat'])
    expect(message?.values).toEqual({ ...common, ...counts, of: 'Pool research', used: 700 })
  })

  test('of a pool whose members are not known has only its use', () => {
    const [message] = digests(ofPool, { pools: [pool()] })
    const nobody = { atCap: 0, nearCap: 0, people: [], source: 'as the pool counts it' }
    expect(message?.values).toEqual({ ...common, ...nobody, of: 'Pool research', members: 4, used: 800 })
  })

  test('says so where the use of one is only an upper bound', () => {
    const [message] = digests(ofGroup, { people: [person('ada', 90), person('bob', 90, 100, { source: 'upperBound' })] })
    expect(message?.values).toMatchObject({ used: 180, source: 'an upper bound' })
  })

  test('of a pool whose members are not named by group counts nobody', () => {
    const [message] = digests(ofPool, { people, pools: [pool({ groups: [] })] })
    expect(message?.values).toMatchObject({ of: 'Pool research', members: 0, used: 800 })
  })

  describe('of the cycle that ended', () => {
    const now = Date.parse('2026-12-01T08:00Z')
    const ended = { cycle: CYCLE, people, pools: [pool({ used: 700 })] }
    const present = {
      now,
      cycle: { startAt: CYCLE.endAt, endAt: Date.parse('2027-01-01T00:00Z') },
      people: [person('ada', 1)],
      pools: [pool({ used: 1 })],
    }
    const values = (of: Owner['of'], given: Partial<DueInputs>) => digests(of, { ...present, ...given })[0]?.values

    test('has its use, and who was near their cap', () => {
      const told = { ...common, ...counts, day: '2026-12-01' }
      expect(values(ofGroup, { ended })).toEqual({ ...told, of: 'Research', used: 569.99 })
      expect(values(ofPool, { ended })).toEqual({ ...told, of: 'Pool research', used: 700 })
    })

    test('is of the present cycle where that one is not known', () => {
      expect(values(ofGroup, { ended: { ...ended, people: [] } })).toMatchObject({ used: 1, cycleEnd: '2027-01-01' })
      expect(values(ofPool, { ended: { ...ended, pools: [] } })).toMatchObject({ used: 1, cycleEnd: '2027-01-01' })
    })

    test.each([
      ['monthly', '2026-11-01T00:00Z', true],
      ['monthly', '2026-11-15T23:59Z', true],
      ['monthly', '2026-11-16T00:00Z', false],
      ['daily', '2026-11-01T00:00Z', false],
    ] as const)('is %s told at %s: %s', (digest, at, expected) => expect(tellsEnded({ digest }, CYCLE, Date.parse(at))).toBe(expected))
  })

  test.each<readonly [string, Owner['of'], Partial<DueInputs>]>([
    ['a pool that does not exist', ofPool, { people, pools: [pool({ name: 'other' })] }],
    ['a group that does not exist', { kind: 'group', id: 'gone' }, { people }],
    ['a group whose members have no known use', ofGroup, { people: [person('eve', 1), { email: 'ada', source: 'measured' }] }],
    ['a group whose use has no known source', ofGroup, { people: [{ email: 'ada', used: credits(5) }] }],
  ])('is not sent of %s', (_title, of, given) => expect(digests(of, given)).toEqual([]))

  test('names nobody who has no cap, or one of 0', () => {
    const [message] = digests(ofGroup, {
      people: [{ ...person('ada', 500), cap: 'none' }, person('bob', 1, 0), person('cyd', 5, undefined)],
    })
    expect(message?.values).toMatchObject({ used: 506, atCap: 0, nearCap: 0, people: [] })
  })

  test.each([
    [20, 20, undefined],
    [21, 21, 'and 1 more'],
    [25, 21, 'and 5 more'],
  ])('in which %i are equally near names them by address, in %i lines', (count, lines, last) => {
    const emails = Array.from({ length: count }, (_, at) => `p${10 + at}`)
    const near = [...emails.slice(7), ...emails.slice(0, 7).toReversed()].map((email) => person(email, 90))
    const shown: unknown = digests(ofGroup, { people: near, groups: [{ id: 'g1', name: 'R', emails }] })[0]?.values['people']
    const first = emails.slice(0, 20).map((email) => `<${email}>: 90 of 100`)
    expect(shown).toEqual(last === undefined ? first : [...first, last])
    expect(shown).toHaveLength(lines)
  })
})

test.each([
  ['["person","webhook x"]', 'e-mail'],
  ['["pool","research","webhook chat"]', 'webhook chat'],
  ['["pool","webhook x","mail a@example.com"]', 'e-mail'],
  ['["digest","daily","group","g1",7]', 'e-mail'],
])('what failed is counted by its channel, never by a person: %s', (key, channel) => expect(channelOf(key)).toBe(channel))
