// Files from outside that cannot be read, or never answer: the daemon goes on beside all of them, with what it read last, and ends when it is told to.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { afterAll, expect, test } from 'vitest'
import { MAIN, until } from '../support/process.ts'
import {
  atEnd,
  type Daemon,
  daemon,
  daemonFiles,
  endAll,
  type Folder,
  heals,
  IS_HEAVY,
  liveWithinMs,
  pause,
  service,
  watchLife,
} from './world.ts'

afterAll(endAll)

/** Mounts a file system that never answers, until the program ends, which is the first process of its world, as in a container. */
const STALLED = 'exec 9<>/dev/fuse && mount -i -t fuse -o fd=9,rootmode=40000,user_id=0,group_id=0 none "$0" && exec "$@"'
const stalledAt = (path: string): readonly string[] => ['unshare', '-rmp', '--kill-child', 'sh', '-c', STALLED, path]

const hasMkfifo = spawnSync('mkfifo', ['--version']).status === 0
const hasFuse = ((): boolean => {
  const [program = '', ...args] = stalledAt('/mnt')
  return spawnSync(program, [...args, 'true']).status === 0
})()

type Make = (path: string, at: Folder) => unknown

/** Asks a daemon to end. `unshare` does not pass signals on. */
function terminate({ pid, child }: Daemon): void {
  const inside = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0])
  if (child.spawnfile === 'unshare') process.kill(inside, 'SIGTERM')
  else child.kill('SIGTERM')
}

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
  ['a file system of process 1 without answers (needs FUSE)', hasFuse, (path, at) => symlinkSync(join(at.path, 'stalled', 'file'), path)],
]

const FILES = ['token', 'ledger-token', 'key', 'ca.pem', 'config.yaml', 'policies/acme.yaml', 'people.csv']
const TOKEN = { authorization: 'Bearer token-of-the-pages' }
const LEDGER_TOKEN = { authorization: 'Bearer token-of-the-ledger' }

type Started = Awaited<ReturnType<typeof start>>

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

const LIGHT = /pipe|terminal|folder|never answers/
const TRIED = KINDS.filter(([kind, isHere]) => isHere && (IS_HEAVY || LIGHT.test(kind)))

/** Puts such a file in the place of each in turn; the daemon names it and goes on. The good files come back, but for the last kind. */
async function replaced({ good, at, running }: Started, kinds: typeof KINDS): Promise<void> {
  await until('a first cycle', () => good.cap !== 7)
  const watch = watchLife(running)
  const served = async (): Promise<void> => {
    expect((await running.get('/status', TOKEN)).status).toBe(200)
    expect((await running.get('/ledger', LEDGER_TOKEN)).status).toBe(200)
  }
  const moreCycles = async (): Promise<void> => {
    const asked = good.asked.get('GetUsageConfig') ?? 0
    await until('more cycles', async () => {
      await served()
      return (good.asked.get('GetUsageConfig') ?? 0) > asked + 2
    })
  }
  for (const [kind, , make] of kinds) {
    const said = running.stderr().length
    for (const file of FILES) {
      const path = join(at.path, file)
      if (existsSync(`${path}.good`)) rmSync(path, { recursive: true })
      else renameSync(path, `${path}.good`)
      make(path, at)
    }
    // The last good tokens and keys still count, and the log names the files. A folder may be called like a policy.
    const named = FILES.filter((file) => kind !== 'a folder' || !file.startsWith('policies'))
    await until(`the files to be named: ${kind}`, async () => {
      await served()
      return named.every((file) => new RegExp(`${file}[ :]`).test(running.stderr().slice(said)))
    })
    await moreCycles()
    if (kind === kinds.at(-1)?.[0]) break
    for (const file of FILES) {
      rmSync(join(at.path, file), { recursive: true })
      cpSync(join(at.path, `${file}.good`), join(at.path, file))
    }
    await until('the good files', async () => (await running.get('/metrics')).text.includes('capkeeper_config_valid 1'))
    await heals(good)
    // A file that was not read while it was good is not named again.
    await moreCycles()
  }
  const longestMs = await watch.stop()
  expect(longestMs).toBeLessThan(liveWithinMs(longestMs))
  terminate(running)
  expect(await Promise.race([running.over, pause(10_000)])).toBe(0)
}

const named = (kinds: typeof KINDS): string => kinds.map(([kind]) => kind).join(', ')
const OTHERS = TRIED.filter(([, , make]) => make.length === 1)
const STALLING = TRIED.filter(([, , make]) => make.length > 1)
test(`in place of any file stops nothing: ${named(OTHERS)}`, async () => replaced(await start(false), OTHERS), 120_000)
test.skipIf(!hasFuse)(`in place of any file stops nothing: ${named(STALLING)}`, async () => replaced(await start(true), STALLING), 60_000)

/** What a person's commands read, and how they end where it cannot be read. */
const GIVEN: readonly (readonly [string, readonly string[]])[] = [
  ['a saved plan', ['apply', '--yes', '--plan', 'given']],
  ['a fixture', ['sandbox', '--port', '0', '--fixture', 'given']],
  ['a password file', ['status', '--ledger', 'postgres://capkeeper@127.0.0.1:9/ledger']],
]

test.each(KINDS.filter(([kind, isHere, make]) => isHere && make.length === 1 && (IS_HEAVY || /pipe/.test(kind))))(
  'given to a command ends it: %s',
  async (_kind, _isHere, make) => {
    const at = daemonFiles({ workspaces: { acme: 'http://127.0.0.1:9' } })
    make(join(at.path, 'given'), at)
    const env = { ...process.env, PGPASSFILE: join(at.path, 'given') }
    const ended = await Promise.all(
      GIVEN.map(async ([what, argv]) => {
        const child = spawn(process.execPath, [MAIN, ...argv, ...(what === 'a fixture' ? [] : ['--config', 'config.yaml'])], {
          cwd: at.path,
          env,
          stdio: 'ignore',
        })
        atEnd(() => child.kill('SIGKILL'))
        const [code] = await once(child, 'exit')
        return [what, code]
      }),
    )
    expect(ended.filter(([, code]) => typeof code !== 'number' || code === 0)).toEqual([])
  },
  60_000,
)

test.skipIf(!hasMkfifo)(
  'in place of any file for a moment, again and again while all are read, stops nothing (needs mkfifo)',
  async () => {
    const { good, at, running } = await start(false)
    const paths = FILES.map((file) => join(at.path, file))
    for (const path of paths) {
      execFileSync('mkfifo', [`${path}.pipe`])
      renameSync(path, `${path}.good`)
      symlinkSync(`${path}.good`, path)
    }
    const watch = watchLife(running)
    for (let round = 0; round < (IS_HEAVY ? 400 : 100); round += 1) {
      for (const path of paths) {
        symlinkSync(`${path}.${round % 2 === 0 ? 'pipe' : 'good'}`, `${path}.next`)
        renameSync(`${path}.next`, path)
      }
      if (round % 20 === 0) await running.get('/status', TOKEN)
      await pause(7)
    }
    await heals(good)
    const longestMs = await watch.stop()
    expect(longestMs).toBeLessThan(liveWithinMs(longestMs))
    terminate(running)
    expect(await Promise.race([running.over, pause(10_000)])).toBe(0)
  },
  60_000,
)

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
