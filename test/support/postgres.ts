// A real PostgreSQL for tests: one server for each file, in a folder of its own that is removed with it, reached over loopback and a Unix
// socket. Where the programs are absent, tests that need them are skipped by name.
import { execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { openPostgres } from '../../src/daemon/ledger/postgres/database.ts'
import { realClock } from './real-clock.ts'

/** Where Debian installs the programs, one folder for each version; the newest is used. */
const VERSIONS = '/usr/lib/postgresql'
const newest = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort((a, b) => Number(b) - Number(a))[0] : undefined
const PROGRAMS = join(VERSIONS, newest ?? '', 'bin')

export const hasPostgres = existsSync(join(PROGRAMS, 'postgres'))

export type PostgresServer = Awaited<ReturnType<typeof startPostgres>>

/** PostgreSQL refuses to run as root: then it runs as the user that its package has created. */
export function asItsUser(program: string, argv: readonly string[]): readonly [string, readonly string[]] {
  const path = join(PROGRAMS, program)
  if (process.getuid?.() !== 0) return [path, argv]
  return ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', path, ...argv]]
}

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'capkeeper-pg-'))
  own(folder)
  return folder
}

/** Gives files that root has made for the server to its user. */
export function own(path: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync('/var/lib/postgresql')
  chownSync(path, uid, gid)
}

/** A free port of loopback. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      const port = typeof address === 'object' && address ? address.port : 0
      probe.close(() => resolve(port))
    })
  })

/** Empty clusters from before, one for each version and user: copying one takes a third of the time of making it. */
const CLUSTERS = join(import.meta.dirname, '../../.cache/postgres')

/** Copying files makes an empty database in half the time of copying through the log; earlier versions do not offer it. */
const STRATEGY = Number(newest) >= 15 ? ' STRATEGY FILE_COPY' : ''

/** Gives a server's folder an empty cluster. */
function makeCluster(folder: string): void {
  const data = join(folder, 'data')
  const made = join(CLUSTERS, `${newest}-${process.getuid?.()}`)
  if (!existsSync(made)) {
    const flags = ['-D', data, '-U', 'postgres', '--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C.UTF-8', '--wal-segsize=1']
    const [program, argv] = asItsUser('initdb', flags)
    execFileSync(program, argv, { stdio: 'pipe' })
    keepCluster(data, made)
    return
  }
  execFileSync('cp', ['-a', made, data])
}

/** Renamed at its end, so that no process sees it half copied; the second of two keeps the first one's. */
function keepCluster(data: string, made: string): void {
  mkdirSync(CLUSTERS, { recursive: true })
  const unfinished = mkdtempSync(join(CLUSTERS, 'unfinished-'))
  try {
    execFileSync('cp', ['-a', data, join(unfinished, 'data')])
    renameSync(join(unfinished, 'data'), made)
  } catch (error) {
    if (!existsSync(made)) throw error
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
}

/** Starts a server; `settings` are those of postgresql.conf. */
export async function startPostgres(settings: Readonly<Record<string, string>> = {}) {
  const folder = makeFolder()
  const data = join(folder, 'data')
  makeCluster(folder)
  const port = await freePort()
  const options: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    fsync: 'off',
    max_connections: '40',
    ...settings,
  }
  let child: ReturnType<typeof spawn> | undefined
  let made = 0
  const server = {
    port,
    /** The folder of its socket. */
    folder,
    /** The address of a database, as its owner reaches it. */
    address: (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`,
    /** Makes an empty database, and returns its address. */
    async create(): Promise<string> {
      made += 1
      const name = `ledger_${made}`
      await server.sql('postgres', `CREATE DATABASE ${name}${STRATEGY}`)
      return server.address(name)
    },
    /** Runs statements of the superuser. */
    async sql(database: string, text: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
      const opened = openPostgres({ address: server.address(database), env: {}, clock: realClock() })
      try {
        return await opened.query(text)
      } finally {
        await opened.close()
      }
    },
    /** Admits clients by these rules, lines of pg_hba.conf, from now on. */
    async rules(text: string): Promise<void> {
      writeFileSync(join(data, 'pg_hba.conf'), text)
      await server.sql('postgres', 'SELECT pg_reload_conf()')
    },
    /** Stops answering until it is thawed. */
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    /** Offers TLS from now on. */
    async useTls(key: string, cert: string): Promise<void> {
      for (const [name, text] of [
        ['server.key', key],
        ['server.crt', cert],
      ] as const) {
        const file = join(data, name)
        writeFileSync(file, text, { mode: 0o600 })
        own(file)
      }
      options['ssl'] = 'on'
      await server.stop()
      await server.start()
    },
    async start(): Promise<void> {
      const flags = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])
      const [server, args] = asItsUser('postgres', ['-D', data, '-p', String(port), ...flags])
      const started = spawn(server, args, { stdio: ['ignore', 'ignore', 'pipe'] })
      child = started
      await untilSaid(started, 'ready to accept')
    },
    async stop(): Promise<void> {
      const running = child
      child = undefined
      if (!running) return
      const ended = new Promise((done) => running.once('exit', done))
      running.kill('SIGINT')
      await ended
    },
    /** Refuses writes until `pg_promote()`. */
    async becomeStandby(): Promise<void> {
      await server.stop()
      writeFileSync(join(data, 'standby.signal'), '')
      own(join(data, 'standby.signal'))
      await server.start()
    },
    async remove(): Promise<void> {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await server.start()
  return server
}

/** Resolves once a server prints these words; rejects when it ends before. */
export const untilSaid = (child: ReturnType<typeof spawn>, words: string): Promise<void> =>
  new Promise((resolve, reject) => {
    let said = ''
    child.once('exit', () => reject(new Error(`PostgreSQL ended: ${said}`)))
    child.stderr?.on('data', (chunk: Buffer) => {
      said = `${said}${chunk.toString()}`.slice(-20_000)
      if (said.includes(words)) resolve()
    })
  })

/** One server for the tests of a file; started when a test first needs it. */
export function postgresForFile(settings?: Readonly<Record<string, string>>): () => PostgresServer {
  let server: PostgresServer | undefined
  beforeAll(async () => {
    if (hasPostgres) server = await startPostgres(settings)
  }, 60_000)
  afterAll(() => server?.remove())
  return () => {
    if (!server) throw new Error('there is no PostgreSQL here')
    return server
  }
}
