// Addresses of databases: told from files, shown without secrets, completed by libpq's variables; and TLS with a real server.
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openLedger } from '../../../src/daemon/ledger/ledger.ts'
import {
  isPostgresAddress,
  passwordFileOf,
  passwordFor,
  secretsOf,
  shownAddress,
  targetOf,
} from '../../../src/daemon/ledger/postgres/address.ts'
import { authority, hasOpenssl } from '../../support/certificates.ts'
import { ledgerErrorOf } from '../../support/ledger.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'
import { realClock } from '../../support/real-clock.ts'
import { temporaryFolder } from '../../support/temporary.ts'

test.each([
  ['postgres://ada:hidden@db.example:5433/caps?sslmode=require', 'postgres://ada@db.example:5433/caps'],
  ['postgresql://ada@db/caps', 'postgres://ada@db/caps'],
  ['postgres:///caps', 'postgres:///caps'],
  ['postgres://ada:hidden@/caps?host=/run/postgresql', 'postgres://ada@/run/postgresql/caps'],
  ['postgres://db/caps?password=hidden&user=ada', 'postgres://db/caps'],
  ['POSTGRES://ada:hid%2Fden@[::1]/caps', 'postgres://ada@[::1]/caps'],
  ['postgres://ada:hid/den@db/caps', 'postgres://…'],
])('%s is shown as %s', (address, shown) => {
  expect(isPostgresAddress(address)).toBe(true)
  expect(shownAddress(address)).toBe(shown)
})

test.each(['mysql://ada:hidden@db/caps', 'sqlite:///var/capkeeper.db', 'file:///var/capkeeper.db'])(
  '%s is neither a file nor a supported address, and is refused without its secrets',
  async (file) => {
    const { code, message } = await ledgerErrorOf(() => openLedger({ file, mode: 'read', clock: realClock() }))
    expect(code).toBe('LEDGER_UNREADABLE')
    expect(message).toContain(`begins with ${file.slice(0, file.indexOf('//') + 2)}`)
    expect(message).not.toMatch(/hidden|capkeeper\.db/)
  },
)

test.each(['./capkeeper.db', '/var/postgres/x', 'postgres.db', 'https://daemon:9464', ':memory:'])(
  '%s is no address of a database',
  (ledger) => {
    expect(isPostgresAddress(ledger)).toBe(false)
  },
)

test('every password that the driver can find is known as a secret', () => {
  const file = 'db:5432:*:ada:one\\:two\n# comment\n*:*:*:*:three\n'
  const secrets = secretsOf('postgres://ada:f%2Fur@db/caps?password=five', { PGPASSWORD: 'six' }, file)
  expect(new Set(secrets)).toEqual(new Set(['f/ur', 'f%2Fur', 'five', 'six', 'one\\:two', 'one:two', 'three']))
  expect(secretsOf(undefined, {}, '')).toEqual([])
})

test.each([
  ['db:5432:caps:ada:one', 'one'],
  ['# db:5432:caps:ada:none\nother:*:*:*:two\n*:*:*:*:three\n*:*:*:*:four', 'three'],
  ['db:5433:caps:ada:one', undefined],
  ['db:5432:caps:ada:a\\:b\\\\c:d\r\n', 'a:b\\c:d'],
  ['\n*:*:*\n*:*:*:*:', undefined],
])('the password file %j has %j for a connection', (file, password) => {
  expect(passwordFor(file, { host: 'db', port: 5432, database: 'caps', user: 'ada' })).toBe(password)
})

test('a socket has the host localhost in a password file, and any sign may be escaped', () => {
  const to = { host: '/run/postgresql', port: 5432, database: 'a:b', user: 'ada' }
  expect(passwordFor('localhost:5432:a\\:b:\\ada:one', to)).toBe('one')
})

test('passwords are read from PGPASSFILE, else from the home folder', () => {
  expect([passwordFileOf({ PGPASSFILE: '/pass', HOME: '/home/ada' }), passwordFileOf({ HOME: '/home/ada' })]).toEqual([
    '/pass',
    '/home/ada/.pgpass',
  ])
})

/** The parameters for the driver, and those of an attempt without TLS. */
function parametersOf(address: string, env: Record<string, string>) {
  const { connectionString, withoutTls } = targetOf(`postgres://${address}`, env) ?? {}
  const of = (text: string) => [...new URLSearchParams(text.split('?')[1])].map((one) => one.join('=')).sort()
  return [connectionString, withoutTls].flatMap((text) => (text === undefined ? [] : of(text).join(' ')))
}

test.each<readonly [string, string, Record<string, string>, readonly string[]]>([
  ['nothing said', 'db/x', {}, ['sslmode=prefer', 'sslmode=disable']],
  ['allow', 'db/x?sslmode=allow', { PGSSLROOTCERT: '/ca' }, ['sslmode=prefer sslrootcert=/ca', 'sslmode=disable']],
  ['a variable', 'db/x', { PGSSLMODE: 'require' }, ['sslmode=require']],
  ['the address before a variable', 'db/x?sslmode=disable', { PGSSLMODE: 'require' }, ['sslmode=disable']],
  ['a root', 'db/x?sslmode=verify-full', { PGSSLROOTCERT: '/ca.pem' }, ['sslmode=verify-full sslrootcert=/ca.pem']],
  ['the machine’s own authorities', 'db/x?sslrootcert=system', {}, ['sslmode=verify-full']],
  ['a socket', 'ada@/x?host=/run/postgresql', {}, ['host=/run/postgresql sslmode=disable']],
  ['a socket of a variable', '/x', { PGHOST: '/run/postgresql' }, ['sslmode=disable']],
])('TLS follows libpq: %s', (_row, address, env, expected) =>
  expect(parametersOf(address, env)).toEqual(expected.map((one) => `${one} uselibpqcompat=true`)),
)

const clock = realClock()

async function encrypted(address: string, env: Readonly<Record<string, string>> = {}): Promise<boolean | undefined> {
  const store = await openLedger({ file: address, mode: 'read', clock, env })
  try {
    return (await store.server?.())?.isEncrypted
  } finally {
    await store.close()
  }
}

describe.skipIf(!hasPostgres || !hasOpenssl)('a real PostgreSQL', () => {
  test('is reached over TLS according to sslmode, without it where that is allowed, and over a socket', async () => {
    const folder = temporaryFolder()
    const [ours, others] = [authority(folder, 'ours'), authority(folder, 'others')]
    const { key, cert } = ours.sign('IP:127.0.0.1')
    const server = await startPostgres()
    onTestFinished(() => server.remove())
    const address = await server.create()
    const localhost = address.replace('127.0.0.1', 'localhost')
    const socket = `${address.replace(/@[^/]*/, '@')}?host=${server.folder}&port=${server.port}`
    const refused = (at: string, env: Record<string, string>, says: string) =>
      expect(encrypted(at, env)).rejects.toMatchObject({ code: 'LEDGER_UNREADABLE', message: expect.stringContaining(says) })
    const verified = (file: string, PGSSLMODE = 'verify-full') => ({ PGSSLMODE, PGSSLROOTCERT: file })
    expect([await encrypted(address), await encrypted(socket)]).toEqual([false, false])
    await refused(address, { PGSSLMODE: 'require' }, 'sslmode demands TLS, and the server offers none (The server does not support SSL')
    await server.useTls(key, cert)
    expect(await encrypted(address)).toBe(true)
    expect(await encrypted(`${address}?sslmode=disable`)).toBe(false)
    expect(await encrypted(address, { PGSSLMODE: 'require' })).toBe(true)
    expect(await encrypted(address, verified(ours.file))).toBe(true)
    expect(await encrypted(localhost, verified(ours.file, 'verify-ca'))).toBe(true)
    await refused(address, verified(others.file), "the server's certificate is not trusted")
    await refused(localhost, verified(ours.file), "the server's certificate is not trusted")
    // A failure that waiting cannot end is reported at once.
    const expired = ours.sign('IP:127.0.0.1', -1)
    await server.useTls(expired.key, expired.cert)
    await refused(address, verified(ours.file), 'expired')
    await refused(address, verified(join(folder, 'nowhere.pem')), 'nowhere.pem')
  })
})
