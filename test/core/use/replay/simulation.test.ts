// What a simulation is of: the policies that it compares, the record, the people.
import { expect, test } from 'vitest'
import { credits } from '../../../../src/core/model/units.ts'
import { presentPeople } from '../../../../src/core/use/replay/simulation.ts'
import { DAY, email, roster } from '../../../support/declare.ts'
import { recordedOf, START, simulated, weekdays } from '../../../support/replay.ts'

const revision = { digest: '0123456789ab', revision: '' }

test('the policy and the other side are named', () => {
  const use = { ada: weekdays(1) }
  expect(simulated({ use })).toMatchObject({ workspace: 'acme', policy: revision, beside: { kind: 'inForce' } })
  expect(simulated({ use, against: {} }).beside).toEqual({ kind: 'policy', ...revision })
})

test('the record is named with its span and its kind, and an empty one has a span of no days', () => {
  const recorded = { ...recordedOf({ ada: weekdays(1) }), addOn: 'measured' } as const
  expect(simulated({ use: {}, recorded })).toMatchObject({ addOn: 'measured', recorded: { firstAt: START, lastAt: START + 25 * DAY } })
  expect(simulated({ use: {} }).recorded).toEqual({ firstAt: 0, lastAt: 0 })
  expect(simulated({ use: {}, cycles: [] }).cycles).toEqual([])
})

test('a size of a seat or a price that is not known is not in the document', () => {
  const one = simulated({ use: { ada: weekdays(1) }, perSeat: 'unknown', pricePerCredit: 0.5 })
  expect(one.creditsPerSeat).toBeUndefined()
  expect(one.pricePerCredit).toBe(0.5)
  expect(simulated({ use: {}, perSeat: 7 }).creditsPerSeat).toBe(credits(7))
  expect(simulated({ use: {} }).pricePerCredit).toBeUndefined()
})

test('people are the approved ones of the roster, and nobody without one', () => {
  expect(presentPeople(roster({ ada: 'approved', bob: 'pending' })).map((one) => one.email)).toEqual([email('ada')])
  expect(presentPeople(undefined)).toEqual([])
})
