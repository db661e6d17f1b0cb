import { describe, expect, test } from 'vitest'
import { open } from '../support/ledger.ts'
import { freePort } from '../support/postgres.ts'
import { MAIN, start, until } from '../support/process.ts'
import { realClock } from '../support/real-clock.ts'
import { type Held, holding, service, type World, world, written } from './world.ts'

const ADA = 'ada.lovelace@example.com'
/** Whoever takes less has waited neither for an answer nor for the end of the time that a write in flight has. */
const WITHOUT_WAITING_MS = 6_000

test('a service that is down, at the start or later, leaves the daemon alive and ready, and is taken up when it answers', async () => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const sandbox = async () => {
    const running = start(['sandbox', '--port', String(port), '--people', '20', '--groups', '4', '--days', '0'])
    await until('the sandbox', () => running.stdout().includes(url))
    return running
  }
  const at = await world({ settings: { baseUrl: url } })
  const daemon = await at.daemon()
  await until('being ready', async () => (await daemon.get('/readyz')).status === 200)
  expect(await daemon.metric('capkeeper_last_success_timestamp_seconds', { workspace: 'acme' })).toBeUndefined()
  const first = await sandbox()
  daemon.signal('SIGHUP')
  await daemon.shows('capkeeper_scopes', 1, { workspace: 'acme', kind: 'team', state: 'in_sync' })
  first.signal('SIGKILL')
  await first.ended
  const NETWORK = { workspace: 'acme', operation: 'GetUsageConfig', outcome: 'network' }
  const before = (await daemon.metric('capkeeper_api_requests_total', NETWORK)) ?? 0
  await until('the refused connection', async () => ((await daemon.metric('capkeeper_api_requests_total', NETWORK)) ?? 0) > before)
  expect(await daemon.get('/livez')).toMatchObject({ status: 200 })
  expect(await daemon.get('/readyz')).toMatchObject({ status: 200 })
  expect(JSON.parse((await daemon.get('/status')).text).workspaces[0]).toMatchObject({
    lastSuccessAt: expect.any(String),
    people: 20,
    use: { readAt: expect.any(String) },
  })
  const last = await daemon.metric('capkeeper_last_success_timestamp_seconds', { workspace: 'acme' })
  expect(last).toBeGreaterThan(Date.now() / 1000 - 60)

  await sandbox()
  // The new one has forgotten its caps: the daemon puts them back.
  daemon.signal('SIGHUP')
  await daemon.shows('capkeeper_changes_total', 2, { workspace: 'acme', kind: 'team', effect: 'set', result: 'applied' })
})

/** A world whose service keeps its answers of one operation back. */
const heldWorld = (held: Held): Promise<World> => world({ policy: `users:\n  - {email: ${ADA}, cap: 4000}`, sandbox: { held } })

/** What is recorded of acme: caps that are ours, and intents that are open. */
async function recorded(at: World): Promise<{ readonly owned: number; readonly open: number }> {
  const store = await open(at.path('ledger.db'), 'read')
  const ledger = await store.workspace('acme', undefined)
  await store.close()
  return { owned: ledger.owned().length, open: ledger.openIntents().length }
}

/** The program, which sends itself a signal when it loads all that is behind its first file. */
function signalled(at: World, name: NodeJS.Signals): readonly [string, ...string[]] {
  const hook = at.write(
    'signalled.mjs',
    `import { registerHooks } from 'node:module'
     registerHooks({ load(url, context, next) {
       if (url.endsWith('/start.js')) process.kill(process.pid, '${name}')
       return next(url, context)
     } })`,
  )
  return [process.execPath, '--import', hook, MAIN]
}

describe('the end of a daemon', () => {
  test.each([
    ['the key file', { keys: { default: { file: 'lost' } } }],
    ['the CA file', { caFile: 'lost' }],
  ])('whose configuration names %s where there is none comes at once, with 65', async (what, settings) => {
    const at = await world({ settings })
    const ran = await at.run('run', '--listen', '127.0.0.1:0')
    expect(ran).toMatchObject({ code: 65, stderr: expect.stringMatching(new RegExp(`${what} .*lost.* does not exist`)) })
    expect(at.service.calls.log).toEqual([])
  })

  test('by SIGTERM while it loads is the end of any other moment', async () => {
    const at = await world()
    const running = start(['run', '--listen', '127.0.0.1:0', ...at.flags], { cwd: at.folder, command: signalled(at, 'SIGTERM') })
    expect(await running.ended).toEqual({ code: 0, signal: null })
    expect(running.stderr()).not.toContain('error')
    expect(written(at.service)).toEqual([])
  })

  test('does not come by SIGHUP while it starts', async () => {
    const at = await world()
    const argv = ['run', '--listen', '127.0.0.1:0', ...at.flags]
    const running = start(argv, { cwd: at.folder, command: signalled(at, 'SIGHUP') })
    await until('the write', () => at.service.capOf('team') === 500)
    running.signal('SIGTERM')
    expect(await running.ended).toEqual({ code: 0, signal: null })
  })

  test('by SIGTERM lets a slow write in flight finish, and the next start does not repeat it', async () => {
    const slow = holding('UsageConfig')
    const at = await heldWorld(slow)
    const daemon = await at.daemon()
    await until('the write', () => at.service.calls.count('UsageConfig') === 1)
    daemon.signal('SIGTERM')
    await until('the signal to be heard', () => daemon.stderr().includes('stopping'))
    // It is still there long after one that drops the write is gone.
    expect(await Promise.race([daemon.ended, realClock().sleep(1_000)])).toBeUndefined()
    const before = at.service.calls.count()
    slow.release()
    expect(await daemon.ended).toEqual({ code: 0, signal: null })
    expect(at.service.calls.count()).toBe(before)
    expect(at.service.capOf(ADA)).toBe(4000)
    const next = await at.run('apply', '--yes')
    expect(next).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes.') })
    expect(written(at.service)).toEqual([ADA])
    expect((await at.run('history')).stdout).toContain(ADA)
  })

  test('by SIGTERM drops a read in flight at once', async () => {
    const at = await heldWorld(holding('GetUsageConfig'))
    const daemon = await at.daemon()
    await until('a read', () => at.service.calls.count('GetUsageConfig') >= 1)
    const asked = performance.now()
    daemon.signal('SIGTERM')
    expect(await daemon.ended).toEqual({ code: 0, signal: null })
    expect(performance.now() - asked).toBeLessThan(WITHOUT_WAITING_MS)
    expect(written(at.service)).toEqual([])
  })

  test('by a second SIGTERM comes at once, and the write in doubt is settled by the next start', async () => {
    const at = await heldWorld(holding('UsageConfig'))
    const daemon = await at.daemon()
    await until('the write', () => at.service.calls.count('UsageConfig') === 1)
    daemon.signal('SIGTERM')
    await until('the first one to be heard', () => daemon.stderr().includes('stopping'))
    daemon.signal('SIGTERM')
    // Whoever waits for the write, or until its time is over, ends with 0.
    expect(await daemon.ended).toMatchObject({ code: 1 })
    expect(await recorded(at)).toEqual({ owned: 0, open: 1 })
    const next = await at.run('apply', '--yes')
    expect(next.code).toBe(0)
    expect(written(at.service)).toEqual([ADA])
    expect(await recorded(at)).toEqual({ owned: 1, open: 0 })
  })

  test('by kill -9 at any moment of a first convergence of 20 people leaves only one write in doubt', async () => {
    const PEOPLE = 20
    const fixture = await service({ people: PEOPLE + 20, latency: 2 })
    const emails = fixture.sandbox.store
      .people()
      .flatMap(({ email, status }) => (status === 'APPROVED' ? [email] : []))
      .slice(0, PEOPLE)
    const settings = { baseUrl: fixture.url, interval: '1h', rate: { start: 200, max: 1000, concurrency: 4 } }
    const at = await world({ policy: `users:\n${emails.map((email) => `  - {email: ${email}, cap: 4000}`).join('\n')}`, settings })
    const daemon = await at.daemon()
    await until('some writes', () => fixture.calls.count('UsageConfig') >= 7)
    daemon.signal('SIGKILL')
    expect(await daemon.ended).toMatchObject({ signal: 'SIGKILL' })
    const last = await at.daemon()
    await last.shows('capkeeper_scopes', PEOPLE, { workspace: 'acme', kind: 'user', state: 'in_sync' })
    expect(emails.map(fixture.capOf)).toEqual(emails.map(() => 4000))
    // What is in doubt has always landed here, because the service writes before it answers: reading settles it.
    expect([...written(fixture)].sort()).toEqual([...emails].sort())
    last.signal('SIGTERM')
    await last.ended
    const { entries } = JSON.parse((await at.run('history', '--limit', '1000', '--output', 'json')).stdout)
    expect(entries.filter(({ result }: { result: string }) => result === 'applied')).toHaveLength(PEOPLE)
    expect(await recorded(at)).toEqual({ owned: PEOPLE, open: 0 })
    const again = await at.run('plan', '--detailed-exitcode')
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining(`${PEOPLE} scopes are in sync`) })
  })
})

describe('the end of an apply', () => {
  test('by SIGTERM lets the slow write finish and be read back, says what was not tried, and exits 4', async () => {
    const slow = holding('UsageConfig')
    const at = await world({ policy: `team: {cap: 500}\nusers:\n  - {email: ${ADA}, cap: 4000}`, sandbox: { held: slow } })
    const apply = start(['apply', '--yes', ...at.flags])
    await until('the write', () => at.service.calls.count('UsageConfig') === 1)
    apply.signal('SIGTERM')
    // It says nothing of a signal that it has heard.
    await realClock().sleep(1_000)
    slow.release()
    expect(await apply.ended).toEqual({ code: 4, signal: null })
    expect(apply.stdout()).toContain('Applied: 1 set, 1 not tried.')
    expect(apply.stderr()).toBe('acme: stopped on the way; the rest was not tried\n')
    expect(written(at.service)).toEqual([ADA])
    expect(await recorded(at)).toEqual({ owned: 1, open: 0 })
  })

  test('while it reads comes at once, writes nothing and exits 1', async () => {
    const at = await world({ sandbox: { held: holding('GetUsageConfig') } })
    const apply = start(['apply', '--yes', ...at.flags])
    await until('a read', () => at.service.calls.count('GetUsageConfig') >= 1)
    const asked = performance.now()
    apply.signal('SIGINT')
    expect(await apply.ended).toEqual({ code: 1, signal: null })
    expect(performance.now() - asked).toBeLessThan(WITHOUT_WAITING_MS)
    expect({ stderr: apply.stderr(), writes: written(at.service) }).toEqual({ stderr: 'error: interrupted\n', writes: [] })
  })
})
