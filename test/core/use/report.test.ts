// A report figure by figure: its views, costs, days, order, who is near, and what is left out with a note.
import { describe, expect, test } from 'vitest'
import { TEAM } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { addOnFigures } from '../../../src/core/use/add-on.ts'
import { reportOf } from '../../../src/core/use/report.ts'
import { CYCLE, DAY, NOW } from '../../support/declare.ts'
import { historyOf, raise } from '../../support/ledger.ts'

type Inputs = Parameters<typeof reportOf>[0]
type Report = ReturnType<typeof reportOf>
type Person = Inputs['people'][number]
type Run = NonNullable<Inputs['runs']>[number]

const BALANCE: NonNullable<Inputs['balance']> = {
  ...{ creditsPerSeat: credits(100), seats: 3, addOnAvailable: credits(1000), addOnUsed: credits(150) },
  ...{ cycle: CYCLE, readAt: NOW },
}
const ESTIMATED = addOnFigures({ now: NOW, cycle: CYCLE, balance: BALANCE })
/** Everybody's use is add-on use, and people who left used 5 more. */
const MEASURED: ReturnType<typeof addOnFigures> = {
  source: 'measured',
  others: credits(5),
  of: (_, used) => used && { credits: used, source: 'measured' },
}

const person = (email: string, used?: number, cap?: Person['cap'] | number, groups: readonly string[] = []): Person => ({
  ...{ email, groups },
  ...(used !== undefined && { used: credits(used) }),
  ...(cap !== undefined && { cap: typeof cap === 'number' ? credits(cap) : cap }),
})
const run = (model: string, day: number, used?: number, mode = 'write'): Run => ({
  ...{ dayAt: CYCLE.startAt + day * DAY, model, mode, messages: 1 },
  ...(used !== undefined && { used: credits(used) }),
})
const report = (more: Partial<Inputs> = {}): Report =>
  reportOf({
    ...{ workspace: 'acme', which: 'current', by: 'team', cycle: CYCLE, groups: [], writes: [], notes: [] },
    ...{ people: [person('ada', 300, 250), person('bob', 150, 'none')], ...more },
  })

const PEOPLE = [person('ada', 300, 250, ['core']), person('bob', 150, 'none', ['core', 'web']), person('cleo', 50, 10)]
const TWO = [
  { id: 'core', name: 'Core' },
  { id: 'web', name: 'Web' },
]
/** Everything is known. */
const full = (more: Partial<Inputs> = {}): Report => report({ people: PEOPLE, groups: TWO, balance: BALANCE, addOn: ESTIMATED, ...more })
const keys = ({ rows }: Report): readonly string[] => rows.map(({ key }) => key)

describe('the totals', () => {
  test('tell what the seats include, and what add-on credits there are', () => {
    const known = { people: 2, used: 450, uncapped: 1 }
    expect(report({ balance: BALANCE }).totals).toEqual({ ...known, included: 300, addOnAvailable: 1000, addOnUsed: 150 })
    expect(report().totals).toEqual(known)
  })
  test('tell costs where a price is known, in its currency', () => {
    const priced = report({ balance: BALANCE, pricePerCredit: 0.04, currency: 'EUR' })
    expect(priced.totals).toMatchObject({ cost: 18, addOnCost: 6 })
    expect([priced.pricePerCredit, priced.currency]).toEqual([0.04, 'EUR'])
    const free = report({ balance: BALANCE })
    expect([free.pricePerCredit, free.currency, free.totals.cost, free.totals.addOnCost]).toEqual(Array(4).fill(undefined))
    expect(report({ pricePerCredit: 0.04 }).totals.addOnCost).toBeUndefined()
  })
  test('are of the runs where no person has a figure', () => {
    const people = [person('ada')]
    expect(report({ people, runs: [run('a', 0, 3), run('b', 1, 4)] }).totals).toEqual({ people: 1, used: 7 })
    expect(report({ people }).totals).toEqual({ people: 1 })
    expect(report({ people: [], runs: [] }).totals).toEqual({})
  })
})

describe('the rows', () => {
  test('tell the cost of add-on use beside that of all use', () => {
    const addOnRow = report({ by: 'user', addOn: ESTIMATED, balance: BALANCE, pricePerCredit: 0.1 }).rows
    expect(addOnRow.map(({ key, cost, addOnCost }) => [key, cost, addOnCost])).toEqual([
      ['ada', 30, 20],
      ['bob', 15, 5],
    ])
    for (const row of report({ by: 'user', pricePerCredit: 0.1 }).rows) expect(row.addOnCost).toBeUndefined()
  })
  test('are by use, then by name; those without a figure later, people in no group last', () => {
    const people = [person('cyd'), person('bob', 5), person('ada', 5), person('dan', 0), person('eve', 9)]
    expect(keys(report({ by: 'user', people }))).toEqual(['eve', 'ada', 'bob', 'dan', 'cyd'])
    const groups = ['b', 'a', 'c'].map((id) => ({ id, name: id }))
    const members = [person('x', 5, undefined, ['a']), person('y', 5, undefined, ['b']), person('z', 900)]
    expect(keys(report({ by: 'group', people: members, groups }))).toEqual(['group:a', 'group:b', 'group:c', '-'])
    expect(keys(report({ by: 'group', people: members.slice(0, 2), groups }))).toEqual(['group:a', 'group:b', 'group:c'])
  })
  test('tell no share of nothing, and no band or count of caps that are not known', () => {
    const people = [person('ada', 0, 'unknown'), person('bob', undefined, 'unknown')]
    expect(report({ by: 'user', people, addOn: MEASURED }).rows).toEqual([
      { key: 'ada', name: 'ada', used: 0, cap: 'unknown' },
      { key: 'bob', name: 'bob', cap: 'unknown' },
    ])
    expect(report({ people }).rows[0]?.uncapped).toBeUndefined()
    expect(report({ people: [person('ada', 1)] }).rows[0]?.uncapped).toBeUndefined()
    expect(report({ people: [person('ada', 1, 5)] }).rows[0]).toMatchObject({ uncapped: 0, share: 1 })
  })
})

describe('the days', () => {
  test('are the credits of runs by day and model, in order', () => {
    const runs = [run('b', 2, 1), run('a', 0, 2), run('a', 2, 3), run('a', 2, 4), run('a', 1), run('c', 2)]
    expect(report({ runs }).days).toEqual([
      { at: CYCLE.startAt, byModel: { a: 2 } },
      { at: CYCLE.startAt + 2 * DAY, byModel: { b: 1, a: 7 } },
    ])
  })
  test.each<readonly [string, Partial<Inputs>]>([['runs tell no credits', { runs: [run('a', 0)] }]])('are absent where %s', (_name, more) =>
    expect(report(more).days).toBeUndefined(),
  )
})

const EXACT: typeof MEASURED = { ...MEASURED, of: (_, used) => (used === undefined ? used : { credits: used, source: 'measured' }) }
test.each<readonly [Person['cap'] | number, number | undefined, string | undefined]>([
  [100, 49.99, 'under_50'],
  [100, 50, '50_to_85'],
  [100, 85, '85_to_95'],
  [100, 95, '95_to_100'],
  [100, 100, 'at_cap'],
  [0, 0, 'at_cap'],
  [undefined, 10, undefined],
  [100, undefined, undefined],
])('with a cap of %s and a use of %s a person is in the band %s', (cap, used, band) =>
  expect(report({ by: 'user', people: [person('ada', used, cap)], addOn: EXACT }).rows[0]?.band).toBe(band),
)

describe('who is near their cap', () => {
  const near = (...people: readonly Person[]) => report({ people, addOn: MEASURED }).near.map(({ email }) => email)
  test('has used 85 % of it or more', () => {
    expect(
      near(person('a', 84, 100), person('b', 85, 100), person('c', 900, 'none'), person('d', 99, 'unknown'), person('e', undefined, 5)),
    ).toEqual(['b'])
    expect(report({ people: [person('a', 90, 100)], addOn: MEASURED }).near).toEqual([
      { email: 'a', addOn: 90, addOnSource: 'measured', cap: 100, band: '85_to_95' },
    ])
  })
  test('stands by the share that is used: those with a cap of 0 first, then by e-mail', () => {
    const people = [
      person('f', 90, 100),
      person('e', 190, 200),
      person('d', 95, 100),
      person('c', 500, 100),
      person('b', 1, 0),
      person('a', 2, 0),
    ]
    expect(near(...people)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
    expect(near(...people.toReversed())).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  })
})

describe('a note', () => {
  const addOnByModel = new Map([['a', 1]])
  const [told, silent] = [[run('a', 0, 5)], [run('a', 0)]]
  const UNKNOWN_BALANCE = 'The balance is not known: when add-on credits run out is left out.'
  const MEASURED_NOTE = 'Add-on use is measured: the service tells it by person and day, about 3 hours late.'
  const NO_GROUP = 'No policy declares a group.'
  const BOTH = 'A person in two groups counts in both.'
  const groups = [{ id: 'g', name: 'G' }]
  test.each<readonly [string, Partial<Inputs>, readonly string[]]>([
    ['says that nothing is known without a balance', {}, ['The balance is not known: add-on use, head-room and projections are left out.']],
    ['says what is left out without a balance', { addOn: { ...MEASURED, source: 'estimated' } }, [UNKNOWN_BALANCE]],
    [
      'says what is left out of a cycle that is over',
      { which: 'previous' },
      ['Caps, head-room and the balance are known for the current cycle only.'],
    ],
    ['says that add-on use is measured', { balance: BALANCE, addOn: MEASURED }, [MEASURED_NOTE]],
    ['says so by model where models are', { balance: BALANCE, addOn: MEASURED, by: 'model', addOnByModel }, [MEASURED_NOTE]],
    ['does not say so by model where models are not', { balance: BALANCE, addOn: MEASURED, by: 'model' }, []],
    [
      'says that add-on use by model is estimated',
      { balance: BALANCE, addOn: ESTIMATED, by: 'model', runs: [...told, ...silent] },
      ['Add-on use by model is estimated: what everybody paid from add-on credits, shared out by use.'],
    ],
    [
      'does not say so of models without credits',
      { balance: BALANCE, addOn: ESTIMATED, by: 'model', runs: silent },
      ['This plan shows no credits by model.'],
    ],
    ['does not say so where nothing is known of add-on use', { balance: BALANCE, by: 'model', runs: [...told, ...silent] }, []],
    ['does not say so of another view', { balance: BALANCE, addOn: ESTIMATED, runs: silent }, []],
    ['says nothing of models without runs', { balance: BALANCE, addOn: ESTIMATED, by: 'model', runs: [] }, []],
    ['says that there is no group', { balance: BALANCE, by: 'group' }, [BOTH, NO_GROUP]],
    [
      'says how many are in several groups',
      {
        balance: BALANCE,
        by: 'group',
        groups,
        people: [person('a', 1, undefined, ['g', 'h']), person('b', 1, undefined, ['g']), person('c', 1)],
      },
      [BOTH, '1 of 3 people are in several groups, so the groups add up to more than the team.'],
    ],
    [
      'says how many people have no figure',
      { balance: BALANCE, people: [person('a', 1), person('b')] },
      ['1 of 2 people have no figure of use.'],
    ],
  ])('%s', (_name, more, notes) => expect(report(more).notes).toEqual(notes))
})

describe('a report by', () => {
  test('team sums use, add-on use and head-room, and counts who has no cap', () => {
    expect(full().rows).toEqual([
      { key: 'team', name: 'the team', people: 3, used: 500, addOn: 250, addOnSource: 'estimated', headRoom: 60, uncapped: 1, share: 1 },
    ])
  })

  test('group counts a person in two groups in both, says so, and ends with those in none', () => {
    const { rows, notes } = full({ by: 'group' })
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
    const { rows, totals } = full({ by: 'attribute:costCenter', people, addOn })
    expect(rows.map(({ key, name, people: count, used, addOn: paid }) => [key, name, count, used, paid])).toEqual([
      ['costCenter:CC-1', 'CC-1', 1, 300, 10],
      ['costCenter:', 'empty', 1, 50, 10],
      ['not listed', 'not listed', 1, 150, 10],
      ['not attributed', 'not attributed', undefined, 0, 30],
    ])
    expect(rows.reduce((sum, { addOn: paid = 0 }) => sum + paid, 0)).toBe(totals.addOn)
  })

  test('user shows cap, band and what is left, the most used first', () => {
    expect(full({ by: 'user' }).rows).toEqual([
      { key: 'ada', name: 'ada', used: 300, addOn: 200, addOnSource: 'estimated', cap: 250, headRoom: 50, band: '50_to_85', share: 0.6 },
      { key: 'bob', name: 'bob', used: 150, addOn: 50, addOnSource: 'estimated', cap: 'none', band: 'uncapped', share: 0.3 },
      { key: 'cleo', name: 'cleo', used: 50, addOn: 0, addOnSource: 'estimated', cap: 10, headRoom: 10, band: 'under_50', share: 0.1 },
    ])
  })

  test('model sums modes, its shares are of all that was used, and the last row is the rest', () => {
    const runs = [run('large', 0, 30), run('small', 0, 10), run('large', 0, 60, 'read')]
    expect(full({ by: 'model', runs }).rows).toMatchObject([
      { key: 'large', name: 'large', used: 90, share: 0.18 },
      { key: 'small', name: 'small', used: 10, share: 0.02 },
      { key: '-', name: 'in no run', used: 400, share: 0.8 },
    ])
  })
})

describe('use by model', () => {
  interface Sketch {
    readonly runs: readonly (readonly [string, number?])[]
    readonly measured?: readonly (readonly [string, number])[]
    /** Of everybody. */
    readonly used?: number
    readonly addOn?: number
  }
  const told = ({ runs, measured, used, addOn }: Sketch): readonly string[] => {
    const people = used === undefined ? [] : [person('ada', used)]
    const figures =
      addOn === undefined
        ? undefined
        : ({ ...MEASURED, others: credits(0), of: () => ({ credits: credits(addOn), source: 'measured' as const }) } as const)
    const { rows } = report({
      by: 'model',
      people,
      runs: runs.map(([model, some]) => run(model, 0, some)),
      addOn: figures,
      addOnByModel: measured && new Map(measured),
    })
    return rows.map((row) => [row.name, row.used, row.addOn, row.addOnSource].filter((one) => one !== undefined).join(' '))
  }
  test.each<readonly [string, Sketch, readonly string[]]>([
    ['shares nothing out to who tells no use', { runs: [['a', 30], ['b']], used: 30, addOn: 20 }, ['a 30 20 estimated', 'b']],
    [
      'shares out by all that was used',
      {
        runs: [
          ['a', 75],
          ['b', 25],
        ],
        used: 500,
        addOn: 250,
      },
      ['a 75 37.5 estimated', 'b 25 12.5 estimated', 'in no run 400 200 estimated'],
    ],
    ['is less than runs tell where people came to less', { runs: [['a', 40]], used: 20, addOn: 10 }, ['a 40 10 estimated']],
    ['has no rest where runs tell nothing', { runs: [['a']], used: 9, addOn: 3 }, ['a']],
    ['shares nothing out where nothing was used', { runs: [['a', 0]], used: 0, addOn: 20 }, ['a 0']],
    ['shares nothing out that is not known', { runs: [['a', 5]], used: 5 }, ['a 5']],
    ['shares out where nothing was measured', { runs: [['a', 5]], measured: [], used: 5, addOn: 2 }, ['a 5 2 estimated']],
    ['is 0 of a model without a row', { runs: [['a', 5]], measured: [['b', 1]] }, ['a 5 0 measured', 'b 1 measured']],
    [
      'is of the same model however it is spelled',
      {
        runs: [
          ['large model 4', 5],
          ['Tiny5', 2],
        ],
        measured: [
          ['MODEL_LARGE_MODEL_4', 3],
          ['tiny-5', 1],
        ],
      },
      ['large model 4 5 3 measured', 'Tiny5 2 1 measured'],
    ],
    [
      'is not known of models without a name',
      {
        runs: [],
        measured: [
          ['', 1],
          ['<nil>', 2],
          ['UNKNOWN', 4],
          ['Unknown 2', 8],
          ['zed', 1],
        ],
      },
      ['Unknown 2 8 measured', 'not known 7 measured', 'zed 1 measured'],
    ],
  ])('%s', (_name, sketch, expected) => expect(told(sketch)).toEqual(expected))
})

describe('what is not known is absent', () => {
  test.each(['group'] as const)('people: their number is not known, by %s', (by) => {
    const { totals, rows } = full({ by, people: [] })
    expect([totals, ...rows].every((row) => row.people === undefined)).toBe(true)
    expect(full({ by: 'group', people: [person('ada', 3, 1, ['core'])] }).rows).toContainEqual({
      key: 'group:web',
      name: 'Web',
      people: 0,
    })
  })

  test('a cap that could not be read has no head-room and no band', () => {
    const [row] = full({ by: 'user', people: [person('ada', 300, 'unknown')] }).rows
    expect(row).toEqual({ key: 'ada', name: 'ada', used: 300, addOn: 200, addOnSource: 'estimated', cap: 'unknown', share: 1 })
  })
})

test('changes are counted by effect, failed ones apart, and the latest are listed', () => {
  const write = (result: 'applied' | 'verify_failed' = 'applied', effect: 'raise' | 'clear' = 'raise') => ({
    ...{ ...historyOf(raise(TEAM, 1, 2), NOW), result, effect },
  })
  const writes = [...Array.from({ length: 25 }, () => write()), write('applied', 'clear'), write('verify_failed')]
  const { changes } = full({ writes })
  expect(changes).toMatchObject({ applied: 26, failed: 1, byEffect: { set: 0, raise: 25, lower: 0, block: 0, clear: 1 } })
  expect(changes.latest).toHaveLength(20)
})

test('the projection and the end of the add-on credits are passed on', () => {
  const figures = { ratios: {}, projected: { p10: credits(1.004), p50: credits(2.0049), p90: credits(3) }, exhaustedAt: NOW }
  expect(full({ figures })).toMatchObject({ projected: { p10: 1, p50: 2, p90: 3 }, exhaustedAt: NOW })
  expect(full().projected).toBeUndefined()
})
