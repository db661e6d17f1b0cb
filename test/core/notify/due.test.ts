// Which messages are due: thresholds, owners, digests, quiet hours, and at most one for each threshold and cycle.
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import type { Message, PersonUse, PoolUse } from '../../../src/core/notify/due.ts'
import { DEFAULT_TEMPLATES, type NotifySettings, type Owner } from '../../../src/core/notify/settings.ts'
import { type Delivery, markEnded, markSending, settleOpen, type Told } from '../../../src/core/notify/told.ts'
import { CYCLE, due, NOON, NOTIFY } from '../../support/notify.ts'

const DAY = 86_400_000
const START = CYCLE.startAt
const owner = (of: Owner['of'], ...targets: Owner['targets']): Owner => ({ of, targets })
const mailTo = (address: string) => ({ kind: 'email', address }) as const
const CHAT = { kind: 'webhook', name: 'chat' } as const
const person = (
  name: string,
  used: number | undefined,
  cap: number | 'none' = 1000,
  source: PersonUse['source'] = 'measured',
): PersonUse => ({
  email: `${name}@example.com`,
  cap: cap === 'none' ? cap : credits(cap),
  ...(used !== undefined && { used: credits(used), source }),
})
const pool = (used: number, more: Partial<PoolUse> = {}): PoolUse => ({ name: 'research', groups: ['grp_r'], credits: 1000, used, ...more })

const shown = (messages: readonly Message[]) => messages.map(({ to, level }) => `${to.kind === 'email' ? to.address : to.name} ${level}`)
const settle = (told: Told, messages: readonly Message[], kind: Delivery['kind'], now: number): Told =>
  markEnded(
    markSending(told, messages, now),
    new Map(messages.map(({ key }) => [key, kind === 'sent' ? { kind } : { kind, reason: 'why' }])),
    now,
  )

test('a person is told where to ask for more, by a link that has their figures encoded', () => {
  const requestUrl = 'https://git.example/new?for={email}&cap={cap}&used={used}'
  const settings = { ...NOTIFY, requestUrl, templates: { ...DEFAULT_TEMPLATES, person: { subject: 's', text: 'my own text' } } }
  const texts = (given: NotifySettings) => due({ settings: given, people: [person('a&b=c d', 900)] }).messages.map(({ text }) => text)
  expect(texts(settings)).toEqual([
    'my own text\n\nTo ask for more: https://git.example/new?for=a%26b%3Dc%20d%40example.com&cap=1000&used=900',
  ])
  expect(texts(NOTIFY)[0]).not.toContain('ask for more')
})

describe('a person', () => {
  test.each<[string, PersonUse, readonly string[]]>([
    ['below every threshold is told nothing', person('ada', 849.99), []],
    ['at 85 % is told so', person('ada', 850), ['ada@example.com 85']],
    ['at the cap is told of the cap alone', person('ada', 1000), ['ada@example.com 100']],
    ['without a cap is told nothing', person('ada', 9999, 'none'), []],
    ['with a cap of 0 is told nothing', person('ada', 10, 0), []],
    ['whose use is not known is told nothing', person('ada', undefined), []],
    ['whose use is only an upper bound is told nothing', person('ada', 1000, 1000, 'upperBound'), []],
    ['whose use is estimated is told', person('ada', 900, 1000, 'estimated'), ['ada@example.com 85']],
  ])('%s', (_title, one, expected) => {
    expect(shown(due({ people: [one] }).messages)).toEqual(expected)
  })

  it('is told nothing while no cycle is known, or after its end', () => {
    const people = [person('ada', 1000)]
    expect(due({ people, cycle: undefined }).messages).toEqual([])
    expect(due({ people, now: CYCLE.endAt }).messages).toEqual([])
  })

  it('who falls below a threshold and rises again is told again only in the next cycle', () => {
    const first = due({ people: [person('ada', 900)] })
    let told = settle(first.told ?? { cycleStartAt: 0, entries: {} }, first.messages, 'sent', NOON)
    for (const used of [100, 900, 860]) expect(due({ people: [person('ada', used)], told }).messages).toEqual([])
    const cycle = { startAt: CYCLE.endAt, endAt: CYCLE.endAt + 30 * DAY }
    const next = due({ people: [person('ada', 900)], told, cycle, now: cycle.startAt + DAY })
    expect(shown(next.messages)).toEqual(['ada@example.com 85'])
    told = next.told ?? told
    expect(due({ people: [person('ada', 900)], told, cycle: CYCLE }).messages).toEqual([])
  })
})

describe('owners', () => {
  const owners = [
    owner({ kind: 'group', id: 'grp_r' }, mailTo('boss@example.com'), CHAT),
    owner({ kind: 'pool', name: 'research' }, CHAT),
    owner({ kind: 'group', id: 'grp_other' }, mailTo('other@example.com')),
  ]
  const settings = { ...NOTIFY, owners }

  it('of a pool and of its groups are told at 80 %, each once', () => {
    expect(due({ settings, pools: [pool(799)] }).messages).toEqual([])
    expect(shown(due({ settings, pools: [pool(800)] }).messages)).toEqual(['boss@example.com 80', 'chat 80'])
  })

  it('are sent a digest in which people show as hashes where the config says so', () => {
    const groups = [{ id: 'grp_r', name: 'Research', emails: ['ada@example.com', 'bob@example.com'] }]
    const people = [person('ada', 900), person('bob', 10), person('eve', 1000)]
    const { messages } = due({ settings: { ...settings, digest: 'daily' }, groups, people, label: () => 'a1b2c3' })
    const digests = messages.filter(({ kind }) => kind === 'digest')
    expect(shown(digests)).toEqual(['boss@example.com 20261122', 'chat 20261122'])
    expect(digests[0]?.text).toContain('910 add-on credits used')
    expect(digests[0]?.text).toContain('a1b2c3: 900 of 1000')
    expect(JSON.stringify(digests)).not.toMatch(/(ada|bob|eve)@/)
  })

  test.each([
    ['daily', 'UTC', '2026-11-22T07:59:00Z', 20261121, '2026-11-22'],
    ['daily', 'UTC', '2026-11-22T08:00:00Z', 20261122, '2026-11-22'],
    ['daily', 'Europe/Berlin', '2026-11-22T07:00:00Z', 20261122, '2026-11-22'],
    ['daily', 'Asia/Tokyo', '2026-11-22T23:30:00Z', 20261123, '2026-11-23'],
    ['monthly', 'UTC', '2026-11-01T07:59:00Z', 202610, '2026-11-01'],
    ['monthly', 'UTC', '2026-11-30T23:00:00Z', 202611, '2026-11-30'],
  ] as const)('%s digests begin at eight in %s: %s', (digest, timezone, at, level, day) => {
    const groups = [{ id: 'grp_r', name: 'R', emails: ['ada@example.com'] }]
    const { messages } = due({
      settings: { ...settings, digest, timezone, people: [] },
      groups,
      people: [person('ada', 1)],
      now: Date.parse(at),
    })
    expect(messages[0]).toMatchObject({ level, values: { day } })
  })
})

describe('quiet hours', () => {
  const span = (from: number, until: number) => ({ fromMinute: from * 60, untilMinute: until * 60 })
  test.each([
    ['2026-11-22T12:00Z', 'UTC', undefined, false],
    ['2026-11-22T11:59Z', 'UTC', span(12, 14), false],
    ['2026-11-22T12:00Z', 'UTC', span(12, 14), true],
    ['2026-11-22T13:59Z', 'UTC', span(12, 14), true],
    ['2026-11-22T14:00Z', 'UTC', span(12, 14), false],
    ['2026-11-22T12:31Z', 'UTC', { fromMinute: 751, untilMinute: 752 }, true],
    ['2026-11-22T12:00Z', 'UTC', span(12, 12), false],
    ['2026-11-22T17:59Z', 'Europe/Berlin', span(19, 8), false],
    ['2026-11-22T18:00Z', 'Europe/Berlin', span(19, 8), true],
    ['2026-11-22T06:59Z', 'Europe/Berlin', span(19, 8), true],
    ['2026-11-22T07:00Z', 'Europe/Berlin', span(19, 8), false],
    ['2026-07-22T06:00Z', 'Europe/Berlin', span(19, 8), false],
    ['2026-07-22T17:00Z', 'Europe/Berlin', span(19, 8), true],
  ])('at %s in %s, of %j: %s', (at, timezone, quietHours, quiet) => {
    const settings = { ...NOTIFY, timezone, ...(quietHours && { quietHours }) }
    expect(due({ settings, now: Date.parse(at) }).quiet).toBe(quiet)
  })
})

describe('what did not arrive', () => {
  it('but may have, is not sent again, even after a crash between record and answer', () => {
    const people = [person('ada', 900)]
    const { messages } = due({ people })
    const crashed = settleOpen(markSending({ cycleStartAt: START, entries: {} }, messages, NOON), NOON + 1)
    expect(Object.values(crashed.entries)).toMatchObject([{ state: 'unknown' }])
    expect(due({ people, told: crashed, now: NOON + 2 * DAY }).messages).toEqual([])
    expect(shown(due({ people: [person('ada', 1000)], told: crashed }).messages)).toEqual(['ada@example.com 100'])
  })
})

describe('whatever happens', () => {
  const step = fc.record({
    used: fc.array(fc.integer({ min: 0, max: 1300 }), { minLength: 3, maxLength: 3 }),
    passes: fc.integer({ min: 1, max: 20 * 3600 }),
    outcome: fc.constantFrom('sent' as const, 'refused' as const, 'rejected' as const, 'unknown' as const, 'crash' as const),
  })
  const days = 30

  it('no person is told twice of a threshold in a cycle, and each who stays above it is told', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
        let now = START + 3600_000
        let told: Told | undefined
        const arrived = new Map<string, number>()
        for (const { used, passes, outcome } of steps) {
          const startAt = START + Math.floor((now - START) / (days * DAY)) * days * DAY
          const cycle = { startAt, endAt: startAt + days * DAY }
          const people = used.map((credits, index) => person(`p${index}`, credits))
          if (told) told = settleOpen(told, now)
          const { messages, told: before } = due({ now, cycle, people, told })
          if (!before) throw new Error('a cycle is known')
          told = outcome === 'crash' ? markSending(before, messages, now) : settle(before, messages, outcome, now)
          const mayHave = outcome === 'sent' || outcome === 'unknown' || outcome === 'crash'
          for (const { key, level } of mayHave ? messages : []) {
            const id = `${cycle.startAt} ${key}`
            expect(level).toBeGreaterThan(arrived.get(id) ?? 0)
            arrived.set(id, level)
          }
          if (outcome === 'sent') {
            const above = people.filter(({ used: one = 0 }) => one >= 850).map(({ email }) => JSON.stringify(['person', email]))
            for (const key of above) {
              const { state } = told.entries[key] ?? {}
              expect(state).not.toBeUndefined()
              expect(state).not.toBe('sending')
            }
          }
          now += passes * 1000
        }
      }),
    )
  })

  it('the ledger holds no more than one entry for each person, pool and digest', () => {
    const groups = [{ id: 'grp_r', name: 'R', emails: ['p0@example.com'] }]
    const settings = { ...NOTIFY, digest: 'daily' as const, owners: [owner({ kind: 'group', id: 'grp_r' }, CHAT)] }
    let told: Told | undefined
    for (let day = 0; day < 90; day += 1) {
      const startAt = START + Math.floor(day / 30) * 30 * DAY
      const now = START + day * DAY + 10 * 3_600_000
      const found = due({
        now,
        settings,
        groups,
        cycle: { startAt, endAt: startAt + 30 * DAY },
        people: [person('p0', 860 + day * 3)],
        pools: [pool(900)],
        told,
      })
      told = settle(found.told ?? { cycleStartAt: startAt, entries: {} }, found.messages, 'sent', now)
      expect(Object.keys(told.entries).length).toBeLessThanOrEqual(3)
    }
  })
})
