// Laws of rules, over random worlds: only the order of the rules matters, a doubted roster moves nobody, and a person of whom the
// roster does not tell enough keeps what is in force.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { resolveDesired } from '../../../src/core/resolve/desired.ts'
import { asked, desiredInputs, members, ownedCaps, type PolicySketch, type RowSketch, rosterRows } from '../../support/declare.ts'
import { runs } from '../../support/fuzz.ts'

type Inputs = ReturnType<typeof desiredInputs>
type When = NonNullable<PolicySketch['rules']>[number]['when']

const NAMES = ['ada', 'bob', 'cyd', 'dan', 'eve@contractor.example']
const role = fc.constantFrom('admin', 'member')
const days = fc.constantFrom(1, 10, 30)
const when: fc.Arbitrary<When> = fc
  .record(
    {
      email: fc.constantFrom('*@contractor.example', 'a*', '*'),
      role,
      groups: fc.subarray(['a', 'b'], { minLength: 1 }),
      inactiveDays: days,
      joinedWithinDays: days,
      activeDays: fc.constant({ below: 5, within: 30 }),
    },
    { requiredKeys: [] },
  )
  .filter((one) => Object.keys(one).length > 0)
const rules = fc.array(fc.record({ when, cap: fc.constantFrom(100, 200, 'none' as const) }), { maxLength: 4 })
const row: fc.Arbitrary<RowSketch> = fc.record(
  { role, usedDaysAgo: fc.nat(40), joinedDaysAgo: fc.nat(40), activeDays: fc.nat(9).map((many) => ({ 30: many })) },
  { requiredKeys: [] },
)
const rows = fc.tuple(...NAMES.map(() => row)).map((all) => Object.fromEntries(NAMES.map((name, index) => [name, all[index] ?? {}])))
const inside = fc.record({ a: fc.subarray(NAMES), b: fc.subarray(NAMES) })
const owned = fc.dictionary(fc.constantFrom(...NAMES), fc.record({ cap: fc.constantFrom(100, 50), owner: fc.constant('rule' as const) }))
const world = fc.record({ rules, rows, inside, owned })
type World = typeof world extends fc.Arbitrary<infer T> ? T : never

const inputsOf = (one: World, more: Partial<Inputs> = {}): Inputs =>
  desiredInputs({ rules: one.rules }, { roster: rosterRows(one.rows), groups: members(one.inside), owned: ownedCaps(one.owned), ...more })
const reversed = <T extends object>(record: T): T => Object.fromEntries(Object.entries(record).toReversed()) as T
const found = ({ conditions, rules: statuses, ...rest }: ReturnType<typeof resolveDesired>) => ({
  asked: asked({ conditions, rules: statuses, ...rest }),
  conditions,
  statuses,
})

test('the order of people, rows, groups and keys never matters', () => {
  fc.assert(
    fc.property(world, (one) => {
      const turned: World = {
        rules: one.rules.map((rule) => ({ ...rule, when: reversed(rule.when) })),
        rows: reversed(one.rows),
        inside: reversed(one.inside),
        owned: reversed(one.owned),
      }
      expect(found(resolveDesired(inputsOf(turned)))).toEqual(found(resolveDesired(inputsOf(one))))
    }),
    runs(150),
  )
})

test('of the rules only those before the first that matches decide; what comes after it never does', () => {
  fc.assert(
    fc.property(world, (one) => {
      const whole = asked(resolveDesired(inputsOf(one)))
      for (const [index] of one.rules.entries()) {
        const first = resolveDesired(inputsOf({ ...one, rules: one.rules.slice(0, index + 1), owned: {} }))
        for (const [name, cap] of Object.entries(asked(first))) if (!Object.hasOwn(one.owned, name)) expect(whole[name]).toBe(cap)
      }
    }),
    runs(100),
  )
})

test('a roster that is doubted moves nobody, whatever it says', () => {
  fc.assert(
    fc.property(world, rows, inside, (one, others, groups) => {
      const first = resolveDesired(inputsOf(one))
      const doubted = inputsOf({ ...one, rows: others, inside: groups }, { conditions: first.conditions, newReading: undefined })
      const second = resolveDesired(doubted)
      // Who is known in both readings is asked the same; who is not known in one of them keeps what they have.
      for (const [name, cap] of Object.entries(asked(second))) {
        const before = asked(first)[name]
        const kept = one.owned[name] && `rule ${one.owned[name].cap}`
        expect([before, kept]).toContain(cap)
      }
      expect(second.conditions).toEqual(first.conditions)
    }),
    runs(150),
  )
})

test('one odd reading between two that agree changes nothing', () => {
  fc.assert(
    fc.property(world, rows, (one, odd) => {
      const first = resolveDesired(inputsOf(one))
      const second = resolveDesired(inputsOf({ ...one, rows: odd }, { conditions: first.conditions }))
      const third = resolveDesired(inputsOf(one, { conditions: second.conditions }))
      expect(found(third).asked).toEqual(found(first).asked)
    }),
    runs(150),
  )
})
