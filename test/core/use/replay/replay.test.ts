// What recorded days would have been under other caps.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cap, DAY, email, type PlainCap, scope } from '../../../support/declare.ts'
import { runs } from '../../../support/fuzz.ts'
import { historyOf, ownedCap, raise, TEAM } from '../../../support/ledger.ts'
import { cyclesOf, group, START, simulated, weekdays } from '../../../support/replay.ts'

const totalOf = ({ cycles }: ReturnType<typeof simulated>, index = 0) => {
  const found = cycles[index]?.total
  if (!found) throw new Error(`no cycle ${index}`)
  return found
}

describe('one person who uses 10 credits each of 20 weekdays', () => {
  const use = { ada: weekdays(10) }

  test.each<[string, number, number, { credits: number; days: number; from?: number; cap?: number }]>([
    ['needs no add-on credits within the seat', 200, 1, { credits: 0, days: 0 }],
    ['is blocked at once by 0', 0, 0, { credits: 0, days: 20, from: 0, cap: 0 }],
  ])('%s', (_row, perSeat, cap, expected) => {
    const simulation = simulated({ use, perSeat, caps: { caps: { team: cap } } })
    const total = totalOf(simulation)
    expect(total.policy.credits.middle).toBe(expected.credits)
    expect(total.policy.blockedDays).toEqual({ low: expected.days, middle: expected.days, high: expected.days })
    expect(total.workingDays).toBe(20)
    expect(total.kept).toBe(200 - perSeat < 0 ? 0 : 200 - perSeat - expected.credits)
    const [blocked] = simulation.blocked
    if (expected.from === undefined) expect(blocked).toBeUndefined()
    else expect(blocked?.policy).toEqual({ fromAt: START + expected.from * DAY, days: expected.days, cap: expected.cap })
  })
})

test('the person’s own cap counts first, and of two groups the lower', () => {
  const use = { ada: weekdays(10), bob: weekdays(10), cy: weekdays(10), dan: weekdays(10) }
  const groups = [group('a', 'ada', 'bob'), group('b', 'bob'), group('c', 'ada')]
  const caps = { caps: { team: 10, 'group:a': 50, 'group:b': 30, dan: 40 }, onGroupConflict: 'max' } as const
  const { cycles, blocked } = simulated({ use, caps: { ...caps }, groups })
  const capOf = (name: string) => blocked.find((one) => one.email === email(name))?.policy?.cap
  expect([capOf('ada'), capOf('bob'), capOf('cy'), capOf('dan')]).toEqual([50, 50, 10, 40])
  expect(cycles[0]?.groups.map(({ key, people, policy }) => [key, people, policy.credits.middle])).toEqual([
    ['group:a', 2, 100],
    ['group:b', 1, 50],
    ['group:c', 1, 50],
    ['-', 2, 50],
  ])
})

test('groups that clash without a rule give the lowest cap, as the service does, with a note', () => {
  const { blocked, notes } = simulated({
    use: { ada: weekdays(10) },
    groups: [group('a', 'ada'), group('b', 'ada'), group('c', 'ada')],
    caps: { caps: { 'group:a': 50, 'group:b': 30, 'group:c': 40 } },
  })
  expect(blocked[0]?.policy?.cap).toBe(30)
  expect(notes.join('\n')).toContain('is in groups with different caps')
})

test('a rule of which it is not known whom it matches gives nobody a cap, with a note', () => {
  const { blocked, notes } = simulated({ use: { ada: weekdays(10) }, caps: { rules: [{ when: { role: 'x' }, cap: 50 }] } })
  expect([blocked, notes.some((note) => note.startsWith('rule r1') && note.endsWith('here no rule gives them a cap.'))]).toEqual([[], true])
})

test('a grant lifts its days and no others, and nobody else', () => {
  const use = { ada: weekdays(10), bob: weekdays(10) }
  const grant = (on: string, from: number) => ({ on, cap: 150, from: START + from * DAY, until: START + (from + 7) * DAY })
  const { blocked } = simulated({ use, caps: { caps: { team: 50 }, grants: [grant('ada', 7), grant('bob', 14)] } })
  expect(blocked.map((one) => [one.email, one.policy])).toEqual([
    [email('ada'), { fromAt: START + 14 * DAY, days: 10, cap: 50 }],
    [email('bob'), { fromAt: START + 7 * DAY, days: 10, cap: 50 }],
  ])
})

describe('of each cap it is told', () => {
  const reached = ({ caps }: ReturnType<typeof simulated>) =>
    caps.map(({ scope, cap, highest, isReached, personCycles, blocked }) => [scope, cap, highest, isReached, personCycles, blocked])
  const grant = (on: string, cap: number, from: number, until: number) => ({
    on,
    cap,
    from: START + from * DAY,
    until: START + until * DAY,
  })

  test('how far anybody went, and that it was reached, also without a block; 0 is not, where nothing was wanted', () => {
    const use = { ada: weekdays(10), bob: weekdays(1), cy: [], dan: weekdays(5), eve: [] }
    expect(reached(simulated({ use, caps: { caps: { team: 7, ada: 100, bob: 100, dan: 100, eve: 0 } } }))).toEqual([
      [email('ada'), 100, 100, true, 1, 1],
      [email('dan'), 100, 100, true, 1, 0],
      [email('bob'), 100, 20, false, 1, 0],
      [email('eve'), 0, 0, false, 1, 0],
      ['team', 7, 0, false, 1, 0],
    ])
    expect(reached(simulated({ use, caps: { caps: { cy: 7 } } }))).toEqual([[email('cy'), 7, 0, false, 1, 0]])
  })
  test('nothing where nobody has it at the end, nor used it; and what it was when it was used most, the first time', () => {
    const use = { ada: weekdays(1, 56), bob: weekdays(1, 56), cy: [5, ...weekdays(0, 27), 5] }
    const grants = [grant('ada', 50, 5, 7), grant('bob', 50, 55, 56), grant('cy', 20, 28, 56)]
    expect(reached(simulated({ use, cycles: cyclesOf(2), caps: { caps: { cy: 10 }, grants } }))).toEqual([
      [email('bob'), 50, 0, false, 1, 0],
      [email('cy'), 10, 5, false, 2, 0],
    ])
  })
})

describe('use that a cap cut off', () => {
  // Two cycles of 28 days: the first free, the second stopped at 95 on its tenth weekday.
  const use = { ada: [...weekdays(10), ...weekdays(10).map((amount, day) => (day < 11 ? amount : day === 11 ? 5 : 0))] }
  const owned = [ownedCap(TEAM, 95)]
  const history = [historyOf(raise(TEAM, 1000, 95), START + 28 * DAY)]
  const inputs = { use, owned, history, cycles: cyclesOf(2), shown: 1 }

  test('is estimated from the same weekdays before, and was a block', () => {
    const simulation = simulated({ ...inputs, caps: { caps: { team: 1000 } } })
    const total = totalOf(simulation)
    expect(total.beside).toEqual({
      credits: { low: 95, middle: 95, high: 95 },
      blockedPeople: { low: 0, middle: 1, high: 1 },
      blockedDays: { low: 0, middle: 11, high: 11 },
    })
    expect(total.policy.credits).toEqual({ low: 95, middle: 200, high: 200 })
    expect(total.policy.blockedPeople.high).toBe(0)
    expect(simulation.gains).toEqual([
      { email: email('ada'), credits: { policy: 200, beside: 95 }, blockedDays: { policy: 0, beside: 11 } },
    ])
    const beside = { fromAt: START + 39 * DAY, days: 11, cap: 95 }
    expect(simulation.blocked).toEqual([{ email: email('ada'), cycleStartAt: START + 28 * DAY, workingDays: 20, beside }])
    expect(simulation.notes.join('\n')).toContain('1 person was at a cap')
  })

  test('is nothing where no day before tells of it', () => {
    const { notes, cycles } = simulated({ ...inputs, use: { ada: [95, ...weekdays(0, 27)] }, cycles: cyclesOf(1), history: [] })
    expect(cycles[0]?.total.policy.credits).toEqual({ low: 95, middle: 95, high: 95 })
    expect(notes.join('\n')).toContain('no earlier day tells')
  })
})

describe('the cap that was in force', () => {
  /** The second cycle stops at 95 on its tenth weekday, a Friday, with nothing more on the days after. */
  const use = { ada: [...weekdays(10), ...weekdays(10).map((amount, day) => (day < 11 ? amount : day === 11 ? 5 : 0))] }
  const NOON = 39.5
  const write = (name: string, day: number, from: PlainCap, to: PlainCap, result: 'applied' | 'failed' = 'applied') => ({
    ...historyOf(raise(scope(name), 0, 0), START + day * DAY),
    ...{ from: cap(from), to: cap(to), result },
  })
  const foreign = (day: number, observed: PlainCap | 'unknown') => ({
    ...({ at: START + day * DAY, kind: 'foreign', scope: TEAM, verified: cap(1000) } as const),
    observed: observed === 'unknown' ? observed : cap(observed),
  })
  const FIRST = write('team', 0, 1000, 1000)
  type Records = Pick<Parameters<typeof simulated>[0], 'history' | 'journal' | 'owned'>
  test.each<readonly [string, Records, readonly [from: number, days: number, cap: number]]>([
    ['is the last that did not fail', { history: [write('team', 30, 95, 999, 'failed'), write('team', 28, 1000, 95)] }, [39, 11, 95]],
    ['before the first write is what it replaced', { history: [write('team', 45, 95, 1000)], owned: [ownedCap(TEAM, 1000)] }, [39, 4, 95]],
    ['goes by the time of writes, in whatever order', { history: [write('team', 45, 95, 1000), write('team', 28, 1000, 95)] }, [39, 4, 95]],
    ['holds for the day on which it was written by noon', { history: [FIRST, write('team', NOON, 1000, 95)] }, [39, 11, 95]],
    [
      'is what another client wrote, until it was reverted',
      {
        history: [FIRST, write('team', 45, 95, 1000)],
        journal: [foreign(30, 'unknown'), { at: START + 29 * DAY, kind: 'resume' }, foreign(28, 95)],
      },
      [39, 4, 95],
    ],
    [
      'is ours once more in the instant in which that was found',
      { history: [FIRST, write('team', 28, 1000, 95)], journal: [foreign(28, 1000)] },
      [39, 11, 95],
    ],
    ['of a person stays known when it has changed', { history: [write('ada', 28, 'none', 95), write('ada', 45, 95, 1000)] }, [39, 4, 95]],
    [
      'of a person that was cleared is that of the team',
      { history: [write('ada', 0, 'none', 2000), write('ada', 28, 2000, 'none'), write('team', 28, 1000, 95)] },
      [39, 11, 95],
    ],
  ])('%s', (_name, records, expected) => {
    const { blocked } = simulated({ use, cycles: cyclesOf(2), shown: 1, ...records })
    expect(blocked.map(({ beside }) => beside && [(beside.fromAt - START) / DAY, beside.days, beside.cap])).toEqual([expected])
  })
})

test('measured add-on use is taken as it is, whatever a seat includes', () => {
  const days = Array.from({ length: 10 }, (_, day) => ({
    dayAt: START + day * DAY,
    people: Int32Array.of(0),
    cents: Float64Array.of(1000),
    addOnCents: Float64Array.of(day < 5 ? 0 : 400),
  }))
  const recorded = { addOn: 'measured', people: [email('ada')], days } as const
  const inputs = { use: { ada: [] }, recorded, perSeat: 0, caps: { caps: { team: 10 } } }
  const simulation = simulated({ ...inputs })
  expect(simulation.addOn).toBe('measured')
  expect(totalOf(simulation).beside.credits.middle).toBe(20)
  expect(totalOf(simulation).policy).toMatchObject({ credits: { middle: 10 }, blockedDays: { middle: 3 } })
})

const amounts = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 28, maxLength: 56 })
const companies = fc.dictionary(fc.constantFrom('ada', 'bob', 'cy', 'dan'), amounts, { minKeys: 1, noNullPrototype: true })
const setting = fc.record({
  use: companies,
  perSeat: fc.integer({ min: 0, max: 300 }),
  cap: fc.integer({ min: 0, max: 500 }),
  inForce: fc.integer({ min: 0, max: 500 }),
})

const replayed = ({ use, perSeat, inForce }: { use: Record<string, number[]>; perSeat: number; inForce: number }, cap: number) =>
  simulated({ use, perSeat, owned: [ownedCap(TEAM, inForce)], cycles: cyclesOf(2), caps: { caps: { team: cap } } })

describe('whatever was recorded', () => {
  test('a higher cap never lets less through and never blocks longer', () => {
    fc.assert(
      fc.property(setting, fc.integer({ min: 0, max: 300 }), (one, more) => {
        const [low, high] = [replayed(one, one.cap), replayed(one, one.cap + more)]
        for (const [index, { total }] of high.cycles.entries()) {
          expect(total.policy.credits.middle).toBeGreaterThanOrEqual(totalOf(low, index).policy.credits.middle - 0.01)
          expect(total.policy.blockedDays.middle).toBeLessThanOrEqual(totalOf(low, index).policy.blockedDays.middle)
        }
      }),
      runs(30),
    )
  })

  test('nobody uses more than the cap, and the ends of the band enclose the middle', () => {
    fc.assert(
      fc.property(setting, (one) => {
        const people = Object.keys(one.use).length
        for (const { total } of replayed(one, one.cap).cycles) {
          expect(total.policy.credits.high).toBeLessThanOrEqual(people * one.cap + 0.01)
          for (const { low, middle, high } of [
            total.policy.credits,
            total.policy.blockedDays,
            total.policy.blockedPeople,
            ...(total.beside.blockedDays ? [total.beside.blockedDays] : []),
          ]) {
            expect(low).toBeLessThanOrEqual(middle)
            expect(middle).toBeLessThanOrEqual(high)
          }
        }
      }),
      runs(30),
    )
  })

  test('without caps everybody has at least what they had, and nobody is blocked', () => {
    fc.assert(
      fc.property(setting, (one) => {
        const { use, perSeat, inForce } = one
        const free = simulated({ use, perSeat, owned: [ownedCap(TEAM, inForce)], cycles: cyclesOf(2) })
        for (const { total } of free.cycles) {
          expect(total.policy.blockedPeople.high).toBe(0)
          expect(total.kept).toBeLessThanOrEqual(0)
          expect(total.policy.credits.low).toBeCloseTo(total.beside.credits.middle, 2)
        }
        expect(free.losses).toEqual([])
      }),
      runs(30),
    )
  })

  test('the order in which people were recorded changes no figure', () => {
    fc.assert(
      fc.property(setting, (one) => {
        const turned = { ...one, use: Object.fromEntries(Object.entries(one.use).reverse()) }
        expect(replayed(turned, one.cap)).toEqual(replayed(one, one.cap))
      }),
      runs(40),
    )
  })

  test('a policy beside itself changes nothing for anybody', () => {
    fc.assert(
      fc.property(setting, ({ use, perSeat, cap }) => {
        const same = simulated({ use, perSeat, cycles: cyclesOf(2), caps: { caps: { team: cap } }, against: { caps: { team: cap } } })
        expect(same).toMatchObject({ gains: [], losses: [], beside: { kind: 'policy' } })
        expect(same.cycles.map(({ total }) => [total.key, total.kept])).toEqual(same.cycles.map(() => ['team', 0]))
      }),
      runs(40),
    )
  })
})
