import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { inside } from '../support/inside.ts'
import { addressIn, capkeeper, type DaemonProcess, MAIN, startDaemon, until } from '../support/process.ts'
import { place, service } from './world.ts'

const ROOT = join(import.meta.dirname, '../..')
const PORTS = ['--sandbox-port', '0']
const sum = async (daemon: DaemonProcess, name: string, labels = {}): Promise<number> =>
  (await daemon.metrics()).series(name, labels).reduce((total, { value }) => total + value, 0)

describe('the quick start', () => {
  test('prints its addresses, sets caps, reverts foreign changes, shows growing use, and takes a free port where 9464 is taken', async () => {
    const at = place()
    // Somebody else's capkeeper may have it already on the machine that tests run on.
    const other = createServer().on('error', () => undefined)
    other.listen(9464, '127.0.0.1')
    onTestFinished(() => void other.close())
    const daemon = await startDaemon(['--sandbox', ...PORTS, '--policies', join(ROOT, 'policies')], { cwd: at.folder, listen: [] })
    const printed = daemon.stdout()
    expect(printed).toContain('127.0.0.1:9464 is in use, so the pages take a free port (--listen chooses one)\n')
    expect(daemon.url).not.toContain(':9464')
    expect(addressIn(printed, 'metrics')).toBe(`${daemon.url}metrics`)
    expect(addressIn(printed, 'sandbox')).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(printed).toContain('sandbox-admin')
    await until('caps to be set', async () => (await sum(daemon, 'capkeeper_changes_total', { effect: 'set', result: 'applied' })) >= 8)
    const use = (kind: string) => daemon.metric(`capkeeper_${kind}_credits_used`, { workspace: 'default' })
    const used = await until('use', () => use('addon'))
    const prompts = await until('use', () => use('prompt'))
    await until('use to grow', async () => ((await use('addon')) ?? 0) > used || ((await use('prompt')) ?? 0) > prompts)
    await until('a foreign change', async () => (await sum(daemon, 'capkeeper_external_changes_total')) > 0)
    await until('its healing', () => daemon.log().some(({ msg, cause }) => msg === 'cap written' && cause === 'external'))
    await until('nothing to drift', async () => (await sum(daemon, 'capkeeper_drift_scopes')) === 0)
    expect(JSON.parse((await daemon.get('/status')).text).workspaces[0]).toMatchObject({ policy: { valid: true }, holds: 0 })
    expect(existsSync(at.path('capkeeper.db'))).toBe(false)
    daemon.signal('SIGTERM')
    expect(await daemon.ended).toEqual({ code: 0, signal: null })
  })

  test('ends with 1 where the port of the service or of the pages is taken, and says which flag chooses another', async () => {
    const real = await service()
    const { port } = new URL(real.url)
    const ran = await inside(['run', '--sandbox', '--sandbox-port', port, '--policies', join(ROOT, 'policies'), '--once'])
    expect(ran).toMatchObject({ code: 1, stderr: `error: 127.0.0.1:${port} is in use; choose another port with --sandbox-port\n` })
    const pages = ['run', '--sandbox', ...PORTS, '--policies', join(ROOT, 'policies'), '--listen', `127.0.0.1:${port}`]
    expect(await inside(pages)).toMatchObject({ code: 1, stderr: expect.stringContaining(`cannot listen on 127.0.0.1:${port}`) })
  })

  // What npm runs; npm itself would only add its own second, and the sources one more than what is built of them.
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const script: string = scripts.start.replaceAll('src/main.ts', MAIN)
  const npmStart = (argv: readonly string[]): readonly [string, ...string[]] => ['sh', '-c', `${script} ${argv.join(' ')}`]
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter)

  test('by the line of npm start runs beside the sandbox, and never enforces the example policies on a real service', async () => {
    const beside = await capkeeper([], { command: npmStart([...PORTS, '--base-url', 'http://127.0.0.1:1']), env: { PATH } })
    expect(beside).toMatchObject({
      code: 64,
      stdout: '',
      stderr: expect.stringMatching(/^error: --base-url cannot be used with --sandbox/),
    })
    const real = await service()
    const env = { PATH, CAPKEEPER_BASE_URL: real.url, CAPKEEPER_SERVICE_KEY: 'sandbox-admin', CAPKEEPER_LEDGER: ':memory:' }
    const without = await capkeeper([], { command: npmStart(['--once']), env })
    expect(without).toMatchObject({ code: 65, stderr: expect.stringContaining('no policies are given') })
    expect(real.calls.count()).toBe(0)
  })

  test('by the line of npm start is the process that npm signals, so that nothing is left behind', async () => {
    const command = npmStart([...PORTS, '--listen', '127.0.0.1:0', '--ledger', ':memory:'])
    const daemon = await startDaemon([], { command, env: { PATH }, cwd: ROOT, listen: [] })
    daemon.signal('SIGTERM')
    expect(await daemon.ended).toEqual({ code: 0, signal: null })
  })

  test('by the line of npm run capkeeper works in the folder that it is typed in', async () => {
    const at = place()
    at.write('here.yaml', readFileSync(join(ROOT, 'policies/acme.yaml'), 'utf8'))
    const command = ['sh', '-c', `${scripts.capkeeper} validate here.yaml`] as const
    expect(await capkeeper([], { command, env: { PATH, INIT_CWD: at.folder }, cwd: ROOT })).toMatchObject({ code: 0, stderr: '' })
  })
})
