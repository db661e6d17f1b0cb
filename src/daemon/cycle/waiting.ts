// Which changes must wait for another cycle, because a write that they count on has not happened (it failed, was held, is left out, or the
// scope could not be read). Two sentences say it all. A lower, block or clear of a wide scope waits while a narrower scope beneath is to
// have a cap of its own above what the change leaves, and shows none; and a clear waits while a wider scope of the same people would leave
// them less than they have, or nothing, on the way to a cap.
//
// Nothing waits for ever in normal life. A rejected or quarantined scope is not asked for any more, so nobody waits for it, and guards count
// its people at what they then get; so they do where a foreign change is only watched (`onDrift: alert`). A cap that the ledger verified
// under the same policy entry is believed to stand while it cannot be read. A scope that shows a number of its own shields its people from
// wider ones, whatever it is to become. What puts a verified cap back waits only for caps beneath that are being put back as well: who was to
// get a first cap had what the verified one left, and neither a hold nor a scope that fails for ever may keep floodgates open. First caps wait
// for nothing: a workspace without a cap is worse than one person short of credits for a cycle. Where caps are copied the order is another,
// and a new plan is made after the wide writes, so none of this applies.

import type { People } from '../../core/interpret/effective.ts'
import type { Change } from '../../core/model/change.ts'
import type { CapReading, Observed } from '../../core/model/observed.ts'
import type { Cap } from '../../core/model/policy.ts'
import { type Scope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import { mayInherit } from '../../core/plan/impact.ts'
import type { Planned } from '../../core/plan/plan.ts'
import { isVerified } from './verified.ts'

/** A scope that is not at its cap yet. */
export interface Missing {
  readonly scope: Scope
  readonly key: ScopeKey
  readonly to: Cap
  readonly observed: Observed
  /** Nothing of its own is known to be in force there. */
  readonly isBare: boolean
  /** It had this cap, and is about to get it back. */
  readonly isHealing: boolean
}

interface MissingInputs {
  readonly planned: Planned
  readonly readings: ReadonlyMap<ScopeKey, CapReading>
  readonly wider: (key: ScopeKey) => Observed
  readonly people: People
  readonly isWatched: (change: Change) => boolean
}

/** The scopes of a plan that are not at their cap as far as the readings tell. */
export function missingOf({ planned, readings, wider, people, isWatched }: MissingInputs): readonly Missing[] {
  const missing: Missing[] = []
  const isDoubtful = mayInherit(people, (key) => readings.get(key)?.observed)
  const add = (scope: Scope, to: Cap, isHealing: boolean): void => {
    const key = scopeKey(scope)
    const observed = readings.get(key)?.observed ?? 'unknown'
    const isBare = observed === 'unknown' || observed === 'none' || isDoubtful(key)
    missing.push({ scope, key, to, observed, isBare, isHealing })
  }
  for (const change of planned.plan.changes) {
    if (isWatched(change)) continue
    const reading = readings.get(scopeKey(change.scope))
    // A cap that equals the wider one looks the same before it is cleared and, where reads show what applies, after: the next cycle tells.
    const isUnmoved = reading?.observed === change.from
    if (!reading || isUnmoved || !isVerified(change, reading, wider))
      add(change.scope, change.to, change.healing && change.hold === undefined)
  }
  for (const { scope } of planned.plan.unknown) {
    const key = scopeKey(scope)
    const desired = planned.desired.get(key)
    const owned = planned.owned.get(key)
    const stands = desired !== undefined && owned?.entry === desired.entry && owned.cap === desired.cap
    if (!stands) add(scope, desired?.cap ?? 'none', false)
  }
  return missing
}

/** What this change has to wait for; undefined when it may go. */
export function waitsFor(change: Change, missing: readonly Missing[], people: People): Missing | undefined {
  if (change.effect !== 'lower' && change.effect !== 'block' && change.effect !== 'clear') return undefined
  const key = scopeKey(change.scope)
  const awaited = change.healing ? missing.filter(({ isHealing }) => isHealing) : missing
  return awaited.find((one) => one.key !== key && (isLetDown(one, change, people) || isLeftShort(one, change, people)))
}

/** A scope beneath counts on the change being there until its own cap is. */
function isLetDown(one: Missing, change: Change, people: People): boolean {
  if (!one.isBare || one.to === 'none' || !isBeneath(one.scope, change.scope, people)) return false
  return change.to === 'none' || one.to > change.to
}

/** The people of a cap that is cleared fall to what stands wider, and that is not what it is to be. */
function isLeftShort(one: Missing, change: Change, people: People): boolean {
  if (change.to !== 'none' || change.from === 'none') return false
  if (areSiblings(one.scope, change.scope, people)) return one.isBare && one.to !== 'none'
  if (!isBeneath(change.scope, one.scope, people)) return false
  if (one.observed === 'unknown' || one.observed === 'none') return true
  return one.observed < change.from && (one.to === 'none' || one.to > one.observed)
}

/** A group of which no approved member is known may have anybody in it. */
function isBeneath(narrow: Scope, wide: Scope, people: People): boolean {
  if (wide.kind === 'team') return narrow.kind !== 'team'
  if (wide.kind !== 'group' || narrow.kind !== 'user') return false
  const group = scopeKey(wide)
  return !people.byGroup.has(group) || people.byKey.get(scopeKey(narrow))?.groups.includes(group) !== false
}

/** Two groups that share somebody: the lowest cap of a person's groups counts. */
function areSiblings(a: Scope, b: Scope, people: People): boolean {
  if (a.kind !== 'group' || b.kind !== 'group') return false
  const members = people.byGroup.get(scopeKey(a))
  return !members || !people.byGroup.has(scopeKey(b)) || members.some((person) => person.groups.includes(scopeKey(b)))
}
