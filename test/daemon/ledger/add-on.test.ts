// Add-on use in the ledger: days are replaced as they are read again, sums are exact to the cent, and old ones are deleted.
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import type { AddOnAsked } from '../../../src/core/use/burn.ts'
import { openLedger } from '../../../src/daemon/ledger/ledger.ts'
import { fakeClock } from '../../support/clock.ts'
import { DAY } from '../../support/declare.ts'
import { temporaryFolder } from '../../support/ledger.ts'
import { addOnContract } from './contract-add-on.ts'

const ASKED: AddOnAsked = { fromAt: 0, throughAt: 0, readAt: 1, wideAt: 1, hasRows: true, emptyDays: 0, isWhole: false }
const ALWAYS = { fromAt: 0, untilAt: 1_000 * DAY }
const ada = (day: number, addOn: number) => ({
  ...{ dayAt: day * DAY, email: 'ada@example.com', model: 'MODEL_A' },
  ...{ used: credits(addOn * 2), addOn: credits(addOn) },
})

async function opened(file = ':memory:') {
  const store = await openLedger({ file, mode: 'write', clock: fakeClock() })
  onTestFinished(() => store.close())
  return { store, ledger: await store.workspace('acme', 'http://a') }
}

addOnContract('memory', () => ':memory:', 40)

test('one workspace knows nothing of another', async () => {
  const { store, ledger } = await opened()
  await ledger.saveAddOnUse({ ...ALWAYS, rows: [ada(3, 5)], asked: ASKED })
  expect(await (await store.workspace('other', 'http://a')).addOnUse(ALWAYS)).toEqual([])
})

test('a batch that cannot be recorded changes nothing of what is there', async () => {
  const { ledger } = await opened()
  await ledger.saveAddOnUse({ ...ALWAYS, rows: [ada(3, 5)], asked: ASKED })
  await expect(ledger.saveAddOnUse({ ...ALWAYS, rows: [ada(4, 1), ada(4, 2)], asked: { ...ASKED, readAt: 9 } })).rejects.toThrow()
  expect(await ledger.addOnUse(ALWAYS)).toEqual([ada(3, 5)])
  expect(ledger.fact('addOnAsked')).toEqual(ASKED)
})

test('is kept for 400 days, with the people it is of', async () => {
  const { store, ledger } = await opened()
  await ledger.saveAddOnUse({ ...ALWAYS, rows: [ada(100, 5), { ...ada(101, 7), email: 'bob@example.com' }], asked: ASKED })
  await store.prune((101 + 400) * DAY)
  expect(await ledger.addOnUse(ALWAYS)).toEqual([{ ...ada(101, 7), email: 'bob@example.com' }])
})

test('is there after the ledger was closed and opened again', async () => {
  const file = join(temporaryFolder(), 'capkeeper.db')
  const first = await openLedger({ file, mode: 'write', clock: fakeClock() })
  await (await first.workspace('acme', 'http://a')).saveAddOnUse({ ...ALWAYS, rows: [ada(3, 5)], asked: ASKED })
  await first.close()
  expect([...(await (await opened(file)).ledger.addOnSums(ALWAYS))]).toEqual([['ada@example.com', { used: 10, addOn: 5 }]])
})
