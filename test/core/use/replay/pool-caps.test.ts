// Pools on past days: dealt day by day from what was used before, within their credits in every cycle, and as the daemon's state deals them when
// use and caps of a day are known on the next.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { credits } from '../../../../src/core/model/units.ts'
import { capToAsk, dealPool } from '../../../../src/core/pools/deal.ts'
import { poolDealer } from '../../../../src/core/use/replay/in-force.ts'
import { DAY, email, policy } from '../../../support/declare.ts'
import { runs } from '../../../support/fuzz.ts'
import { cyclesOf, START, simulated, weekdays } from '../../../support/replay.ts'
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
    /** Another cap of their own from a day on, such as a grant. */
    later: few(900),
    fixed: few(900),
    cap: fc.oneof({ weight: 6, arbitrary: few(400) }, { weight: 1, arbitrary: fc.constant(Number.POSITIVE_INFINITY) }),
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

test('a replay deals as the daemon would', () => {
  fc.assert(
    fc.property(members, terms, fc.integer({ min: 1, max: 60 }), (people, { max, ...some }, changedOn) => {
      const names = people.map((_, index) => email(`p${index}`))
      const [pool] = policy({
        pools: [{ name: 'p', members: { kind: 'emails', emails: names }, ...some, ...(max !== undefined && { max }) }],
      }).pools
      if (!pool) throw new Error('no pool')
      // A cap of their own where there is one stands for protected people.
      const membersBy = (isLater: boolean) =>
        people.map(({ fixed, later, cap }, index) => {
          const own = isLater ? later : fixed
          return { email: names[index] ?? '', ...(cap !== undefined ? { protected: true } : own !== undefined && { fixed: credits(own) }) }
        })
      const undealtBy = (isLater: boolean): Parameters<ReturnType<typeof poolDealer>['capsOn']>[1] => ({
        caps: {
          caps: Float64Array.from(people, ({ cap }) => cap ?? Number.POSITIVE_INFINITY),
          from: new Int32Array(people.length).fill(-1),
        },
        pools: [{ pool, members: membersBy(isLater) }],
      })
      const [early, late] = [undealtBy(false), undealtBy(true)]
      const dealer = poolDealer(peopleOf(names))
      let state: ReturnType<typeof see>['state']
      let capsBefore: readonly number[] | undefined
      for (const cycle of cyclesOf(2)) {
        const used = new Float64Array(people.length)
        for (let dayAt = cycle.startAt + DAY / 2; dayAt < cycle.endAt; dayAt += DAY) {
          const isLater = (dayAt - START) / DAY > changedOn
          const now = membersBy(isLater)
          const { caps } = dealer.capsOn({ at: dayAt, cycle, used }, isLater ? late : early)
          const known = Object.fromEntries(names.map((name, place) => [name, used[place] ?? 0]))
          const read = Object.fromEntries(
            names.map((name, place) => {
              const cap = capsBefore?.[place] ?? people[place]?.cap ?? Number.POSITIVE_INFINITY
              return [name, { cap: Number.isFinite(cap) ? credits(cap) : ('none' as const), at: dayAt - DAY }]
            }),
          )
          const own = Object.fromEntries(now.flatMap((one) => ('fixed' in one ? [[one.email, one.fixed]] : [])))
          const guarded = now.flatMap((one) => ('protected' in one ? [one.email] : []))
          const observe = (from: typeof state, readAt: number) =>
            see(from, { now: readAt, cycle, use: known, caps: read, members: names, own, protected: guarded, lagMs: DAY }).state
          if (state && state.cycle.startAt !== cycle.startAt) state = observe(state, dayAt - 900_000)
          const observed = observe(state, dayAt)
          if (!observed) throw new Error('nothing is known')
          const { state: dealt } = dealPool(pool, observed, dayAt)
          state = dealt
          const asked = names.map((name, place) => capToAsk(pool, dealt, name) ?? people[place]?.cap ?? Number.POSITIVE_INFINITY)
          expect([...caps]).toEqual(asked)
          capsBefore = asked
          for (const [place, { wants }] of people.entries()) {
            const before = used[place] ?? 0
            const want = (wants[((dayAt / DAY) % 56) | 0] ?? 0) / 100
            used[place] = Math.round((before + Math.min(want, Math.max(0, (asked[place] ?? 0) - before))) * 100) / 100
          }
        }
      }
      // What holds without any deal is for the caller to keep: other days begin with it.
      expect([...early.caps.caps]).toEqual(people.map(({ cap }) => cap ?? Number.POSITIVE_INFINITY))
    }),
    runs(25),
  )
})

const peopleOf = (emails: readonly string[]) => ({ emails, groupsOf: emails.map(() => []), isPresent: emails.map(() => true) })

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
