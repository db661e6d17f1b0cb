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

test('a report asks the service for a cycle that the ledger has kept and whose end no daemon saw, and says so where it has no answer', async () => {
  const told = async (addOnRows: 'served' | 'refused') => {
    const at = await world({ policy: POLICY, sandbox: { ...SANDBOX, addOnRows } })
    const before = await at.run('report', '--cycle', 'previous', '--output', 'json')
    const store = await openLedger({ file: at.path('ledger.db'), mode: 'write', clock: realClock() })
    const ledger = await store.workspace('acme', at.service.url)
    const readAt = month(1) + 40 * 3_600_000
    const row = { dayAt: month(1), email: 'ada.lovelace@example.com', model: 'm', used: credits(5), addOn: credits(5) }
    const asked = {
      ...{ fromAt: month(2), throughAt: month(1), readAt, wideAt: readAt },
      ...{ hasRows: true, emptyDays: 0, isWhole: true },
    }
    await ledger.saveAddOnUse({ fromAt: month(1), untilAt: readAt, rows: [row], asked })
    await store.close()
    const [one, other] = [before, await at.run('report', '--cycle', 'previous', '--output', 'json')].map(
      ({ stdout }) => JSON.parse(stdout).reports[0],
    )
    return { one, other }
  }
  const { one, other } = await told('served')
  expect(one.totals.addOn).toBeGreaterThan(5)
  expect(other.totals).toEqual(one.totals)
  const refused = await told('refused')
  expect(refused.other.totals).toMatchObject({ addOn: 5 })
  expect(refused.other.notes.join(' ')).toMatch(/was last read on \S+-02, so its last days may be missing/)
})

test('the previous cycle is the one before the present one, also where the ledger knows only an earlier one', async () => {
  const at = await world({ policy: POLICY, sandbox: SANDBOX })
  await at.run('report')
  const store = await openLedger({ file: at.path('ledger.db'), mode: 'write', clock: realClock() })
  const ledger = await store.workspace('acme', at.service.url)
  const cycle = { startAt: month(2), endAt: month(1) }
  ledger.saveFact('usage', { roster: rosterOfUse({ 'ada.lovelace': 700 }, cycle, month(1) - 3_600_000), groups: [] })
  await ledger.commit()
  await store.close()
  const cycleOf = async (word: string) => JSON.parse((await at.run('report', '--cycle', word, '--output', 'json')).stdout).reports[0].cycle
  const day = (ago: number): string => new Date(month(ago)).toISOString()
  expect(await cycleOf('previous')).toEqual({ startAt: day(1), endAt: day(0) })
  expect(await cycleOf(day(1).slice(0, 7))).toEqual({ startAt: day(1), endAt: day(0) })
  expect(await cycleOf(day(2).slice(0, 7))).toEqual({ startAt: day(2), endAt: day(1) })
})
