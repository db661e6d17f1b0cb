import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type DaemonProcess, startDaemon, until } from '../support/process.ts'
import { configText, type Place, place, policyText, type Settings, service, workspace, world, written } from './world.ts'

const VALID = 'capkeeper_policy_valid'
const ADA = 'ada.lovelace@example.com'
/** So seldom that only a change of the files can be the reason; that events tell of it, not the slow poll, is what test/policy/watch.test.ts shows. */
const SELDOM: Settings = { interval: '1h', usageInterval: '1h' }

/** Replaces a link in one step, as Kubernetes and git-sync do. */
function swap(at: Place, link: string, target: string): void {
  symlinkSync(target, at.path(`${link}.new`))
  renameSync(at.path(`${link}.new`), at.path(link))
}

describe('policy files that change', () => {
  test('and break leave the last good set in force, prune nothing, also over a restart, and are followed again once whole', async () => {
    const at = await world({ settings: { usageInterval: '1h' } })
    at.write('policies/ada.yaml', policyText(`users:\n  - {email: ${ADA}, cap: 4000}`, 'ada'))
    const asked = async (daemon: DaemonProcess, valid: number) => {
      await daemon.shows(VALID, valid, { workspace: 'acme' })
      // Two more cycles with what is in force.
      const reads = at.service.calls.count('GetUsageConfig')
      await until('two cycles', () => at.service.calls.count('GetUsageConfig') >= reads + 4)
    }
    const first = await at.daemon()
    await until('the first caps', () => at.service.capOf(ADA) === 4000 && at.service.capOf('team') === 500)
    await asked(first, 1)

    // The team's cap has changed and Ada's file is gone, but the set is not whole: neither happens.
    at.policy(policyText('team: {cap: 550}\nusers: ['))
    rmSync(at.path('policies/ada.yaml'))
    await asked(first, 0)
    expect([at.service.capOf('team'), at.service.capOf(ADA)]).toEqual([500, 4000])
    expect(first.log()).toContainEqual(
      expect.objectContaining({ level: 'error', msg: 'policy is invalid, the last good one stays in force' }),
    )
    expect(JSON.parse((await first.get('/status')).text).workspaces[0]).toMatchObject({
      policy: { valid: false },
      problems: [{ at: { file: 'policies/acme.yaml', line: expect.any(Number), column: expect.any(Number) } }],
    })
    at.service.setCap('team', 9)
    await until('the healing under the last good set', () => at.service.capOf('team') === 500)
    first.signal('SIGTERM')
    expect(await first.ended).toMatchObject({ code: 0 })

    at.service.setCap(ADA, 9)
    const second = await at.daemon()
    await until('the healing after the restart', () => at.service.capOf(ADA) === 4000)
    await asked(second, 0)
    expect((await second.get('/readyz')).status).toBe(200)

    at.policy(policyText('team: {cap: 550}'))
    await until('the new set', () => at.service.capOf('team') === 550 && at.service.capOf(ADA) === undefined)
    await second.shows(VALID, 1, { workspace: 'acme' })
  })

  test('are followed through the swap of a worktree that git-sync makes, and the commit is shown', async () => {
    const at = place()
    const fixture = await service()
    at.write('key', 'sandbox-admin')
    const git = (...argv: readonly string[]): string =>
      execFileSync('git', ['-C', at.path('repository'), '-c', 'user.name=a', '-c', 'user.email=a@example.com', ...argv], {
        encoding: 'utf8',
      }).trim()
    mkdirSync(at.path('repository'))
    git('init', '-q')
    const commit = (cap: number): string => {
      at.write('repository/policies/acme.yaml', policyText(`team: {cap: ${cap}}`))
      git('add', '.')
      git('commit', '-q', '-m', `a cap of ${cap}`)
      const id = git('rev-parse', 'HEAD')
      git('worktree', 'add', '-q', at.path(`worktrees/${id}`), id)
      return id
    }
    const before = commit(500)
    symlinkSync(`worktrees/${before}`, at.path('current'))
    const config = at.write('config.yaml', configText([workspace('acme', fixture.url, { ...SELDOM, policies: ['current/policies'] })]))
    const daemon = await startDaemon(['--config', config], { cwd: at.folder })
    await until('the first cap', () => fixture.capOf('team') === 500)
    const after = commit(600)
    swap(at, 'current', `worktrees/${after}`)
    await until('the cap of the new commit', () => fixture.capOf('team') === 600)
    const info = async () => (await daemon.metrics()).series('capkeeper_policy_info').map(({ labels }) => labels['revision'])
    await until('the commit in the metrics', async () => (await info()).join() === after)
    const revisions = (): string =>
      daemon
        .log()
        .flatMap(({ msg, revision }) => (msg === 'cap written' ? [revision] : []))
        .join()
    await until('both commits in the log', () => revisions() === `${before},${after}`)
  })
})

test('a key that is rotated by the swap of a link is taken up without a restart', async () => {
  const at = await world()
  const { store } = at.service.sandbox
  const secret = { permissions: store.key('sandbox-admin')?.permissions ?? [] }
  for (const name of ['key-of-yesterday', 'key-of-today']) store.saveKey({ secret: name, ...secret })
  at.write('..1/key', 'key-of-yesterday\n')
  at.write('..2/key', 'key-of-today\n')
  rmSync(at.path('key'))
  symlinkSync('..1', at.path('..data'))
  symlinkSync('..data/key', at.path('key'))
  const daemon = await at.daemon()
  await until('the first cap', () => at.service.capOf('team') === 500)
  store.saveKey({ secret: 'key-of-yesterday', permissions: [] })
  const AUTH = { workspace: 'acme', operation: 'GetUsageConfig', outcome: 'auth' }
  await until('the refusal', async () => ((await daemon.metric('capkeeper_api_requests_total', AUTH)) ?? 0) > 0)
  at.service.setCap('team', 9)
  swap(at, '..data', '..2')
  await until('the healing with the new key', () => at.service.capOf('team') === 500)
  expect(written(at.service)).toEqual(['team', 'team'])
})

test('a configuration that changes takes up how people are shown, and which people have series, without a restart; one that is not valid is refused', async () => {
  const at = await world({ settings: SELDOM })
  const config = (more: Settings) => at.write('config.yaml', configText([workspace('acme', at.service.url, SELDOM)], more))
  config({ metrics: { perUser: 'all', userLabel: 'email' } })
  const daemon = await at.daemon()
  const users = async () => (await daemon.metrics()).series('capkeeper_user_credits_used').map(({ labels }) => labels['user'] ?? '')
  await until('people by e-mail', async () => (await users()).some((user) => user.includes('@')))
  config({ people: 'hash', metrics: { perUser: 'all' } })
  await until('people as hashes', async () => (await users()).every((user) => /^[0-9a-f]{12}$/.test(user)))
  expect(JSON.parse((await daemon.get('/status')).text)).toMatchObject({ peopleShown: 'hash' })
  config({ ledger: 'other.db' })
  await until('no series', async () => (await users()).length === 0)
  const waiting = () => daemon.log().flatMap(({ settings }) => (settings === undefined ? [] : [settings]))
  expect(waiting()).toEqual([['ledger']])
  // Back to what the process began with: nothing waits for a start.
  config({ metrics: { perUser: 'all' } })
  await until('series', async () => (await users()).length > 0)
  expect(waiting()).toEqual([['ledger']])

  const unusable = workspace('acme', at.service.url, { ...SELDOM, caFile: 'ca.pem' })
  at.write('config.yaml', configText([unusable], { metrics: { perUser: 'all' } }))
  await daemon.shows('capkeeper_config_valid', 0, {})
  expect(daemon.log().filter(({ msg }) => msg === 'configuration is invalid, the last good one stays in force')).toMatchObject([
    { level: 'error', problems: [expect.stringContaining('ca.pem does not exist')] },
  ])
  config({ metrics: { perUser: 'all' } })
  await daemon.shows('capkeeper_config_valid', 1, {})
})

test('a daemon that other machines reach shows hashes until it ends, also when its configuration says loopback meanwhile', async () => {
  const at = await world({ settings: SELDOM })
  const config = (more: Settings) => at.write('config.yaml', configText([workspace('acme', at.service.url, SELDOM)], more))
  config({ listen: '0.0.0.0:0' })
  const daemon = await startDaemon(['--config', 'config.yaml'], { cwd: at.folder, listen: [] })
  const people = async () => JSON.parse((await daemon.get('/status')).text).peopleShown
  expect(await people()).toBe('hash')
  config({ listen: '127.0.0.1:0', metrics: { perUser: 'all' } })
  await until('the new configuration', () => daemon.log().some(({ settings }) => settings !== undefined))
  expect(await people()).toBe('hash')
  config({ listen: '127.0.0.1:0', people: 'email' })
  await until('addresses, as it says now', async () => (await people()) === 'email')
})

test('a configuration that cannot come into force leaves the policies of the last good one followed', async () => {
  const at = await world({ settings: SELDOM })
  const config = (url: string, folder: string) =>
    at.write('config.yaml', configText([workspace('acme', url, { ...SELDOM, policies: [folder] })]))
  at.write('other/acme.yaml', policyText('team: {cap: 700}'))
  const daemon = await at.daemon(['--rebind'])
  await until('the first cap', () => at.service.capOf('team') === 500)
  // The ledger is bound to the first address until the next start.
  config('http://127.0.0.1:9', 'other')
  await daemon.shows('capkeeper_config_valid', 0, {})
  at.policy(policyText('team: {cap: 600}'))
  await until('the edit', () => at.service.capOf('team') === 600)
  expect(daemon.log().flatMap(({ msg, address }) => (msg === 'asking the service' ? [address] : []))).toEqual([at.service.url])
  config(at.service.url, 'other')
  await until('the other folder', () => at.service.capOf('team') === 700)
  at.write('other/acme.yaml', policyText('team: {cap: 800}'))
  await until('an edit in it', () => at.service.capOf('team') === 800)
})

test('a configuration whose file of a key is not there yet comes into force when the file comes, and no edit of policies is lost meanwhile', async () => {
  const at = await world({ settings: SELDOM })
  const daemon = await at.daemon()
  await until('the first cap', () => at.service.capOf('team') === 500)
  at.write(
    'config.yaml',
    configText([workspace('acme', at.service.url, { ...SELDOM, mode: 'audit', keys: { default: { file: 'later' } } })]),
  )
  await daemon.shows('capkeeper_config_valid', 0, {})
  // Read at once, with the configuration that is refused again, and before the watcher has seen the edit.
  for (const cap of [600, 610, 620]) {
    at.policy(policyText(`team: {cap: ${cap}}`))
    daemon.signal('SIGHUP')
    await until('the edit', () => at.service.capOf('team') === cap)
  }
  at.write('later', at.read('key'))
  await daemon.shows('capkeeper_config_valid', 1, {})
  expect(await daemon.metric('capkeeper_mode', { workspace: 'acme', mode: 'audit' })).toBe(1)
  expect(daemon.log().filter(({ level }) => level === 'error')).toHaveLength(1)
})
