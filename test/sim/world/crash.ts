// A ledger that can lose power between any two transactions, and whose disk can be full. Committed data remains, as with the real file; a
// process without power records nothing more and has no effect.
import type { RowChange } from '../../../src/daemon/ledger/adapter.ts'
import { LedgerError } from '../../../src/daemon/ledger/error.ts'
import type { WorkspaceRows } from '../../../src/daemon/ledger/sql/bindings.ts'
import type { Ledger } from '../../../src/ports.ts'

export const FULL_DISK = 'the disk of the simulation is full'

/** Thrown by a ledger without power. Code that still runs takes it for a failing disk, and then sleeps for ever. */
const powerLost = (): LedgerError => new LedgerError('LEDGER_UNWRITABLE', 'power lost')

interface LedgerFate {
  isAlive(): boolean
  isFull(): boolean
  /** Called before and after every transaction; true kills the process there. */
  diesNow(when: 'before' | 'after'): boolean
  /** One change that is on the disk now, named as in the port. */
  onRecorded(method: keyof Ledger, values: readonly unknown[]): void
}

/** The same methods, each inside `around`. */
export const within = <T extends object>(methods: T, around: <R>(act: () => Promise<R>) => Promise<R>): T =>
  // Object.fromEntries loses the types of the methods.
  Object.fromEntries(Object.entries(methods).map(([name, act]) => [name, (...inputs: unknown[]) => around(() => act(...inputs))])) as T

export function fragileRows(real: WorkspaceRows, fate: LedgerFate): WorkspaceRows {
  const open = new Map<number, object>()
  const alive = (): void => {
    if (!fate.isAlive()) throw powerLost()
  }
  const reading = async <T>(read: () => Promise<T>): Promise<T> => {
    alive()
    return read()
  }
  return {
    name: real.name,
    isCurrent: () => reading(() => real.isCurrent()),
    async read(latelySince) {
      const snapshot = await reading(() => real.read(latelySince))
      for (const { id, data } of snapshot.intents) open.set(id, asIntent(String(data), id))
      return snapshot
    },
    async write(changes) {
      alive()
      if (fate.isFull()) throw new LedgerError('LEDGER_FULL', FULL_DISK)
      if (fate.diesNow('before')) alive()
      const id = await real.write(changes)
      for (const change of changes) {
        if (change.kind === 'open' && id !== undefined) open.set(id, asIntent(change.data, id))
        const told = asCall(change, open, id, changes)
        if (told) fate.onRecorded(...told)
      }
      if (fate.diesNow('after')) alive()
      return id
    },
    history: (filter) => reading(() => real.history(filter)),
    pause: () => reading(() => real.pause()),
    knownDays: (email) => reading(() => real.knownDays(email)),
    use: within(real.use, reading),
  }
}

const asIntent = (data: string, id: number): object => ({ ...JSON.parse(data), id })

type Told = readonly [method: keyof Ledger, values: readonly unknown[]]

/** How the rows of each table are put and dropped. */
const PUTS = { owned: 'saveOwned', approval: 'saveApproval', quarantine: 'saveQuarantined', fact: 'saveFact' } as const
const DROPS = { owned: 'releaseOwned', approval: 'saveApproval', quarantine: 'releaseQuarantined', fact: 'saveFact' } as const

function asCall(change: RowChange, open: Map<number, object>, id: number | undefined, all: readonly RowChange[]): Told | undefined {
  switch (change.kind) {
    case 'put': {
      const value: unknown = JSON.parse(change.data)
      return [PUTS[change.table], change.table === 'fact' ? [change.key, value] : [value]]
    }
    case 'drop':
      return [DROPS[change.table], [change.key]]
    case 'open':
      return ['recordIntent', [id === undefined ? undefined : open.get(id)]]
    case 'close': {
      const entry = all.find((one) => one.kind === 'append')
      const intent = open.get(change.id)
      open.delete(change.id)
      return ['recordOutcome', [intent, entry?.kind === 'append' ? JSON.parse(entry.data) : undefined]]
    }
    case 'pause':
      return ['savePause', [change.data]]
    case 'append':
    case 'runs':
    case 'addOn':
    case 'burn':
      return undefined
  }
}
