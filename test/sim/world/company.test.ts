// Whether a rule matches, by the simulation's own record, where use shows late.
import { expect, it } from 'vitest'
import { createSandbox } from '../../../src/sandbox/sandbox.ts'
import { createCompany } from './company.ts'

const HOUR = 3_600_000
const START = Date.UTC(2026, 10, 9)

it('a person who works again after days is inactive until then, undecided while use may not show, and then active', () => {
  let now = START
  const clock = { now: () => now, monotonic: () => now, sleep: async () => undefined }
  const sandbox = createSandbox({ clock, company: { people: 1, groups: 0, days: 0, seed: 1 }, switches: {}, working: false })
  const company = createCompany(sandbox, { people: 2, groups: 0 })
  const [ada = '', bob = ''] = company.people.keys()
  const rule = { inactiveDays: 1, cap: 250 }
  company.used(ada)
  for (const day of [2, 4]) {
    now = START + day * 24 * HOUR
    company.used(bob)
  }
  now += 7 * HOUR
  expect(company.holds(rule, ada)).toBe(true)
  company.used(ada)
  now += HOUR
  expect(company.holds(rule, ada)).toBe('open')
  now += 6 * HOUR
  expect(company.holds(rule, ada)).toBe(false)
  sandbox.close()
})
