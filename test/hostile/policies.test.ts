// Policies and config that are made to stop the program, which runs with the heap of the image. A check ends with 65 and a position; the
// daemon keeps running, answers within a second, keeps the last known good policy, and loads the next good one.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configText, type Place, place, policyText, service, workspace, world } from '../e2e/world.ts'
import { capkeeper, MAIN, startDaemon, until } from '../support/process.ts'
import { realClock } from '../support/real-clock.ts'
import { IS_HEAVY, liveWithinMs } from './world.ts'

/** The flags of the image, and the program. */
const IMAGE = [process.execPath, '--max-old-space-size=64', '--max-semi-space-size=1', MAIN] as const
const MIB = 1024 * 1024
const SLOW = 120_000
const hasMkfifo = spawnSync('mkfifo', ['--version']).status === 0

const many = (piece: string, bytes: number): string => piece.repeat(Math.floor(bytes / piece.length))

/** A hostile file, and the beginning of the first message about it. */
const TEXTS: readonly (readonly [string, string, RegExp])[] = [
  ['100 KB of opened lists', many('[', 100_000), /^x\.yaml:1:6\d: error: nested too deep: at most 64 levels are read/],
  ['150 KB of empty mappings', many('{}', 150_000), /^x\.yaml:1:3: error: Unexpected flow-map-start/],
  ['64 KB of empty mappings', many('{}', 65_000), /^x\.yaml:1:3: error: Unexpected flow-map-start/],
  ['200 KB of nested lists', many('- ', 200_000), /^x\.yaml:1:13\d: error: nested too deep/],
  ['200 KB of one key', many('k1: 1\n', 200_000), /^x\.yaml:\d+:1: error: /],
  ['64 KB of one key', many('k1: 1\n', 65_000), /^x\.yaml:\d+:1: error: /],
  ['1 MiB of quotes', many('"', MIB), /^x\.yaml:1:\d: error: /],
  ['1 MiB of items', many('-\n', MIB), /^x\.yaml:1:1: error: /],
  ['8 MiB of opened lists', many('[', 8 * MIB), /^x\.yaml:1:1: error: x\.yaml has 8388608 bytes, at most 1048576 are read/],
  ['8 MiB of empty mappings', many('{}', 8 * MIB), /^x\.yaml:1:1: error: x\.yaml has 8388608 bytes, at most 1048576 are read/],
]

/** Files that take different ways through the daemon: read whole or in a thread, refused by size, by depth, or line by line. */
const WAYS = [
  '100 KB of opened lists',
  '150 KB of empty mappings',
  '64 KB of one key',
  '200 KB of one key',
  '1 MiB of items',
  '8 MiB of opened lists',
]
/** Files that take so long that each needs the program's 20 s for a folder. */
const ALONE = ['200 KB of one key', '1 MiB of items']
const TOGETHER = TEXTS.filter(([name]) => WAYS.includes(name) && !ALONE.includes(name))
/** Refused whole and in a thread. */
const LIVED_THROUGH = IS_HEAVY ? TEXTS : TEXTS.filter(([name]) => /^(64 KB of one key|1 MiB of items)$/.test(name))

/** As configs: `npm run hostile` tries all, `npm test` the slowest one; test/policy/hostile.test.ts has them inside the test. */
const CONFIGS: readonly (readonly [string, string, RegExp])[] = [
  ['of one key', many('k1: 1\n', 200_000), /^c\.yaml:\d+:1: error: /],
  ['of opened lists', many('[', 100_000), /^c\.yaml:1:6\d: error: nested too deep/],
  ['that is too long', many('#', 2 * MIB), /^c\.yaml:1:1: error: c\.yaml has more than the 1048576 bytes that are read/],
]

const TRIED_CONFIGS = IS_HEAVY ? CONFIGS : CONFIGS.slice(0, 1)

describe('a hostile text', () => {
  test.each(IS_HEAVY ? TEXTS : TEXTS.filter(([name]) => ALONE.includes(name)))(
    'is refused by validate with its place: %s',
    async (_name, text, said) => {
      const at = place()
      at.write('x.yaml', text)
      const { code, stderr } = await capkeeper(['validate', 'x.yaml'], { cwd: at.folder, command: IMAGE })
      expect(stderr).toMatch(said)
      expect(code).toBe(65)
    },
  )

  test(`is refused by validate with its position, ${TOGETHER.length} of them in one folder, and other files are reported too`, async () => {
    const at = place()
    at.write('p/a.yaml', policyText('team: {cap: 5x}', 'a'))
    const nameOf = (index: number): string => `p/b${index}.yaml`
    for (const [index, [, text]] of TOGETHER.entries()) at.write(nameOf(index), text)
    at.write('p/c.yaml', policyText('users: [{email: x, cap: 5}]', 'c'))
    const { code, stderr } = await capkeeper(['validate', 'p'], { cwd: at.folder, command: IMAGE })
    expect(stderr).toMatch(/^p\/a\.yaml:5:15: error: spec\.team\.cap is 5x/m)
    for (const [index, [name, , said]] of TOGETHER.entries()) {
      const [first = ''] = stderr.split('\n').filter((line) => line.startsWith(`${nameOf(index)}:`))
      expect(first.replaceAll(nameOf(index), 'x.yaml'), name).toMatch(said)
    }
    expect(stderr).toMatch(/^p\/c\.yaml:5:19: error: spec\.users\[0\]\.email is x/m)
    expect(code).toBe(65)
  })

  test.each(TRIED_CONFIGS)('is refused as a config: one %s', async (_name, text, said) => {
    const at = place()
    at.write('c.yaml', text)
    const { code, stderr } = await capkeeper(['validate', '--config', 'c.yaml'], { cwd: at.folder, command: IMAGE })
    expect(stderr).toMatch(said)
    expect(code).toBe(65)
  })
})

test('thousands of people in one file are accepted', async () => {
  const at = place()
  const users = Array.from({ length: 5_000 }, (_, index) => `  - {email: person.${index}@example.com, cap: ${index + 1}}`)
  at.write('x.yaml', policyText(`users:\n${users.join('\n')}`))
  expect(await capkeeper(['validate', 'x.yaml'], { cwd: at.folder, command: IMAGE })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('5000 caps'),
  })
})

/** Reverts show that the daemon works; they are never contested here. */
const PATIENT = { guards: { contested: 'off' } }

/** The limit for a page that must come at once. */
async function livezMs(url: string): Promise<number> {
  const clock = realClock()
  const before = clock.monotonic()
  expect((await fetch(`${url}livez`)).status).toBe(200)
  return clock.monotonic() - before
}

/** Replaces a file at once, as mounts and checkouts do. */
function put(at: Place, name: string, text: string): void {
  renameSync(at.write('new', text), at.path(name))
}

describe('the daemon', () => {
  test(
    'lives through each kind of such a policy, keeps the last good set, and takes up the next',
    async () => {
      const at = await world({ policy: 'team: {cap: 500}', settings: PATIENT })
      const daemon = await at.daemon([], { command: IMAGE })
      await until('the first cap', () => at.service.capOf('team') === 500, SLOW)
      let slowestMs = 0
      for (const [name, text] of LIVED_THROUGH) {
        put(at, 'policies/hostile.yaml', text)
        await daemon.shows('capkeeper_policy_valid', 0, { workspace: 'acme' }, SLOW)
        at.service.setCap('team', 9)
        await until(
          `healing beside ${name}`,
          async () => {
            slowestMs = Math.max(slowestMs, await livezMs(daemon.url))
            return at.service.capOf('team') === 500
          },
          SLOW,
        )
        put(at, 'policies/hostile.yaml', policyText('users: []', 'hostile'))
        await daemon.shows('capkeeper_policy_valid', 1, { workspace: 'acme' }, SLOW)
      }
      at.policy(policyText('team: {cap: 600}'))
      await until('the next policy', () => at.service.capOf('team') === 600, SLOW)
      expect(slowestMs).toBeLessThan(5 * liveWithinMs(slowestMs))
      daemon.signal('SIGTERM')
      expect(await daemon.ended).toEqual({ code: 0, signal: null })
    },
    10 * SLOW,
  )

  test(
    'lives through thousands of files without a document, and takes up the next policy beside them',
    async () => {
      const at = await world({ policy: 'team: {cap: 500}', settings: PATIENT })
      const daemon = await at.daemon([], { command: IMAGE })
      await until('the first cap', () => at.service.capOf('team') === 500, SLOW)
      for (let index = 0; index < (IS_HEAVY ? 9_000 : 2_000); index += 1) at.write(`new/${index}.yaml`, '')
      renameSync(at.path('new'), at.path('policies/many'))
      at.policy(policyText('team: {cap: 600}'))
      let slowestMs = 0
      await until(
        'the next policy',
        async () => {
          slowestMs = Math.max(slowestMs, await livezMs(daemon.url))
          return at.service.capOf('team') === 600
        },
        SLOW,
      )
      expect(slowestMs).toBeLessThan(liveWithinMs(slowestMs))
      daemon.signal('SIGTERM')
      expect(await daemon.ended).toEqual({ code: 0, signal: null })
    },
    3 * SLOW,
  )

  test(
    'lives through such a config, and keeps the last good one',
    async () => {
      const at = await world({ settings: PATIENT })
      const daemon = await at.daemon([], { command: IMAGE })
      await until('the first cap', () => at.service.capOf('team') === 500, SLOW)
      const good = at.read('config.yaml')
      for (const [, text] of TRIED_CONFIGS) {
        put(at, 'config.yaml', text)
        await daemon.shows('capkeeper_config_valid', 0, {}, SLOW)
        at.service.setCap('team', 9)
        await until('healing', () => at.service.capOf('team') === 500, SLOW)
        put(at, 'config.yaml', good)
        await daemon.shows('capkeeper_config_valid', 1, {}, SLOW)
      }
    },
    5 * SLOW,
  )

  test(
    'starts beside such a policy with the last good set of its ledger',
    async () => {
      const at = place()
      const one = await service()
      at.write('key', 'sandbox-admin')
      at.write('policies/a.yaml', policyText('workspace: acme\nteam: {cap: 500}'))
      const flags = ['--config', at.write('config.yaml', configText([workspace('acme', one.url)]))]
      const first = await capkeeper(['apply', '--yes', ...flags], { cwd: at.folder })
      expect(first.code).toBe(0)
      at.write('policies/b.yaml', many('- ', 200_000))
      one.setCap('team', 9)
      const daemon = await startDaemon(flags, { cwd: at.folder, command: IMAGE })
      await daemon.shows('capkeeper_policy_valid', 0, { workspace: 'acme' }, SLOW)
      expect((await daemon.get('/livez')).status).toBe(200)
    },
    2 * SLOW,
  )
})

describe('among policies', () => {
  const refused = async (at: Place): Promise<string> => {
    const { code, stderr } = await capkeeper(['validate', 'p'], { cwd: at.folder, command: IMAGE })
    expect(code).toBe(65)
    return stderr
  }

  test.skipIf(!hasMkfifo)('a pipe, a device and a link that leads out are refused by name (needs mkfifo)', async () => {
    const at = place()
    at.write('p/a.yaml', policyText('team: {cap: 5}'))
    at.write('secret.yaml', policyText('team: {cap: 6}', 'secret'))
    execFileSync('mkfifo', [at.path('p/pipe.yaml')])
    symlinkSync('/dev/zero', at.path('p/zero.yaml'))
    symlinkSync('../secret.yaml', at.path('p/out.yaml'))
    const told = await refused(at)
    expect(told).toMatch(/^p\/pipe\.yaml:1:1: error: p\/pipe\.yaml is not a regular file/m)
    expect(told).toMatch(/^p\/zero\.yaml:1:1: error: p\/zero\.yaml is a link that leaves the policy folder: it leads to \/dev\/zero/m)
    expect(told).toMatch(/^p\/out\.yaml:1:1: error: p\/out\.yaml is a link that leaves the policy folder/m)
  })

  test('the links of a mounted ConfigMap are read', async () => {
    const at = place()
    at.write('p/..2026_11_20/a.yaml', policyText('team: {cap: 5}'))
    mkdirSync(join(at.folder, 'p'), { recursive: true })
    symlinkSync('..2026_11_20', at.path('p/..data'))
    symlinkSync('..data/a.yaml', at.path('p/a.yaml'))
    expect(await capkeeper(['validate', 'p'], { cwd: at.folder, command: IMAGE })).toMatchObject({ code: 0 })
  })
})
