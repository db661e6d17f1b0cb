// Pools on past days: dealt day by day from what was used before, within their credits in every cycle, and as the daemon's state deals them when
// use and caps of a day are known on the next.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { credits } from '../../../../src/core/model/units.ts'
import { capToAsk, dealPool } from '../../../../src/core/pools/deal.ts'
import { observePool } from '../../../../src/core/pools/observe.ts'
import { capsOfPolicy, poolDealer } from '../../../../src/core/use/replay/in-force.ts'
import { replayPeople } from '../../../../src/core/use/replay/recorded.ts'
import { DAY, email, policy, roster } from '../../../support/declare.ts'
import { runs } from '../../../support/fuzz.ts'
import { cyclesOf, recordedOf, START, simulated, weekdays } from '../../../support/replay.ts'

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
      let state: ReturnType<typeof observePool>['state']
      let capsBefore: readonly number[] | undefined
      for (const cycle of cyclesOf(2)) {
        const used = new Float64Array(people.length)
        for (let dayAt = cycle.startAt + DAY / 2; dayAt < cycle.endAt; dayAt += DAY) {
          const isLater = (dayAt - START) / DAY > changedOn
          const now = membersBy(isLater)
          const { caps } = dealer.capsOn({ at: dayAt, cycle, used }, isLater ? late : early)
          const known = new Map<string, ReturnType<typeof credits>>(names.map((name, place) => [name, credits(used[place] ?? 0)]))
          const read: Parameters<typeof observePool>[1]['caps'] = new Map(
            names.map((name, place) => {
              const cap = capsBefore?.[place] ?? people[place]?.cap ?? Number.POSITIVE_INFINITY
              return [name, { cap: Number.isFinite(cap) ? credits(cap) : 'none', at: dayAt - DAY }]
            }),
          )
          const observe = (from: ReturnType<typeof observePool>['state'], readAt: number) =>
            observePool(from, {
              now: readAt,
              use: { kind: 'known', readAt, cycle, used: known },
              caps: read,
              sent: new Map(),
              members: now,
              usageLagMs: DAY,
            }).state
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

const use = fc.array(fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 56, maxLength: 56 }), { minLength: 1, maxLength: 6 })

test('use and caps of the members never come to more than the credits, in any cycle and with any use', () => {
  fc.assert(
    fc.property(use, fc.integer({ min: 60, max: 3000 }), fc.constantFrom('need' as const, 'equal' as const), (wanted, most, share) => {
      const names = wanted.map((_, index) => `p${index}`)
      const set = policy({ pools: [{ ...pool(most, ...names), share }] })
      const recorded = recordedOf(Object.fromEntries(names.map((name, index) => [name, wanted[index] ?? []])))
      const present = roster(Object.fromEntries(names.map((name) => [name, 'approved'])))
      const source = capsOfPolicy({ set, people: replayPeople(recorded, present.people, []), roster: present, groups: [] })
      for (const cycle of cyclesOf(2)) {
        const used = new Float64Array(names.length)
        for (let at = cycle.startAt; at < cycle.endAt; at += DAY) {
          const { caps } = source.capsOn({ at: at + DAY / 2, cycle, used })
          const day = (at - START) / DAY
          for (const [person, days] of wanted.entries()) {
            const before = used[person] ?? 0
            used[person] = before + Math.min(days[day] ?? 0, Math.max(0, (caps[person] ?? 0) - before))
          }
          const sum = used.reduce((all, one, person) => all + Math.max(one, caps[person] ?? 0), 0)
          expect(sum).toBeLessThanOrEqual(Math.max(most, names.length))
        }
      }
    }),
    runs(30),
  )
})
