// The statements of records in PostgreSQL: one statement is one transaction, and a load without foreign changes needs one as well.
import { Client } from 'pg'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { scopeKey, userScope } from '../../../src/core/model/scope.ts'
import { openLedger } from '../../../src/daemon/ledger/ledger.ts'
import { ADA, BOB, historyOf, intentFor, ledgerErrorOf, ownedCap, raise } from '../../support/ledger.ts'
import { hasPostgres, postgresForFile } from '../../support/postgres.ts'
import { realClock } from '../../support/real-clock.ts'

const server = postgresForFile({ synchronous_commit: 'off', wal_writer_delay: '10s' })
const CHANGE = raise(ADA, 1, 2)
const counted = () => vi.spyOn(Client.prototype, 'query')
afterEach(() => vi.restoreAllMocks())

async function openAcme(fence?: () => { readonly replica: string; readonly token: number } | undefined) {
  const store = await openLedger({ file: await server().create(), mode: 'write', clock: realClock(), ...(fence && { fence }) })
  onTestFinished(() => store.close())
  return { store, ledger: await store.workspace('acme', 'https://a.example/api/v1') }
}

describe.skipIf(!hasPostgres)('in PostgreSQL', () => {
  test('an intent, an outcome, a commit, and a load without foreign changes take one statement each', async () => {
    const { ledger } = await openAcme()
    const statements = counted()
    const count = async (action: () => Promise<unknown>): Promise<number> => {
      statements.mockClear()
      await action()
      return statements.mock.calls.length
    }
    ledger.saveFact('verifiedDeclared', 3)
    ledger.saveOwned([ownedCap(BOB, 5)])
    ledger.releaseOwned([scopeKey(userScope('carol@example.com'))])
    const opened = ledger.recordIntent.bind(undefined, intentFor(CHANGE))
    expect(await count(opened)).toBe(1)
    const [intent] = ledger.openIntents()
    if (!intent) throw new Error('the intent is open')
    ledger.saveFact('verifiedDeclared', 4)
    expect(await count(() => ledger.recordOutcome(intent, historyOf(CHANGE, 1), ownedCap(ADA, 2)))).toBe(1)
    ledger.saveFact('verifiedDeclared', 5)
    expect(await count(() => ledger.commit())).toBe(1)
    expect(await count(() => ledger.load())).toBe(1)
    expect([ledger.fact('verifiedDeclared'), ledger.owned()]).toEqual([5, expect.arrayContaining([ownedCap(BOB, 5), ownedCap(ADA, 2)])])
  })

  test('a record is on the disk when it is answered, whatever the default of the server is', async () => {
    const { store, ledger } = await openAcme()
    const database = store.file.split('/').at(-1) ?? ''
    const areFlushed = async (write: () => Promise<unknown>): Promise<number> => {
      let flushed = 0
      for (let round = 0; round < 5; round += 1) {
        await write()
        const [row] = await server().sql(database, 'SELECT pg_current_wal_flush_lsn() = pg_current_wal_insert_lsn() AS yes')
        if (row?.['yes'] === true) flushed += 1
      }
      return flushed
    }
    // The server itself may flush once in between; without our setting no record is flushed.
    expect(await areFlushed(() => server().sql(database, 'UPDATE capkeeper.binding SET version = version'))).toBeLessThan(2)
    expect(await areFlushed(() => ledger.recordIntent(intentFor(CHANGE)))).toBeGreaterThan(3)
  })

  test('two changes of one row are recorded in their order, as a transaction', async () => {
    const { store, ledger } = await openAcme()
    const intent = await ledger.recordIntent(intentFor(CHANGE))
    ledger.saveOwned([ownedCap(ADA, 1)])
    await ledger.recordOutcome(intent, undefined, 'released')
    expect((await store.workspace('acme', undefined)).owned()).toEqual([])
  })

  test('a record under an old token is refused as a whole', async () => {
    let token = 0
    const { store, ledger } = await openAcme(() => ({ replica: 'a', token }))
    const beat = { replica: { id: 'a', name: 'a' }, lastsMs: 60_000, renew: [], release: [], refuses: [], spreads: true }
    const taken = await store.leases?.beat({ ...beat, take: [{ workspace: 'acme', config: '' }] })
    token = taken?.taken.get('acme')?.token ?? 0
    await ledger.recordIntent(intentFor(CHANGE))
    token -= 1
    ledger.saveFact('verifiedDeclared', 9)
    expect((await ledgerErrorOf(() => ledger.recordIntent(intentFor(CHANGE)))).code).toBe('LEDGER_FENCED')
    await ledger.load()
    expect([ledger.openIntents().length, ledger.fact('verifiedDeclared')]).toEqual([1, undefined])
  })
})
