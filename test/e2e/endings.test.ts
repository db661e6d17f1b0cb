import { describe, expect, test } from 'vitest'
import type { Operation } from '../../src/ports.ts'
import { SOURCE, start, until } from '../support/process.ts'
import { realClock } from '../support/real-clock.ts'
import { service, type World, world, written } from './world.ts'

const ADA = 'ada.lovelace@example.com'

describe('a service that is down', () => {
  test('leaves the daemon alive and ready with its last state in view, and is taken up again when it answers', async () => {
    const sandbox = start(['sandbox', '--port', '0', '--people', '20', '--groups', '4', '--days', '0'])
    const url = await until('the sandbox', () => /^http\S+$/m.exec(sandbox.stdout())?.[0])
    const at = await world({ settings: { baseUrl: url } })
    const daemon = await at.daemon()
    await daemon.shows('capkeeper_scopes', 1, { workspace: 'acme', kind: 'team', state: 'in_sync' })
    sandbox.signal('SIGKILL')
    await sandbox.ended
    const NETWORK = { workspace: 'acme', operation: 'GetUsageConfig', outcome: 'network' }
    await until('the refused connection', async () => ((await daemon.metric('capkeeper_api_requests_total', NETWORK)) ?? 0) > 0)
    expect(await daemon.get('/livez')).toMatchObject({ status: 200 })
    expect(await daemon.get('/readyz')).toMatchObject({ status: 200 })
    expect(JSON.parse((await daemon.get('/status')).text).workspaces[0]).toMatchObject({
      lastSuccessAt: expect.any(String),
      use: { people: 20, readAt: expect.any(String) },
    })
    const last = await daemon.metric('capkeeper_last_success_timestamp_seconds', { workspace: 'acme' })
    expect(last).toBeGreaterThan(Date.now() / 1000 - 60)

    const port = new URL(url).port
    const back = start(['sandbox', '--port', port, '--people', '20', '--groups', '4', '--days', '0'])
    await until('the sandbox again', () => back.stdout().includes(url))
    // The new one has forgotten its caps: the daemon puts them back.
    daemon.signal('SIGHUP')
    await daemon.shows('capkeeper_changes_total', 2, { workspace: 'acme', kind: 'team', effect: 'set', result: 'applied' })
  })

  test('when the daemon starts does not keep it from starting', async () => {
    const at = await world({ settings: { baseUrl: 'http://127.0.0.1:9' } })
    const daemon = await at.daemon()
    await until('being ready', async () => (await daemon.get('/readyz')).status === 200, 20_000)
    // Waiting for the service keeps it neither busy nor deaf.
    for (let look = 0; look < 5; look += 1) {
      await realClock().sleep(200)
      expect((await daemon.get('/livez')).status).toBe(200)
    }
    expect(await daemon.metric('capkeeper_last_success_timestamp_seconds', { workspace: 'acme' })).toBeUndefined()
    daemon.signal('SIGTERM')
    expect(await daemon.ended).toEqual({ code: 0, signal: null })
  })
})

/** A world whose service takes its time, two seconds unless told, for each answer of one operation. */
const slowWorld = (slow: Operation, latency = 2_000): Promise<World> =>
  world({ policy: `users:\n  - {email: ${ADA}, cap: 4000}`, sandbox: { latency, slow } })

/** The program, which sends itself a signal when it loads a file. */
function signalled(at: World, file: string, name: NodeJS.Signals): readonly [string, ...string[]] {
  const hook = at.write(
    'signalled.mjs',
    `import { registerHooks } from 'node:module'
     registerHooks({ load(url, context, next) {
       if (url.endsWith('/src/${file}')) process.kill(process.pid, '${name}')
       return next(url, context)
     } })`,
  )
  return [process.execPath, '--import', hook, SOURCE]
}

describe('the end of a daemon', () => {
  test.each([
    ['the key file', { keys: { default: { file: 'lost' } } }],
    ['the CA file', { caFile: 'lost' }],
  ])('whose configuration names %s where there is none comes at once, with 65', async (what, settings) => {
    const at = await world({ settings })
    const ran = await at.run('run', '--listen', '127.0.0.1:0')
    expect(ran).toMatchObject({ code: 65, stderr: expect.stringMatching(new RegExp(`${what} .*lost.* cannot be read`)) })
    expect(at.service.calls.log).toEqual([])
  })

  // As the sources are loaded one by one, each is a moment of the start.
  test.each([
    { file: 'cli/process.ts', name: 'SIGTERM' },
    { file: 'cli/run/run.ts', name: 'SIGINT' },
    { file: 'daemon/ledger/sqlite/database.ts', name: 'SIGTERM' },
  ] as const)('by $name while it loads $file is the end of any other moment', async ({ file, name }) => {
    const at = await world()
    const running = start(['run', '--listen', '127.0.0.1:0', ...at.flags], { cwd: at.folder, command: signalled(at, file, name) })
    expect(await running.ended).toEqual({ code: 0, signal: null })
    expect(running.stderr()).not.toContain('error')
    expect(written(at.service)).toEqual([])
  })

  test('does not come by SIGHUP while it starts', async () => {
    const at = await world()
    const argv = ['run', '--listen', '127.0.0.1:0', ...at.flags]
    const running = start(argv, { cwd: at.folder, command: signalled(at, 'cli/process.ts', 'SIGHUP') })
    await until('the write', () => at.service.capOf('team') === 500)
    running.signal('SIGTERM')
    expect(await running.ended).toEqual({ code: 0, signal: null })
  })

  test('by SIGTERM comes within a second when nothing is under way', async () => {
    const at = await world({ settings: { interval: '1h', usageInterval: '1h' } })
    const daemon = await at.daemon()
    await daemon.shows('capkeeper_scopes', 1, { workspace: 'acme', kind: 'team', state: 'in_sync' })
    const asked = performance.now()
    daemon.signal('SIGTERM')
    expect(await daemon.ended).toEqual({ code: 0, signal: null })
    expect(performance.now() - asked).toBeLessThan(2_000)
    expect(daemon.log().at(-1)).toMatchObject({ msg: 'stopped' })
  })

  test('by SIGTERM lets the slow write that is under way finish, and the next start makes no second one', async () => {
    const at = await slowWorld('UsageConfig')
    const daemon = await at.daemon()
    await until('the write', () => at.service.calls.count('UsageConfig') === 1)
    const asked = performance.now()
    daemon.signal('SIGTERM')
    expect(await daemon.ended).toEqual({ code: 0, signal: null })
    expect(performance.now() - asked).toBeLessThan(4_000)
    expect(at.service.capOf(ADA)).toBe(4000)
    const next = await at.run('apply', '--yes')
    expect(next).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes.') })
    expect(written(at.service)).toEqual([ADA])
    expect((await at.run('history')).stdout).toContain(ADA)
  })

  test('by SIGTERM drops a read that is under way at once', async () => {
    const at = await slowWorld('GetUsageConfig', 8_000)
    const daemon = await at.daemon()
    await until('a read', () => at.service.calls.count('GetUsageConfig') >= 1)
    const asked = performance.now()
    daemon.signal('SIGTERM')
    expect(await daemon.ended).toEqual({ code: 0, signal: null })
    expect(performance.now() - asked).toBeLessThan(1_500)
    expect(written(at.service)).toEqual([])
  })

  test('by a second SIGTERM comes at once, and the write in doubt is settled by the next start', async () => {
    const at = await slowWorld('UsageConfig')
    const daemon = await at.daemon()
    await until('the write', () => at.service.calls.count('UsageConfig') === 1)
    daemon.signal('SIGTERM')
    await until('the first one to be heard', () => daemon.stderr().includes('stopping'))
    const asked = performance.now()
    daemon.signal('SIGTERM')
    expect(await daemon.ended).toMatchObject({ code: 1 })
    // The write takes two.
    expect(performance.now() - asked).toBeLessThan(1_500)
    const { stdout } = await at.run('ledger', 'check')
    expect(stdout.replace(/ +/g, ' ')).toContain(`acme ${at.service.url} 0 1 0 0 0`)
    const next = await at.run('apply', '--yes')
    expect(next.code).toBe(0)
    expect(written(at.service)).toEqual([ADA])
    expect((await at.run('ledger', 'check')).stdout.replace(/ +/g, ' ')).toContain(`acme ${at.service.url} 1 0 1 0 0`)
  })

  test('by kill -9 at any moment of a first convergence of 100 people costs no write but the one in doubt', {
    timeout: 90_000,
  }, async () => {
    const PEOPLE = 100
    const fixture = await service({ people: PEOPLE + 20, latency: 2 })
    const emails = fixture.sandbox.store
      .people()
      .flatMap(({ email, status }) => (status === 'APPROVED' ? [email] : []))
      .slice(0, PEOPLE)
    const settings = { baseUrl: fixture.url, interval: '1h', rate: { start: 200, max: 1000, concurrency: 4 } }
    const at = await world({ policy: `users:\n${emails.map((email) => `  - {email: ${email}, cap: 4000}`).join('\n')}`, settings })
    for (const writes of [3, 40, 80]) {
      const daemon = await at.daemon()
      await until(`${writes} writes`, () => fixture.calls.count('UsageConfig') >= writes)
      daemon.signal('SIGKILL')
      expect(await daemon.ended).toMatchObject({ signal: 'SIGKILL' })
    }
    const last = await at.daemon()
    await last.shows('capkeeper_scopes', PEOPLE, { workspace: 'acme', kind: 'user', state: 'in_sync' })
    expect(emails.map(fixture.capOf)).toEqual(emails.map(() => 4000))
    // What is in doubt has always landed here, because the service writes before it answers: reading settles it.
    expect([...written(fixture)].sort()).toEqual([...emails].sort())
    last.signal('SIGTERM')
    await last.ended
    const { entries } = JSON.parse((await at.run('history', '--limit', '1000', '--output', 'json')).stdout)
    expect(entries.filter(({ result }: { result: string }) => result === 'applied')).toHaveLength(PEOPLE)
    expect((await at.run('ledger', 'check')).stdout.replace(/ +/g, ' ')).toContain(`acme ${fixture.url} ${PEOPLE} 0 `)
    const again = await at.run('plan', '--detailed-exitcode')
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining(`${PEOPLE} scopes are in sync`) })
  })
})

describe('the end of an apply', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    'by %s lets the slow write finish and be read back, says what was not tried, and exits 4',
    async (name) => {
      const at = await world({
        policy: `team: {cap: 500}\nusers:\n  - {email: ${ADA}, cap: 4000}`,
        sandbox: { latency: 1_000, slow: 'UsageConfig' },
      })
      const apply = start(['apply', '--yes', ...at.flags])
      await until('the write', () => at.service.calls.count('UsageConfig') === 1)
      apply.signal(name)
      expect(await apply.ended).toEqual({ code: 4, signal: null })
      expect(apply.stdout()).toContain('Applied: 1 set, 1 not tried.')
      expect(apply.stderr()).toBe('acme: stopped on the way; the rest was not tried\n')
      expect(written(at.service)).toEqual([ADA])
      expect((await at.run('ledger', 'check')).stdout.replace(/ +/g, ' ')).toContain(`acme ${at.service.url} 1 0 1 0 0`)
    },
  )

  test('while it reads comes at once, writes nothing and exits 1', async () => {
    const at = await world({ sandbox: { latency: 2_000, slow: 'GetUsageConfig' } })
    const apply = start(['apply', '--yes', ...at.flags])
    await until('a read', () => at.service.calls.count('GetUsageConfig') >= 1)
    const asked = performance.now()
    apply.signal('SIGINT')
    expect(await apply.ended).toEqual({ code: 1, signal: null })
    expect(performance.now() - asked).toBeLessThan(1_500)
    expect({ stderr: apply.stderr(), writes: written(at.service) }).toEqual({ stderr: 'error: interrupted\n', writes: [] })
  })
})
