// Establishes before the first write whether a read shows only what is set at its scope: a person with nothing set beneath a set team or
// group cap tells, and is looked for among a few whom nobody manages (product.md, section 6, Service model).
import { readingSightings } from '../../core/interpret/seen.ts'
import { serviceModel } from '../../core/interpret/service-model.ts'
import { type ScopeKey, scopeKey, userScope } from '../../core/model/scope.ts'
import type { Workspace } from '../workspace.ts'
import { sweep } from './read.ts'
import { noteSeen, seenIn } from './seen.ts'
import type { Knowledge, Outlook } from './state.ts'

/** So many people are read for it at most. */
export const MOST_PROBED = 5

/** Reads a few people while it is open how reads work, and notes what they show. */
export async function probeReads(workspace: Workspace, knowledge: Knowledge, view: Outlook, stop?: AbortSignal): Promise<void> {
  const { ledger, clock, client, config } = workspace
  if (config.capSemantics === 'copied' || serviceModel(config, seenIn(ledger)).reads !== 'open' || !isNeeded(view, knowledge)) return
  const managed = new Set(view.toRead.map(scopeKey))
  const { readings } = knowledge
  const isBeneathCap = (groups: readonly ScopeKey[]): boolean =>
    ['team' as ScopeKey, ...groups].some((key) => isSet(readings.get(key)?.observed))
  const scopes = view.people.approved
    .filter(({ key, groups }) => !managed.has(key) && isBeneathCap(groups))
    .slice(0, MOST_PROBED)
    .map(({ email }) => userScope(email))
  const probed = new Map([...readings].filter(([, { scope }]) => scope.kind !== 'user'))
  await sweep({ client, scopes, concurrency: config.rate.concurrency, readings: probed, urgent: true, ...(stop && { signal: stop }) })
  noteSeen(ledger, readingSightings(seenIn(ledger), probed), clock)
}

const isSet = (observed: unknown): boolean => typeof observed === 'number' && observed > 0

/** Only where something shown may be inherited does it matter. */
const isNeeded = ({ toRead, slots }: Outlook, { readings }: Knowledge): boolean =>
  toRead.some(
    (scope) => scope.kind !== 'team' && readings.get(scopeKey(scope))?.observed !== 'none' && slots.mayBeInherited(scopeKey(scope)),
  )
