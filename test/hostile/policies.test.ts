// Policies and config that are made to stop the program, which runs with the heap of the image. A check ends with 65 and a position; the
// daemon keeps running, answers within a second, keeps the last known good policy, and loads the next good one.
import { renameSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { configText, type Place, place, policyText, service, workspace, world } from '../e2e/world.ts'
import { inside } from '../support/inside.ts'
import { capkeeper, MAIN, startDaemon, until } from '../support/process.ts'
import { realClock } from '../support/real-clock.ts'
import { IS_HEAVY, liveWithinMs } from './world.ts'

/** The flags of the image, and the program. */
const IMAGE = [process.execPath, '--max-old-space-size=64', '--max-semi-space-size=1', MAIN] as const
const MIB = 1024 * 1024
const SLOW = 120_000

const many = (piece: string, bytes: number): string => piece.repeat(Math.floor(bytes / piece.length))

/** A hostile file, and the beginning of the first message about it. */
const TEXTS: readonly (readonly [string, string, RegExp])[] = [
  ['100 KB of opened lists', many('[', 100_000), /^x\.yaml:1:6\d: error: nested too deep: at most 64 levels are read/],
  ['150 KB of empty mappings', many('{}', 150_000), /^x\.yaml:1:3: error: Unexpected flow-map-start/],
  ['64 KB of empty mappings', many('{}', 65_000), /^x\.yaml:1:3: error: Unexpected flow-map-start/],
  ['200 KB of nested lists', many('- ', 200_000), /^x\.yaml:1:129: error: nested too deep/],
  ['200 KB of one key', many('k1: 1\n', 200_000), /^x\.yaml:\d+:1: error: /],
  ['64 KB of one key', many('k1: 1\n', 65_000), /^x\.yaml:\d+:1: error: /],
  ['1 MiB of quotes', many('"', MIB), /^x\.yaml:1:\d: error: /],
  ['1 MiB of items', many('-\n', MIB), /^x\.yaml:1:1: error: /],
  ['8 MiB of opened lists', many('[', 8 * MIB), /^x\.yaml:1:1: error: x\.yaml has 8388608 bytes, at most 1048576 are read/],
  ['8 MiB of empty mappings', many('{}', 8 * MIB), /^x\.yaml:1:1: error: x\.yaml has 8388608 bytes, at most 1048576 are read/],
]

/** Read whole or in a thread, refused by size, by depth, or line by line. */
const TOGETHER = TEXTS.filter(([name]) => /^(100 KB of opened lists|150 KB of empty|64 KB of one key|8 MiB of opened)/.test(name))
/** Refused whole, and in a thread. */
const LIVED_THROUGH = IS_HEAVY ? TEXTS : TEXTS.filter(([name]) => /^(64 KB of one key|1 MiB of items)$/.test(name))

/** As configs: `npm test` tries one; test/policy/hostile.test.ts has them inside the test. */
const CONFIGS: readonly (readonly [string, string, RegExp])[] = [
  ['of one key', many('k1: 1\n', 200_000), /^c\.yaml:\d+:1: error: /],
  ['of opened lists', many('[', 100_000), /^c\.yaml:1:6\d: error: nested too deep/],
  ['that is too long', many('#', 2 * MIB), /^c\.yaml:1:1: error: c\.yaml has more than the 1048576 bytes that are read/],
]

const TRIED_CONFIGS = IS_HEAVY ? CONFIGS : CONFIGS.slice(1, 2)

describe('a hostile text', () => {
  test.each(IS_HEAVY ? TEXTS : [])('is refused by validate with its place: %s', async (_name, text, said) => {
    const at = place()
    at.write('x.yaml', text)
    const { code, stderr } = await capkeeper(['validate', 'x.yaml'], { cwd: at.folder, command: IMAGE })
    expect(stderr).toMatch(said)
    expect(code).toBe(65)
  })

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
    'lives through each kind of such a policy and config, keeps the last good set, and takes up the next, also among thousands of files',
    async () => {
      const at = await world({ policy: 'team: {cap: 500}', settings: PATIENT })
      const daemon = await at.daemon([], { command: IMAGE })
      await until('the first cap', () => at.service.capOf('team') === 500, SLOW)
      let slowestMs = 0
      const capIs = async (cap: number, what: string): Promise<void> => {
        const isSo = async (): Promise<boolean> => {
          slowestMs = Math.max(slowestMs, await livezMs(daemon.url))
          return at.service.capOf('team') === cap
        }
        await until(what, isSo, SLOW)
      }
      const good = at.read('config.yaml')
      for (const [file, valid, labels, texts, after] of [
        ['policies/hostile.yaml', 'capkeeper_policy_valid', { workspace: 'acme' }, LIVED_THROUGH, policyText('users: []', 'hostile')],
        ['config.yaml', 'capkeeper_config_valid', {}, TRIED_CONFIGS, good],
      ] as const)
        for (const [name, text] of texts) {
          put(at, file, text)
          await daemon.shows(valid, 0, labels, SLOW)
          at.service.setCap('team', 9)
          await capIs(500, `healing beside ${name}`)
          put(at, file, after)
          await daemon.shows(valid, 1, labels, SLOW)
        }
      for (let index = 0; index < (IS_HEAVY ? 9_000 : 1_000); index += 1) at.write(`new/${index}.yaml`, '')
      renameSync(at.path('new'), at.path('policies/many'))
      at.policy(policyText('team: {cap: 600}'))
      await capIs(600, 'the next policy')
      expect(slowestMs).toBeLessThan(5 * liveWithinMs(slowestMs))
      daemon.signal('SIGTERM')
      expect(await daemon.ended).toEqual({ code: 0, signal: null })
    },
    10 * SLOW,
  )

  test(
    'starts beside such a policy with the last good set of its ledger',
    async () => {
      const at = place()
      const one = await service()
      at.write('key', 'sandbox-admin')
      at.write('policies/a.yaml', policyText('workspace: acme\nteam: {cap: 500}'))
      const flags = ['--config', at.write('config.yaml', configText([workspace('acme', one.url)]))]
      const first = await inside(['apply', '--yes', ...flags], { cwd: at.folder })
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
