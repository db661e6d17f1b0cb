// Pools on past days: dealt day by day from what was used before, within their credits in every cycle.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { capsOfPolicy } from '../../../../src/core/use/replay/in-force.ts'
import { replayPeople } from '../../../../src/core/use/replay/recorded.ts'
import { DAY, email, policy, roster } from '../../../support/declare.ts'
import { runs } from '../../../support/fuzz.ts'
import { cyclesOf, recordedOf, START, simulated, weekdays } from '../../../support/replay.ts'

const emails = (...names: readonly string[]) => ({ kind: 'emails' as const, emails: names.map(email) })
const pool = (amount: number, ...names: readonly string[]) => ({ name: 'p', members: emails(...names), credits: amount })

describe('a pool of 230 credits for one person who uses 10 a weekday and one who uses 1', () => {
  const use = { ada: weekdays(10), bob: weekdays(1) }

  test('blocks nobody where the same credits as equal caps do', () => {
    const { cycles, gains, caps, notes } = simulated({
      use,
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
