// How a deployment was observed to work where the interface is silent: how it keeps caps, what reads show, what becomes of a 0, how the cap
// is spelt, how errors look. Each observation keeps its evidence. The service model follows from it: one value for the workspace, declared or
// established by evidence, and never guessed scope by scope (docs/operations.md).

import type { ScopeChange } from '../model/change.ts'
import type { CapReading, GroupMembers, Observed } from '../model/observed.ts'
import { groupScope, type ScopeKey, scopeKey, TEAM } from '../model/scope.ts'
import { instant, type Of, oneOf, optional, shape, text } from '../model/shape.ts'
import { HOUR_MS, type Instant, isYounger, MINUTE_MS } from '../model/units.ts'
import type { People } from './effective.ts'

/** The last observed value with its proof in words: scope, from, to. `before` is the earlier one that it contradicts. */
function seenAs<const Value extends string>(...values: readonly Value[]) {
  const evidence = { value: oneOf(values), at: instant, evidence: text }
  return optional(shape({ ...evidence, before: optional(shape(evidence)) }))
}

/** Every aspect with its possible values. docs/service.md. */
const ASPECT_SHAPES = {
  /** Each scope keeps its own value, or a team or group write is copied to each member. */
  caps: seenAs('layered', 'copied'),
  /** A read shows what is set at this very scope, or what applies there. */
  reads: seenAs('explicit', 'inherited'),
  /** A cap of 0 reads back as 0, reads back as unset, or is refused. */
  zero: seenAs('stored', 'omitted', 'rejected'),
  /** The name that answers give the cap. */
  spelling: seenAs('camel', 'snake', 'both'),
  /** An object with one text, one with code and message, plain text, or an error in a success. */
  errors: seenAs('error', 'coded', 'text', 'ok'),
}

/** An aspect that was never observed is absent. */
export const SERVICE_EVIDENCE = shape(ASPECT_SHAPES)
export type ServiceEvidence = Of<typeof SERVICE_EVIDENCE>

export type Aspect = keyof ServiceEvidence
export const ASPECTS = Object.keys(ASPECT_SHAPES) as readonly Aspect[]

/** Of any aspect. */
export type Evidence = NonNullable<ServiceEvidence[Aspect]>
export type AspectValue<A extends Aspect> = NonNullable<ServiceEvidence[A]>['value']

export type Observation = {
  readonly [A in Aspect]: { readonly aspect: A; readonly value: AspectValue<A>; readonly evidence: string }
}[Aspect]

/** Observations that the client makes on any answer. */
export type WireObservation = Extract<Observation, { readonly aspect: 'spelling' | 'errors' }>

/** Values that a stale reading could seem to disprove: they stay until the settings declare otherwise. */
const LASTING: { readonly [A in Aspect]?: AspectValue<A> } = { caps: 'copied', reads: 'inherited' }

/** A value that alternates between two is recorded once in this time at most (choice). */
const FLICKER_MS = HOUR_MS

/** Adds an observation. Returns the same object when its value is known already, or alternates between two known ones. */
export function addObservation(seen: ServiceEvidence, { aspect, value, evidence }: Observation, at: Instant): ServiceEvidence {
  const known: Evidence | undefined = seen[aspect]
  if (known && (known.value === value || known.value === LASTING[aspect])) return seen
  if (known?.before?.value === value && isYounger(known.at, at, FLICKER_MS)) return seen
  const before = known && { value: known.value, at: known.at, evidence: known.evidence }
  return { ...seen, [aspect]: { value, at, evidence, before } }
}

/** A group list proves membership at the time of a reading if it is at most this much older: people may have left since (choice). */
const LISTED_MS = 15 * MINUTE_MS

const NEVER: Instant = Number.POSITIVE_INFINITY

/** The groups that a person was provably in at a time. */
type GroupsAt = (key: ScopeKey, at: Instant) => readonly ScopeKey[]

export function groupsListed({ byKey }: Pick<People, 'byKey'>, groups: readonly GroupMembers[]): GroupsAt {
  const listedAt = new Map(groups.map(({ id, readAt }) => [scopeKey(groupScope(id)), readAt]))
  const isListed = (group: ScopeKey, at: Instant): boolean => isYounger(listedAt.get(group) ?? NEVER, at, LISTED_MS)
  return (key, at) => byKey.get(key)?.groups.filter((group) => isListed(group, at)) ?? []
}

/**
 * What the readings of a sweep prove. A person or group that reads unset shortly after an ancestor read a cap proves that reads are
 * explicit. A 0 proves that 0 is stored.
 */
export function observeReadings(
  seen: ServiceEvidence,
  readings: ReadonlyMap<ScopeKey, CapReading>,
  mayBeZero: (key: ScopeKey) => boolean = () => false,
  groupsAt: GroupsAt = () => [],
): readonly Observation[] {
  if (seen.reads?.value === 'explicit' && seen.zero?.value === 'stored') return []
  const team = readings.get(scopeKey(TEAM))
  const found = new Map<Aspect, Observation>()
  for (const reading of readings.values()) {
    const key = scopeKey(reading.scope)
    if (reading.observed === 0) found.set('zero', { aspect: 'zero', value: 'stored', evidence: `${key} reads 0` })
    const ancestor = [...groupsAt(key, reading.readAt).map((group) => readings.get(group)), team].find((one) => isExplicit(reading, one))
    if (ancestor && !mayBeZero(key)) {
      const name = ancestor.scope.kind === 'team' ? 'the team' : scopeKey(ancestor.scope)
      const evidence = `${key} reads unset while ${name} has ${ancestor.observed}`
      found.set('reads', { aspect: 'reads', value: 'explicit', evidence })
    }
    if (found.size === 2) break
  }
  return [...found.values()]
}

/** Two readings this close together show the same moment (choice). */
const SAME_MOMENT_MS = MINUTE_MS

/** Before the ancestor's reading, or long after it, the ancestor may have had no cap either. */
const isExplicit = (reading: CapReading, ancestor: CapReading | undefined): boolean =>
  reading.observed === 'none' &&
  typeof ancestor?.observed === 'number' &&
  ancestor.observed > 0 &&
  reading.readAt >= ancestor.readAt &&
  reading.readAt - ancestor.readAt <= SAME_MOMENT_MS

interface DeclaredModel {
  readonly capSemantics: 'layered' | 'copied'
  /** `auto`: established by evidence. */
  readonly capReads?: 'auto' | 'explicit' | 'inherited'
}

export interface ServiceModel {
  /** As declared: each scope keeps its own cap, or a team or group write overwrites each member's. */
  readonly layers: 'layered' | 'copied'
  /** The evidence that caps are copied, whatever is declared. */
  readonly copying?: string
  /** A descendant's cap was observed to survive a team or group write. */
  readonly layersProven: boolean
  /** Whether a read shows what is set at this very scope, or what applies there. `open`: a write must be safe under both. */
  readonly reads: 'explicit' | 'inherited' | 'open'
  readonly zero: AspectValue<'zero'> | 'open'
}

export function serviceModel({ capSemantics, capReads = 'auto' }: DeclaredModel, evidence: ServiceEvidence): ServiceModel {
  const copying = evidence.caps?.value === 'copied' ? evidence.caps.evidence : undefined
  return {
    layers: capSemantics,
    copying,
    layersProven: evidence.caps?.value === 'layered',
    reads: capReads === 'auto' ? establishedReads(evidence) : capReads,
    zero: evidence.zero?.value ?? 'open',
  }
}

/** Where a 0 reads as unset, a scope that reads unset does not prove that reads are explicit. */
function establishedReads({ reads, zero }: ServiceEvidence): ServiceModel['reads'] {
  if (reads?.value === 'inherited') return 'inherited'
  return reads?.value === 'explicit' && zero?.value !== 'omitted' ? 'explicit' : 'open'
}

// What the descendants of a team or group show after a write to it proves how the deployment treats caps: it copied the cap to them, kept
// their own, or shows the inherited one.

type AncestorChange = Pick<ScopeChange, 'scope' | 'from' | 'to'>

/** Up to so many descendants of a written scope are read to observe the effect. */
const MOST_SAMPLED = 5

/**
 * What one descendant proves by its readings before and after a write to the ancestor; nothing when they allow several explanations. Caps
 * are copied to people: a group that keeps its own cap under the team proves nothing about them.
 */
export function observeDescendant(
  ancestor: AncestorChange,
  before: CapReading,
  after: CapReading,
  model: ServiceModel,
): Observation | undefined {
  const key = scopeKey(after.scope)
  const wrote = `after ${scopeKey(ancestor.scope)} was written (${ancestor.from} to ${ancestor.to}), ${key}`
  const [was, is] = [before.observed, after.observed]
  if (isOwn(was, ancestor) && is === ancestor.to)
    return { aspect: 'caps', value: 'copied', evidence: `${wrote} changed from ${was} to ${is} without a write of its own` }
  const isPerson = after.scope.kind === 'user'
  if (isPerson && isOwn(was, ancestor) && is === was) return { aspect: 'caps', value: 'layered', evidence: `${wrote} kept its ${was}` }
  if (typeof ancestor.to === 'number' && was === ancestor.from && is === ancestor.to && ancestor.from !== ancestor.to)
    return { aspect: 'reads', value: 'inherited', evidence: `${wrote} reads ${is} as well` }
  if (was === 'none' && is === 'none' && typeof ancestor.to === 'number' && ancestor.to > 0) {
    const evidence = `${wrote} still reads unset`
    if (model.reads !== 'explicit') return { aspect: 'reads', value: 'explicit', evidence }
    return isPerson ? { aspect: 'caps', value: 'layered', evidence } : undefined
  }
  return undefined
}

/** Whether the scope showed a number of its own: neither the ancestor's old cap nor its new one. */
const isOwn = (was: Observed, { from, to }: AncestorChange): boolean => typeof was === 'number' && was !== from && was !== to

/** Whether a write to the ancestor may have changed what this scope shows. */
export function mayHaveMoved(ancestor: AncestorChange, before: Observed | undefined, model: ServiceModel): boolean {
  if (!model.layersProven) return true
  if (model.reads === 'explicit') return false
  return before === 'none' || before === ancestor.from || before === ancestor.to
}

/** The descendants that can prove most: those with numbers of their own and, where reads are open, those with nothing set or the old cap. */
export function sampleDescendants(
  ancestor: AncestorChange,
  descendants: readonly CapReading[],
  model: ServiceModel,
): readonly CapReading[] {
  const own = peopleFirst(descendants.filter(({ observed }) => isOwn(observed, ancestor)))
  const unset = peopleFirst(descendants.filter(({ observed }) => observed === 'none'))
  // Where reads show what applies nobody has nothing set, and whoever shows the old cap follows the write.
  const isOpen = model.reads === 'open' && own.length > 0 && ancestor.from !== 'none'
  const equal = isOpen ? peopleFirst(descendants.filter(({ observed }) => observed === ancestor.from)) : []
  const needsUnset = model.reads !== 'explicit' || own[0]?.scope.kind !== 'user'
  const sample = [...own.slice(0, MOST_SAMPLED - 2), ...(needsUnset ? [...unset, ...equal].slice(0, 2) : [])]
  return sample.length > 0 ? sample : descendants.slice(0, MOST_SAMPLED)
}

const peopleFirst = (readings: readonly CapReading[]): readonly CapReading[] =>
  readings.toSorted((a, b) => Number(b.scope.kind === 'user') - Number(a.scope.kind === 'user'))
