import { describe, expect, test } from 'vitest'
import { configText, policyText, service, type World, workspace, world, written } from './world.ts'

const POLICY = `team: {cap: 500}
groups:
  - {id: grp_platform, name: Platform, cap: 1500}
users:
  - {email: ada.lovelace@example.com, cap: 4000}`

describe('apply', () => {
  test('says applied of a change that an ancestor’s write has made unnecessary where caps are copied', async () => {
    const copies = { capSemantics: 'copied' }
    const at = await world({ policy: POLICY, settings: copies, sandbox: { capSemantics: 'fan-out' } })
    const { code, stdout } = await at.run('apply', '--yes', '--output', 'json')
    const { changes } = JSON.parse(stdout)
    expect(code).toBe(0)
    expect(changes.length).toBeGreaterThan(written(at.service).length)
    expect(changes.filter((change: { result?: string }) => change.result !== 'applied')).toEqual([])
  })

  test('exits 4 from the run on that ends the grant of a person in groups with different caps', async () => {
    const groups = 'groups: [{id: grp_platform, name: Platform, cap: 1500}, {id: grp_data, name: Data, cap: 300}]'
    const grants = 'grants: [{user: barbara.liskov@example.com, cap: 4000, until: 2099-01-01, reason: release}]'
    const at = await world({ policy: `${groups}\n${grants}` })
    const isTold = expect.stringMatching(/barbara.liskov@example.com is in groups with different caps/)
    expect(await at.run('apply', '--yes')).not.toMatchObject({ stdout: isTold })
    at.policy(policyText(groups))
    for (const _run of [1, 2]) expect(await at.run('apply', '--yes')).toMatchObject({ code: 4, stdout: isTold })
    expect(at.service.capOf('barbara.liskov@example.com')).toBeUndefined()
  })

  test.each([
    ['every change fails', 'sandbox-admin', 'users:\n  - {email: ada.lovelace@example.com, cap: 0, allowZero: true}', /UsageConfig/],
    ['every read fails', 'a-wrong-key', POLICY, /GetUsageConfig/],
  ])('exits 1 when %s', async (_row, key, policy, message) => {
    const at = await world({ policy, sandbox: { zeroCap: 'rejected' } })
    at.write('key', key)
    const ran = await at.run('apply', '--yes')
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringMatching(message) })
    expect(at.service.sandbox.store.caps()).toEqual([])
  })
})

/** Saves the plan of a world, changed as `edit` says. */
async function saved(at: World, edit: (plan: Record<string, unknown>) => unknown = (plan) => plan): Promise<string> {
  await at.run('plan', '--out', at.path('plan.json'))
  return at.write('plan.json', JSON.stringify(edit(JSON.parse(at.read('plan.json')))))
}

const old = (hours: number) => (plan: Record<string, unknown>) => ({
  ...plan,
  createdAt: new Date(Date.now() - hours * 3_600_000).toISOString(),
})

describe('apply --plan', () => {
  test('writes only the reviewed changes, also nearly 24 hours later', async () => {
    const at = await world({ policy: POLICY })
    at.service.setCap('group:grp_platform', 1500)
    const file = await saved(at, old(23.9))
    expect((await at.run('apply', '--plan', file)).code).toBe(64)
    const ran = await at.run('apply', '--plan', file, '--yes')
    expect(ran).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('Applied: 2 set.') })
    expect(written(at.service)).toEqual(['ada.lovelace@example.com', 'team'])
  })

  test('judges the guards again: a change that has become dangerous is not written', async () => {
    const at = await world({ policy: `${POLICY}\nprotected: [ada.lovelace@example.com]` })
    at.service.setCap('ada.lovelace@example.com', 5000)
    const file = await saved(at, (plan) => ({
      ...plan,
      holds: [],
      changes: (plan['changes'] as Record<string, unknown>[]).map(({ hold: _, ...change }) => change),
    }))
    const ran = await at.run('apply', '--plan', file, '--yes')
    expect(ran.code).toBe(3)
    expect(at.service.capOf('ada.lovelace@example.com')).toBe(5000)
    expect(at.service.capOf('team')).toBe(500)
  })
})

describe('a ledger', () => {
  test('that is bound elsewhere for one workspace does not stop the others', async () => {
    const at = await world()
    const rules = (cap: number) => `workspace: acme\nteam: {cap: ${cap}}\nrules: [{name: all, when: {email: "*"}, cap: ${cap + 1}}]`
    const write = async (cap: number): Promise<void> => {
      at.policy(policyText(rules(cap)))
      at.write('policies/moved.yaml', policyText(`workspace: moved\nteam: {cap: ${cap}}`, 'moved'))
      const all = [at.service, await service()].map(({ url }, index) =>
        workspace(index === 0 ? 'acme' : 'moved', url, { guards: { maxAffected: 'off' } }),
      )
      at.write('config.yaml', configText(all))
    }
    await write(500)
    expect((await at.run('apply', '--yes')).code).toBe(0)
    for (const [cap, ...argv] of [
      [510, 'apply', '--yes'],
      [520, 'run', '--once'],
    ] as const) {
      await write(cap)
      expect(await at.run(...argv)).toMatchObject({ code: 4, stderr: expect.stringContaining('--rebind') })
      expect(at.service.capOf('team')).toBe(cap)
    }
  })
})
