import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { addOnFigures, totalAddOn } from '../../../src/core/use/add-on.ts'
import { measuredAddOn } from '../../support/add-on.ts'
import { CYCLE, DAY, email, NOW } from '../../support/declare.ts'

type AddOnInputs = Parameters<typeof addOnFigures>[0]

const balance = { creditsPerSeat: credits(500) }
const ADA = email('ada')
const figures = (more: Partial<AddOnInputs> = {}) => addOnFigures({ now: NOW, cycle: CYCLE, ...more })

describe('measured figures', () => {
  const MEASURED = { credits: 120, source: 'measured' }
  const ESTIMATED = { credits: 200, source: 'estimated' }
  test.each<readonly [string, Partial<AddOnInputs>, unknown]>([
    ['count for a day', { measured: measuredAddOn({ ada: 120 }, { readAt: NOW - DAY }) }, MEASURED],
    ['count no longer than that', { measured: measuredAddOn({ ada: 120 }, { readAt: NOW - DAY - 1 }) }, ESTIMATED],
    ['do not count while no cycle is known', { measured: measuredAddOn({ ada: 120 }), cycle: undefined }, ESTIMATED],
    ['do not count when over half is of people not on the roster', { measured: measuredAddOn({ ada: 120 }, { others: 121 }) }, ESTIMATED],
    ['count when half is of people not on the roster', { measured: measuredAddOn({ ada: 120 }, { others: 120 }) }, MEASURED],
    ['count when little is of people off the roster', { measured: measuredAddOn({}, { others: 9 }) }, { credits: 0, source: 'measured' }],
  ])('%s', (_, more, expected) => expect(figures({ balance, ...more }).of(ADA, credits(700))).toEqual(expected))

  test('of a person named like a word of the language are found', () => {
    const measured = measuredAddOn({ ada: 120 })
    expect(figures({ measured }).of('constructor', undefined)).toEqual({ credits: 0, source: 'measured' })
  })
})

test('figures are measured, else estimated by the balance, else an upper bound', () => {
  const all = [figures({ measured: measuredAddOn({ ada: 120 }), balance }), figures({ balance }), figures()]
  expect(all.map((one) => [one.source, one.of(ADA, credits(700))])).toEqual([
    ['measured', { credits: 120, source: 'measured' }],
    ['estimated', { credits: 200, source: 'estimated' }],
    ['upperBound', { credits: 700, source: 'upperBound' }],
  ])
})

describe('a sum', () => {
  test('includes what people used who have left', () => {
    const measured = measuredAddOn({ ada: 120, bob: 30 }, { others: 50 })
    expect(totalAddOn(figures({ measured }), [{ email: ADA }, { email: email('bob') }])).toBe(200)
  })
  test('is not known when nobody’s use is', () => expect(totalAddOn(figures({ balance }), [{ email: ADA }])).toBeUndefined())
})
