// How reads work where nothing is set can only be observed at people without an explicitly set cap, so a few of them are read.
import type { ServiceReader } from '../../api/client.ts'
import { type Observation, observeReadings } from '../../core/interpret/evidence.ts'
import type { CapReading, Roster } from '../../core/model/observed.ts'
import { type ScopeKey, scopeKey, TEAM, userScope } from '../../core/model/scope.ts'
import type { Ledger } from '../../ports.ts'

/** Enough to include a person without an explicitly set cap in most teams (choice). */
const SAMPLE = 3

/** Reads the team's cap and, when it is set, the caps of a few people for whom we set none. Rejects only when `signal` aborts. */
export async function sampleReads(
  reader: ServiceReader,
  roster: Roster,
  ledger: Ledger | undefined,
  signal: AbortSignal,
): Promise<readonly Observation[]> {
  const team = await reader.readCap(TEAM, signal)
  if (typeof team.observed !== 'number') return []
  const owned = new Set(ledger?.owned().map(({ scope }) => scopeKey(scope)))
  const people = roster.people.filter(({ email, status }) => status === 'approved' && !owned.has(scopeKey(userScope(email))))
  const readings = new Map<ScopeKey, CapReading>([[scopeKey(TEAM), team]])
  for (const { email } of people.slice(0, SAMPLE)) readings.set(scopeKey(userScope(email)), await reader.readCap(userScope(email), signal))
  return observeReadings({}, readings)
}
