// A ledger that can lose power between any two writes, and whose disk can be full. What was committed before stays, as with the real file;
// a process without power records nothing more and is never heard of again.
import { LedgerError } from '../../src/daemon/ledger/error.ts'
import type { Ledger } from '../../src/ports.ts'

const WRITES: ReadonlySet<string> = new Set<keyof Ledger>([
  'saveOwned',
  'releaseOwned',
  'recordIntent',
  'recordOutcome',
  'saveApproval',
  'saveQuarantined',
  'releaseQuarantined',
  'savePause',
  'saveFact',
])

export const FULL_DISK = 'the disk of the simulation is full'

/** Thrown out of a ledger whose process has no power any more. What still runs of it takes it for a disk that fails, and falls asleep for ever. */
const powerLost = (): LedgerError => new LedgerError('LEDGER_UNWRITABLE', 'power lost')

export interface LedgerFate {
  isAlive(): boolean
  isFull(): boolean
  /** Asked before and after every write; true kills the process there. */
  diesNow(when: 'before' | 'after'): boolean
  onRecorded(method: keyof Ledger, values: readonly unknown[]): void
}

export function fragileLedger(real: Ledger, fate: LedgerFate): Ledger {
  const alive = (): void => {
    if (!fate.isAlive()) throw powerLost()
  }
  return new Proxy(real, {
    get(target, name, receiver) {
      const method: unknown = Reflect.get(target, name, receiver)
      if (typeof method !== 'function' || typeof name !== 'string') return method
      return (...values: unknown[]): unknown => {
        alive()
        if (!WRITES.has(name)) return method.apply(target, values)
        if (fate.isFull()) throw new LedgerError('LEDGER_FULL', FULL_DISK)
        if (fate.diesNow('before')) alive()
        const result: unknown = method.apply(target, values)
        fate.onRecorded(methodName(name), [...values, result])
        if (fate.diesNow('after')) alive()
        return result
      }
    },
  })
}

const methodName = (name: string): keyof Ledger => name as keyof Ledger
