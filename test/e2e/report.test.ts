import { expect, test } from 'vitest'
import { credits } from '../../src/core/model/units.ts'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import { rosterOfUse } from '../support/declare.ts'
import { realClock } from '../support/real-clock.ts'
import { world } from './world.ts'

const POLICY = `team: {cap: 500}
groups:
  - {id: grp_platform, name: Platform, cap: 1500}`

const SANDBOX = { people: 12, groups: 3, days: 75, seed: 4 }

/** The first of the month so many months ago. */
const month = (ago: number): number => {
  const now = new Date(realClock().now())
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1)
}

test('a report on a cycle whose end nobody has read says so, and what to type', async () => {
  const at = await world({ policy: POLICY, sandbox: { ...SANDBOX, addOnRows: 'served' } })
  const told = async () => JSON.parse((await at.run('report', '--cycle', 'previous', '--output', 'json')).stdout).reports[0]
  await at.run('report')
  const store = await openLedger({ file: at.path('ledger.db'), mode: 'write', clock: realClock() })
  const ledger = await store.workspace('acme', at.service.url)
  const readAt = month(1) + 40 * 3_600_000
  const row = { dayAt: month(1), email: 'ada.lovelace@example.com', model: 'm', used: credits(5), addOn: credits(5) }
  const asked = { ...{ fromAt: month(2), throughAt: month(1), readAt, wideAt: readAt }, ...{ hasRows: true, emptyDays: 0, isWhole: true } }
  await ledger.saveAddOnUse({ fromAt: month(1), untilAt: readAt, rows: [row], asked })
  await store.close()
  const before = await told()
  expect(before.totals).toMatchObject({ addOn: 5 })
  expect(before.notes.join(' ')).toMatch(/was last read on \S+-02, so its last days may be missing; type: capkeeper collect/)
  await at.run('collect')
  const { totals, notes } = await told()
  expect(totals.addOn).toBeGreaterThan(5)
  expect(notes.join(' ')).not.toContain('last read on')
})

/** A ledger that knows what Ada had used when the cycle was read last that ended so many months ago. */
async function lastSeen(monthsAgo: number, readAt: number) {
  const at = await world({ policy: POLICY, sandbox: SANDBOX })
  await at.run('report')
  const store = await openLedger({ file: at.path('ledger.db'), mode: 'write', clock: realClock() })
  const ledger = await store.workspace('acme', at.service.url)
  const cycle = { startAt: month(monthsAgo + 1), endAt: month(monthsAgo) }
  ledger.saveFact('usage', { roster: rosterOfUse({ 'ada.lovelace': 700 }, cycle, readAt), groups: [] })
  await ledger.commit()
  await store.close()
  return async (word: string) => JSON.parse((await at.run('report', '--cycle', word, '--output', 'json')).stdout).reports[0]
}

test('the previous cycle is the one before the present one, also where the ledger knows only an earlier one', async () => {
  const report = await lastSeen(1, month(1) - 3_600_000)
  const day = (ago: number): string => new Date(month(ago)).toISOString()
  expect((await report('previous')).cycle).toEqual({ startAt: day(1), endAt: day(0) })
  expect((await report(day(1).slice(0, 7))).cycle).toEqual({ startAt: day(1), endAt: day(0) })
  expect((await report(day(2).slice(0, 7))).cycle).toEqual({ startAt: day(2), endAt: day(1) })
})

test.each([
  ['does not say so where it was read to its end', 1, false],
  ['says so where nobody read its last days', 50, true],
])('a report on a cycle of which the last reading is known %s', async (_name, hours, isSaid) => {
  const report = await lastSeen(0, month(0) - hours * 3_600_000)
  const { notes, totals } = await report('previous')
  expect(totals.used).toBe(700)
  expect(notes.some((note: string) => /^Use of that cycle was last read on .*last days may be missing/.test(note))).toBe(isSaid)
})

test('the day that holds a border counts to the cycle that begins in it, and in no other', async () => {
  const at = await world({ policy: POLICY, sandbox: { ...SANDBOX, addOnRows: 'served' } })
  const told = async (by: string) =>
    JSON.parse((await at.run('report', '--cycle', 'previous', '--by', by, '--output', 'json')).stdout).reports[0]
  await at.run('collect')
  const whole = [await told('user'), await told('model')]
  const store = await openLedger({ file: at.path('ledger.db'), mode: 'write', clock: realClock() })
  const ledger = await store.workspace('acme', at.service.url)
  const [cycle, later] = [{ startAt: month(0), endAt: month(-1) }, 9 * 3_600_000]
  const previousCycle = { cycle: { startAt: month(1) + later, endAt: month(0) + later }, used: {} }
  ledger.saveFact('usage', { roster: rosterOfUse({ 'ada.lovelace': 700 }, cycle, realClock().now() - 60_000), groups: [], previousCycle })
  await ledger.commit()
  await store.close()
  const moved = [await told('user'), await told('model')]
  // It ends where the present one begins, whatever was told of its end.
  expect(moved[0].cycle).toMatchObject({ startAt: expect.stringMatching(/T09:00/), endAt: whole[0].cycle.endAt })
  expect(moved.map(({ totals, rows }) => ({ totals, rows }))).toEqual(whole.map(({ totals, rows }) => ({ totals, rows })))
})

test('a person whose rows cannot be found is in a past cycle with the sum of their days, and counts once', async () => {
  const at = await world({ policy: POLICY, sandbox: SANDBOX })
  await at.run('report')
  const store = await openLedger({ file: at.path('ledger.db'), mode: 'write', clock: realClock() })
  const ledger = await store.workspace('acme', at.service.url)
  const [grace, readAt] = ['grace.hopper@example.com', month(0) + 4 * 3_600_000]
  const row = { dayAt: month(1), email: 'ada.lovelace@example.com', model: 'm', used: credits(605), addOn: credits(105) }
  const asked = { fromAt: month(2), throughAt: month(0), readAt, wideAt: readAt, hasRows: true, emptyDays: 0, isWhole: true }
  const rows = [row, { ...row, email: '', used: credits(540), addOn: credits(47) }]
  await ledger.saveAddOnUse({ fromAt: month(1), untilAt: month(0), rows, asked })
  const days = { fromAt: month(1), untilAt: month(0) }
  await ledger.changeHistory([grace], (history) => ({
    history: { ...history, known: [{ ...days, readAt }] },
    told: { ...days, rows: [{ dayAt: month(1), used: credits(540) }] },
  }))
  ledger.saveFact('addOn', { readAt, cycles: [], unassignable: [grace] })
  await ledger.commit()
  await store.close()
  const { stdout } = await at.run('report', '--cycle', 'previous', '--by', 'user', '--output', 'json')
  const [{ rows: people, totals }] = JSON.parse(stdout).reports
  expect(people).toMatchObject([
    { key: 'ada.lovelace@example.com', used: 605, addOn: 105, addOnSource: 'measured' },
    { key: grace, used: 540, addOn: 40, addOnSource: 'estimated' },
  ])
  // Of the 47 credits of nobody, 40 are hers.
  expect(totals).toMatchObject({ used: 1145, addOn: 152 })
})

test('a past cycle within which the service began to measure has the use of all its days', async () => {
  const at = await world({ policy: POLICY, sandbox: SANDBOX })
  await at.run('collect')
  const store = await openLedger({ file: at.path('ledger.db'), mode: 'write', clock: realClock() })
  const ledger = await store.workspace('acme', at.service.url)
  const told = async () => JSON.parse((await at.run('report', '--cycle', 'previous', '--output', 'json')).stdout).reports[0].totals
  const [before, readAt, fromAt] = [await told(), month(0) + 4 * 3_600_000, month(1) + 14 * 86_400_000]
  const asked = { fromAt: month(2), throughAt: month(0), readAt, wideAt: readAt, hasRows: true, emptyDays: 0, isWhole: true }
  const rows = (await ledger.useByPerson({ fromAt, untilAt: month(0) })).map((row) => ({
    ...row,
    dayAt: fromAt,
    model: 'm',
    addOn: credits(0),
  }))
  await ledger.saveAddOnUse({ fromAt, untilAt: month(0), rows, asked })
  await store.close()
  expect(await told()).toMatchObject({ used: before.used, addOn: before.addOn, addOnSource: 'estimated' })
})
