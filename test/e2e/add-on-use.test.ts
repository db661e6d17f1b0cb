// Add-on use as a daemon measures and shows it; and a workspace whose caps are refused for good, of which use goes on.
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { until } from '../support/process.ts'
import { type World, world, written } from './world.ts'

const COMPANY = { people: 20, groups: 2, days: 70, seed: 3 }
const POLICY = 'team: {cap: 20000}'

/** As the sandbox makes them for its company. */
const apiKeyOf = (email: string): string => createHash('sha256').update(`${COMPANY.seed}/${email}`).digest('hex')

async function company(sandbox: Parameters<typeof world>[0] & object = {}): Promise<World> {
  return world({ policy: POLICY, ...sandbox, sandbox: { ...COMPANY, addOnRows: 'served', ...sandbox.sandbox } })
}

test('a service that provides add-on use is measured by the daemon and agrees with the balance, and no person’s key is shown', async () => {
  const at = await company()
  const daemon = await at.daemon()
  await daemon.shows('capkeeper_addon_use_measured', 1, { workspace: 'acme' })
  expect(Math.abs((await daemon.metric('capkeeper_attribution_gap_ratio', { workspace: 'acme' })) ?? 1)).toBeLessThan(0.01)
  const status = (await daemon.get('/status')).text
  expect(JSON.parse(status).workspaces[0].addOn).toEqual({
    ...{ source: 'measured', credits: expect.any(Number) },
    ...{ readAt: expect.any(String), latestDay: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) },
  })
  const page = (await daemon.get('/workspaces/acme/people')).text
  expect(page).toContain('title="measured"')
  const outputs = [status, page, (await daemon.get('/ledger')).text, (await daemon.get('/metrics')).text, daemon.stderr()]
  daemon.signal('SIGTERM')
  await daemon.ended
  const report = (await at.run('report', '--by', 'user', '--output', 'json')).stdout
  const models = JSON.parse((await at.run('report', '--by', 'model', '--output', 'json')).stdout).reports[0].rows
  expect(models).toContainEqual(expect.objectContaining({ used: expect.any(Number), addOn: expect.any(Number), addOnSource: 'measured' }))
  outputs.push(report, at.read('ledger.db'))
  const rows: readonly { readonly key: string }[] = JSON.parse(report).reports[0].rows
  expect(rows.length).toBeGreaterThan(10)
  for (const { key } of rows) for (const output of outputs) expect(output).not.toContain(apiKeyOf(key))
})

test('a workspace whose caps are refused for good is distinguished from a wrong key, in one condition, and use goes on', async () => {
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
})
