// A ledger made of plain maps.
import type { Approval, HistoryEntry, Intent, Pause, Quarantined } from '../../../src/core/model/change.ts'
import type { LedgerFacts } from '../../../src/core/model/facts.ts'
import type { OwnedCap } from '../../../src/core/model/observed.ts'
import { type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import type { HistoryFilter, Ledger } from '../../../src/ports.ts'
import { modelAddOn } from '../../support/add-on.ts'
import { modelUse } from '../../support/use-model.ts'

const byKey = <T>(rows: ReadonlyMap<string, T>): readonly T[] => [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)

/** The entries that the filter selects, newest first. */
const historyOf = (history: readonly HistoryEntry[], filter: HistoryFilter = {}): readonly HistoryEntry[] => {
  const { scope, sinceAt = Number.NEGATIVE_INFINITY, untilAt = Number.POSITIVE_INFINITY, limit = Number.POSITIVE_INFINITY } = filter
  return history
    .filter((entry) => entry.at >= sinceAt && entry.at <= untilAt && (!scope || scopeKey(scope) === scopeKey(entry.scope)))
    .sort((a, b) => b.at - a.at)
    .slice(0, limit)
}

/** A ledger in memory. */
export function modelLedger(): Ledger {
  const owned = new Map<ScopeKey, OwnedCap>()
  const intents = new Map<number, Intent>()
  const history: HistoryEntry[] = []
  const approvals = new Map<string, Approval>()
  const quarantine = new Map<ScopeKey, Quarantined>()
  const facts = new Map<string, unknown>()
  let paused: Pause | undefined
  let lastId = 0
  const use = modelUse((name, value) => void facts.set(name, value))
  const addOn = modelAddOn((name, value) => void facts.set(name, value))
  return {
    owned: () => byKey(owned),
    saveOwned: (caps) => caps.forEach((one) => void owned.set(scopeKey(one.scope), one)),
    releaseOwned: (keys) => keys.forEach((key) => void owned.delete(key)),
    openIntents: () => [...intents.values()],
    load: async () => undefined,
    commit: async () => undefined,
    writtenLately: (scope, sinceAt) => history.filter((entry) => entry.at >= sinceAt && scopeKey(scope) === scopeKey(entry.scope)),
    ancestorWrites: (sinceAt) => history.filter((entry) => entry.at >= sinceAt && entry.scope.kind !== 'user'),
    async recordIntent(intent) {
      lastId += 1
      const recorded = { ...intent, id: lastId }
      intents.set(lastId, recorded)
      return recorded
    },
    async recordOutcome(intent, entry, ownership) {
      intents.delete(intent.id)
      if (entry) history.unshift(entry)
      if (ownership === 'released') owned.delete(scopeKey(intent.change.scope))
      else if (ownership !== 'kept') owned.set(scopeKey(ownership.scope), ownership)
    },
    history: async (filter) => historyOf(history, filter),
    approvals: () => byKey(approvals),
    saveApproval: (approval) => void approvals.set(approval.id, approval),
    quarantined: () => byKey(quarantine),
    saveQuarantined: (entry) => void quarantine.set(scopeKey(entry.scope), entry),
    releaseQuarantined: (keys) => keys.forEach((key) => void quarantine.delete(key)),
    pause: async (now) => (paused && paused.untilAt > now ? paused : undefined),
    savePause: async (saved) => {
      paused = saved
    },
    forget: async () => undefined,
    fact: <K extends keyof LedgerFacts>(name: K) => facts.get(name) as LedgerFacts[K] | undefined,
    saveFact: (name, value) => (value === undefined ? void facts.delete(name) : void facts.set(name, value)),
    ...use,
    ...addOn,
    firstDay: (of) => (of === 'measured' ? addOn : use).firstDay(of),
    useByDay: (range, source) => (source === 'measured' ? addOn : use).useByDay(range, source),
  }
}
