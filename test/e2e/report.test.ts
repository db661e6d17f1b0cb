import { parse as parseCsv } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import { credits } from '../../src/core/model/units.ts'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import { realClock } from '../support/real-clock.ts'
import { recordCompany } from '../support/recorded.ts'
import { configText, policyText, workspace, world } from './world.ts'

const POLICY = `team: {cap: 500}
groups:
  - {id: grp_platform, name: Platform, cap: 1500}`

const SANDBOX = { people: 12, groups: 3, days: 75, seed: 4 }

/** The first of the month so many months ago. */
const month = (ago: number): number => {
  const now = new Date(realClock().now())
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1)
}
const rfc = (at: number): string => new Date(at).toISOString()
const monthText = (ago: number): string => rfc(month(ago)).slice(0, 7)

describe('report', () => {
  test('by whatever agrees with the service about the credits of the cycle', async () => {
    const at = await world({ policy: POLICY, sandbox: SANDBOX })
    const service = at.service.sandbox.handle('UserPageAnalytics', { service_key: 'sandbox-admin' })
    const cents = JSON.parse(service.body).userTableStats.reduce(
      (sum: number, row: { promptCreditsUsed?: number }) => sum + (row.promptCreditsUsed ?? 0),
      0,
    )
    for (const by of ['team', 'group', 'user', 'model']) {
      const ran = await at.run('report', '--by', by, '--output', 'json')
      expect(ran).toMatchObject({ code: 0, stderr: '' })
      const [report] = JSON.parse(ran.stdout).reports
      expect(report.totals.used).toBeCloseTo(cents / 100, 1)
      const rows = report.rows.reduce((sum: number, row: { used?: number }) => sum + (row.used ?? 0), 0)
      if (by !== 'group') expect(rows).toBeCloseTo(report.totals.used, 0)
      expect(report.projected.p50).toBeGreaterThanOrEqual(report.totals.used)
    }
  })

  test('of the previous cycle has at least the use of its runs', async () => {
    const at = await world({ policy: POLICY, sandbox: SANDBOX })
    const ran = await at.run('report', '--cycle', 'previous')
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(ran.stdout).toMatch(/^acme: previous cycle, 2026-\d\d-01 to 2026-\d\d-01\n {2}Credits used {2}\d+/)
    expect(ran.stdout).toContain('knows nobody’s use in that cycle'.replace('’', "'"))
    // The same cycle by its name.
    const byMonth = await at.run('report', '--cycle', monthText(1))
    expect(byMonth).toMatchObject({ code: 0, stdout: ran.stdout.replace('previous cycle', `${monthText(1)} cycle`) })
    // Runs tell nothing of groups: a table of blanks would pass for a bill.
    const byGroup = await at.run('report', '--cycle', 'previous', '--by', 'group', '--output', 'csv')
    expect(byGroup).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining("knows nobody's use in that cycle") })
  })

  test('of the month in which the present cycle begins is the one on the present cycle', async () => {
    const at = await world({ policy: POLICY, sandbox: SANDBOX })
    expect((await at.run('apply', '--yes')).code).toBe(0)
    for (const by of ['group', 'user']) {
      const asked = ['--by', by, '--output', 'csv']
      const current = await at.run('report', ...asked)
      expect(current).toMatchObject({ code: 0, stderr: expect.not.stringContaining('current cycle only') })
      expect(await at.run('report', '--cycle', monthText(0), ...asked)).toEqual(current)
    }
  })

  test('goes on without a balance, and without runs', async () => {
    const at = await world({ policy: POLICY, sandbox: { ...SANDBOX, plan: 'team' } })
    const { code, stdout } = await at.run('report')
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('The balance is not known') })
    const quota = await world({ policy: POLICY, sandbox: { ...SANDBOX, plan: 'quota' } })
    expect((await quota.run('report', '--by', 'model')).stdout).toContain('This plan shows no credits by model.')
  })

  test('fails with one line when the roster cannot be read', async () => {
    const at = await world({ policy: POLICY, sandbox: SANDBOX })
    at.write('key', 'sandbox-billing-read')
    expect(await at.run('report')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('could not be read') })
  })

  test('goes on with the other workspaces when one cannot be read, and exits 4', async () => {
    const at = await world({ policy: `workspace: acme\n${POLICY}`, sandbox: SANDBOX })
    at.write('policies/beta.yaml', policyText(`workspace: beta\n${POLICY}`, 'beta'))
    at.write('weak', 'sandbox-billing-read')
    const beta = workspace('beta', at.service.url, { keys: { default: { file: 'weak' } } })
    at.write('config.yaml', configText([beta, workspace('acme', at.service.url)]))
    const { code, stdout, stderr } = await at.run('report', '--output', 'json')
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining('error: beta: the roster') })
    expect(JSON.parse(stdout).reports).toMatchObject([{ workspace: 'acme' }])
  })

  describe('of a cycle that the ledger has kept', () => {
    async function recorded() {
      const at = await world({ policy: `workspace: acme\n${POLICY}`, sandbox: SANDBOX })
      const store = await openLedger({ file: at.path('ledger.db'), mode: 'write', clock: realClock() })
      const people = ['ada.lovelace', 'grace.hopper', 'alan.turing'].map((name) => ({ email: `${name}@example.com`, uses: () => 30 }))
      await recordCompany(await store.workspace('acme', at.service.url), {
        people,
        fromAt: month(3),
        untilAt: month(0),
        creditsPerSeat: 500,
      })
      await store.close()
      at.write('config.yaml', configText([workspace('acme', at.service.url)], { pricePerCredit: 0.5, currency: 'EUR' }))
      return at
    }

    test('has a line for each group that finance can take', async () => {
      const at = await recorded()
      const ran = await at.run('report', '--cycle', monthText(2), '--by', 'group', '--output', 'csv')
      expect(ran.code).toBe(0)
      const rows: Record<string, string>[] = parseCsv(ran.stdout, { columns: true })
      const used = 30 * Math.round((month(1) - month(2)) / 86_400_000)
      const common = {
        workspace: 'acme',
        period_start: rfc(month(2)),
        period_end: rfc(month(1)),
        unit_price: '0.5',
        currency: 'EUR',
        add_on_source: 'estimated',
      }
      expect(rows).toMatchObject([
        {
          ...common,
          key: 'group:grp_platform',
          group: 'Platform',
          people: '2',
          used: String(2 * used),
          add_on_use: String(2 * (used - 500)),
          amount: String(used - 500),
        },
        { ...common, key: '-', people: '1', used: String(used), amount: String((used - 500) / 2) },
      ])
      expect(ran.stderr).toContain('Groups are those of today')
    })

    test('asks the service for a cycle whose end no daemon saw, and says so where it has no answer', async () => {
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

    test('is an error where nothing was kept', async () => {
      const at = await recorded()
      const old = await at.run('report', '--cycle', monthText(7), '--by', 'group', '--output', 'csv')
      expect(old).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining("knows nobody's use in that cycle") })
      const ancient = await at.run('report', '--cycle', '2001-01')
      expect(ancient).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('begins in 2001-01') })
      expect(await at.run('report', '--cycle', '2026-13')).toMatchObject({ code: 64, stderr: expect.stringContaining('such as 2026-09') })
    })
  })
})
