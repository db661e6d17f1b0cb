// What a reading says of its scope: the one place that knows that a read may show an inherited value, and that a value may be there only
// because a write of ours brought it. Everybody else asks for slots and never looks at a reading again.
import type { CapReading, Observed, OwnedCap } from '../model/observed.ts'
import type { Cap } from '../model/policy.ts'
import { type Scope, type ScopeKey, scopeKey } from '../model/scope.ts'
import type { Instant } from '../model/units.ts'
import { ancestorsOf, type CapAt, inheritedCap, type People, sharedCap, TEAM_KEY } from './effective.ts'
import type { ServiceModel } from './service-model.ts'

export interface Slot {
  /** What is set at this very scope. With certainty `either` it may be nothing as well. */
  readonly own: Observed
  /** What applies where nothing is set at this scope. */
  readonly inherited: Observed
  readonly certainty: 'certain' | 'either' | 'unread'
}

export interface SlotInputs {
  readonly model: ServiceModel
  readonly readings: ReadonlyMap<ScopeKey, CapReading>
  readonly owned: ReadonlyMap<ScopeKey, OwnedCap>
  readonly people: People
  /** Groups of which policy asks a number: any other that may show just what the team has counts as not set. */
  readonly groupsWithCap: ReadonlySet<ScopeKey>
  /** Groups whose members nobody could list. */
  readonly unlisted?: ReadonlySet<ScopeKey> | undefined
  /** Values that we sent to teams and groups and that may have landed, beside what the ledger says is ours. */
  readonly sent?: readonly SentCap[] | undefined
  /** Absent: nothing was stamped by a clock that went back since. */
  readonly now?: Instant
  /** When a write of ours to the scope itself may have landed last. */
  readonly writtenAt?: ((scope: Scope) => Instant | undefined) | undefined
}

/** A value that was sent to a scope, with the time of sending. */
export interface SentCap {
  readonly scope: Scope
  readonly from: Cap
  readonly to: Cap
  readonly at: Instant
}

export interface Slots {
  readonly model: ServiceModel
  /** What was read; undefined for a scope that nothing manages. */
  readonly shown: CapAt
  /** What was read last of a scope that cannot be read now. */
  readonly lastRead: (key: ScopeKey) => Cap | undefined
  at(key: ScopeKey): Slot
  /** What applies where nothing is set at this scope. */
  inherited(key: ScopeKey): Observed
  /** The same once teams and groups have what is to come. */
  inheritedAfter(key: ScopeKey, toCome: ReadonlyMap<ScopeKey, Cap>): Observed
  /** Whether that may be what applies where nothing is set at this scope: a group that shows the team's value may have none of its own. */
  mayApply(key: ScopeKey, value: Observed): boolean
  /** Groups that nobody could list, and that would explain what a person shows where nothing else does: anybody may be in them. */
  hiddenAncestors(key: ScopeKey): readonly ScopeKey[]
  /** What is shown since a clear of ours, and nothing known explains: it applies there, and nothing is set. */
  unexplained(key: ScopeKey): Cap | undefined
  /** Whether nothing may be set here, and what is shown comes from an ancestor. */
  mayBeInherited(key: ScopeKey): boolean
  /** Whether a write of ours to an ancestor brought the value that is shown here: nobody else did. */
  isFromAncestorWrite(key: ScopeKey): boolean
}

/** Reads the readings (product.md, section 6, Service model). */
export function interpret(inputs: SlotInputs): Slots {
  const { model, people, readings } = inputs
  const unlisted = [...(inputs.unlisted ?? [])]
  const shown: CapAt = (key) => readings.get(key)?.observed
  const isUnset = (group: ScopeKey): boolean => !inputs.groupsWithCap.has(group) && mayBeInherited(group)
  const known = inheritedReader(people, shown, isUnset)
  const inheritedAfter: Slots['inheritedAfter'] = (key, toCome) => inheritedReader(people, shown, isUnset, toCome)(key)
  const readers = [inheritedReader(people, shown, () => false), inheritedReader(people, shown, () => true)]
  const isOpen = model.reads !== 'explicit'
  const mayApply = (key: ScopeKey, value: Observed): boolean => key !== TEAM_KEY && readers.some((reader) => reader(key) === value)
  const hiddenAncestors = (key: ScopeKey): readonly ScopeKey[] => {
    const reading = readings.get(key)
    if (unlisted.length === 0 || reading?.scope.kind !== 'user' || mayApply(key, reading.observed)) return []
    return unlisted.filter((group) => sharedCap([...(people.byKey.get(key)?.groups ?? []), group], shown).cap === reading.observed)
  }
  const unexplained = (key: ScopeKey): Cap | undefined => {
    const shows = isOpen ? inputs.owned.get(key)?.shows : undefined
    return shows === shown(key) && shows !== known(key) ? shows : undefined
  }
  const inherited = (key: ScopeKey): Observed => unexplained(key) ?? known(key)
  const mayBeInherited = (key: ScopeKey): boolean => {
    if (!isOpen) return false
    const observed = shown(key)
    const ours = inputs.owned.get(key)
    if (ours?.written && ours.cap === observed) return false
    return typeof observed === 'number' && (mayApply(key, observed) || hiddenAncestors(key).length > 0 || unexplained(key) !== undefined)
  }
  const at = (key: ScopeKey): Slot => {
    const own = shown(key) ?? 'unknown'
    const certainty = own === 'unknown' ? 'unread' : mayBeInherited(key) ? 'either' : 'certain'
    return { own, inherited: inherited(key), certainty }
  }
  const lastRead = (key: ScopeKey): Cap | undefined => readings.get(key)?.last?.observed
  return {
    model,
    shown,
    lastRead,
    at,
    inherited,
    inheritedAfter,
    mayApply,
    hiddenAncestors,
    unexplained,
    mayBeInherited,
    isFromAncestorWrite: (key) => isFromAncestorWrite(key, inputs, mayApply),
  }
}

/** A group that counts as not set shows the team's value for the group's people as well, and the one to come once the team has that. */
function inheritedReader(
  people: People,
  shown: CapAt,
  isUnset: (group: ScopeKey) => boolean,
  toCome: ReadonlyMap<ScopeKey, Cap> = NOTHING,
): (key: ScopeKey) => Observed {
  const isEmpty = (key: ScopeKey): boolean => key !== TEAM_KEY && shown(key) === shown(TEAM_KEY) && isUnset(key)
  const capAt: CapAt = (key) => toCome.get(key) ?? (isEmpty(key) ? 'none' : shown(key))
  return (key) => inheritedCap(key, people.byKey.get(key)?.groups ?? [], capAt)
}

/**
 * A scope that shows just what we sent to an ancestor after its own value was verified, or written. Where caps are kept in layers that
 * happens only to a scope with nothing set, whose read shows what it inherits: it showed the ancestor's old value before.
 */
function isFromAncestorWrite(key: ScopeKey, inputs: SlotInputs, mayApply: Slots['mayApply']): boolean {
  const { model, owned, people, sent = [], now = Number.POSITIVE_INFINITY, writtenAt } = inputs
  const ours = owned.get(key)
  const reading = inputs.readings.get(key)
  if (!reading || reading.observed === 'unknown' || reading.observed === ours?.cap) return false
  const { observed, scope } = reading
  const ancestors = ancestorsOf(key, people)
  const isCopying = model.layers === 'copied' || model.copying !== undefined
  const lastAt = Math.max(...[ours?.verifiedAt ?? 0, writtenAt?.(scope) ?? 0].filter((at) => at <= now))
  const isLater = (at: Instant): boolean => at > lastAt
  // A clear that was copied leaves nothing set there, and the read may show what that inherits. Of a person that may come from a group that no
  // policy names, once the clear shows: before, somebody else's cap may still stand there.
  const hasGone = (wide: SentCap): boolean =>
    ![wide.from, 'unknown', undefined].includes(inputs.readings.get(scopeKey(wide.scope))?.observed)
  const mayShowInherited = (wide: SentCap): boolean => mayApply(key, observed) || (scope.kind === 'user' && hasGone(wide))
  const isOpen = isCopying && model.reads !== 'explicit'
  const bringsIt = (wide: SentCap): boolean => wide.to === observed || (wide.to === 'none' && isOpen && mayShowInherited(wide))
  const isSent = sent.some(
    (wide) =>
      bringsIt(wide) &&
      isLater(wide.at) &&
      ancestors.includes(scopeKey(wide.scope)) &&
      (isCopying || (model.reads !== 'explicit' && wide.from === ours?.cap)),
  )
  if (isSent || !ours || !(isCopying || (model.reads !== 'explicit' && ours.cap === 'none'))) return isSent
  return ancestors.some((one) => {
    const theirs = owned.get(one)
    return theirs?.cap === observed && isLater(theirs.verifiedAt)
  })
}

const NOTHING: ReadonlyMap<ScopeKey, Cap> = new Map()

/** The groups for which policy declares a number. */
export const groupsWithCap = (desired: readonly { readonly scope: Scope; readonly cap: Cap }[]): ReadonlySet<ScopeKey> =>
  new Set(desired.filter(({ scope, cap }) => scope.kind === 'group' && cap !== 'none').map(({ scope }) => scopeKey(scope)))
