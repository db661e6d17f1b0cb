import { expect, test } from 'vitest'
import { openLedger } from '../../../src/daemon/ledger/ledger.ts'
import { realClock } from '../../support/real-clock.ts'
import { postgresForFile } from '../../support/postgres.ts'
import { ADA, historyOf, intentFor, ownedCap, raise } from '../../support/ledger.ts'

const server = postgresForFile()
test('try', async () => {
  const address = await server().create()
  const store = await openLedger({ file: address, mode: 'write', clock: realClock() })
  const ledger = await store.workspace('acme', 'https://a')
  const change = raise(ADA, 1, 2)
  ledger.saveOwned([ownedCap(ADA, 1)])
  const t = performance.now()
  for (let n = 0; n < 50; n += 1) await ledger.recordOutcome(await ledger.recordIntent(intentFor(change)), historyOf(change, n), ownedCap(ADA, 2))
  console.log('per pair ms', (performance.now() - t) / 50)
  await ledger.load()
  expect(ledger.owned()).toHaveLength(1)
  expect(await ledger.history()).toHaveLength(50)
  console.log(await store.check(), await store.server?.())
  await store.close()
})
