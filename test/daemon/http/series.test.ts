// By day, as the documents show it: a person's add-on use and cap in force, pools over the cycle, and what a day burned.

import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { EVERYBODY } from '../../../src/daemon/http/auth.ts'
import { EMAIL_LABELS } from '../../../src/daemon/http/labels.ts'
import { fakeClock, worldClock } from '../../support/clock.ts'
import { DAY, email, HOUR } from '../../support/declare.ts'
import { HASHED_LABELS, libraryOf, libraryOver } from '../../support/documents.ts'
import { whenAsked } from '../../support/faults.ts'
import { live, MINUTE } from '../../support/living.ts'
import { daily, midnight, noon, recordPast } from '../../support/use.ts'
import { emptyView, rosterOf } from '../../support/views.ts'
import { testWorld, type World } from '../../support/world.ts'

const over = (one: World, people = EMAIL_LABELS) =>
  libraryOver(() => one, { people, requestUrl: () => 'https://git.example/new?for={email}&cap={cap}' }).for(EVERYBODY)
const personIn = (one: World, people = EMAIL_LABELS) => over(one, people).person('acme', people.label('ada@example.com'))

test.each([
  ['served', 'measured'],
  ['refused', 'estimated'],
] as const)('where add-on rows are %s, the days of a person are %s', async (addOnRows, source) => {
  const one = await testWorld({ people: ['ada', 'bob'], switches: { addOnRows } })
  recordPast(one, daily('ada', 100, noon(2)))
  const life = live(one)
  life.set({ caps: { team: 5000 } })
  await one.clock.pass(MINUTE)
  const { addOn, addOnSource, use } = await personIn(one)
  expect({ now: addOnSource, days: use.addOnSource }).toEqual({ now: source, days: source })
  const on = (at: string) => use.days.find(({ day }) => day === at)
  // What was not recorded and nobody measured is not known, and not 0.
  expect(on('2026-11-10')).toMatchObject(source === 'measured' ? { used: 900, grade: 'measured' } : { used: undefined, grade: 'missing' })
  expect(use.days.at(-1)?.used).toBe(1800)
  if (source === 'measured') {
    // The credits of the seat go first: five days of a hundred.
    const figures = use.days.filter(({ day }) => day >= '2026-11-05').map((day) => day.addOn)
    expect(figures.slice(0, 4)).toEqual([0, 0, 100, 200])
    expect(use.days.at(-1)?.addOn).toBe(addOn)
  }
  await life.stop()
})

test('past days are reconstructed from the service, begin anew with each cycle, and say so', async () => {
  const one = await testWorld({ people: ['ada', 'bob'], config: { historyDays: 120 } })
  recordPast(one, daily('ada', 100, noon(1, 10)))
  whenAsked(
    one,
    (operation) => operation === 'CascadeAnalytics',
    () => one.sandbox.recordUse(email('bob'), 5_000),
  )
  const life = live(one)
  life.set({ caps: { team: 5000 } })
  await one.clock.pass(2 * MINUTE)
  const { use } = await personIn(one)
  // Runs tell more than the roster, which was read before them.
  expect((await over(one).creditsSeries('acme')).days.at(-1)?.used).toBe(1950)
  const { lines } = await over(one).burnSeries('acme', { by: 'model' })
  expect(lines.map(({ values }) => values[0])).toEqual(lines.map(() => 0))
  await life.stop()
  expect(use.days).toHaveLength(90)
  expect(use.days.flatMap(({ day, starts }) => (starts ? [day] : []))).toEqual(['2026-09-01', '2026-10-01', '2026-11-01'])
  expect(use.days.map(({ grade }) => grade)).toEqual([...Array(89).fill('reconstructed'), undefined])
  // Five days of a hundred are the credits of the seat.
  const addOnOn = (day: string) => use.days.find((one) => one.day === day)?.addOn
  expect(['2026-08-23', '2026-10-05', '2026-10-31', '2026-11-01', '2026-11-07'].map(addOnOn)).toEqual([0, 0, 2600, 0, 200])
})

test('the cap of a past day is the one that was in force, also a foreign one that was not reverted', async () => {
  const one = await testWorld({
    clock: worldClock(midnight(5)),
    config: { onDrift: 'alert', intervalMs: 6 * HOUR, usageIntervalMs: 6 * HOUR },
  })
  const life = live(one)
  life.set({ caps: { ada: 500 } })
  await one.clock.pass(2 * DAY + HOUR)
  one.foreign('ada', 9000)
  await one.clock.pass(2 * DAY)
  const { use, cap } = await personIn(one)
  await life.stop()
  const shown = use.days.filter(({ day }) => day >= '2026-11-06').map((one) => [one.day.slice(-2), one.cap, one.changed ?? false])
  expect(cap).toBe(9000)
  expect(shown).toEqual([
    ['06', 500, false],
    ['07', 9000, true],
    ['08', 9000, false],
    ['09', 9000, false],
  ])
})

test('the link to ask for more has the name by which the person is shown, so that a hash stays a hash', async () => {
  const one = await testWorld({ people: ['ada'] })
  const life = live(one)
  life.set({ caps: { team: 5000 } })
  await one.clock.pass(MINUTE)
  expect((await personIn(one)).requestUrl).toBe('https://git.example/new?for=ada%40example.com&cap=5000')
  const hashed = await personIn(one, HASHED_LABELS)
  expect(hashed.requestUrl).toBe(`https://git.example/new?for=${encodeURIComponent(hashed.person)}&cap=5000`)
  expect(hashed.requestUrl).not.toContain('ada')
  await life.stop()
})

describe('the series of pools', () => {
  const pools = [{ name: 'research', credits: 1_000, members: { kind: 'emails' as const, emails: ['p001', 'p002'].map(email) } }]

  test('has a figure for each day on which a cycle was run, and none for days before', async () => {
    const world = await testWorld({ people: 4, caps: { team: 10 } })
    await world.cycle({ caps: { team: 500 }, pools })
    await world.cycle()
    await world.clock.pass(24 * HOUR)
    await world.cycle()
    const series = await over(world).poolSeries('acme')
    expect(series).toMatchObject({ poolsOmitted: 0, cycle: expect.anything(), pools: [{ name: 'research', credits: 1_000 }] })
    const days = series.pools[0]?.days ?? []
    expect(days.slice(0, 3)).toEqual([{ day: '2026-11-01' }, { day: '2026-11-02' }, { day: '2026-11-03' }])
    expect(days.slice(-2)).toEqual([
      { day: '2026-11-20', used: 0, dealt: 1_000 },
      { day: '2026-11-21', used: 0, dealt: 1_000 },
    ])
    // As the ledger keeps it, so that a restart forgets nothing.
    world.workspace.chronicle?.keep()
    await world.ledger.commit()
    expect(world.ledger.fact('days')?.map((day) => day.pools?.['research']?.credits)).toEqual([1_000, 1_000])
  })

  test('is empty without pools', async () => {
    const world = await testWorld({ people: 4 })
    await world.cycle({ caps: { team: 500 } })
    expect((await over(world).poolSeries('acme')).pools).toEqual([])
  })
})

const START = Date.parse('2026-11-01T00:00:00Z')

test.each([
  ['every day was read', [1, 2, 3, 4, 5], [1000, 2000, 3000, 4000, 5000]],
  ['two days were not read', [1, 2, 5], [1000, 2000, undefined, undefined, 5000]],
  ['the daemon came on the fifth day', [5], [undefined, undefined, undefined, undefined, 5000]],
])('a day has what was used by its end only where it was read: %s', async (_case, known, used) => {
  const now = START + 4 * DAY + DAY / 2
  const days = known.map((day) => ({ ...{ dayAt: START + (day - 1) * DAY, found: 0, reverted: 0 }, used: credits(day * 1000) }))
  const view = { ...emptyView(), roster: { ...rosterOf(1, { cycle: { startAt: START, endAt: START + 30 * DAY } }), readAt: now } }
  const people = view.roster.people.map((one) => ({ ...one, used: credits(5000) }))
  const library = libraryOf({
    views: () => [{ ...view, roster: { ...view.roster, people } }],
    clock: fakeClock(now),
    facts: () => ({ journal: { entries: [], days, isOut: false } }),
  })
  const series = await library.for(EVERYBODY).creditsSeries(view.workspace)
  expect(series.days.slice(0, 5).map((day) => day.used)).toEqual(used)
})
