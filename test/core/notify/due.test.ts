// Which messages are due and what they say: thresholds, owners, digests, quiet hours, and at most one for each threshold and cycle.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { channelOf, tellsEnded } from '../../../src/core/notify/due.ts'
import { markSending, settleOpen } from '../../../src/core/notify/told.ts'
import { CYCLE, cap, DAY, type PlainCap } from '../../support/declare.ts'
import { afterwards, due as dueOf, NOON, NOTIFY } from '../../support/notify.ts'

type Given = NonNullable<Parameters<typeof dueOf>[0]>
type Settings = typeof NOTIFY
type Owner = Settings['owners'][number]
type Person = NonNullable<Given['people']>[number]
type Pool = NonNullable<Given['pools']>[number]

const START = CYCLE.startAt
const CHAT = { kind: 'webhook', name: 'chat' } as const
const BOSS = { kind: 'email', address: 'boss@example.com' } as const
const GROUP = { kind: 'group', id: 'g1' } as const
const POOL = { kind: 'pool', name: 'research' } as const

const due = (settings: Partial<Settings>, given: Given) =>
  dueOf({ label: (email) => `<${email}>`, ...given, settings: { ...NOTIFY, ...settings } }).messages
const person = (email: string, used: number, most: PlainCap = 100, more: Partial<Person> = {}): Person => ({
  ...{ email, used: credits(used), source: 'measured', cap: cap(most), ...more },
})
const pool = (more: Partial<Pool> = {}): Pool => ({ name: 'research', groups: ['g1'], credits: 1000, used: 800, ...more })
const shown = (messages: ReturnType<typeof due>) =>
  messages.map(({ to, level }) => `${to.kind === 'email' ? to.address : to.name} ${level}`)

describe('a person', () => {
  test.each<readonly [string, Person, readonly string[]]>([
    ['below every threshold is told nothing', person('ada', 84.99), []],
    ['at the cap is told of the cap alone', person('ada', 100), ['ada 100']],
    ['without a cap is told nothing', person('ada', 9999, 'none'), []],
    ['with a cap of 0 is told nothing', person('ada', 10, 0), []],
    ['whose use has no known source is told nothing', person('ada', 90, 100, { source: undefined as never }), []],
    ['whose use is only an upper bound is told nothing', person('ada', 100, 100, { source: 'upperBound' }), []],
    ['whose use is estimated is told', person('ada', 90, 100, { source: 'estimated' }), ['ada 85']],
  ])('%s', (_title, one, expected) => expect(shown(due({}, { people: [one] }))).toEqual(expected))

  test.each<readonly [string, Partial<Person>, string]>([
    ['under their name', { name: 'Ada' }, 'Ada'],
    ['under their address with a blank name', { name: ' ' }, 'ada'],
  ])('is told their own figures, %s', (_title, more, name) => {
    const [message, ...rest] = due({}, { people: [person('ada', 87.5, 100, more)] })
    expect(rest).toEqual([])
    expect(message).toMatchObject({ key: '["person","ada"]', kind: 'person', workspace: 'acme', to: { kind: 'email', address: 'ada' } })
    expect(message?.values).toEqual({
      ...{ email: 'ada', name, source: 'as the service measures it', stop: 'not known', workspace: 'acme', cycleEnd: '2026-12-01' },
      ...{ threshold: 85, percent: 87, used: 87.5, cap: 100, left: 12.5 },
    })
  })

  test('is told where to ask for more, by a link that has their figures encoded', () => {
    const requestUrl = 'https://git.example/new?for={email}&cap={cap}&used={used}'
    const templates = { ...NOTIFY.templates, person: { subject: 's', text: 'my own text' } }
    const texts = (settings: Partial<Settings>) => due(settings, { people: [person('a&b=c d', 90)] }).map(({ text }) => text)
    expect(texts({ requestUrl, templates })).toEqual([
      'my own text\n\nTo ask for more: https://git.example/new?for=a%26b%3Dc%20d&cap=100&used=90',
    ])
    expect(texts({})[0]).not.toContain('ask for more')
  })

  test('at a higher threshold comes first', () => {
    const people = [person('a', 90), person('b', 100), person('c', 90), person('d', 120)]
    expect(shown(due({}, { people }))).toEqual(['b 100', 'd 100', 'a 85', 'c 85'])
  })

  test('is told nothing while no cycle is known, or after its end', () => {
    const people = [person('ada', 100)]
    expect([due({}, { people, cycle: undefined }), due({}, { people, now: CYCLE.endAt })]).toEqual([[], []])
  })

  test('is not told again of what may have arrived, even after a crash between record and answer', () => {
    const people = [person('ada', 90)]
    const crashed = settleOpen(markSending({ cycleStartAt: START, entries: {} }, due({}, { people }), NOON), NOON + 1)
    expect(Object.values(crashed.entries)).toMatchObject([{ state: 'unknown' }])
    expect(due({}, { people, told: crashed, now: NOON + 2 * DAY })).toEqual([])
    expect(shown(due({}, { people: [person('ada', 100)], told: crashed }))).toEqual(['ada 100'])
  })

  test('is told of a threshold once in a cycle, and is told while they stay above it, whatever happens', () => {
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
          const found = dueOf({ now, cycle: { startAt, endAt: startAt + 30 * DAY }, people, told: told && settleOpen(told, now) })
          if (!found.told) throw new Error('a cycle is known')
          told = outcome === 'crash' ? markSending(found.told, found.messages, now) : afterwards(found, outcome, now)
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
})

describe('a pool', () => {
  test.each<readonly [string, Partial<Pool>, object]>([
    ['not in this cycle', {}, { percent: 80, used: 800, left: 200 }],
    ['2026-11-25', { exhaustedAt: Date.parse('2026-11-25T10:00Z') }, { percent: 80, used: 800, left: 200 }],
    ['now', { used: 1000 }, { percent: 100, used: 1000, left: 0 }],
  ])('is used up: %s', (exhausted, more, expected) => {
    const messages = due({ owners: [{ of: POOL, targets: [CHAT, BOSS] }] }, { pools: [pool(more)] })
    expect(messages.map(({ key, to }) => [JSON.parse(key), to])).toEqual([
      [['pool', 'research', 'webhook chat'], CHAT],
      [['pool', 'research', 'mail boss@example.com'], BOSS],
    ])
    const always = { pool: 'research', workspace: 'acme', threshold: 80, credits: 1000, cycleEnd: '2026-12-01' }
    for (const { values } of messages) expect(values).toEqual({ ...always, exhausted, ...expected })
  })

  test.each<readonly [string, Owner['of'], Partial<Pool>, number]>([
    ['the owners of its groups', GROUP, {}, 1],
    ['no owners of another pool', { kind: 'pool', name: 'other' }, {}, 0],
    ['nobody while it has no credits', POOL, { credits: 0, used: 0 }, 0],
    ['nobody below the threshold', POOL, { used: 799 }, 0],
  ])('tells %s', (_title, of, more, count) =>
    expect(due({ owners: [{ of, targets: [CHAT] }] }, { pools: [pool(more)] })).toHaveLength(count),
  )

  test('tells each of its owners and of those of its groups once', () => {
    const owners = [
      { of: GROUP, targets: [BOSS, CHAT] },
      { of: POOL, targets: [CHAT] },
    ]
    expect(shown(due({ owners }, { pools: [pool()] }))).toEqual(['boss@example.com 80', 'chat 80'])
  })
})

describe('a digest', () => {
  const groups = [
    { id: 'g0', name: 'Design', emails: ['eve'] },
    { id: 'g1', name: 'Research', emails: ['ada', 'bob', 'cyd', 'dan'] },
  ]
  const digests = (of: Owner['of'], given: Given, more: Partial<Settings> = {}) =>
    due({ digest: 'daily', people: [], pools: [], owners: [{ of, targets: [CHAT] }], ...more }, { groups, ...given })
  const common = { changes: ['What changed: nothing.'], workspace: 'acme', day: '2026-11-22', cycleEnd: '2026-12-01' }
  const people = [
    ...[person('eve', 100), person('dan', 85), person('cyd', 84.99), person('ada', 100, 100, { source: 'estimated' })],
    person('bob', 300, 200),
  ]
  const named = ['<bob>: 300 of 200', '<ada>: 100 of 100', '<dan>: 85 of 100']
  const counts = { members: 4, atCap: 2, nearCap: 3, people: named, source: 'estimated' }
  const nobody = { members: 4, atCap: 0, nearCap: 0, people: [], source: 'as the pool counts it' }
  const other = pool({ name: 'other', groups: [] })
  const bound = person('bob', 90, 100, { source: 'upperBound' })

  test.each<readonly [string, Owner['of'], Given, object]>([
    ['of a group counts its members, and names who is near their cap, the nearest first', GROUP, { people }, { ...counts, used: 569.99 }],
    ['says where the use of one is an upper bound', GROUP, { people: [person('ada', 90), bound] }, { used: 180, source: 'an upper bound' }],
    [
      'names nobody who has no cap, or one of 0',
      GROUP,
      { people: [person('ada', 500, 'none'), person('bob', 1, 0), { email: 'cyd', used: credits(5), source: 'measured' }] },
      { used: 506, atCap: 0, nearCap: 0, people: [] },
    ],
    ['of a pool has the use that the pool counts', POOL, { people, pools: [other, pool({ used: 700 })] }, { ...counts, used: 700 }],
    ['of a pool whose members are not known has only its use', POOL, { pools: [pool()] }, { ...nobody, used: 800 }],
    ['of a pool whose members no group names counts nobody', POOL, { people, pools: [pool({ groups: [] })] }, { members: 0, used: 800 }],
  ])('%s', (_title, of, given, expected) => {
    const [message] = digests(of, given)
    const [kind, name] = of.kind === 'group' ? ['group', 'Research'] : ['pool', 'Pool research']
    expect(JSON.parse(message?.key ?? '')).toEqual(['digest', 'daily', kind, of.kind === 'group' ? of.id : of.name, 'webhook chat'])
    expect(message?.values).toMatchObject({ ...common, of: name, ...expected })
  })

  describe('of the cycle that ended', () => {
    const ended = { cycle: CYCLE, people, pools: [pool({ used: 700 })] }
    const present: Given = {
      now: Date.parse('2026-12-01T08:00Z'),
      cycle: { startAt: CYCLE.endAt, endAt: Date.parse('2027-01-01T00:00Z') },
      people: [person('ada', 1)],
      pools: [pool({ used: 1 })],
    }
    const told = { ...common, ...counts, day: '2026-12-01' }
    const unknown = { used: 1, cycleEnd: '2027-01-01' }

    test.each<readonly [string, Owner['of'], Given['ended'], object]>([
      ['has the use of a group', GROUP, ended, { ...told, used: 569.99 }],
      ['has the use of a pool', POOL, ended, { ...told, used: 700 }],
      ['is of the present cycle where no use of people is known', GROUP, { ...ended, people: [] }, unknown],
      ['is of the present cycle where the pool is not known', POOL, { ...ended, pools: [] }, unknown],
    ])('%s', (_title, of, before, expected) => expect(digests(of, { ...present, ended: before })[0]?.values).toMatchObject(expected))

    test.each([
      ['monthly', '2026-11-15T23:59Z', true],
      ['monthly', '2026-11-16T00:00Z', false],
      ['daily', '2026-11-01T00:00Z', false],
    ] as const)('is %s told at %s: %s', (digest, at, expected) => expect(tellsEnded({ digest }, CYCLE, Date.parse(at))).toBe(expected))
  })

  test.each<readonly [string, Owner['of'], Given]>([
    ['a pool that does not exist', POOL, { people, pools: [pool({ name: 'other' })] }],
    ['a group that does not exist', { kind: 'group', id: 'gone' }, { people }],
    ['a group whose members have no known use', GROUP, { people: [person('eve', 1), { email: 'ada', source: 'measured' }] }],
    ['a group whose use has no known source', GROUP, { people: [{ email: 'ada', used: credits(5) }] }],
  ])('is not sent of %s', (_title, of, given) => expect(digests(of, given)).toEqual([]))

  test.each([
    [20, []],
    [25, ['and 5 more']],
  ])('in which %i are equally near names them by address, and after twenty how many more', (count, last) => {
    const emails = Array.from({ length: count }, (_, at) => `p${10 + at}`)
    const near = [...emails.slice(7), ...emails.slice(0, 7).toReversed()].map((email) => person(email, 90))
    const first = emails.slice(0, 20).map((email) => `<${email}>: 90 of 100`)
    expect(digests(GROUP, { people: near, groups: [{ id: 'g1', name: 'R', emails }] })[0]?.values['people']).toEqual([...first, ...last])
  })

  test.each([
    ['daily', 'UTC', '2026-11-22T08:00:00Z', 20261122, '2026-11-22'],
    ['daily', 'Asia/Tokyo', '2026-11-22T23:30:00Z', 20261123, '2026-11-23'],
    ['monthly', 'UTC', '2026-11-01T07:59:00Z', 202610, '2026-11-01'],
    ['monthly', 'UTC', '2026-11-30T23:00:00Z', 202611, '2026-11-30'],
  ] as const)('that is %s begins at eight in %s: %s', (digest, timezone, at, level, day) => {
    expect(digests(GROUP, { people, now: Date.parse(at) }, { digest, timezone })[0]).toMatchObject({ level, values: { day } })
  })
})

const span = (from: number, until: number) => ({ fromMinute: from * 60, untilMinute: until * 60 })
test.each([
  ['2026-11-22T12:00Z', 'UTC', undefined, false],
  ['2026-11-22T11:59Z', 'UTC', span(12, 14), false],
  ['2026-11-22T12:31Z', 'UTC', { fromMinute: 751, untilMinute: 752 }, true],
  ['2026-11-22T12:00Z', 'UTC', span(12, 12), false],
  ['2026-11-22T06:59Z', 'Europe/Berlin', span(19, 8), true],
  ['2026-11-22T07:00Z', 'Europe/Berlin', span(19, 8), false],
  ['2026-07-22T17:00Z', 'Europe/Berlin', span(19, 8), true],
])('quiet hours at %s in %s, of %j: %s', (at, timezone, quietHours, quiet) => {
  const settings = { ...NOTIFY, timezone, ...(quietHours && { quietHours }) }
  expect(dueOf({ settings, now: Date.parse(at) }).quiet).toBe(quiet)
})

test.each([
  ['["person","webhook x"]', 'e-mail'],
  ['["pool","research","webhook chat"]', 'webhook chat'],
  ['["pool","webhook x","mail a@example.com"]', 'e-mail'],
  ['["digest","daily","group","g1",7]', 'e-mail'],
])('what failed is counted by its channel, never by a person: %s', (key, channel) => expect(channelOf(key)).toBe(channel))
