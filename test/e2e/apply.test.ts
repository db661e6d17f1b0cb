import { describe, expect, test } from 'vitest'
import { configText, policyText, service, type World, workspace, world, written } from './world.ts'

const POLICY = `team: {cap: 500}
groups:
  - {id: grp_platform, name: Platform, cap: 1500}
users:
  - {email: ada.lovelace@example.com, cap: 4000}`

describe('apply', () => {
  test('without a terminal and without --yes exits 64, and asks the service nothing', async () => {
    const at = await world({ policy: POLICY })
    const ran = await at.run('apply')
    expect(ran).toMatchObject({ code: 64, stdout: '', stderr: expect.stringContaining('give --yes to apply without asking') })
    expect(at.service.calls.count()).toBe(0)
  })

  test('with --yes writes descendants first, reads each back, and writes nothing the second time', async () => {
    const at = await world({ policy: POLICY })
    const first = await at.run('apply', '--yes')
    expect(first).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('Applied: 3 set.') })
    expect(written(at.service)).toEqual(['ada.lovelace@example.com', 'group:grp_platform', 'team'])
    expect(['team', 'group:grp_platform', 'ada.lovelace@example.com'].map(at.service.capOf)).toEqual([500, 1500, 4000])
    at.service.calls.clear()
    const second = await at.run('apply', '--yes')
    expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes. 3 scopes are in sync.') })
    expect(written(at.service)).toEqual([])
    expect(at.service.calls.count('GetUsageConfig')).toBe(3)
  })

  test('gives JSON with the result of each change', async () => {
    const at = await world({ policy: POLICY })
    const { code, stdout } = await at.run('apply', '--yes', '--output', 'json')
    expect(code).toBe(0)
    const plan = JSON.parse(stdout)
    expect(plan).toMatchObject({ kind: 'Plan', workspace: 'acme', counts: { set: 3 } })
    expect(plan.changes.map((change: { result: string }) => change.result)).toEqual(['applied', 'applied', 'applied'])
  })

  test('says applied of a change that an ancestor’s write has made unnecessary where caps are copied', async () => {
    const copies = { capSemantics: 'copied' }
    const at = await world({ policy: POLICY, settings: copies, sandbox: { capSemantics: 'fan-out' } })
    const { code, stdout } = await at.run('apply', '--yes', '--output', 'json')
    const { changes } = JSON.parse(stdout)
    expect(code).toBe(0)
    expect(changes.length).toBeGreaterThan(written(at.service).length)
    expect(changes.filter((change: { result?: string }) => change.result !== 'applied')).toEqual([])
  })

  test('exits 3 when a guard holds something, writes the rest, and --approve releases exactly that', async () => {
    const at = await world({ policy: `${POLICY}\nprotected: [ada.lovelace@example.com]` })
    at.service.setCap('ada.lovelace@example.com', 9000)
    const held = await at.run('apply', '--yes', '--output', 'json')
    expect(held.code).toBe(3)
    expect(written(at.service)).toEqual(['group:grp_platform', 'team'])
    const [hold] = JSON.parse(held.stdout).holds
    expect((await at.run('apply', '--yes', '--approve', 'aaaaaaaaaaaa')).code).toBe(3)
    expect(at.service.capOf('ada.lovelace@example.com')).toBe(9000)
    const released = await at.run('apply', '--yes', '--approve', hold.id, '--output', 'json')
    expect({ code: released.code, ...JSON.parse(released.stdout) }).toMatchObject({
      code: 0,
      changes: [{ effect: 'lower', result: 'applied', released: { id: hold.id } }],
      approvals: [{ id: hold.id, by: 'command', state: 'spent', releases: [{ from: 9000, to: 4000 }] }],
    })
    expect(at.service.capOf('ada.lovelace@example.com')).toBe(4000)
    at.service.setCap('ada.lovelace@example.com', 9000)
    // Spent: the same change, made necessary again, is held again.
    const again = await at.run('apply', '--yes', '--output', 'json')
    expect({ code: again.code, holds: JSON.parse(again.stdout).holds }).toMatchObject({ code: 3, holds: [{ id: hold.id }] })
    expect(at.service.capOf('ada.lovelace@example.com')).toBe(9000)
  })

  test('exits 4 when something was written and something failed', async () => {
    const at = await world({
      policy: 'team: {cap: 500}\nusers:\n  - {email: ada.lovelace@example.com, cap: 0, allowZero: true}',
      sandbox: { zeroCap: 'rejected' },
    })
    const ran = await at.run('apply', '--yes')
    expect(ran).toMatchObject({ code: 4, stdout: expect.stringContaining('Applied: 1 set, 1 failed.') })
    expect(ran.stderr).toMatch(/^acme: ada.lovelace@example.com: UsageConfig: the request was refused/)
    expect(at.service.capOf('team')).toBe(500)
  })

  test.each([
    [
      'a person in groups with different caps',
      ['{id: grp_platform, name: Platform, cap: 1500}', '{id: grp_data, name: Data, cap: 300}'],
      /GROUP_CONFLICT/,
    ],
    ['a group that the service does not know', ['{id: grp_typo, name: Platform, cap: 1500}'], /SCOPE_UNKNOWN/],
    [
      'a pool that cannot pay its min',
      ['{id: grp_platform, name: Platform}]\npools: [{name: p, members: {groups: [grp_platform]}, credits: 9, min: 9}'],
      /POOL_BOUNDS/,
    ],
  ])('exits 4 while %s is rejected, in every run, and does all else', async (_row, groups, why) => {
    const at = await world({ policy: `team: {cap: 500}\ngroups: [${groups.join(', ')}]` })
    expect(await at.run('validate')).toMatchObject({ code: 0 })
    for (const _run of [1, 2]) expect(await at.run('apply', '--yes')).toMatchObject({ code: 4, stdout: expect.stringMatching(why) })
    expect(at.service.capOf('team')).toBe(500)
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

  test('exits 4 when one workspace fails, and does the others', async () => {
    const at = await world({ policy: 'workspace: acme\nteam: {cap: 500}' })
    const config = JSON.parse(at.read('config.yaml'))
    const locked = { ...config.workspaces[0], name: 'locked', keys: { default: { file: 'wrong-key' } } }
    at.write('wrong-key', 'a-wrong-key')
    at.write('config.yaml', JSON.stringify({ ...config, workspaces: [locked, ...config.workspaces] }))
    at.write('policies/locked.yaml', policyText('workspace: locked\nteam: {cap: 700}', 'locked'))
    const ran = await at.run('apply', '--yes')
    expect(ran).toMatchObject({ code: 4, stderr: expect.stringMatching(/^locked: team: GetUsageConfig: .*the key was refused/m) })
    expect(at.service.capOf('team')).toBe(500)
  })

  test('writes nothing while the workspace is paused, and exits 1; a plan says so', async () => {
    const at = await world()
    expect(await at.run('pause', '--for', '1h', '--reason', 'billing migration')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('warning: nothing has used'),
    })
    const ran = await at.run('apply', '--yes')
    expect(ran).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^acme: nothing was written: paused until .* \(billing migration\)$/m),
    })
    expect(written(at.service)).toEqual([])
    const planned = await at.run('plan', '--detailed-exitcode')
    expect(planned).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^acme: paused until .*, nothing is written: billing migration$/m),
    })
  })

  test.each([
    ['a pause', 'enforce', 'paused until .*billing migration'],
    ['mode: audit', 'audit', 'mode is audit'],
    ['mode: paused', 'paused', 'mode is paused'],
  ])('is kept back by %s, and so does every change of a plan and of explain say', async (_row, mode, why) => {
    const at = await world({ settings: { mode } })
    if (mode === 'enforce') await at.run('pause', '--for', '1h', '--reason', 'billing migration')
    const [text, markdown, json, explained, explainedJson] = await Promise.all([
      at.run('plan', '--detailed-exitcode'),
      at.run('plan', '--output', 'markdown'),
      at.run('plan', '--output', 'json', '--out', 'plan.json'),
      at.run('explain', 'team'),
      at.run('explain', 'team', '--output', 'json'),
    ])
    const said = expect.stringMatching(new RegExp(`not written: ${why}`))
    expect(text).toMatchObject({ code: 2, stdout: said })
    expect([markdown.stdout, explained.stdout]).toEqual([said, said])
    const excluded = { code: mode === 'enforce' ? 'pause' : 'mode', why: expect.stringMatching(new RegExp(why)) }
    expect(JSON.parse(json.stdout).changes).toMatchObject([{ scope: { kind: 'team' }, excluded }])
    expect(JSON.parse(explainedJson.stdout).change.disposition).toEqual({ kind: 'excluded', code: excluded.code, reason: excluded.why })
    // What was saved meanwhile is applied when it is over.
    await at.run('resume')
    at.write('config.yaml', at.read('config.yaml').replace(/"mode":\s*"\w+"/, '"mode": "enforce"'))
    expect(await at.run('apply', '--plan', 'plan.json', '--yes')).toMatchObject({ code: 0 })
    expect(at.service.capOf('team')).toBe(500)
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

  test.each<readonly [string, (at: World) => unknown, (plan: Record<string, unknown>) => unknown, RegExp]>([
    [
      'one scope has another cap than the plan saw',
      (at) => at.service.setCap('ada.lovelace@example.com', 7),
      (plan) => plan,
      /refused, and nothing was written: ada\.lovelace@example\.com was to go from none to 4000, and now it is 7/,
    ],
    [
      'one scope is already as planned',
      (at) => at.service.setCap('team', 500),
      (plan) => plan,
      /team was to go from none to 500, and that is not so any more/,
    ],
    [
      'the policies say something else',
      (at) => at.policy(policyText(POLICY.replace('1500', '1600'))),
      (plan) => plan,
      /it was made for policies [0-9a-f]{12}, and these are [0-9a-f]{12}/,
    ],
    ['it is older than 24 hours', () => undefined, old(24.1), /it is 24 h old, the limit is 24 h/],
    ['it is for another workspace', () => undefined, (plan) => ({ ...plan, workspace: 'beta' }), /is a plan for beta, and this is acme/],
  ])('is refused whole when %s', async (_row, meanwhile, edit, message) => {
    const at = await world({ policy: POLICY })
    const file = await saved(at, edit)
    meanwhile(at)
    const ran = await at.run('apply', '--plan', file, '--yes')
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringMatching(message) })
    expect(written(at.service)).toEqual([])
  })

  test('is refused as a whole when one of several workspaces has changed, and writes all of them otherwise', async () => {
    const at = await world({ policy: 'workspace: acme\nteam: {cap: 500}' })
    const beta = await service()
    at.write('policies/beta.yaml', policyText('workspace: beta\nteam: {cap: 700}', 'beta'))
    at.write('config.yaml', configText([workspace('acme', at.service.url), workspace('beta', beta.url)]))
    const file = await saved(at)
    beta.setCap('team', 7)
    const refused = await at.run('apply', '--plan', file, '--yes')
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/beta: the saved plan .* nothing was written: team was to go from none to 700/),
    })
    expect([...written(at.service), ...written(beta)]).toEqual([])
    beta.setCap('team', undefined)
    expect((await at.run('apply', '--plan', file, '--yes')).code).toBe(0)
    expect([at.service.capOf('team'), beta.capOf('team')]).toEqual([500, 700])
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

  test.each([
    ['is no JSON', 'not a plan', /plan\.json is not a saved plan: it is not JSON/],
    ['lacks a field', '{"kind":"Plan"}', /plan\.json is not a saved plan: apiVersion must be one of capkeeper\/v1, and is missing/],
  ])('exits 65 when the file %s', async (_row, text, message) => {
    const at = await world()
    const ran = await at.run('apply', '--yes', '--plan', at.write('plan.json', text))
    expect(ran).toMatchObject({ code: 65, stdout: '', stderr: expect.stringMatching(message) })
  })
})

describe('a ledger', () => {
  test('is bound to its service: the same name at another address is refused until --rebind', async () => {
    const at = await world()
    expect((await at.run('apply', '--yes')).code).toBe(0)
    const other = await service()
    at.write('config.yaml', at.read('config.yaml').replace(at.service.url, other.url))
    for (const argv of [['plan'], ['apply', '--yes'], ['run', '--once']]) {
      const ran = await at.run(...argv)
      expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('--rebind') })
    }
    expect(other.capOf('team')).toBeUndefined()
    expect((await at.run('apply', '--yes', '--rebind')).code).toBe(0)
    expect(other.capOf('team')).toBe(500)
  })

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
