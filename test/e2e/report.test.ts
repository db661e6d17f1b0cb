import { describe, expect, test } from 'vitest'
import { configText, policyText, workspace, world } from './world.ts'

const POLICY = `team: {cap: 500}
groups:
  - {id: grp_platform, name: Platform, cap: 1500}`

const SANDBOX = { people: 12, groups: 3, days: 75, seed: 4 }

describe('report', () => {
  test.each(['team', 'group', 'user', 'model'])('by %s agrees with the service about the credits of the cycle', async (by) => {
    const at = await world({ policy: POLICY, sandbox: SANDBOX })
    const ran = await at.run('report', '--by', by, '--output', 'json')
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    const [report] = JSON.parse(ran.stdout).reports
    const service = at.service.sandbox.handle('UserPageAnalytics', { service_key: 'sandbox-admin' })
    const cents = JSON.parse(service.body).userTableStats.reduce(
      (sum: number, row: { promptCreditsUsed?: number }) => sum + (row.promptCreditsUsed ?? 0),
      0,
    )
    expect(report.totals.used).toBeCloseTo(cents / 100, 1)
    if (by !== 'group') {
      const rows = report.rows.reduce((sum: number, row: { used?: number }) => sum + (row.used ?? 0), 0)
      expect(rows).toBeCloseTo(report.totals.used, 0)
    }
    expect(report.projected.p50).toBeGreaterThanOrEqual(report.totals.used)
  })

  test('of the previous cycle has at least what runs say', async () => {
    const at = await world({ policy: POLICY, sandbox: SANDBOX })
    const ran = await at.run('report', '--cycle', 'previous')
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(ran.stdout).toMatch(/^acme: previous cycle, 2026-\d\d-01 to 2026-\d\d-01\n {2}Credits used {2}\d+/)
    expect(ran.stdout).toContain('knows nobody’s use in that cycle'.replace('’', "'"))
  })

  test.each(['text', 'csv', 'markdown', 'html'])('prints %s', async (format) => {
    const at = await world({ policy: POLICY, sandbox: SANDBOX })
    const { code, stdout } = await at.run('report', '--by', 'user', '--output', format)
    expect(code).toBe(0)
    expect(stdout).toContain('ada.lovelace')
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
})
