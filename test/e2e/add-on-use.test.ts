// Add-on use as a user sees it: measured where the service tells it and estimated elsewhere, in every command and page; and a workspace
// whose caps are refused for good, of which use and reports go on.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { until } from '../support/process.ts'
import { type World, world, written } from './world.ts'

const COMPANY = { people: 20, groups: 2, days: 70, seed: 3 }
const POLICY = 'team: {cap: 20000}'

/** As the sandbox makes them for its company. */
const apiKeyOf = (email: string): string => createHash('sha256').update(`${COMPANY.seed}/${email}`).digest('hex')

async function company(sandbox: Parameters<typeof world>[0] & object = {}): Promise<World> {
  return world({ policy: POLICY, ...sandbox, sandbox: { ...COMPANY, addOnRows: 'served', ...sandbox.sandbox } })
}

interface Row {
  readonly key: string
  readonly addOn?: number
  readonly addOnSource?: string
}
const rowsOf = async (at: World, ...argv: readonly string[]): Promise<readonly Row[]> =>
  JSON.parse((await at.run('report', '--by', 'user', '--output', 'json', ...argv)).stdout).reports[0].rows

describe('a service that provides add-on use', () => {
  test('is shown as measured by every command, without a daemon', async () => {
    const at = await company()
    const rows = await rowsOf(at)
    const [most] = rows.toSorted((a, b) => (b.addOn ?? 0) - (a.addOn ?? 0))
    expect(most?.addOn).toBeGreaterThan(0)
    expect(rows.every(({ addOnSource }) => addOnSource === 'measured')).toBe(true)
    expect(JSON.parse((await at.run('audit', '--output', 'json')).stdout).workspaces[0]).toMatchObject({ addOnUse: 'measured' })
    const explained = await at.run('explain', most?.key ?? '', '--output', 'json')
    expect(JSON.parse(explained.stdout).use).toMatchObject({ used: most?.addOn, source: 'measured' })
    expect((await at.run('explain', most?.key ?? '')).stdout).toMatch(/^Add-on credits used in this cycle: .* Measured\.$/m)
    expect((await at.run('doctor')).stdout).toContain('add-on use by person is told, so it is measured')
    // The cycle before has its figures too, though no ledger ever saw it.
    const before = await rowsOf(at, '--cycle', 'previous')
    expect(before.some(({ addOn = 0, addOnSource }) => addOn > 0 && addOnSource === 'measured')).toBe(true)
  })

  test('is measured by the daemon and agrees with the balance, and no person’s key is shown', async () => {
    const at = await company()
    const daemon = await at.daemon()
    await daemon.shows('capkeeper_addon_use_measured', 1, { workspace: 'acme' })
    expect(Math.abs((await daemon.metric('capkeeper_attribution_gap_ratio', { workspace: 'acme' })) ?? 1)).toBeLessThan(0.01)
    const status = (await daemon.get('/status')).text
    expect(JSON.parse(status).workspaces[0].use.addOn).toEqual({
      ...{ source: 'measured', credits: expect.any(Number) },
      ...{ readAt: expect.any(String), latestDay: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) },
    })
    const page = (await daemon.get('/workspaces/acme/people')).text
    expect(page).toContain('title="measured"')
    const outputs = [status, page, (await daemon.get('/ledger')).text, (await daemon.get('/metrics')).text, daemon.stderr()]
    daemon.signal('SIGTERM')
    await daemon.ended
    outputs.push((await at.run('report', '--by', 'user', '--output', 'json')).stdout, at.read('ledger.db'))
    const rows = await rowsOf(at)
    expect(rows.length).toBeGreaterThan(10)
    for (const { key } of rows) for (const output of outputs) expect(output).not.toContain(apiKeyOf(key))
  })
})

describe('a workspace whose caps are refused for good', () => {
  test('is distinguished from a wrong key, in one condition, and use and reports go on', async () => {
    const at = await company({ sandbox: { plan: 'no-caps', errors: 'connect' } })
    const daemon = await at.daemon()
    await daemon.shows('capkeeper_addon_use_measured', 1, { workspace: 'acme' })
    expect(await daemon.metric('capkeeper_prompt_credits_used', { workspace: 'acme' })).toBeGreaterThan(0)
    await until('a projection', () => daemon.metric('capkeeper_projected_credits_used', { workspace: 'acme', percentile: '50' }))
    const { conditions } = JSON.parse((await daemon.get('/status')).text).workspaces[0]
    expect(conditions).toMatchObject([{ type: 'NoCaps', severity: 'error', reason: 'NO_CAPS' }])
    expect((await daemon.get('/readyz')).status).toBe(200)
    daemon.signal('SIGTERM')
    await daemon.ended
    expect(written(at.service)).toEqual([])
    const report = await at.run('report')
    expect(report).toMatchObject({ code: 0, stdout: expect.stringContaining('measured') })
    expect(await at.run('plan')).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing could be read') })
    const doctor = await at.run('doctor')
    expect(doctor).toMatchObject({ code: 1, stdout: expect.stringContaining('this workspace has no caps, whatever the key') })
    expect(doctor.stdout).toMatch(/ok +default .* holds Analytics Read, Teams Read-only/)
  })
})
