// The disk of the ledger: full, read-only, damaged, or of a newer version. Nothing is written to the service that could not be recorded,
// existing data is not overwritten, and everything that can continue does.
import { spawnSync } from 'node:child_process'
import { closeSync, cpSync, mkdirSync, openSync, readFileSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { inside } from '../support/inside.ts'
import { MAIN, until } from '../support/process.ts'
import { realClock } from '../support/real-clock.ts'
import { startSandbox } from '../support/sandbox.ts'
import { atEnd, CAP, daemon, daemonFiles, endAll, type Folder, folder, heals, pause, type Service, service } from './world.ts'

afterAll(endAll)

/** Mounts a file system of so many megabytes in a folder; false where this machine does not allow it. */
function mount(path: string, size = 1): boolean {
  mkdirSync(path, { recursive: true })
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}m`, 'tmpfs', path])
  if (status === 0) atEnd(() => spawnSync('umount', ['-l', path]))
  return status === 0
}

const CAN_MOUNT = ((): boolean => {
  const probe = folder()
  const can = mount(join(probe.path, 'disk'))
  if (can) spawnSync('umount', [join(probe.path, 'disk')])
  return can
})()

interface Used {
  readonly good: Service
  readonly files: Folder
}

/** A folder with a ledger that a daemon has used, which lost its write-ahead log twice on the way; that this stops nothing is shown here too. */
let left: Promise<Used> | undefined

async function leave(): Promise<Used> {
  const [good, files] = [await service(), folder()]
  const wal = join(files.path, 'ledger.db-wal')
  const one = await daemon({ workspaces: { acme: good.url }, at: files })
  await heals(good)
  rmSync(wal, { force: true })
  await pause(500)
  expect(one.ended()).toBeUndefined()
  one.child.kill('SIGKILL')
  await one.over
  rmSync(wal, { force: true })
  const next = await daemon({ workspaces: { acme: good.url }, at: files })
  await heals(good)
  next.child.kill('SIGTERM')
  expect(await next.over).toBe(0)
  return { good, files }
}

/** Copies it for each test. */
async function used(): Promise<Used> {
  left ??= leave()
  const { good, files: at } = await left
  const files = folder()
  cpSync(at.path, files.path, { recursive: true })
  return { good, files }
}

describe('a disk that', () => {
  test.skipIf(!CAN_MOUNT)('has no room for a copy of the ledger is the one that is named', async () => {
    const { path } = (await used()).files
    mount(join(path, 'disk'))
    fill(join(path, 'disk', 'filler'))
    const copy = join(path, 'disk', 'copy.db')
    const ran = spawnSync(process.execPath, [MAIN, 'ledger', 'backup', copy, '--ledger', join(path, 'ledger.db')], { encoding: 'utf8' })
    expect(ran.stderr).toMatch(new RegExp(`no copy was made of .*ledger.db: the disk of ${copy} is full`))
  })

  test.skipIf(!CAN_MOUNT)('is full stops writing to the service, and nothing else, until there is room', async () => {
    const at = folder()
    mount(join(at.path, 'disk'), 8)
    const good = await service()
    const one = await daemon({ workspaces: { acme: good.url }, at, config: { ledger: 'disk/ledger.db' } })
    await heals(good)
    const filler = join(at.path, 'disk', 'filler')
    fill(filler)
    good.cap = 9
    await pause(2_500)
    expect(good.cap).toBe(9)
    expect((await one.get('/livez')).status).toBe(200)
    expect(one.ended()).toBeUndefined()
    rmSync(filler)
    await until('the cap to be put back', () => good.cap === CAP)
  })

  test.skipIf(!CAN_MOUNT)('gets full while collect runs stops it with what it knows, and the ledger is whole', async () => {
    const at = folder()
    const disk = join(at.path, 'disk')
    mount(disk)
    const company = await startSandbox({ clock: realClock(), people: 30, days: 180 })
    atEnd(() => company.close())
    daemonFiles({
      workspaces: { acme: company.url },
      at,
      settings: { rate: { start: 500, max: 500 } },
      config: { ledger: 'disk/ledger.db' },
    })
    at.write('key', 'sandbox-admin')
    const ran = await inside(['collect', '--config', 'config.yaml'], { cwd: at.path })
    expect(ran).toMatchObject({
      code: 4,
      stdout: expect.stringMatching(/reconstructed {2}[1-9].*stopped: .*: the disk is full, .*make room/s),
    })
    expect(ran.stderr.trimEnd().split('\n')).toHaveLength(1)
    spawnSync('mount', ['-o', 'remount,size=64m', disk])
    expect(await inside(['ledger', 'check', '--ledger', 'disk/ledger.db'], { cwd: at.path })).toMatchObject({ code: 0 })
  })

  test.skipIf(!CAN_MOUNT)('is read-only at the start is reported in one line, and the next start works', async () => {
    const at = folder()
    const disk = join(at.path, 'disk')
    mount(disk)
    const good = await service()
    const files = daemonFiles({ workspaces: { acme: good.url }, at, config: { ledger: 'disk/ledger.db' } })
    spawnSync('mount', ['-o', 'remount,ro', disk])
    const ran = await inside(['run', '--config', 'config.yaml', '--listen', '127.0.0.1:0'], { cwd: files.path })
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('ledger.db') })
    expect(ran.stderr).not.toMatch(/\bat .*\.ts:\d+/)
    spawnSync('mount', ['-o', 'remount,rw', disk])
    await daemon({ workspaces: { acme: good.url }, at, config: { ledger: 'disk/ledger.db' } })
    await heals(good)
  })
})

/** Writes until the disk is full. */
function fill(file: string): void {
  const opened = openSync(file, 'w')
  for (const size of [65_536, 4_096, 512, 1]) {
    try {
      for (let piece = 0; piece < 10_000; piece += 1) writeSync(opened, Buffer.alloc(size))
    } catch {
      // Full for pieces of this size.
    }
  }
  closeSync(opened)
}

describe('a ledger', () => {
  test('whose write-ahead log is removed while it runs and after a crash keeps working', async () => {
    expect(await inside(['ledger', 'check', '--ledger', 'ledger.db'], { cwd: (await used()).files.path })).toMatchObject({ code: 0 })
  })

  test('with a page that was overwritten while it runs does not end the process', async () => {
    const good = await service()
    const at = folder()
    const one = await daemon({ workspaces: { acme: good.url }, at })
    await heals(good)
    overwrite(join(at.path, 'ledger.db'), 4_096)
    good.cap = 9
    await pause(2_000)
    expect(one.ended()).toBeUndefined()
    expect((await one.get('/livez')).status).toBe(200)
  })

  test.each([
    ['the first page was overwritten', (file: string) => overwrite(file, 0)],
    ['a later page was overwritten', (file: string) => overwrite(file, 4_096 * 3)],
    ['the rest was cut off', (file: string) => truncateSync(file, 10)],
  ])('of which %s is refused in words, or works; it is never made anew in silence', async (_what, spoil) => {
    const { files } = await used()
    spoil(join(files.path, 'ledger.db'))
    const size = statSync(join(files.path, 'ledger.db')).size
    const ran = await inside(['ledger', 'check', '--ledger', 'ledger.db'], { cwd: files.path })
    expect(ran.code).toBe(1)
    expect(ran.stderr).toContain('ledger.db')
    expect(ran.stderr).not.toMatch(/\bat .*\.ts:\d+/)
    expect(statSync(join(files.path, 'ledger.db')).size).toBe(size)
  })

  test('of a newer version is refused, and not changed', async () => {
    const { good, files } = await used()
    const file = join(files.path, 'ledger.db')
    const sqlite = new DatabaseSync(file)
    sqlite.exec('PRAGMA user_version = 99')
    sqlite.close()
    const before = readFileSync(file)
    const asked = good.asked.get('GetUsageConfig')
    const ran = await inside(['run', '--config', 'config.yaml', '--listen', '127.0.0.1:0'], { cwd: files.path })
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('newer capkeeper') })
    expect(readFileSync(file).equals(before)).toBe(true)
    expect(good.asked.get('GetUsageConfig')).toBe(asked)
  })
})

function overwrite(file: string, at: number): void {
  const opened = openSync(file, 'r+')
  writeSync(opened, Buffer.alloc(4_096, 0xa5), 0, 4_096, at)
  closeSync(opened)
}
