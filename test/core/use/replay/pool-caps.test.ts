// Pools on past days: dealt day by day from what was used before, within their credits in every cycle, and as the daemon's state deals them when
// use and caps of a day are known on the next.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { credits } from '../../../../src/core/model/units.ts'
import { capToAsk, dealPool } from '../../../../src/core/pools/deal.ts'
import { DAY, email, type PolicySketch, policy, roster } from '../../../support/declare.ts'
import { runs } from '../../../support/fuzz.ts'
import { cyclesOf, recordedOf, START, simulated, weekdays } from '../../../support/replay.ts'
import { see } from '../../pools/world.ts'

/** Hundredths of a credit by day. People differ much, and so deals move caps from one to the other. */
const wants = fc
  .tuple(fc.constantFrom(0, 20, 100, 500, 2500), fc.array(fc.constantFrom(0, 1, 1, 2, 5.01), { minLength: 56, maxLength: 56 }))
  .map(([pace, days]) => days.map((times) => pace * times))

/** One in five has it. */
const few = (max: number) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.oneof(fc.constant(0), fc.integer({ min: 0, max })) },
  )

const members = fc.array(
  fc.record({
    wants,
    fixed: few(900),
    /** Another cap of their own, by a grant until or from the day of the change. */
    granted: fc.oneof(few(900), fc.integer({ min: 0, max: 900 })),
    isLater: fc.boolean(),
    /** Whom the pool deals nothing have such a cap of their own; infinite for none. */
    guarded: fc.oneof(
      { weight: 16, arbitrary: fc.constant(undefined) },
      { weight: 3, arbitrary: fc.integer({ min: 0, max: 400 }) },
      { weight: 1, arbitrary: fc.constant(Number.POSITIVE_INFINITY) },
    ),
  }),
  { minLength: 1, maxLength: 8 },
)

const terms = fc.record({
  credits: fc
    .constantFrom(20, 150, 400, 900, 2000, 6000)
    .chain((most) => fc.integer({ min: 8, max: most }))
    .map(credits),
  share: fc.constantFrom('need' as const, 'equal' as const),
  min: fc.integer({ min: 0, max: 20 }).map(credits),
  max: fc.option(fc.integer({ min: 20, max: 900 }).map(credits), { nil: undefined }),
})

/** When a person was blocked first, by which cap, and on how many days. */
interface Block {
  readonly from: number
  readonly days: number
  readonly cap: number
}

test('a replay deals as the daemon would', () => {
  fc.assert(
    fc.property(members, terms, fc.integer({ min: 1, max: 60 }), (people, { min: least, max, ...more }, changedOn) => {
      const names = people.map((_, index) => email(`p${index}`))
      const changeAt = START + changedOn * DAY
      // A pool that cannot pay its min deals nothing.
      const some = { ...more, min: Math.min(least, Math.floor(more.credits / people.length)) }
      const named = people.map((one, index) => ({ ...one, name: names[index] ?? '' }))
      const sketch: PolicySketch = {
        caps: Object.fromEntries(
          named.flatMap(({ name, fixed, guarded = fixed }) =>
            guarded === undefined || guarded === Number.POSITIVE_INFINITY ? [] : [[name, guarded]],
          ),
        ),
        grants: named.flatMap(({ name, granted, isLater, guarded }) => {
          const days = isLater ? { from: changeAt, until: START + 99 * DAY } : { until: changeAt }
          return granted === undefined || guarded !== undefined ? [] : [{ on: name, cap: granted, ...days }]
        }),
        protect: named.flatMap(({ name, guarded }) => (guarded === undefined ? [] : [name])),
        pools: [{ name: 'p', members: { kind: 'emails', emails: names }, ...some, ...(max !== undefined && { max }) }],
      }
      const [pool] = policy(sketch).pools
      if (!pool) throw new Error('no pool')
      let state: ReturnType<typeof see>['state']
      let capsBefore: readonly number[] | undefined
      const expected: { readonly used: Float64Array; readonly blocks: readonly (Block | undefined)[] }[] = []
      for (const cycle of cyclesOf(2)) {
        const used = new Float64Array(people.length)
        const blocks: (Block | undefined)[] = people.map(() => undefined)
        for (let dayAt = cycle.startAt + DAY / 2; dayAt < cycle.endAt; dayAt += DAY) {
          const owned = named.map(({ fixed, granted, isLater }) => (isLater === dayAt >= changeAt ? (granted ?? fixed) : fixed))
          const known = Object.fromEntries(names.map((name, place) => [name, Math.round((used[place] ?? 0) * 100) / 100]))
          const read = Object.fromEntries(
            names.map((name, place) => {
              const cap = named[place]?.guarded ?? capsBefore?.[place] ?? Number.POSITIVE_INFINITY
              return [name, { cap: Number.isFinite(cap) ? credits(cap) : ('none' as const), at: dayAt - DAY }]
            }),
          )
          const own = Object.fromEntries(
            named.flatMap(({ name, guarded }, place) =>
              guarded !== undefined || owned[place] === undefined ? [] : [[name, owned[place]]],
            ),
          )
          const apart = named.flatMap(({ name, guarded }) => (guarded === undefined ? [] : [name]))
          const observe = (from: typeof state, readAt: number) =>
            see(from, { now: readAt, cycle, use: known, caps: read, members: names, own, protected: apart, lagMs: DAY }).state
          if (state && state.cycle.startAt !== cycle.startAt) state = observe(state, dayAt - 900_000)
          const observed = observe(state, dayAt)
          if (!observed) throw new Error('nothing is known')
          const dealt = dealPool(pool, observed, dayAt)
          state = dealt
          const asked = named.map(({ guarded, name }, at) => guarded ?? capToAsk(pool, dealt, name) ?? capsBefore?.[at] ?? Infinity)
          capsBefore = asked
          for (const [place, { wants: all }] of people.entries()) {
            const before = used[place] ?? 0
            const want = (all[(dayAt - START - DAY / 2) / DAY] ?? 0) / 100
            const cap = asked[place] ?? 0
            const got = Math.min(want, Math.max(0, cap - before))
            used[place] = before + got
            if (want - got <= 0.005) continue
            const block = blocks[place] ?? { from: dayAt - DAY / 2, days: 0, cap }
            blocks[place] = { ...block, days: block.days + 1 }
          }
        }
        expected.push({ used, blocks })
      }
      // Of somebody outside the pool every day is recorded. Use has fractions of a cent.
      const times = 1000
      const whole = recordedOf({
        zoe: Array(56).fill(times),
        ...Object.fromEntries(named.map((one) => [one.name, one.wants.map((cents) => (cents * times) / 100)])),
      })
      const recorded = { ...whole, days: whole.days.map((day) => ({ ...day, cents: day.cents.map((cents) => cents / times) })) }
      const { cycles, blocked, losses } = simulated({
        use: {},
        recorded,
        cycles: cyclesOf(2),
        caps: sketch,
        against: {},
        roster: everybody(names),
      })
      for (const [index, { used, blocks }] of expected.entries()) {
        const [row] = cycles[index]?.pools ?? []
        expect(row?.policy.credits.middle).toBeCloseTo(
          used.reduce((sum, one) => sum + one, 0),
          1,
        )
        const found = names.map((name) => blocked.find((one) => one.email === name && one.cycleStartAt === cycles[index]?.startAt)?.policy)
        expect(found).toEqual(blocks.map((one) => one && { fromAt: one.from, days: one.days, cap: one.cap }))
      }
      for (const [place, name] of names.entries()) {
        const isBlocked = expected.some(({ blocks }) => blocks[place] !== undefined)
        const all = expected.reduce((sum, { used }) => sum + (used[place] ?? 0), 0)
        const lost = losses.find((one) => one.email === name)?.credits.policy
        if (isBlocked) expect(lost).toBeCloseTo(all, 1)
        else expect(lost).toBeUndefined()
      }
    }),
    runs(120),
  )
})

const everybody = (names: readonly string[]) => roster(Object.fromEntries(names.map((name) => [name, 'approved' as const])))

const emails = (...names: readonly string[]) => ({ kind: 'emails' as const, emails: names.map(email) })
const pool = (amount: number, ...names: readonly string[]) => ({ name: 'p', members: emails(...names), credits: amount })

test('a pool of 230 credits for one person who uses 10 a weekday and one who uses 1 blocks nobody, where equal caps of as much do', () => {
  const { cycles, gains, caps, notes } = simulated({
    use: { ada: weekdays(10), bob: weekdays(1) },
    caps: { caps: { team: 5 }, pools: [pool(230, 'ada', 'bob')] },
    against: { caps: { team: 115 } },
  })
  const [row] = cycles[0]?.pools ?? []
  expect(row).toMatchObject({
    key: 'pool:p',
    name: 'pool p',
    credits: 230,
    people: 2,
    policy: { credits: { middle: 220 }, blockedDays: { middle: 0 } },
    beside: { credits: { middle: 135 }, blockedDays: { middle: 9 } },
  })
  expect(gains.map((one) => one.email)).toEqual([email('ada')])
  expect(caps).toEqual([])
  expect(notes.join('\n')).toContain('Pools are dealt once a day')
})
