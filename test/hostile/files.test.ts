// Files from outside that never answer: the daemon goes on beside each of them, and ends when it is told to.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { daemon, daemonFiles, endAll, pause, service } from './world.ts'

afterAll(endAll)

const hasMkfifo = spawnSync('mkfifo', ['--version']).status === 0
const SEEN_MS = 1_500

const KINDS: Readonly<Record<string, (path: string) => unknown>> = {
  'a pipe': (path) => execFileSync('mkfifo', [path]),
  'a terminal': (path) => symlinkSync('/dev/ptmx', path),
  'an endless device': (path) => symlinkSync('/dev/zero', path),
  'a folder': (path) => mkdirSync(path),
  'a link to itself': (path) => symlinkSync(path, path),
  'a link to nothing': (path) => symlinkSync(`${path}.gone`, path),
}

const FILES = ['token', 'ledger-token', 'key', 'config.yaml', 'policies/acme.yaml']

test.skipIf(!hasMkfifo).each(Object.entries(KINDS))(
  '%s in place of any file hangs nothing (needs mkfifo)',
  async (_, make) => {
    const good = await service()
    const config = { auth: { token: { file: 'token' } }, ledgerToken: { file: 'ledger-token' } }
    const settings = { workspaces: { acme: good.url }, config }
    const at = daemonFiles(settings)
    at.write('token', 'token-of-the-pages\n')
    at.write('ledger-token', 'token-of-the-ledger\n')
    const running = await daemon({ ...settings, at })
    for (const file of FILES) {
      const path = join(at.path, file)
      rmSync(path)
      make(path)
      await pause(SEEN_MS)
      const headers = { authorization: 'Bearer token-of-the-pages' }
      // The token that was good still counts.
      expect((await running.get('/status', headers)).status, file).toBe(200)
      await running.get('/ledger', headers)
      expect((await running.get('/livez')).status, file).toBe(200)
    }
    const asked = good.asked.get('GetUsageConfig')
    await pause(2 * SEEN_MS)
    expect(good.asked.get('GetUsageConfig')).toBeGreaterThan(asked ?? 0)
    running.child.kill('SIGTERM')
    expect(await running.over).toBe(0)
  },
  60_000,
)
