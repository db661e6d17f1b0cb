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

const parametersOf = (address: string, env: Record<string, string> = {}) => {
  const target = targetOf(address, env)
  const of = (text: string | undefined) => text && Object.fromEntries(new URL(text.replace('@/', '@x/')).searchParams)
  return [of(target?.connectionString), of(target?.withoutTls)]
}
const COMPAT = { uselibpqcompat: 'true' }

test.each([
  [
    'nothing said',
    'postgres://db/x',
    {},
    [
      { sslmode: 'prefer', ...COMPAT },
      { sslmode: 'disable', ...COMPAT },
    ],
  ],
  ['a variable', 'postgres://db/x', { PGSSLMODE: 'require' }, [{ sslmode: 'require', ...COMPAT }, undefined]],
  [
    'the address before a variable',
    'postgres://db/x?sslmode=disable',
    { PGSSLMODE: 'require' },
    [{ sslmode: 'disable', ...COMPAT }, undefined],
  ],
  [
    'a root certificate',
    'postgres://db/x?sslmode=verify-full',
    { PGSSLROOTCERT: '/ca.pem' },
    [{ sslmode: 'verify-full', sslrootcert: '/ca.pem', ...COMPAT }, undefined],
  ],
  ['the machine’s own authorities', 'postgres://db/x?sslrootcert=system', {}, [{ sslmode: 'verify-full', ...COMPAT }, undefined]],
  ['a socket', 'postgres://ada@/x?host=/run/postgresql', {}, [{ host: '/run/postgresql', sslmode: 'disable', ...COMPAT }, undefined]],
  ['a socket of a variable', 'postgres:///x', { PGHOST: '/run/postgresql' }, [{ sslmode: 'disable', ...COMPAT }, undefined]],
  [
    'allow',
    'postgres://db/x?sslmode=allow',
    {},
    [
      { sslmode: 'prefer', ...COMPAT },
      { sslmode: 'disable', ...COMPAT },
    ],
  ],
] as const)('TLS follows libpq: %s', (_row, address, env, expected) => {
  expect(parametersOf(address, env)).toEqual(expected)
})

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
    expect(await encrypted(address)).toBe(false)
    expect(
      await encrypted(
        address
          .replace('@127.0.0.1:', `@:`)
          .replace(/@:\d+\//, '@/')
          .concat(`?host=${server.folder}&port=${server.port}`),
      ),
    ).toBe(false)
    expect(await ledgerErrorOf(() => encrypted(`${address}?sslmode=require`))).toMatchObject({
      code: 'LEDGER_UNREADABLE',
      message: expect.stringMatching(/sslmode demands TLS, and the server offers none \(.*does not support SSL/),
    })
    await server.useTls(key, cert)
    expect(await encrypted(address)).toBe(true)
    expect(await encrypted(`${address}?sslmode=disable`)).toBe(false)
    expect(await encrypted(address, { PGSSLMODE: 'require' })).toBe(true)
    expect(await encrypted(address, { PGSSLMODE: 'verify-full', PGSSLROOTCERT: ours.file })).toBe(true)
    const localhost = address.replace('127.0.0.1', 'localhost')
    expect(await encrypted(localhost, { PGSSLMODE: 'verify-ca', PGSSLROOTCERT: ours.file })).toBe(true)
    for (const [one, file] of [
      [address, others.file],
      [localhost, ours.file],
    ] as const) {
      expect(await ledgerErrorOf(() => encrypted(one, { PGSSLMODE: 'verify-full', PGSSLROOTCERT: file }))).toMatchObject({
        code: 'LEDGER_UNREADABLE',
        message: expect.stringContaining("the server's certificate is not trusted"),
      })
    }
    // A failure that waiting cannot end is reported at once.
    const expired = ours.sign('IP:127.0.0.1', -1)
    await server.useTls(expired.key, expired.cert)
    expect(await ledgerErrorOf(() => encrypted(address, { PGSSLMODE: 'verify-full', PGSSLROOTCERT: ours.file }))).toMatchObject({
      code: 'LEDGER_UNREADABLE',
      message: expect.stringContaining('expired'),
    })
    const missing = join(folder, 'nowhere.pem')
    expect((await ledgerErrorOf(() => encrypted(address, { PGSSLMODE: 'verify-full', PGSSLROOTCERT: missing }))).message).toContain(
      'nowhere.pem',
    )
  })
})
