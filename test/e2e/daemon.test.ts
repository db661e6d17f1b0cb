import { describe, expect, test } from 'vitest'
import { startDaemon, until } from '../support/process.ts'
import { configText, place, policyText, service, workspace, world, written } from './world.ts'

const CHANGES = 'capkeeper_changes_total'
const ADA = 'ada.lovelace@example.com'

describe('the daemon', () => {
  test('keeps two workspaces on two services, follows an edit at once, and reverts a foreign change', async () => {
    const at = place()
    const [one, two] = await Promise.all([service(), service({ capSpelling: 'snake', writeBody: 'empty', seed: 2 })])
    at.write('key', 'sandbox-admin')
    at.write('policies/one.yaml', policyText(`workspace: one\nteam: {cap: 500}\nusers:\n  - {email: ${ADA}, cap: 4000}`, 'one'))
    at.write('policies/two.yaml', policyText('workspace: two\nteam: {cap: 700}', 'two'))
    const slow = { interval: '1h', usageInterval: '1h' }
    const config = at.write('config.yaml', configText([workspace('one', one.url), workspace('two', two.url, slow)]))
    const daemon = await startDaemon(['--config', config], { cwd: at.folder })
    await until('both teams', () => one.capOf('team') === 500 && two.capOf('team') === 700)
    await daemon.shows('capkeeper_scopes', 1, { workspace: 'one', kind: 'user', state: 'in_sync' })

    one.setCap(ADA, 9)
    await until('the healing', () => one.capOf(ADA) === 4000)
    await daemon.shows('capkeeper_external_changes_total', 1, { workspace: 'one', kind: 'user' })

    at.write('policies/two.yaml', policyText('workspace: two\nteam: {cap: 750}', 'two'))
    await until('the edit, an hour before the next cycle', () => two.capOf('team') === 750)
    await daemon.shows(CHANGES, 1, { workspace: 'two', kind: 'team', effect: 'raise', result: 'applied' })
    expect(await daemon.metric(CHANGES, { workspace: 'one', kind: 'team', effect: 'raise', result: 'applied' })).toBe(0)
    expect(written(one)).toEqual([ADA, 'team', ADA])
    daemon.signal('SIGTERM')
    expect(await daemon.ended).toEqual({ code: 0, signal: null })
  })

  test('reads the config again when it changes or on SIGHUP, keeps the last good one when it breaks, and takes up a new workspace', async () => {
    const at = await world({ policy: 'workspace: acme\nteam: {cap: 500}', settings: { interval: '1h' } })
    const daemon = await at.daemon()
    await daemon.shows('capkeeper_scopes', 1, { workspace: 'acme', kind: 'team', state: 'in_sync' })
    const good = at.read('config.yaml')
    at.write('config.yaml', good.replace('"1h"', '"often"'))
    await daemon.shows('capkeeper_config_valid', 0)
    expect(daemon.log()).toContainEqual(
      expect.objectContaining({ level: 'error', msg: expect.stringContaining('the last good one stays in force') }),
    )
    expect((await daemon.get('/readyz')).status).toBe(200)

    const second = await service()
    at.write('policies/beta.yaml', policyText('workspace: beta\nteam: {cap: 900}', 'beta'))
    const config = JSON.parse(good)
    at.write(
      'config.yaml',
      JSON.stringify({ ...config, workspaces: [...config.workspaces, { ...config.workspaces[0], name: 'beta', baseUrl: second.url }] }),
    )
    await daemon.shows('capkeeper_config_valid', 1)
    await until('the new workspace', () => second.capOf('team') === 900)

    // An hour before the next cycle: only the signal can have asked for it.
    at.service.setCap('team', 7)
    daemon.signal('SIGHUP')
    await until('the healing', () => at.service.capOf('team') === 500)
    at.write('config.yaml', good)
    await until('the workspace to go', async () => (await daemon.metrics()).series('capkeeper_mode', { workspace: 'beta' }).length === 0)
    expect(second.capOf('team')).toBe(900)
  })
})

test('beside a running daemon, pause stops the writing at once and resume starts it, approve releases a hold, and history tells it', async () => {
  const at = await world({ policy: `team: {cap: 500}\nusers:\n  - {email: ${ADA}, cap: 4000}\nprotected: [${ADA}]` })
  const daemon = await at.daemon()
  // A pause between a write and its reading back leaves the value unverified, and then nobody else's write can be told from it.
  await daemon.shows('capkeeper_scopes', 1, { workspace: 'acme', kind: 'team', state: 'in_sync' })
  expect(await at.run('pause', '--for', '4h', '--reason', 'billing migration')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^acme: paused until \d{4}-.*: billing migration\n$/),
  })
  await until(
    'the pause to show',
    async () => (await daemon.metric('capkeeper_pause_until_timestamp_seconds', { workspace: 'acme' })) !== undefined,
  )
  at.service.setCap('team', 9)
  await daemon.shows('capkeeper_drift_scopes', 1, { workspace: 'acme', kind: 'team', cause: 'external' })
  expect(at.service.capOf('team')).toBe(9)
  expect((await at.run('status', '--url', daemon.url)).stdout).toMatch(/paused until .*: billing migration/)
  expect(await at.run('resume')).toMatchObject({ code: 0, stdout: 'acme: resumed; it was paused for: billing migration\n' })
  await until('the healing', () => at.service.capOf('team') === 500)

  at.service.setCap(ADA, 9000)
  await daemon.shows('capkeeper_holds', 1, { workspace: 'acme', guard: 'protected' })
  const { stdout } = await at.run('plan', '--output', 'json')
  const [hold] = JSON.parse(stdout).holds
  expect(await at.run('approve', hold.id)).toMatchObject({
    code: 0,
    stdout: `acme: hold ${hold.id} is approved (1 person)\n`,
    stderr: '',
  })
  daemon.signal('SIGHUP')
  await until('the released change', () => at.service.capOf(ADA) === 4000)
  await daemon.shows('capkeeper_approvals', 1, { workspace: 'acme', state: 'spent' })

  expect((await at.run('history', ADA)).stdout.replace(/ +/g, ' ')).toContain(`~ lower ${ADA} 9000 → 4000 external applied`)
})
