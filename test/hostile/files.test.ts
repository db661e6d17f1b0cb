// Files from outside that cannot be read, or never answer: the daemon goes on beside all of them, with what it read last, and ends when it is told to.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { afterAll, expect, test } from 'vitest'
import { MAIN, until } from '../support/process.ts'
import { atEnd, daemon, daemonFiles, endAll, type Folder, liveWithinMs, pause, service, watchLife } from './world.ts'

afterAll(endAll)

/** Mounts a file system that never answers, until the program ends. */
const STALLED = 'exec 9<>/dev/fuse && mount -i -t fuse -o fd=9,rootmode=40000,user_id=0,group_id=0 none "$0" && exec "$@"'
const stalledAt = (path: string): readonly string[] => ['unshare', '-rm', 'sh', '-c', STALLED, path]

const hasMkfifo = spawnSync('mkfifo', ['--version']).status === 0
const hasFuse = ((): boolean => {
  const [program = '', ...args] = stalledAt('/mnt')
  return spawnSync(program, [...args, 'true']).status === 0
})()

type Make = (path: string, at: Folder) => unknown

const KINDS: readonly (readonly [string, boolean, Make])[] = [
  ['a pipe (needs mkfifo)', hasMkfifo, (path) => execFileSync('mkfifo', [path])],
  ['a terminal', true, (path) => symlinkSync('/dev/ptmx', path)],
  ['an endless device', true, (path) => symlinkSync('/dev/zero', path)],
  ['a folder', true, (path) => mkdirSync(path)],
  ['a link to itself', true, (path) => symlinkSync(path, path)],
  ['a link to nothing', true, (path) => symlinkSync(`${path}.gone`, path)],
  [
    'a socket',
    true,
    (path) => {
      const server = createServer().listen(path)
      atEnd(() => server.close())
    },
  ],
  [
    'far too large a file',
    true,
    (path) => {
      writeFileSync(path, '')
      truncateSync(path, 2 ** 40)
    },
  ],
  ['a file system that never answers (needs FUSE)', hasFuse, (path, at) => symlinkSync(join(at.path, 'stalled', 'file'), path)],
]

const FILES = ['token', 'ledger-token', 'key', 'ca.pem', 'config.yaml', 'policies/acme.yaml', 'people.csv']
const TOKEN = { authorization: 'Bearer token-of-the-pages' }
const LEDGER_TOKEN = { authorization: 'Bearer token-of-the-ledger' }

async function start(isStalling: boolean) {
  const good = await service()
  const config = { auth: { token: { file: 'token' } }, ledgerToken: { file: 'ledger-token' } }
  const directory = { file: 'people.csv', id: 'email', columns: ['team'] }
  const settings = { workspaces: { acme: good.url }, config, settings: { caFile: 'ca.pem', directory } }
  const at = daemonFiles(settings)
  at.write('ca.pem', rootCertificates[0] ?? '')
  at.write('people.csv', 'email,team\nperson.1@example.com,one\n')
  at.write('token', 'token-of-the-pages\n')
  at.write('ledger-token', 'token-of-the-ledger\n')
  mkdirSync(join(at.path, 'stalled'))
  const under = isStalling ? stalledAt(join(at.path, 'stalled')) : []
  return { good, at, running: await daemon({ ...settings, at, under }) }
}

for (const [kind, isHere, make] of KINDS) {
  test.skipIf(!isHere)(
    `in place of any file stops nothing: ${kind}`,
    async () => {
      const { good, at, running } = await start(make.length > 1)
      await until('a first cycle', () => good.cap !== 7)
      for (const file of FILES) {
        const path = join(at.path, file)
        make(`${path}.bad`, at)
        renameSync(path, `${path}.good`)
        renameSync(`${path}.bad`, path)
      }
      const watch = watchLife(running)
      // The last good tokens and keys still count, and the log names the files.
      // A folder may be called like a policy.
      const named = FILES.filter((file) => kind !== 'a folder' || !file.startsWith('policies'))
      await until('the files to be named', async () => {
        expect((await running.get('/status', TOKEN)).status).toBe(200)
        expect((await running.get('/ledger', LEDGER_TOKEN)).status).toBe(200)
        return named.every((file) => new RegExp(`${file}[ :]`).test(running.stderr()))
      })
      const asked = good.asked.get('GetUsageConfig') ?? 0
      await until('more cycles', () => (good.asked.get('GetUsageConfig') ?? 0) > asked + 1)
      expect((await running.get('/status', TOKEN)).status).toBe(200)
      const longestMs = await watch.stop()
      expect(longestMs).toBeLessThan(liveWithinMs(longestMs))
      running.child.kill('SIGTERM')
      expect(await Promise.race([running.over, pause(10_000)])).toBe(0)
    },
    60_000,
  )
}

test.skipIf(!hasFuse)(
  'a key that does not answer at the start ends the daemon with the reason (needs FUSE)',
  () => {
    const at = daemonFiles({ workspaces: { acme: 'http://127.0.0.1:9' } })
    mkdirSync(join(at.path, 'stalled'))
    rmSync(join(at.path, 'key'))
    symlinkSync(join(at.path, 'stalled', 'file'), join(at.path, 'key'))
    const [program = '', ...args] = [...stalledAt(join(at.path, 'stalled')), process.execPath, MAIN, 'run', '--config', 'config.yaml']
    const { status, stderr } = spawnSync(program, [...args, '--listen', '127.0.0.1:0'], { cwd: at.path, encoding: 'utf8' })
    expect(stderr).toContain('the key file key did not answer within 5 s (FILE_STALLED)')
    expect(status).toBe(65)
  },
  60_000,
)
