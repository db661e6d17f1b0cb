// What a reading says of its scope. For a plan only this file judges whether the shown cap may be inherited, or come from a write of ours to an
// ancestor; what makes a plan asks here. The read-back of a write is judged in core/plan/outcome.ts, what `import` reads in core/plan/audit.ts.
import type { HistoryEntry } from '../model/change.ts'
import { type CapReading, capShown, type Observed, type OwnedCap } from '../model/observed.ts'
import type { Cap } from '../model/policy.ts'
import { type Scope, type ScopeKey, scopeKey } from '../model/scope.ts'
import type { Instant } from '../model/units.ts'
import { ancestorsOf, type CapAt, isNumber, type People, sharedCap, TEAM_KEY } from './effective.ts'
import type { ServiceModel } from './evidence.ts'

export interface SlotInputs {
  readonly model: ServiceModel
  /** Of every scope that was to be read; a missing one counts as unknown. */
  readonly readings: ReadonlyMap<ScopeKey, CapReading>
  readonly owned: ReadonlyMap<ScopeKey, OwnedCap>
  readonly people: People
  /** Groups for which policy sets a number. Any other group that may show the team's cap counts as unset. */
  readonly groupsWithCap: ReadonlySet<ScopeKey>
  /** Groups whose members are not known. */
  readonly unlisted?: ReadonlySet<ScopeKey>
  /** Caps that we sent to teams and groups and that may have landed, beside those that the ledger says are ours. */
  readonly sent?: readonly SentCap[]
  /** Absent: the clock was never set back. */
  readonly now?: Instant
  /** When a write of ours to the scope itself may have landed last. */
  readonly writtenAt?: (scope: Scope) => Instant | undefined
}

/** A cap that was sent to a scope, and when. */
export type SentCap = Pick<HistoryEntry, 'scope' | 'from' | 'to' | 'at'>

/** The interpretation of the readings, scope by scope. */
export type Slots = ReturnType<typeof interpret>

/** Interprets the readings (docs/operations.md). */
export function interpret(inputs: SlotInputs) {
  const { model, people, readings, owned } = inputs
  const unlisted = [...(inputs.unlisted ?? [])]
  const isOpen = model.reads !== 'explicit'
  const shown: CapAt = (key) => readings.get(key)?.observed
  const lastKnown: CapAt = (key) => {
    const cap = capShown(readings.get(key))
    return cap === 'unknown' ? (owned.get(key)?.cap ?? cap) : cap
  }
  const groupsOf = (key: ScopeKey): readonly ScopeKey[] => people.byKey.get(key)?.groups ?? []
  /** A group that shows the team's cap and `isUnset` has none of its own: its members inherit the team's cap, also the pending one. */
  const inheritedReader =
    (isUnset: (group: ScopeKey) => boolean, pending: ReadonlyMap<ScopeKey, Cap> = new Map(), capAt = shown) =>
    (key: ScopeKey): Observed => {
      const isEmpty = (one: ScopeKey): boolean => one !== TEAM_KEY && capAt(one) === capAt(TEAM_KEY) && isUnset(one)
      return key === TEAM_KEY ? 'none' : sharedCap(groupsOf(key), (one) => pending.get(one) ?? (isEmpty(one) ? 'none' : capAt(one))).cap
    }
  const isUnset = (group: ScopeKey): boolean => shown(group) !== 'unknown' && !inputs.groupsWithCap.has(group) && mayBeInherited(group)
  const inheritedKnown = inheritedReader(isUnset)
  const mayApplyBy = (capAt: CapAt) => {
    const possible = [false, true].map((isUnsetThere) => inheritedReader(() => isUnsetThere, undefined, capAt))
    return (key: ScopeKey, value: Observed): boolean => key !== TEAM_KEY && possible.some((reader) => reader(key) === value)
  }
  const [mayApply, mayHaveApplied] = [mayApplyBy(shown), mayApplyBy(lastKnown)]
  const hiddenAncestors = (key: ScopeKey): readonly ScopeKey[] => {
    const cap = lastKnown(key)
    if (unlisted.length === 0 || readings.get(key)?.scope.kind !== 'user' || cap === undefined || mayHaveApplied(key, cap)) return []
    // A group that shows the team's cap may have none of its own.
    const listed = [groupsOf(key), groupsOf(key).filter((one) => lastKnown(one) !== lastKnown(TEAM_KEY))]
    return unlisted.filter((group) => listed.some((groups) => sharedCap([...groups, group], lastKnown).cap === cap))
  }
  const unexplained = (key: ScopeKey): Cap | undefined => {
    const shows = isOpen ? owned.get(key)?.shows : undefined
    return shows === shown(key) && shows !== inheritedKnown(key) ? shows : undefined
  }
  const inherited = (key: ScopeKey): Observed => unexplained(key) ?? inheritedKnown(key)
  const isWrittenHere = (key: ScopeKey): boolean => owned.get(key)?.written === true && owned.get(key)?.cap === lastKnown(key)
  const isUncertain = (key: ScopeKey): boolean => isOpen && isNumber(lastKnown(key)) && !isWrittenHere(key)
  const hasCapAbove = (key: ScopeKey): boolean => ancestorsOf(key, people).some((ancestor) => isNumber(shown(ancestor)))
  const mayBeUnset = (key: ScopeKey): boolean => key !== TEAM_KEY && isUncertain(key) && (model.reads === 'inherited' || hasCapAbove(key))
  const mayBeInherited = (key: ScopeKey): boolean =>
    isUncertain(key) &&
    (mayHaveApplied(key, lastKnown(key) ?? 'unknown') || hiddenAncestors(key).length > 0 || unexplained(key) !== undefined)
  return {
    model,
    /** What was read; undefined for a scope that is not managed. */
    shown,
    /** Of a scope that cannot be read now, the cap that was read last, or was verified before this process began. */
    lastKnown,
    /** The last cap that was read of a scope that cannot be read now. */
    lastRead: (key: ScopeKey): Cap | undefined => readings.get(key)?.last?.observed,
    /** The cap that applies where nothing is set at this scope. */
    inherited,
    /** The same once these pending caps of teams and groups are set. */
    inheritedAfter: (key: ScopeKey, pending: ReadonlyMap<ScopeKey, Cap>): Observed => inheritedReader(isUnset, pending)(key),
    /** Whether this value may be the one to apply where nothing is set: a group that shows the team's value may have none of its own. */
    mayApply,
    /** Unlisted groups whose cap a person shows when no other scope explains that cap: the person may be in them. */
    hiddenAncestors,
    /** The cap that is shown since a clear of ours and that no known scope explains: it is inherited, and nothing is set here. */
    unexplained,
    /** Whether nothing may be set here, and the cap that is shown, or was last known, comes from an ancestor. */
    mayBeInherited,
    /**
     * Whether nothing may be set here, whatever is shown: an ancestor may have had that cap when the scope was read, or a group has it that no
     * policy names. Only a cap that we wrote here is surely set. Until reads are known, a cap under ancestors without any is taken for the
     * scope's own.
     */
    mayBeUnset,
    /** Whether a write of ours to an ancestor caused the cap that is shown here, so that no other client did. */
    isFromAncestorWrite: (key: ScopeKey): boolean => isFromAncestorWrite(key, inputs, mayApply),
  }
}

/**
 * Whether the scope shows the cap that we sent to an ancestor after the scope's own cap was verified or written. Where caps are layered that
 * happens only where nothing is set at the scope and reads show inherited caps: it showed the ancestor's old cap before, or a higher one of a
 * group that no policy names, which we did not write.
 */
function isFromAncestorWrite(key: ScopeKey, inputs: SlotInputs, mayApply: (key: ScopeKey, value: Observed) => boolean): boolean {
  const { model, owned, people, readings, sent = [], now = Number.POSITIVE_INFINITY, writtenAt } = inputs
  const ours = owned.get(key)
  const reading = readings.get(key)
  if (!reading || reading.observed === 'unknown' || reading.observed === ours?.cap) return false
  const { observed, scope } = reading
  const ancestors = ancestorsOf(key, people)
  const isOpen = model.reads !== 'explicit'
  // Caps are copied to people; a group keeps its own.
  const isCopying = scope.kind === 'user' && (model.layers === 'copied' || model.copying !== undefined)
  const lastAt = Math.max(...[ours?.verifiedAt ?? 0, writtenAt?.(scope) ?? 0].filter((at) => at <= now))
  const isClearShown = ({ scope: ancestor, from }: SentCap): boolean =>
    ![from, 'unknown', undefined].includes(readings.get(scopeKey(ancestor))?.observed)
  // A copied clear leaves nothing set at the scope, and the read may show what the scope inherits. A person may inherit from a group that no
  // policy names; that counts only once the clear itself is shown, because until then another client's cap may still be set there.
  const explains = (write: SentCap): boolean =>
    write.to === observed || (write.to === 'none' && isCopying && isOpen && (mayApply(key, observed) || isClearShown(write)))
  const isLowered = ours !== undefined && !ours.written && Number(observed) < Number(ours.cap)
  const isSent = sent.some(
    (write) =>
      explains(write) &&
      write.at > lastAt &&
      ancestors.includes(scopeKey(write.scope)) &&
      (isCopying || (isOpen && (write.from === ours?.cap || (write.scope.kind === 'group' && isLowered)))),
  )
  if (isSent) return true
  if (!ours || !(isCopying || (isOpen && ours.cap === 'none'))) return false
  return ancestors.some((one) => {
    const theirs = owned.get(one)
    return theirs?.cap === observed && theirs.verifiedAt > lastAt
  })
}

/** The groups for which policy sets a number. */
export const groupsWithCap = (desired: readonly { readonly scope: Scope; readonly cap: Cap }[]): ReadonlySet<ScopeKey> =>
  new Set(desired.filter(({ scope, cap }) => scope.kind === 'group' && cap !== 'none').map(({ scope }) => scopeKey(scope)))
