// The columns that a deal reads: what members claim, what they count at, and who is not dealt.
import { describe, expect, test } from 'vitest'
import { credits, MAX_CAP } from '../../../src/core/model/units.ts'
import { poolPace } from '../../../src/core/pools/pace.ts'
import type { PoolMember, PoolTerms } from '../../../src/core/pools/state.ts'
import { claim, emptyTable, layOut } from '../../../src/core/pools/table.ts'
import { CYCLE, cap, DAY, email, NOW, type PlainCap } from '../../support/declare.ts'

const TERMS: PoolTerms = { credits: credits(1000), share: 'need', min: credits(0) }

describe('a member claims', () => {
  /** A mean of two credits on the one day that is over, and five days left. */
  const AVERAGE = { mean: 2, days: 1, daysLeft: 5 }
  const claimed = (use: number, fixed: number | undefined, terms: Partial<PoolTerms> = {}) => {
    const table = emptyTable(1, fixed === undefined ? 0 : 1)
    table.use[0] = use
    if (fixed !== undefined) table.fixed[0] = fixed
    claim(table, { ...TERMS, ...terms }, AVERAGE)
    const { floor, most, expected, weight, pace } = table
    return [floor, most, expected, weight, pace].map((column) => column[0])
  }
  test.each<readonly [string, number, number | undefined, Partial<PoolTerms>, readonly number[]]>([
    ['what they are expected to use at their pace', 10, undefined, {}, [10, 1000, 30, 4, 4]],
    ['their use in whole credits at least, and 1', 0.5, undefined, { share: 'equal' }, [1, 1000, 1, 1, 1.625]],
    ['the same head-room as all, by use alone, where that is shared', 10, undefined, { share: 'equal' }, [10, 1000, 10, 1, 4]],
    ['the most of the pool at most', 10, undefined, { max: credits(20) }, [10, 20, 30, 4, 4]],
    ['their use, where that is above the most', 22.5, undefined, { max: credits(20) }, [23, 23, 22.5 + 5 * 7.125, 7.125, 7.125]],
    ['no more than any cap may be', 10, undefined, { credits: credits(2 ** 40) }, [10, MAX_CAP, 30, 4, 4]],
    ['their own cap', 10.5, 50, {}, [11, 50, 11, 1, 4.125]],
    ['their own cap, also where it is below their use', 10, 4, {}, [4, 4, 4, 1, 4]],
    ['1 where their own cap is 0', 10, 0, {}, [1, 1, 1, 1, 4]],
  ])('%s', (_name, use, fixed, terms, expected) => expect(claimed(use, fixed, terms)).toEqual(expected))
})

const member = (more: Partial<PoolMember> = {}): PoolMember => ({ base: credits(0), use: credits(10), sent: [], lowered: [], ...more })
const since = (value: PlainCap) => ({ cap: cap(value), at: NOW - DAY })
const laid = (members: Readonly<Record<string, PoolMember>>) =>
  layOut(TERMS, {
    ...{ cycle: CYCLE, readAt: NOW },
    members: Object.fromEntries(Object.entries(members).map(([name, one]) => [email(name), one])),
  })

describe('laid out', () => {
  test('are those to whom caps are dealt, with caps of their own first', () => {
    const fixed = credits(50)
    const { emails, table } = laid({
      ada: member(),
      bob: member({ fixed }),
      cyd: member({ protected: true }),
      dan: member({ left: { at: NOW } }),
    })
    expect([emails, table.size, table.fixedSize]).toEqual([[email('bob'), email('ada')], 2, 1])
    expect([...table.fixed]).toEqual([50, Number.NaN])
  })

  test.each<readonly [string, Partial<PoolMember>, number, number, number]>([
    ['what was dealt', { dealt: credits(40), inForce: since(90) }, 40, 1, 90],
    ['what is in force where nothing was dealt', { inForce: since(90) }, 90, 1, 90],
    ['no cap where none is in force', { inForce: since('none') }, Number.NaN, 1, Number.POSITIVE_INFINITY],
    ['no cap where none was read', {}, Number.NaN, 0, Number.POSITIVE_INFINITY],
  ])('is %s', (_name, more, present, isRead, count) => {
    const { table } = laid({ ada: member(more) })
    expect([table.present[0], table.isRead[0], table.count[0]]).toEqual([present, isRead, count])
  })

  test('is use, and what others paid for of it; nothing known is 0', () => {
    const { use: _, ...unknown } = member({ base: credits(7) })
    const { table } = laid({ ada: member({ base: credits(3) }), bob: unknown })
    expect([[...table.use], [...table.base]]).toEqual([
      [10, 0],
      [3, 7],
    ])
  })

  test('is the pace of the present members', () => {
    const average = poolPace(30, 2, CYCLE, NOW)
    const { table } = laid({
      ada: member(),
      bob: member({ use: credits(20), protected: true }),
      cyd: member({ use: credits(900), left: { at: NOW } }),
    })
    expect(table.pace[0]).toBeCloseTo((10 + 3 * average.mean) / (average.days + 3), 9)
  })

  test.each<readonly [string, Partial<PoolMember>, number]>([
    ['at their cap', { protected: true, inForce: since(60) }, 60],
    ['at their use without a known cap', { protected: true }, 10],
    ['at a cap of their own that is still to come', { protected: true, inForce: since('none'), fixed: credits(70), base: credits(4) }, 66],
    ['at their use where that is more', { protected: true, inForce: since('none'), fixed: credits(12), base: credits(4) }, 8],
    ['at their cap where one is in force, whatever is to come', { protected: true, inForce: since(60), fixed: credits(70) }, 60],
    ['at their use where none is to come', { protected: true, inForce: since('none') }, 10],
    ['at their use when they left, whatever was to come', { left: { at: NOW }, inForce: since('none'), fixed: credits(70) }, 10],
  ])('a member who is not dealt counts %s', (_name, more, undealt) =>
    expect(laid({ ada: member(more), bob: member() }).undealt).toBe(undealt),
  )
})
