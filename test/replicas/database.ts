// The PostgreSQL of the check: a real server, and the ways in which it fails. It restarts, fails over to a copy, runs out of disk, refuses
// connections, or is blocked. Clients ask for its port with each new connection.
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { appendFileSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync, unlinkSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openPostgres, type PostgresDatabase } from '../../src/daemon/ledger/postgres/database.ts'
import { asItsUser, freePort, own, untilSaid } from '../support/postgres.ts'
import { until } from '../support/process.ts'
import { type Link, openLink } from './link.ts'
import { clock, now } from './time.ts'
/** The user of the daemons: the superuser can connect when no other user can. */
export const USER = 'keeper'
const NAME = 'ledger'
/** The size of the database's disk where it can be made full; only root can make one so small. */
const DISK_MIB = 128
export const hasSmallDisk = process.getuid?.() === 0

export type Database = Awaited<ReturnType<typeof startDatabase>>

interface Server {
  readonly folder: string
  readonly port: number
  child: ChildProcess
  isRunning: boolean
}

/** Asynchronous, because links and services must go on meanwhile. */
async function run(program: string, argv: readonly string[]): Promise<void> {
  const [path, args] = asItsUser(program, argv)
  await promisify(execFile)(path, [...args])
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  fsync: 'off',
  max_connections: '60',
  wal_level: 'replica',
  max_wal_size: '8MB',
  min_wal_size: '2MB',
  wal_keep_size: '8MB',
  shared_buffers: '16MB',
}

async function startServer(folder: string, port: number, isCopy = false): Promise<Server> {
  const options = { ...SETTINGS, unix_socket_directories: folder }
  const flags = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const [program, argv] = asItsUser('postgres', ['-D', join(folder, 'data'), '-p', String(port), ...flags])
  const child = spawn(program, argv, { stdio: ['ignore', 'ignore', 'pipe'] })
  const server: Server = { folder, port, child, isRunning: true }
  child.once('exit', () => {
    server.isRunning = false
  })
  await untilSaid(child, isCopy ? 'ready to accept read-only connections' : 'ready to accept connections')
  // An output that is not read would block it.
  child.stderr?.resume()
  return server
}

async function kill(server: Server, signal: NodeJS.Signals): Promise<void> {
  if (!server.isRunning) return
  const ended = new Promise((done) => server.child.once('exit', done))
  server.child.kill(signal)
  await ended
}

function newFolder(isSmall: boolean): string {
  const folder = mkdtempSync(join(tmpdir(), 'capkeeper-replicas-'))
  own(folder)
  if (!isSmall) return folder
  mkdirSync(join(folder, 'data'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m,mode=0700`, 'tmpfs', join(folder, 'data')])
  own(join(folder, 'data'))
  return folder
}

function removeFolder(folder: string, isSmall: boolean): void {
  if (isSmall) execFileSync('umount', ['-l', join(folder, 'data')])
  rmSync(folder, { recursive: true, force: true })
}

async function firstServer(): Promise<Server> {
  const folder = newFolder(hasSmallDisk)
  const data = join(folder, 'data')
  await run('initdb', ['-D', data, '-U', 'postgres', '--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C.UTF-8', '--wal-segsize=1'])
  return startServer(folder, await freePort())
}

/** A copy that follows a server over a link, which can be held so that it lags. */
async function follower(of: Server, link: Link): Promise<Server> {
  const folder = newFolder(hasSmallDisk)
  const data = join(folder, 'data')
  await run('pg_basebackup', [
    '-h',
    '127.0.0.1',
    '-p',
    String(of.port),
    '-U',
    'postgres',
    '-D',
    data,
    '-X',
    'stream',
    '--no-sync',
    '-c',
    'fast',
  ])
  appendFileSync(join(data, 'postgresql.auto.conf'), `primary_conninfo='host=127.0.0.1 port=${link.port} user=postgres'\n`)
  writeFileSync(join(data, 'standby.signal'), '')
  own(join(data, 'standby.signal'))
  return startServer(folder, await freePort(), true)
}

export async function startDatabase() {
  let server = await firstServer()
  const addressOf = (port: number, user: string, name: string, host = '127.0.0.1'): string => `postgres://${user}@${host}:${port}/${name}`
  let handle: PostgresDatabase | undefined
  const opened = (): PostgresDatabase => {
    handle ??= openPostgres({ address: addressOf(server.port, 'postgres', NAME), env: {}, clock })
    return handle
  }
  const anew = async (): Promise<void> => {
    const before = handle
    handle = undefined
    await before?.close().catch(() => undefined)
  }
  /** Runs statements of the superuser, past all links. */
  const sql = (text: string) => opened().query(text)
  const first = openPostgres({ address: addressOf(server.port, 'postgres', 'postgres'), env: {}, clock })
  await first.query(`CREATE ROLE ${USER} LOGIN`)
  await first.query(`CREATE DATABASE ${NAME} OWNER ${USER}`)
  await first.close()
  const ballast = (): string => join(server.folder, 'data', 'ballast')
  return {
    port: () => server.port,
    sql,
    /** Restarts as after a power failure; resolves when it is back. */
    async restart(awayMs: number) {
      await kill(server, 'SIGQUIT')
      await anew()
      await clock.sleep(awayMs)
      server = await startServer(server.folder, server.port)
    },
    /** Fails over to a copy without the writes of the last `lostMs`; resolves with the instant of the failover. */
    async failOver(lostMs: number) {
      const before = server
      const link = await openLink({ target: () => before.port, isProxy: false })
      const copy = await follower(before, link)
      const own = openPostgres({ address: addressOf(copy.port, 'postgres', NAME), env: {}, clock })
      try {
        await until('the copy follows', async () => (await own.query('SELECT status FROM pg_stat_wal_receiver')).length > 0)
        if (lostMs > 0) {
          link.set('held')
          await clock.sleep(lostMs)
          link.set('cut')
        }
        await kill(before, 'SIGQUIT')
        await own.query('SELECT pg_promote()')
        server = copy
        await anew()
        return now()
      } finally {
        await own.close()
        await link.close()
        removeFolder(before.folder, hasSmallDisk)
      }
    },
    async fillDisk() {
      const file = openSync(ballast(), 'w')
      const part = Buffer.alloc(1_048_576)
      try {
        for (;;) writeSync(file, part)
      } catch {
        for (let tail = 65_536; tail >= 1_024; tail /= 2) writeTail(file, tail)
      } finally {
        closeSync(file)
      }
    },
    async freeDisk() {
      unlinkSync(ballast())
      if (server.isRunning && (await isAnswering(sql))) return
      await kill(server, 'SIGQUIT')
      await anew()
      server = await startServer(server.folder, server.port)
    },
    async lock(table: string, ms: number) {
      await opened().using(async ({ query }) => {
        await query(`BEGIN; LOCK TABLE capkeeper.${table} IN ACCESS EXCLUSIVE MODE`)
        await clock.sleep(ms)
        await query('COMMIT')
      })
    },
    address: (port: number, host: string) => addressOf(port, USER, NAME, host),
    async close() {
      await anew()
      await kill(server, 'SIGQUIT')
      removeFolder(server.folder, hasSmallDisk)
    },
  }
}

function writeTail(file: number, bytes: number): void {
  try {
    for (;;) writeSync(file, Buffer.alloc(bytes))
  } catch {
    // As full as it gets with pieces of this size.
  }
}

const isAnswering = async (sql: (text: string) => Promise<unknown>): Promise<boolean> =>
  sql('SELECT 1').then(
    () => true,
    () => false,
  )
