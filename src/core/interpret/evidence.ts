// What a deployment's own answers have shown of how it works, where the interface is silent: how it keeps caps, what reads show, what
// becomes of a 0, how the cap is spelt, how errors look. Findings with their evidence; guards count people by whether reads are explicit,
// and nothing else follows from here.
import { isYounger } from '../model/age.ts'
import type { CapReading, GroupMembers } from '../model/observed.ts'
import { groupScope, type ScopeKey, scopeKey, TEAM } from '../model/scope.ts'
import { type Instant, MINUTE_MS } from '../model/units.ts'
import type { People } from './effective.ts'

/** Every question with the answers there are. service-notes.md, section 1. */
export const ASPECT_VALUES = {
  /** Each scope keeps its own value, or a team or group write is copied to each member. */
  caps: ['layered', 'copied'],
  /** A read shows what is set at this very scope, or what applies there. */
  reads: ['explicit', 'inherited'],
  /** A cap of 0 reads back as 0, reads back as unset, or is refused. */
  zero: ['stored', 'omitted', 'rejected'],
  /** The name that answers give the cap. */
  spelling: ['camel', 'snake', 'both'],
  /** An object with one text, one with code and message, plain text, or an error in a success. */
  errors: ['error', 'coded', 'text', 'ok'],
} as const

export type Aspect = keyof typeof ASPECT_VALUES
export type AspectValue<A extends Aspect> = (typeof ASPECT_VALUES)[A][number]

export const ASPECTS: readonly Aspect[] = ['caps', 'reads', 'zero', 'spelling', 'errors']

/** One answer with what proves it: scope, from, to, in words. */
export interface Evidence<Value extends string = string> {
  readonly value: Value
  readonly at: Instant
  readonly evidence: string
}

/** The last answer seen; `before` is the different one that it contradicts. */
export interface LatestEvidence<Value extends string = string> extends Evidence<Value> {
  readonly before?: Evidence<Value>
}

/** Nothing stands for an aspect that was never seen. */
export type ServiceEvidence = { readonly [A in Aspect]?: LatestEvidence<AspectValue<A>> }

/** One answer to one question, as it is observed. */
export type Observation = {
  readonly [A in Aspect]: { readonly aspect: A; readonly value: AspectValue<A>; readonly evidence: string }
}[Aspect]

/** What the client sees in answers, whatever was asked. */
export type WireObservation = Extract<Observation, { readonly aspect: 'spelling' | 'errors' }>

/** What one stale reading could seem to disprove stays until somebody declares otherwise. */
const LASTING: { readonly [A in Aspect]?: AspectValue<A> } = { caps: 'copied', reads: 'inherited' }

/** A deployment that answers now so, now so, is noted that often at most (choice). */
export const FLICKER_MS = 3_600_000

/**
 * Adds a observation. The same object comes back when it is no news: the value is known already, or it only flickers between two that both are.
 */
export function addObservation(seen: ServiceEvidence, { aspect, value, evidence }: Observation, at: Instant): ServiceEvidence {
  const known: LatestEvidence | undefined = seen[aspect]
  if (known && (known.value === value || known.value === LASTING[aspect])) return seen
  if (known?.before?.value === value && isYounger(known.at, at, FLICKER_MS)) return seen
  const before = known && { value: known.value, at: known.at, evidence: known.evidence }
  return { ...seen, [aspect]: { value, at, evidence, ...(before && { before }) } }
}

/** Who was listed in a group that shortly before a reading counts as in it by then: of an older list somebody may have gone (choice). */
export const LISTED_MS = 15 * MINUTE_MS

/** The groups that a person was in at a time, as far as anything may be proved by it. */
export type GroupsAt = (key: ScopeKey, at: Instant) => readonly ScopeKey[]

export function groupsListed({ byKey }: Pick<People, 'byKey'>, groups: readonly GroupMembers[]): GroupsAt {
  const listedAt = new Map(groups.map(({ id, readAt }) => [scopeKey(groupScope(id)), readAt]))
  const isListed = (group: ScopeKey, at: Instant): boolean => {
    const listed = listedAt.get(group)
    return listed !== undefined && isYounger(listed, at, LISTED_MS)
  }
  return (key, at) => byKey.get(key)?.groups.filter((group) => isListed(group, at)) ?? []
}

/**
 * What the readings of a sweep tell that is not known yet: a person or group with nothing set, read after an ancestor that has a cap,
 * shows that reads are explicit; a 0 shows that 0 is stored.
 */
export function observeReadings(
  seen: ServiceEvidence,
  readings: ReadonlyMap<ScopeKey, CapReading>,
  mayBeZero: (key: ScopeKey) => boolean = () => false,
  groupsAt: GroupsAt = () => [],
): readonly Observation[] {
  if (seen.reads?.value === 'explicit' && seen.zero?.value === 'stored') return []
  const team = readings.get(scopeKey(TEAM))
  const observations = new Map<Aspect, Observation>()
  for (const reading of readings.values()) {
    const key = scopeKey(reading.scope)
    if (reading.observed === 0) observations.set('zero', { aspect: 'zero', value: 'stored', evidence: `${key} reads 0` })
    const above = [...groupsAt(key, reading.readAt).map((group) => readings.get(group)), team].find((one) => isExplicit(reading, one))
    if (above && !mayBeZero(key)) {
      const name = above.scope.kind === 'team' ? 'the team' : scopeKey(above.scope)
      const evidence = `${key} reads unset while ${name} has ${above.observed}`
      observations.set('reads', { aspect: 'reads', value: 'explicit', evidence })
    }
    if (observations.size === 2) break
  }
  return [...observations.values()]
}

/** Two readings as close as that show the same moment (choice). */
const SAME_MOMENT_MS = MINUTE_MS

/** A reading older than the ancestor's may be from a time when the ancestor had nothing either, and a much newer one, too. */
const isExplicit = (reading: CapReading, above: CapReading | undefined): boolean =>
  reading.observed === 'none' &&
  typeof above?.observed === 'number' &&
  above.observed > 0 &&
  reading.readAt >= above.readAt &&
  reading.readAt - above.readAt <= SAME_MOMENT_MS
