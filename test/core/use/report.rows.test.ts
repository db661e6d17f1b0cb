// A report figure by figure: costs, days, order, who is near, and what is left out with a note; its views are in report.test.ts.
import { describe, expect, test } from 'vitest'
import type { Balance, RunUse } from '../../../src/core/model/observed.ts'
import { credits } from '../../../src/core/model/units.ts'
import { addOnFigures } from '../../../src/core/use/add-on.ts'
import { type Report, type ReportInputs, type ReportPerson, reportOf } from '../../../src/core/use/report.ts'
import { CYCLE, DAY, NOW } from '../../support/declare.ts'

const BALANCE: Balance = {
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

const person = (email: string, used?: number, cap?: ReportPerson['cap'] | number, groups: readonly string[] = []): ReportPerson => ({
  ...{ email, groups },
  ...(used !== undefined && { used: credits(used) }),
  ...(cap !== undefined && { cap: typeof cap === 'number' ? credits(cap) : cap }),
})
const run = (model: string, day: number, used?: number): RunUse => ({
  ...{ dayAt: CYCLE.startAt + day * DAY, model, mode: 'write', messages: 1 },
  ...(used !== undefined && { used: credits(used) }),
})
const report = (more: Partial<ReportInputs> = {}): Report =>
  reportOf({
    ...{ workspace: 'acme', which: 'current', by: 'team', cycle: CYCLE, groups: [], writes: [], notes: [] },
    ...{ people: [person('ada', 300, 250), person('bob', 150, 'none')], ...more },
  })
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
    expect([free.pricePerCredit, free.currency, free.totals.cost, free.totals.addOnCost]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
    expect(report({ pricePerCredit: 0.04 }).totals.addOnCost).toBeUndefined()
  })
  test('count the use of people who left', () => expect(report({ addOn: MEASURED }).totals.addOn).toBe(455))
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
  test.each<readonly [string, Partial<ReportInputs>]>([
    ['runs were not read', {}],
    ['runs tell no credits', { runs: [run('a', 0)] }],
  ])('are absent where %s', (_name, more) => expect(report(more).days).toBeUndefined())
})

describe('who is near their cap', () => {
  const near = (...people: readonly ReportPerson[]) => report({ people, addOn: MEASURED }).near.map(({ email }) => email)
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
  test.each<readonly [string, Partial<ReportInputs>, readonly string[]]>([
    ['is none where everything is known', { balance: BALANCE, addOn: ESTIMATED }, []],
    ['comes first where something could not be gathered', { balance: BALANCE, notes: ['x'], groups, by: 'group' }, ['x', BOTH]],
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
