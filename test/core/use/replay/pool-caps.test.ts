// The columns of a replay beside the state that the daemon keeps: both deal alike on days whose use and caps are known on the morrow.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Credits, credits } from '../../../../src/core/model/units.ts'
import { capToAsk } from '../../../../src/core/pools/ask.ts'
import { dealPool } from '../../../../src/core/pools/deal.ts'
import { observePool } from '../../../../src/core/pools/observe.ts'
import type { CapSince, PoolState } from '../../../../src/core/pools/state.ts'
import { poolDealer, type UndealtDay } from '../../../../src/core/use/replay/pool-caps.ts'
import { DAY, email, policy } from '../../../support/declare.ts'
import { runs } from '../../../support/fuzz.ts'
import { cyclesOf } from '../../../support/replay.ts'

const members = fc.array(
  fc.record({
    wants: fc.array(fc.integer({ min: 0, max: 6000 }), { minLength: 56, maxLength: 56 }),
    fixed: fc.option(fc.integer({ min: 0, max: 900 }), { freq: 5, nil: undefined }),
    cap: fc.option(fc.integer({ min: 0, max: 400 }), { freq: 5, nil: undefined }),
  }),
  { minLength: 1, maxLength: 8 },
)

const terms = fc.record({
  credits: fc.integer({ min: 8, max: 6000 }).map(credits),
  share: fc.constantFrom('need' as const, 'equal' as const),
  min: fc.integer({ min: 0, max: 20 }).map(credits),
  max: fc.option(fc.integer({ min: 20, max: 900 }).map(credits), { nil: undefined }),
})

test('a replay deals as the daemon would', () => {
  fc.assert(
    fc.property(members, terms, (people, { max, ...some }) => {
      const names = people.map((_, index) => email(`p${index}`))
      const [pool] = policy({
        pools: [{ name: 'p', members: { kind: 'emails', emails: names }, ...some, ...(max !== undefined && { max }) }],
      }).pools
      if (!pool) throw new Error('no pool')
      // A cap of their own where there is one stands for protected people.
      const now = people.map(({ fixed, cap }, index) => ({
        email: names[index] ?? '',
        ...(cap !== undefined ? { protected: true } : fixed !== undefined && { fixed: credits(fixed) }),
      }))
      const undealt: UndealtDay = {
        caps: {
          caps: Float64Array.from(people, ({ cap }) => cap ?? Number.POSITIVE_INFINITY),
          from: new Int32Array(people.length).fill(-1),
        },
        pools: [{ pool, members: now }],
      }
      const dealer = poolDealer(peopleOf(names))
      let state: PoolState | undefined
      let capsBefore: readonly number[] | undefined
      for (const cycle of cyclesOf(2)) {
        const used = new Float64Array(people.length)
        for (let dayAt = cycle.startAt + DAY / 2; dayAt < cycle.endAt; dayAt += DAY) {
          const { caps } = dealer.capsOn({ at: dayAt, cycle, used }, undealt)
          const known = new Map<string, Credits>(names.map((name, place) => [name, credits(used[place] ?? 0)]))
          const read = new Map<string, CapSince>(
            names.map((name, place) => {
              const cap = capsBefore?.[place] ?? people[place]?.cap ?? Number.POSITIVE_INFINITY
              return [name, { cap: Number.isFinite(cap) ? credits(cap) : 'none', at: dayAt - DAY }]
            }),
          )
          const observe = (from: PoolState | undefined, readAt: number) =>
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
    }),
    runs(60),
  )
})

const peopleOf = (emails: readonly string[]) => ({ emails, groupsOf: emails.map(() => []), isPresent: emails.map(() => true) })
