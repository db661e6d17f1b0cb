// The machine: file descriptors, signals, and a clock that jumps. After each of them caps are kept as before.
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { inside } from '../support/inside.ts'
import { until } from '../support/process.ts'
import { atEnd, CAP, type Daemon, daemon, daemonFiles, endAll, folder, heals, IS_HEAVY, pause, service } from './world.ts'

afterAll(endAll)

const HAS_SHELL_LIMIT = spawnSync('sh', ['-c', 'ulimit -n 64']).status === 0
const LIBRARY = ['/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1', '/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1'].find(
  existsSync,
)

test.skipIf(!HAS_SHELL_LIMIT)(
  'with 64 descriptors, clients of the pages, and 1,000 signals to read everything again, do not stop policies from being read, nor requests to the service',
  async () => {
    const at = folder()
    const good = await service()
    const workspaces = { acme: good.url }
    const one = await daemon({ workspaces, at, under: ['sh', '-c', 'ulimit -n 64 && exec "$0" "$@"'] })
    await heals(good)
    for (let signal = 0; signal < 1_000; signal += 1) {
      one.child.kill('SIGHUP')
      if (signal % 50 === 49) await pause(10)
    }
    const { hostname, port } = new URL(one.url)
    for (let client = 0; client < 200; client += 1) {
      const socket = connect(Number(port), hostname).on('error', () => undefined)
      atEnd(() => socket.destroy())
    }
    await pause(200)
    const policy = `apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: acme}\nspec: {workspace: acme, team: {cap: ${CAP + 1}}}\n`
    at.write('policies/acme.yaml', policy)
    await until('the new cap', () => good.cap === CAP + 1)
    const { text } = await one.get('/metrics')
    for (const valid of [/^capkeeper_policy_valid\{workspace="acme"\} 1$/m, /^capkeeper_config_valid 1$/m]) expect(text).toMatch(valid)
    expect(one.stderr()).not.toMatch(/policy is invalid|policies have errors|EMFILE/)
  },
)

const ALL = ['UserPageAnalytics', 'GetTeamCreditBalance', 'GetUsageConfig', 'UsageConfig', 'CascadeAnalytics'] as const
/** The first read and the write. */
const STEPS = IS_HEAVY ? ALL : (['UserPageAnalytics', 'UsageConfig'] as const)

test(`a signal to stop, at each of ${STEPS.length} steps, ends it in order, and the next start finishes`, async () => {
  const at = folder()
  const trap: { step: (typeof ALL)[number] | undefined; victim: Daemon | undefined } = { step: undefined, victim: undefined }
  const good = await service()
  const trapped = await service(
    Object.fromEntries(
      ALL.map((step) => [
        step,
        (body, response) => {
          if (trap.step === step) {
            trap.step = undefined
            trap.victim?.child.kill('SIGTERM')
          }
          void forward(good.url, step, body).then((text) => response.writeHead(200).end(text))
        },
      ]),
    ),
  )
  for (const step of STEPS) {
    good.cap = 9
    trap.step = undefined
    const one = await daemon({ workspaces: { acme: trapped.url }, at, settings: { interval: '200ms', usageInterval: '200ms' } })
    trap.victim = one
    trap.step = step
    expect(await one.over, step).toBe(0)
    expect(one.stderr()).toContain('"msg":"stopped"')
  }
  expect(await inside(['apply', '--yes', '--config', 'config.yaml'], { cwd: at.path })).toMatchObject({ code: 0 })
  expect(good.cap).toBe(CAP)
  expect(await inside(['ledger', 'check', '--ledger', join(at.path, 'ledger.db')])).toMatchObject({ code: 0 })
})

const forward = async (url: string, operation: string, body: unknown): Promise<string> =>
  (await fetch(`${url}/api/v1/${operation}`, { method: 'POST', body: JSON.stringify(body) })).text()

describe('a wall clock that jumps', () => {
  const jumps: readonly (readonly [string, string])[] = [
    ['a day ahead', '+1d'],
    ['a day back', '-1d'],
    ...(IS_HEAVY
      ? ([
          ['ten years ahead', '+3650d'],
          ['to 1999', '-9500d'],
        ] as const)
      : []),
  ]
  test.skipIf(LIBRARY === undefined)(`stops nothing: ${jumps.map(([what]) => what).join(', ')}`, async () => {
    const at = daemonFiles({ workspaces: {} })
    const file = join(at.path, 'time')
    const env = { LD_PRELOAD: LIBRARY ?? '', FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1' }
    writeFileSync(file, '+0')
    const good = await service()
    const one = await daemon({ workspaces: { acme: good.url }, at, env })
    await heals(good)
    const begun = Date.parse(String(one.log().at(-1)?.['time']))
    for (const [what, offset] of jumps) {
      writeFileSync(file, offset)
      await heals(good)
      expect(Math.abs(Date.parse(String(one.log().at(-1)?.['time'])) - begun), what).toBeGreaterThan(80_000_000)
      expect((await one.get('/livez')).status).toBe(200)
    }
  })
})
