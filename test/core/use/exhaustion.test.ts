import { describe, expect, test } from 'vitest'
import type { Balance } from '../../../src/core/model/observed.ts'
import type { Cap } from '../../../src/core/model/policy.ts'
import { credits } from '../../../src/core/model/units.ts'
import { exhaustionOf, type PersonUse } from '../../../src/core/use/burn.ts'
import type { Forecast } from '../../../src/core/use/forecast.ts'
import { at, BALANCE, DAY } from '../../support/burn.ts'

const person = (used: number, cap?: number | 'none'): PersonUse => ({
  used: credits(used),
  ...(cap !== undefined && { cap: (cap === 'none' ? cap : credits(cap)) satisfies Cap }),
})

/** So many credits on each day from noon of day 10 on. */
const forecast = (...perDay: readonly number[]): Forecast => ({
  days: perDay.map((use, index) => ({ fromAt: at(10 + index, 12), untilAt: at(11 + index, 12), credits: use })),
  spread: 0.1,
})

/** The credits of a seat are 100, and 100 add-on credits are there. */
const balance = (addOnUsed: number, addOnAvailable = 100): Balance => ({
  ...BALANCE,
  addOnAvailable: credits(addOnAvailable),
  addOnUsed: credits(addOnUsed),
})

const sum = (people: readonly PersonUse[]) => people.reduce((total, { used }) => total + used, 0)
const exhaustedAt = (people: readonly PersonUse[], addOnUsed: number, ...perDay: readonly number[]) =>
  exhaustionOf({ balance: balance(addOnUsed), used: sum(people), people, forecast: forecast(...perDay) })

describe('add-on credits run out', () => {
  test('only after the credits of the seats', () => {
    expect(exhaustedAt([person(50)], 0, 100, 100)).toBe(at(10, 12) + 1.5 * DAY)
  })
})

describe('add-on credits do not run out, or that is not known', () => {
  test.each<readonly [string, number | undefined]>([
    ['they last to the end', exhaustedAt([person(150)], 50, 20, 29)],
    ['nobody gets beyond their seat', exhaustedAt([person(50)], 0, 20, 20)],
    ['nobody used anything', exhaustedAt([person(0)], 0, 500)],
    [
      'the use of the team is not known yet',
      exhaustionOf({ balance: balance(50), used: 0, people: [person(150)], forecast: forecast(500) }),
    ],
    ['nobody is there', exhaustedAt([], 0, 500)],
    ['the team has none', exhaustionOf({ balance: balance(0, 0), used: 150, people: [person(150)], forecast: forecast(500) })],
    ['the people are not known', exhaustionOf({ balance: balance(50), used: 150, forecast: forecast(500) })],
    ['there is no forecast', exhaustionOf({ balance: balance(50), used: 150, people: [person(150)] })],
  ])('when %s', (_row, found) => {
    expect(found).toBeUndefined()
  })
})

describe('a cap', () => {
  test('of none stops nobody', () => {
    expect(exhaustedAt([person(150, 'none')], 50, 20, 20, 20)).toBe(at(10, 12) + 2.5 * DAY)
  })

  test('below the use takes nothing back', () => {
    // The second is at 150 add-on credits with a cap of 10; the first needs the 10 that are left.
    expect(exhaustedAt([person(200), person(250, 10)], 90, 4.5, 4.5, 13.5)).toBe(at(10, 12) + 3 * DAY)
  })
})
