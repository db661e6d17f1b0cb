import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { HistoryEntry } from '../../../src/core/model/change.ts'
import type { Balance, RunUse } from '../../../src/core/model/observed.ts'
import { TEAM } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { addOnFigures } from '../../../src/core/use/add-on.ts'
import { type ReportInputs, type ReportPerson, reportOf } from '../../../src/core/use/report.ts'
import { NOW } from '../../support/declare.ts'

const CYCLE = { startAt: Date.UTC(2026, 10, 1), endAt: Date.UTC(2026, 11, 1) }

const BALANCE: Balance = {
  creditsPerSeat: credits(100),
  seats: 3,
  addOnAvailable: credits(1000),
  addOnUsed: credits(150),
  cycle: CYCLE,
  readAt: NOW,
}

const ESTIMATED = addOnFigures({ now: NOW, cycle: CYCLE, balance: BALANCE })

const person = (
  email: string,
  used: number | undefined,
  cap?: number | 'none' | 'unknown',
  groups: readonly string[] = [],
): ReportPerson => ({
  email,
  groups,
  ...(used !== undefined && { used: credits(used) }),
  ...(cap !== undefined && { cap: typeof cap === 'number' ? credits(cap) : cap }),
})

const run = (model: string, used: number | undefined, mode = 'write'): RunUse => ({
  dayAt: CYCLE.startAt,
  model,
  mode,
  messages: 1,
  ...(used !== undefined && { used: credits(used) }),
})

const write = (more: Partial<HistoryEntry> = {}): HistoryEntry => ({
  at: NOW,
  scope: TEAM,
  action: 'set',
  effect: 'raise',
  from: credits(1),
  to: credits(2),
  cause: 'policy',
  result: 'applied',
  planId: 'p',
  digest: 'd',
  revision: '',
  ...more,
})

const PEOPLE = [person('ada', 300, 250, ['core']), person('bob', 150, 'none', ['core', 'web']), person('cleo', 50, 10)]

const report = (more: Partial<ReportInputs> = {}) =>
  reportOf({
    workspace: 'acme',
    which: 'current',
    by: 'team',
    cycle: CYCLE,
    people: PEOPLE,
    groups: [
      { id: 'core', name: 'Core' },
      { id: 'web', name: 'Web' },
    ],
    balance: BALANCE,
    addOn: ESTIMATED,
    writes: [],
    notes: [],
    ...more,
  })

describe('a report by', () => {
  test('team sums use, add-on use and head-room, and counts who has no cap', () => {
    expect(report().rows).toEqual([
      { key: 'team', name: 'the team', people: 3, used: 500, addOn: 250, addOnSource: 'estimated', headRoom: 60, uncapped: 1, share: 1 },
    ])
  })

  test('group counts a person in two groups in both, says so, and ends with those in none', () => {
    const { rows, notes } = report({ by: 'group' })
    expect(rows.map(({ key, people, used }) => [key, people, used])).toEqual([
      ['group:core', 2, 450],
      ['group:web', 1, 150],
      ['-', 1, 50],
    ])
    expect(notes).toContain('A person in two groups counts in both.')
  })

  test('a column of the people file counts each person once, and what no person is known for is a row of its own', () => {
    const people = PEOPLE.map((person, index) => {
      const attribute = ([{ value: 'CC-1' }, 'unlisted', { value: '' }] as const)[index]
      return { ...person, ...(attribute && { attribute }) }
    })
    const addOn = { source: 'measured', others: credits(30), of: () => ({ credits: credits(10), source: 'measured' as const }) } as const
    const { rows, totals } = report({ by: 'attribute:costCenter', people, addOn })
    expect(rows.map(({ key, name, people: count, used, addOn: paid }) => [key, name, count, used, paid])).toEqual([
      ['costCenter:CC-1', 'CC-1', 1, 300, 10],
      ['costCenter:', 'empty', 1, 50, 10],
      ['not listed', 'not listed', 1, 150, 10],
      ['not attributed', 'not attributed', undefined, 0, 30],
    ])
    expect(rows.reduce((sum, { addOn: paid = 0 }) => sum + paid, 0)).toBe(totals.addOn)
  })

  test('user shows cap, band and what is left, the most used first', () => {
    expect(report({ by: 'user' }).rows).toEqual([
      { key: 'ada', name: 'ada', used: 300, addOn: 200, addOnSource: 'estimated', cap: 250, headRoom: 50, band: '50_to_85', share: 0.6 },
      { key: 'bob', name: 'bob', used: 150, addOn: 50, addOnSource: 'estimated', cap: 'none', band: 'uncapped', share: 0.3 },
      { key: 'cleo', name: 'cleo', used: 50, addOn: 0, addOnSource: 'estimated', cap: 10, headRoom: 10, band: 'under_50', share: 0.1 },
    ])
  })

  test('model sums modes, its shares are of all that was used, and the last row is the rest', () => {
    const runs = [run('large', 30), run('small', 10), run('large', 60, 'read')]
    expect(report({ by: 'model', runs }).rows).toMatchObject([
      { key: 'large', name: 'large', used: 90, share: 0.18 },
      { key: 'small', name: 'small', used: 10, share: 0.02 },
      { key: '-', name: 'in no run', used: 400, share: 0.8 },
    ])
  })

  test('model has its add-on use as the service tells it, however it spells models', () => {
    const addOnByModel = new Map([
      ['MODEL_LARGE_4', 12.5],
      ['MODEL_TINY', 1],
      ['<nil>', 0.5],
    ])
    const { rows, notes } = report({ by: 'model', runs: [run('Large 4', 90), run('small', 10)], addOnByModel })
    expect(rows.map(({ name, used, addOn, addOnSource }) => [name, used, addOn, addOnSource])).toEqual([
      ['Large 4', 90, 12.5, 'measured'],
      ['small', 10, 0, 'measured'],
      ['MODEL_TINY', undefined, 1, 'measured'],
      ['not known', undefined, 0.5, 'measured'],
      ['in no run', 400, undefined, undefined],
    ])
    expect(notes.join()).not.toContain('estimated')
  })

  test('model shares out the add-on use of everybody where it is not measured by model, and calls that an estimate', () => {
    const { rows, totals, notes } = report({ by: 'model', runs: [run('large', 75), run('small', 25)] })
    expect(rows.map(({ addOn, addOnSource }) => [addOn, addOnSource])).toEqual([
      [0.15 * (totals.addOn ?? 0), 'estimated'],
      [0.05 * (totals.addOn ?? 0), 'estimated'],
      [0.8 * (totals.addOn ?? 0), 'estimated'],
    ])
    expect(notes.join()).toContain('Add-on use by model is estimated')
  })

  test('group is told when there are none', () => {
    expect(report({ by: 'group', groups: [], people: [] })).toMatchObject({
      rows: [],
      notes: [expect.any(String), 'No policy declares a group.'],
    })
  })
})

describe('what is not known is absent', () => {
  test('without a balance there is neither add-on use nor head-room', () => {
    const bare = reportOf({
      workspace: 'acme',
      which: 'current',
      by: 'user',
      cycle: CYCLE,
      people: PEOPLE,
      groups: [],
      writes: [],
      notes: [],
    })
    for (const row of bare.rows) expect(row.addOn).toBeUndefined()
    expect(bare.totals).toEqual({ people: 3, used: 500, uncapped: 1 })
    expect(bare.notes).toEqual(['The balance is not known: add-on use, head-room and projections are left out.'])
  })

  test.each(['team', 'group'] as const)('people: their number is not known, by %s', (by) => {
    const { totals, rows } = report({ by, people: [] })
    expect([totals, ...rows].every((row) => row.people === undefined)).toBe(true)
    expect(report({ by: 'group', people: [person('ada', 3, 1, ['core'])] }).rows).toContainEqual({
      key: 'group:web',
      name: 'Web',
      people: 0,
    })
  })

  test('a cap that could not be read has no head-room and no band', () => {
    const [row] = report({ by: 'user', people: [person('ada', 300, 'unknown')] }).rows
    expect(row).toEqual({ key: 'ada', name: 'ada', used: 300, addOn: 200, addOnSource: 'estimated', cap: 'unknown', share: 1 })
  })
})

test('changes are counted by effect, failed ones apart, and the latest are listed', () => {
  const writes = [...Array.from({ length: 25 }, () => write()), write({ effect: 'clear', to: 'none' }), write({ result: 'verify_failed' })]
  const { changes } = report({ writes })
  expect(changes).toMatchObject({ applied: 26, failed: 1, byEffect: { set: 0, raise: 25, lower: 0, block: 0, clear: 1 } })
  expect(changes.latest).toHaveLength(20)
})

test('the projection and the end of the add-on credits are passed on', () => {
  const figures = { ratios: {}, projected: { p10: credits(1.004), p50: credits(2.0049), p90: credits(3) }, exhaustedAt: NOW }
  expect(report({ figures })).toMatchObject({ projected: { p10: 1, p50: 2, p90: 3 }, exhaustedAt: NOW })
  expect(report().projected).toBeUndefined()
})

test('the rows of people add up to the team, and shares to 1', () => {
  const someone = fc.record({
    used: fc.option(fc.integer({ min: 0, max: 100_000 }), { nil: undefined }),
    cap: fc.constantFrom(0, 50, 'none' as const, undefined),
  })
  fc.assert(
    fc.property(fc.array(someone, { maxLength: 30 }), (people) => {
      const { rows, totals } = report({ by: 'user', people: people.map(({ used, cap }, index) => person(`p${index}`, used, cap)) })
      const sum = rows.reduce((all, row) => all + (row.used ?? 0), 0)
      expect(sum).toBeCloseTo(totals.used ?? 0, 6)
      if (sum > 0) expect(rows.reduce((all, row) => all + (row.share ?? 0), 0)).toBeCloseTo(1, 6)
    }),
  )
})
