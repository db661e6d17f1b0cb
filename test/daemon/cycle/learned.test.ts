import { expect, it } from 'vitest'
import { learnedKeeper } from '../../../src/daemon/cycle/learned.ts'
import { LedgerError } from '../../../src/daemon/ledger/error.ts'
import type { LedgerFacts } from '../../../src/ports.ts'
import { fakeClock } from '../../support/clock.ts'

function ledgerThat(isFull: () => boolean) {
  const kept = new Map<string, unknown>()
  return {
    kept,
    fact: <K extends keyof LedgerFacts>(_name: K): LedgerFacts[K] | undefined => undefined,
    saveFact(name: string, value: unknown) {
      if (isFull()) throw new LedgerError('LEDGER_FULL', 'the disk is full')
      kept.set(name, value)
    },
  }
}

it('what was learned costs no cycle while the ledger cannot record it, and is kept once it can', () => {
  let full = true
  const ledger = ledgerThat(() => full)
  const learning = learnedKeeper(ledger, fakeClock())
  learning.pace['default'] = { rate: 7 }
  expect(() => learning.keep()).not.toThrow()
  full = false
  learning.keep()
  expect(ledger.kept.get('pace')).toEqual({ default: { rate: 7 } })
})
