// Parts of a keeper of leases for tests about something else: an empty table, and hooks that do nothing.
import { onTestFinished } from 'vitest'
import type { FencedLeases, LeaseHooks } from '../../src/daemon/replicas/leases.ts'
import type { LeaseTable } from '../../src/ports.ts'

export const QUIET_TABLE: Omit<LeaseTable, 'beat'> = {
  configured: async () => undefined,
  hasFree: async () => false,
  followed: async (_, policies) => policies,
  readopt: async () => false,
  saveShown: async () => undefined,
  shownSince: async () => ({ mark: '', documents: new Map() }),
  leave: async () => undefined,
  common: async (_, make) => make(),
}

export const QUIET_HOOKS: LeaseHooks = {
  taken: async () => undefined,
  ending: async () => undefined,
  failed: () => undefined,
  beaten: () => undefined,
  policiesSettled: () => undefined,
  document: () => undefined,
  seen: () => undefined,
  lastGood: () => undefined,
}

/** Stops the keeper after the test. */
export function stoppedAfter(keeper: Pick<FencedLeases, 'stop'>, clock: { advance(ms: number): Promise<void> }): void {
  onTestFinished(async () => {
    const stopped = keeper.stop()
    await clock.advance(1_000)
    await stopped
  })
}
