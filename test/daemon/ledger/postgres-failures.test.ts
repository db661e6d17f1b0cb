// A ledger in a real PostgreSQL with other writers, a failing database, and an invalid schema.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openLedger } from '../../../src/daemon/ledger/ledger.ts'
import { openPostgres } from '../../../src/daemon/ledger/postgres/database.ts'
import { ADA, historyOf, intentFor, kept, ledgerErrorOf, ownedCap, raise } from '../../support/ledger.ts'
import { hasPostgres, own, postgresForFile } from '../../support/postgres.ts'
import { realClock } from '../../support/real-clock.ts'

const URL_A = 'https://a.example/api/v1'
const server = postgresForFile({ synchronous_commit: 'off' })
const clock = realClock()

async function open(file: string, more: Partial<Parameters<typeof openLedger>[0]> = {}) {
  const store = await openLedger({ file, mode: 'write', clock, ...more })
  onTestFinished(() => store.close())
  return store
}

const nameIn = (address: string): string => new URL(address).pathname.slice(1)
const sqlIn = (address: string, text: string) => server().sql(nameIn(address), text)
const CHANGE = raise(ADA, 1, 2)

describe.skipIf(!hasPostgres)('a schema in PostgreSQL', () => {
  test('is made once by several processes that start together, and each can use it', async () => {
    const address = await server().create()
    const stores = await Promise.all(['a', 'b', 'c', 'd'].map(() => open(address)))
    const names = ['w0', 'w1', 'w2', 'w3']
    await Promise.all(
      stores.map((store, index) => kept(store.workspace(`w${index}`, URL_A), (one) => one.saveFact('verifiedDeclared', index))),
    )
    expect((await stores[0]?.workspaces())?.map(({ workspace }) => workspace)).toEqual(names)
  })

  test('is not made by a reader, which sees an empty ledger', async () => {
    const address = await server().create()
    const store = await open(address, { mode: 'read' })
    expect((await store.workspace('acme', URL_A)).owned()).toEqual([])
    expect(await store.check()).toMatchObject({ exists: false, problems: [] })
    expect(await sqlIn(address, "SELECT to_regnamespace('capkeeper') AS there")).toEqual([{ there: null }])
  })

  test.each(['write', 'note', 'read'] as const)('of another version is refused and not changed, opened to %s', async (mode) => {
    const address = await server().create()
    await (await open(address)).close()
    for (const [version, code, says] of [
      [8, 'LEDGER_NEWER', 'its schema version is 8, this one knows 7'],
      [4, 'LEDGER_UNREADABLE', 'by an older capkeeper: its schema version is 4, this one knows 7; use that one'],
    ] as const) {
      await sqlIn(address, `UPDATE capkeeper.schema_version SET version = ${version}`)
      const refused = await ledgerErrorOf(() => openLedger({ file: address, mode, clock }))
      expect(refused).toMatchObject({ code, message: expect.stringContaining(says) })
    }
  })

  test('that was migrated meanwhile is not written by an older process', async () => {
    const address = await server().create()
    const ledger = await (await open(address)).workspace('acme', URL_A)
    await sqlIn(address, 'UPDATE capkeeper.schema_version SET version = 8')
    expect((await ledgerErrorOf(() => ledger.recordIntent(intentFor(CHANGE)))).code).toBe('LEDGER_NEWER')
    expect(await sqlIn(address, 'SELECT * FROM capkeeper.intent')).toEqual([])
  })

  test('of another program is refused', async () => {
    const address = await server().create()
    await sqlIn(address, 'CREATE SCHEMA capkeeper; CREATE TABLE capkeeper.songs (name text)')
    expect((await ledgerErrorOf(() => open(address))).code).toBe('LEDGER_FOREIGN')
  })

  test('without its tables is damaged, and a row that cannot be read is reported', async () => {
    const address = await server().create()
    const store = await open(address)
    await kept(store.workspace('acme', URL_A), (one) => one.saveOwned([ownedCap(ADA, 1)]))
    await sqlIn(address, `UPDATE capkeeper.owned SET data = '{}'`)
    const refused = await ledgerErrorOf(async () => (await store.workspace('acme', URL_A)).owned())
    expect(refused.message).toContain('row 1 of table owned cannot be read, because .scope is missing')
    expect((await store.check()).problems).toEqual([expect.stringContaining('row 1 of table owned')])
    await sqlIn(address, 'DROP TABLE capkeeper.owned')
    expect((await ledgerErrorOf(() => store.workspace('acme', URL_A))).code).toBe('LEDGER_CORRUPT')
  })
})

describe.skipIf(!hasPostgres)('a database', () => {
  test('without TLS is reached by all queries that come first, when sslmode leaves it open', async () => {
    const database = openPostgres({ address: await server().create(), env: {}, clock })
    onTestFinished(() => database.close())
    const answers = await Promise.all(['one', 'two', 'three'].map((text) => database.query('SELECT $1 AS text', [text])))
    expect(answers.flat().map((row) => row['text'])).toEqual(['one', 'two', 'three'])
  })

  test('is reached over new connections once one has broken, because the others are likely dead too', async () => {
    const address = await server().create()
    const database = openPostgres({ address, env: {}, clock })
    onTestFinished(() => database.close())
    const idOf = async (query: typeof database.query): Promise<unknown> => (await query('SELECT pg_backend_pid() AS id'))[0]?.['id']
    const before = await database.using(async ({ query }) => [await idOf(query), await idOf(database.query)])
    await database.using(async ({ query }) => {
      const broken = await idOf(query)
      expect(before).toContain(broken)
      await server().sql('postgres', `SELECT pg_terminate_backend(${broken})`)
      expect((await ledgerErrorOf(() => query('SELECT 1'))).code).toBe('LEDGER_AWAY')
    })
    expect(before).not.toContain(await idOf(database.query))
  })
})

describe.skipIf(!hasPostgres)('the writer of a workspace in PostgreSQL', () => {
  test('with a fence has the token of the lease, and its transaction ends before the lease can change holders', async () => {
    const address = await server().create()
    const token = { now: 5 as number | undefined }
    const fence = () => (token.now === undefined ? undefined : { replica: 'me', token: token.now })
    const ledger = await (await open(address, { fence })).workspace('acme', URL_A)
    const write = () => ledger.recordIntent(intentFor(CHANGE))
    expect((await ledgerErrorOf(write)).code).toBe('LEDGER_FENCED')
    await sqlIn(address, "INSERT INTO capkeeper.lease VALUES ('acme', 'me', 5, now())")
    const intent = await write()
    await sqlIn(address, 'UPDATE capkeeper.lease SET token = 6')
    expect(await ledgerErrorOf(() => ledger.recordOutcome(intent, historyOf(CHANGE, 1), 'kept'))).toMatchObject({
      code: 'LEDGER_FENCED',
      message: expect.stringContaining('another replica holds acme now'),
    })
    token.now = undefined
    expect((await ledgerErrorOf(write)).code).toBe('LEDGER_FENCED')
    expect(await sqlIn(address, 'SELECT count(*)::int AS n FROM capkeeper.intent')).toEqual([{ n: 1 }])
    token.now = 6
    await ledger.load()
    await ledger.recordOutcome(intent, historyOf(CHANGE, 1), 'kept')
    expect(await ledger.history()).toHaveLength(1)
  })
})

describe.skipIf(!hasPostgres)('a database that fails', () => {
  test('and recovers is used again by itself; meanwhile recording and reading fail', async () => {
    const address = await server().create()
    const store = await open(address)
    const ledger = await store.workspace('acme', URL_A)
    const intent = await ledger.recordIntent(intentFor(CHANGE))
    await server().stop()
    expect((await ledgerErrorOf(() => ledger.recordOutcome(intent, undefined, 'kept'))).code).toBe('LEDGER_AWAY')
    expect((await ledgerErrorOf(() => ledger.pause(0))).code).toBe('LEDGER_AWAY')
    expect((await ledgerErrorOf(() => ledger.load())).code).toBe('LEDGER_AWAY')
    expect((await ledgerErrorOf(() => store.probe())).code).toBe('LEDGER_AWAY')
    expect(ledger.openIntents()).toHaveLength(1)
    await server().start()
    await until(() => ledger.load())
    expect(ledger.openIntents()).toEqual([intent])
    await ledger.recordOutcome(intent, undefined, 'kept')
    await store.probe()
    await ledger.load()
    expect(ledger.openIntents()).toEqual([])
  })

  test.each([
    ['refuses the user', 'LEDGER_UNREADABLE', 'does not let this user in', (address: string) => address.replace('postgres@', 'nobody@')],
    ['is not there', 'LEDGER_UNREADABLE', 'there is no such database', (address: string) => `${address}_other`],
    ['is no server', 'LEDGER_AWAY', 'cannot be reached', (address: string) => address.replace(/:\d+\//, ':1/')],
    ['has a name nobody knows', 'LEDGER_AWAY', 'cannot be reached', (address: string) => address.replace('127.0.0.1', 'nowhere.invalid')],
  ])('or %s is reported without its password', async (_row, code, says, change) => {
    const address = change(await server().create()).replace('@', ':s3cret-pass@')
    const refused = await ledgerErrorOf(() => open(address))
    expect(refused.code).toBe(code)
    expect(refused.message).toContain(says)
    expect(refused.message).not.toContain('s3cret')
  })

  test('or takes no writes is refused like a standby', async () => {
    const address = await server().create()
    const ledger = await (await open(address)).workspace('acme', URL_A)
    await sqlIn(address, `ALTER DATABASE ${nameIn(address)} SET default_transaction_read_only = on`)
    await server().sql('postgres', `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${nameIn(address)}'`)
    // Each dead connection fails once.
    await until(async () =>
      expect((await ledgerErrorOf(() => ledger.savePause(undefined))).message).toContain('the address has to lead to the primary'),
    )
  })

  test('or lacks rights is reported with the rights and the way out', async () => {
    const address = await server().create()
    await server()
      .sql('postgres', 'CREATE ROLE guest LOGIN')
      .catch(() => undefined)
    const asGuest = address.replace('postgres@', 'guest@')
    expect(await ledgerErrorOf(() => open(asGuest))).toMatchObject({
      code: 'LEDGER_UNWRITABLE',
      message: expect.stringContaining('GRANT CREATE ON DATABASE'),
    })
    await sqlIn(address, 'CREATE SCHEMA capkeeper AUTHORIZATION guest')
    const store = await open(asGuest)
    await kept(store.workspace('acme', URL_A), (one) => one.saveFact('verifiedDeclared', 1))
    expect((await store.server?.())?.missingRights).toEqual([])
    await sqlIn(address, 'REVOKE UPDATE ON capkeeper.intent FROM guest; REVOKE DELETE ON capkeeper.fact FROM guest')
    expect((await store.server?.())?.missingRights).toEqual(['DELETE on capkeeper.fact', 'UPDATE on capkeeper.intent'])
  })

  test.skipIf(process.getuid?.() !== 0)(
    'has a full disk (needs root to make a small one): nothing is recorded, and it can be used again once there is room',
    async () => {
      const address = await server().create()
      const disk = smallDisk()
      // A server whose tablespace was taken away ends no checkpoint any more.
      onTestFinished(async () => {
        await server().sql('postgres', `DROP DATABASE ${nameIn(address)} WITH (FORCE)`)
        await server().sql('postgres', 'DROP TABLESPACE small')
      })
      await server().sql('postgres', `CREATE TABLESPACE small LOCATION '${disk}'; `)
      await server().sql('postgres', `ALTER DATABASE ${nameIn(address)} SET TABLESPACE small`)
      const ledger = await (await open(address)).workspace('acme', URL_A)
      const ballast = join(disk, 'ballast')
      execFileSync('sh', ['-c', `cat /dev/zero > ${ballast} || true`], { stdio: 'ignore' })
      const refused = async (): Promise<unknown> => {
        for (let turn = 0; turn < 200; turn += 1)
          await ledger.recordIntent({ ...intentFor(CHANGE), planId: randomBytes(16_000).toString('hex') })
        return undefined
      }
      expect(await ledgerErrorOf(refused)).toMatchObject({
        code: 'LEDGER_FULL',
        message: expect.stringContaining('the disk of the database is full'),
      })
      rmSync(ballast)
      const before = ledger.openIntents().length
      await ledger.recordIntent(intentFor(CHANGE))
      await ledger.load()
      expect(ledger.openIntents()).toHaveLength(before + 1)
    },
  )

  test('has no free connection, and reports that', async () => {
    const address = await server().create()
    await server().sql('postgres', `ALTER DATABASE ${nameIn(address)} CONNECTION LIMIT 0`)
    await server()
      .sql('postgres', 'CREATE ROLE crowd LOGIN')
      .catch(() => undefined)
    expect(await ledgerErrorOf(() => open(address.replace('postgres@', 'crowd@')))).toMatchObject({
      code: 'LEDGER_AWAY',
      message: expect.stringContaining('no connection left'),
    })
  })
})

test.skipIf(!hasPostgres)('a transaction waits for the disk, whatever the default of the server is', async () => {
  const database = openPostgres({ address: await server().create(), env: {}, clock })
  onTestFinished(() => database.close())
  expect(await database.query('SHOW synchronous_commit')).toEqual([{ synchronous_commit: 'off' }])
  expect(await database.transaction((query) => query('SHOW synchronous_commit'))).toEqual([{ synchronous_commit: 'on' }])
})

/** 24 MiB for the server's user, removed with the test. */
function smallDisk(): string {
  const folder = mkdtempSync(join(tmpdir(), 'capkeeper-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=0700', 'tmpfs', folder])
  own(folder)
  onTestFinished(() => {
    execFileSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

/** A server that has just started may still refuse the first connections. */
async function until(act: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    try {
      await act()
      return
    } catch {
      await clock.sleep(100)
    }
  }
  throw new Error('it does not come back')
}
