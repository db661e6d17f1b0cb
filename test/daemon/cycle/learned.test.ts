import { expect, it } from 'vitest'
import { learnedKeeper } from '../../../src/daemon/cycle/dependencies.ts'
import { LedgerError } from '../../../src/daemon/ledger/error.ts'
import type { LedgerFacts } from '../../../src/ports.ts'
import { fakeClock } from '../../support/clock.ts'

function ledgerThat(isFull: () => boolean) {
  const waiting = new Map<string, unknown>()
  const kept = new Map<string, unknown>()
  return {
    kept,
    fact: <K extends keyof LedgerFacts>(_name: K): LedgerFacts[K] | undefined => undefined,
    saveFact: (name: string, value: unknown) => void waiting.set(name, value),
    async commit() {
      if (isFull()) throw new LedgerError('LEDGER_FULL', 'the disk is full')
      for (const [name, value] of waiting) kept.set(name, value)
    },
  }
}

it('what the client learned fails no cycle while the ledger cannot record it, and is recorded once it can', async () => {
  let full = true
  const ledger = ledgerThat(() => full)
  const learning = learnedKeeper(ledger, fakeClock())
  learning.pace['default'] = { rate: 7 }
  await expect(learning.keep()).resolves.toBeUndefined()
  full = false
  await learning.keep()
  expect(ledger.kept.get('pace')).toEqual({ default: { rate: 7 } })
})
