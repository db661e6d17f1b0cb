// Ledgers for tests: values to record, and second processes that hold a ledger until they are killed.

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { HistoryEntry, Intent, ScopeChange } from '../../src/core/model/change.ts'
import type { OwnedCap } from '../../src/core/model/observed.ts'
import { type Scope, TEAM, userScope } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { type LedgerCode, LedgerError } from '../../src/daemon/ledger/error.ts'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import type { Clock, Ledger } from '../../src/ports.ts'
import { fakeClock } from './clock.ts'
import { entryOf } from './declare.ts'
import { MAIN, start, until } from './process.ts'
import { temporaryFolder } from './temporary.ts'

export const ADA = userScope('ada@example.com')
export const BOB = userScope('bob@example.com')
export { TEAM }

export const ownedCap = (scope: Scope, cap: number | 'none', more: Partial<OwnedCap> = {}): OwnedCap => ({
  scope,
  cap: cap === 'none' ? cap : credits(cap),
  owner: 'policy',
  entry: entryOf('cap', cap),
  verifiedAt: 1_000,
  ...more,
})

export const raise = (scope: Scope, from: number, to: number, more: Partial<ScopeChange> = {}): ScopeChange => ({
  scope,
  action: 'set',
  effect: 'raise',
  from: credits(from),
  to: credits(to),
  cause: 'policy',
  people: 1,
  source: { file: 'acme.yaml', line: 5, column: 14 },
  healing: false,
  grantEnd: false,
  ...more,
})

export const intentFor = (change: ScopeChange, more: Partial<Intent> = {}): Omit<Intent, 'id'> => ({
  at: 1_000,
  planId: '0123456789abcdef',
  change,
  entry: entryOf('cap', change.to),
  digest: 'd1gest',
  revision: 'abc1234',
  ...more,
})

export const historyOf = (change: ScopeChange, at: number, more: Partial<HistoryEntry> = {}): HistoryEntry => {
  const { scope, action, effect, from, to, cause } = change
  return {
    at,
    scope,
    action,
    effect,
    from,
    to,
    cause,
    result: 'applied',
    planId: '0123456789abcdef',
    digest: 'd1gest',
    revision: '',
    ...more,
  }
}

/** A ledger that is closed with the test. */
export async function open(file: string, mode: Parameters<typeof openLedger>[0]['mode'] = 'write', clock: Clock = fakeClock()) {
  const store = await openLedger({ file, mode, clock })
  onTestFinished(() => store.close())
  return store
}

export const newFile = (): string => join(temporaryFolder(), 'capkeeper.db')

/** The LedgerError that `action` throws; another result fails the test. */
export async function ledgerErrorOf(action: () => unknown): Promise<{ readonly code: LedgerCode; readonly message: string }> {
  try {
    await action()
  } catch (error) {
    if (error instanceof LedgerError) return { code: error.code, message: error.message }
    throw error
  }
  throw new Error('nothing was thrown')
}

/** Changes records of a workspace, and waits until they are on the disk. */
export async function kept(ledger: Ledger | Promise<Ledger>, change: (ledger: Ledger) => void): Promise<Ledger> {
  const opened = await ledger
  change(opened)
  await opened.commit()
  return opened
}

const SOURCES = join(import.meta.dirname, '../../src')

/** A part of the program as `program.ts` bundled it, which loads in a third of the time; without vitest its sources. */
export function partOfProgram(name: string, source: string): string {
  const joined = join(dirname(MAIN), `${name}-part.js`)
  return existsSync(joined) ? joined : join(SOURCES, source)
}

/** A second process with the ledger's functions; resolves once it prints `ready`, or has ended. */
export async function helperProcess(script: string) {
  const prelude = `
    import { openLedger } from '${partOfProgram('ledger', 'daemon/ledger/ledger.ts')}'
    import { systemClock as clock } from '${partOfProgram('clock', 'daemon/schedule/system.ts')}'
    const ready = () => console.log('ready')
    const stay = () => setInterval(() => {}, 1 << 30)
  `
  const running = start(['-e', prelude + script], { command: [process.execPath, '--input-type=module'] })
  const exit = running.ended.then(({ code }) => code)
  await Promise.race([until('the helper', () => running.stdout().includes('ready')), exit])
  return {
    /** Its output so far, stderr included. */
    output: () => running.stdout() + running.stderr(),
    /** Kills it without a chance to clean up. */
    async kill() {
      running.signal('SIGKILL')
      await exit
    },
    /** Resolves with its exit code. */
    ended: () => exit,
  }
}
