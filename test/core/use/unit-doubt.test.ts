import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { unitDoubt } from '../../../src/core/use/forecast.ts'

const pair = (first: number | undefined, second: number | undefined): Parameters<typeof unitDoubt>[0][number] => ({
  of: 'add-on credits',
  first: { name: 'the sum of people', credits: first === undefined ? undefined : credits(first) },
  second: { name: 'the balance', credits: second === undefined ? undefined : credits(second) },
})

describe('a probable unit error', () => {
  test.each([
    ['70 times', 700, 10],
    ['140 times', 1400, 10],
  ])('is a figure that is %s the other', (_row, first, second) => {
    expect(unitDoubt([pair(first, second)])).toHaveLength(1)
  })

  test.each([
    ['the factor is a little less', 699, 10],
    ['the factor is a little more', 1401, 10],
    ['the smaller one is so small that it may be late', 999, 9.99],
    ['the first is unknown', undefined, 1000],
    ['the second is unknown', 1000, undefined],
  ])('is not there when %s', (_row, first, second) => {
    expect(unitDoubt([pair(first, second)])).toEqual([])
  })

  test('names both figures, their factor and what is probably wrong', () => {
    expect(unitDoubt([pair(1000, 1000), pair(1250.4, 12.5)])).toEqual([
      {
        of: 'add-on credits',
        factor: 1250.4 / 12.5,
        message:
          'add-on credits: the sum of people says 1250, the balance says 13 credits, a factor of 100; one of them is probably in cents',
      },
    ])
  })
})
