// Every guard as one function: what it holds, and why. judge.ts asks them round by round; round.ts has what they share. `shareGuard`
// makes the four that count people of a class (affected, lowered, blocked, cleared), with a share and a floor as their limit.

import { editLine } from '../../escape/text.ts'
import type { CountedPerson } from '../../interpret/effective.ts'
import type { GuardCode, ShareLimit } from '../../model/change.ts'
import { declaredCount } from '../../model/policy.ts'
import { type ScopeKey, scopeKey, userScope } from '../../model/scope.ts'
import { count, formatInstant } from '../../model/units.ts'
import { DOUBT_CEILING_PERCENT } from '../../resolve/roster.ts'
import type { AddOnSource } from '../../use/add-on.ts'
import { CONTEST_MS } from '../contested.ts'
import { type Impact, type ImpactInputs, impactOn, isFree, isRaise, type NetEffect } from '../impact.ts'
import { REVIEW_MS, shownSince } from '../reviewed.ts'
import type { Contest, Difference } from '../snapshot.ts'
import { type Finding, type Guard, groupsBehind, holdWhere, isCounted, mayHold, type Round, shareAbove } from './round.ts'

/**
 * No write is tried until the wait is over. A change that was released since the breaker opened is tried once (choice). Where all failures
 * were refusals only those scopes are held: foreign raises of other scopes must be reverted meanwhile.
 */
const breaker: Guard = (round) => {
  const { facts, guards, tryAnyway } = round.inputs
  const open = facts.breaker
  if (guards.breaker === 'off' || !open) return undefined
  const { inARow, percent } = guards.breaker
  const only = open.refused ? new Set<string>(open.scopes) : undefined
  // A cap that a team or group write of ours has overwritten is restored at once, unless that very write is refused.
  const isOverwritten = only ? undefined : round.inputs.impact.isOverwritten
  const held = [...round.active.keys()].filter((key) => !tryAnyway.has(key) && only?.has(key) !== false && !isOverwritten?.(key))
  const limits = `the limit is ${inARow} in a row or ${percent} %`
  const why = `${open.failed} of ${open.planned} changes failed (${open.cause}), ${limits}; writes are tried again at ${formatInstant(open.retryAt)}`
  return { guard: 'breaker', held, why }
}

const contested: Guard = (round): Finding | undefined => {
  const { contested: known, guards } = round.inputs
  const found = [...round.active.values()].flatMap((one) => {
    const contest = known.get(one.key)
    return contest ? [[one, contest] as const] : []
  })
  if (guards.contested === 'off' || found.length === 0) return undefined
  const named = found.slice(0, 3).map(([one, contest]) => describe(one, contest))
  const more = found.length > named.length ? ` and ${found.length - named.length} more` : ''
  const why = `${named.join(', ')}${more}; the limit is ${guards.contested} in 24 h, so they are not healed for 24 h`
  return holdWhere('contested', round, why, (one) => known.has(one.key))
}

const describe = ({ key, from, to }: Difference, { at, changes }: Contest): string =>
  `${key} was changed by others ${count(changes, 'time')} (now ${from}, not ${to}, left alone until ${formatInstant(at + CONTEST_MS)})`

const directoryShrink: Guard = (round) => {
  const { facts, guards } = round.inputs
  const doubt = facts.directoryDoubt
  if (!doubt || guards.directoryShrink === 'off') return undefined
  const fell = shareAbove(guards.directoryShrink, doubt.from - doubt.to, doubt.from)
  const why = `people with a value in the people file fell from ${doubt.from} to ${doubt.to} (${fell}), the limit is ${guards.directoryShrink} %; the last good values stay in force`
  const takes = takesIn(round, 'directoryShrink')
  return holdWhere('directoryShrink', round, why, (one) => {
    const isOfRule = one.cause === 'orphan' || one.entry.kind === 'rule' || one.entry.kind === 'pool'
    return isOfRule && one.scope.kind === 'user' && takes(one)
  })
}

const emptyPolicy: Guard = (round) => {
  const { facts, guards, policy, prune } = round.inputs
  // Where nothing is pruned a lost entry takes no cap away: what is cleared is so declared, or the end of a grant.
  if (!guards.emptyPolicy || !prune) return undefined
  const before = facts.verifiedDeclared ?? 0
  const declared = declaredCount(policy.set)
  const fell = before - declared
  const empty = declared === 0
  if (!empty && !(fell > before / 2 && fell > 5)) return undefined
  const why = empty ? `no policy declares any scope (${before} before)` : `declared scopes fell from ${before} to ${declared}`
  const found = holdWhere('emptyPolicy', round, `${why}, so nothing is cleared`, (one) => one.to === 'none' || one.cause === 'orphan')
  // The first policy may name groups alone: nothing fell.
  return before === 0 && found.held.length === 0 ? undefined : found
}

const envelope: Guard = (round) => {
  const { guards, policy, changesShown, now } = round.inputs
  const { narrowed = {}, memory } = policy.settled ?? {}
  const isNarrowed = (key: ScopeKey): boolean => Object.hasOwn(narrowed, key)
  if (!guards.envelope || Object.keys(narrowed).length === 0) return undefined
  // What was shown before the envelope was widened is over: narrowed again, it is shown anew.
  const narrowedAt = new Map(Object.entries(memory?.narrowedAt ?? {}))
  const found = [...round.active.values()].flatMap((one) => {
    const keys = isRaise(one) || one.healing ? [] : [one.key].filter(isNarrowed).concat(groupsBehind(one, round.inputs, isNarrowed))
    const since = Math.max(shownSince(one, changesShown), ...keys.map((key) => narrowedAt.get(key) ?? Number.POSITIVE_INFINITY))
    return keys.length > 0 && now - since < REVIEW_MS ? [{ one, keys }] : []
  })
  if (found.length === 0) return undefined
  const reasons = [...new Set(found.flatMap(({ keys }) => keys.map((key) => narrowed[key] ?? '')))]
  const held = new Set(found.map(({ one }) => one))
  return holdWhere('envelope', round, `${reasons.join(', ')}; what it takes from people is shown for a day first`, (one) => held.has(one))
}

/**
 * A first cap is no raise: before it there was no limit at all (choice). Raises by an interrupted plan count too. Without a known balance
 * there is no limit.
 */
const maxRaise: Guard = (round) => {
  const { facts, guards, impact } = round.inputs
  const remaining = facts.creditsRemaining
  if (guards.maxRaise === 'off' || remaining === undefined) return undefined
  const raised = round.impacts.filter((one) => one.effect === 'raised' && isCounted(one, round, 'maxRaise'))
  const sum = raised.reduce((total, one) => total + raiseOf(one), 0)
  const limit = (remaining * guards.maxRaise) / 100
  if (sum <= limit) return undefined
  const held = new Set(raised.flatMap((one) => one.changes).filter((key) => mayHold(key, round, 'maxRaise')))
  const who = `${raised.length} of ${impact.people.total} people would be raised by ${sum} credits in all`
  const why = `${who}, the limit is ${Math.floor(limit)} (${guards.maxRaise} % of the ${remaining} add-on credits remaining)`
  return { guard: 'maxRaise', held: [...held], why }
}

const raiseOf = ({ before, after }: Impact): number => (typeof before === 'number' && typeof after === 'number' ? after - before : 0)

/** People whom the message names. */
const NAMED = 3

const protectedGuard: Guard = (round) => {
  const { guards, protectedEmails } = round.inputs
  if (!guards.protected || protectedEmails.length === 0) return undefined
  const isHeld = (key: ScopeKey): boolean => mayHold(key, round, 'protected')
  const judged = impactOnProtected(round).filter((one) => !isFree(one.effect) && one.changes.some(isHeld))
  if (judged.length === 0) return undefined
  const held = new Set(judged.flatMap((one) => one.changes).filter(isHeld))
  const who = judged.map((one) => one.person.email)
  const named = who.length > NAMED ? `${who.slice(0, NAMED).join(', ')} and ${who.length - NAMED} more` : who.join(', ')
  const why = `${named} ${who.length === 1 ? 'is' : 'are'} protected and would be ${judged.map((one) => one.effect)[0]}`
  return { guard: 'protected', held: [...held], why, edits: who.slice(0, NAMED).map((email) => editLine('remove', `protect:${email}`)) }
}

/**
 * Protected people are compared with their present cap, not with the start of an interrupted plan, and also while their access is disabled.
 * Only a person whose cap we have overwritten ourselves is compared with the start; to put back there what was verified last takes nothing.
 */
function impactOnProtected({ inputs, active }: Round): readonly Impact[] {
  const { baseline: _, ...present } = inputs.impact
  const emails = [...new Set(inputs.protectedEmails)].sort()
  const listed = emails.flatMap((email) => present.people.byKey.get(scopeKey(userScope(email))) ?? [])
  const isOverwritten = ({ key }: CountedPerson): boolean => present.isOverwritten?.(key) === true
  const untouched = listed.filter((one) => !isOverwritten(one))
  const overwritten = listed.filter((one) => isOverwritten(one) && !active.get(one.key)?.healing)
  const counted = (people: readonly CountedPerson[], impact: ImpactInputs): readonly Impact[] =>
    impactOn(people, active, impact).filter((one) => isCounted(one, { active, inputs: { impact } }, 'protected'))
  return [...counted(overwritten, inputs.impact), ...counted(untouched, present)]
}

const NOT_READ = { never: 'never read', old: 'not read for 24 h', ahead: 'not read since the clock went back' } as const

const rosterMissing: Guard = (round) => {
  const missing = round.inputs.facts.rosterMissing
  return missing
    ? holdWhere('readQuality', round, `the roster was ${NOT_READ[missing]}, so people cannot be counted`, () => true)
    : undefined
}

const readQuality: Guard = (round) => badReads(round) ?? unlistedGroups(round)

const unlistedGroups: Guard = (round) => {
  const { unlistedGroups: groups, rosterMissing: isHeld } = round.inputs.facts
  // A group that policy no longer names is not listed any more, so its orphaned cap would be held for ever.
  const isUncounted = ({ key, source }: Difference): boolean => groups?.has(key) === true && source !== undefined
  const first = round.active.values().find(isUncounted)
  if (!first || isHeld) return undefined
  return holdWhere('readQuality', round, `${first.key}: its members are not known, so they cannot be counted`, isUncounted)
}

const badReads: Guard = (round) => {
  const { facts, guards } = round.inputs
  if (guards.readQuality === 'off' || facts.rosterMissing) return undefined
  const { failed, total, teamFailed, cause } = facts.reads
  const limit = guards.readQuality
  const many = failed >= limit.floor && failed * 100 > limit.percent * total
  if (!teamFailed && !many) return undefined
  const what = teamFailed
    ? 'the team cap could not be read'
    : `${failed} of ${total} reads failed (${shareAbove(limit.percent, failed, total)}), the limit is ${limit.percent} %`
  const why = cause ? `${what}: ${cause}` : what
  return holdWhere('readQuality', round, why, (one) => !(one.scope.kind === 'user' && isRaise(one)))
}

const rosterShrink: Guard = (round) => {
  const { facts, guards } = round.inputs
  const doubt = facts.rosterDoubt
  if (!doubt || guards.rosterShrink === 'off') return undefined
  const fell = shareAbove(guards.rosterShrink, doubt.before - doubt.now, doubt.before)
  const why = `approved people fell from ${doubt.before} to ${doubt.now} (${fell}), the limit is ${guards.rosterShrink} %`
  const takes = takesIn(round, 'rosterShrink')
  return holdWhere('rosterShrink', round, why, (one) => one.scope.kind !== 'user' || takes(one))
}

/** Which changes lower or clear a cap, or take from a person by their effect, as a first cap of their own below an inherited one does. */
function takesIn(round: Round, guard: GuardCode): (one: Difference) => boolean {
  const taken = round.impacts.filter((one) => !isFree(one.effect) && isCounted(one, round, guard))
  const affected = new Set(taken.flatMap(({ changes }) => changes))
  return (one) => (one.from !== 'none' && !isRaise(one)) || affected.has(one.key)
}

const semantics: Guard = (round) => {
  const { guards, slots, impact } = round.inputs
  if (!guards.semantics || slots.model.copying === undefined || impact.capSemantics === 'copied') return undefined
  const why = 'this service copies a team or group cap to each member (seen), while capSemantics is layered'
  return holdWhere('semantics', round, why, (one) => one.scope.kind !== 'user')
}

export type ShareGuard = 'maxAffected' | 'maxLowered' | 'maxBlocked' | 'maxCleared'

/** The effects that each of them counts. */
export const CLASSES: Record<ShareGuard, { readonly effects: ReadonlySet<NetEffect>; readonly words: string }> = {
  maxAffected: { effects: new Set(['lowered', 'blocked', 'cleared']), words: 'would be lowered, blocked or cleared' },
  maxLowered: { effects: new Set(['lowered']), words: 'would be lowered' },
  maxBlocked: { effects: new Set(['blocked']), words: 'would be blocked, by a cap of 0 or one at or below their use' },
  maxCleared: { effects: new Set(['cleared']), words: 'would be left without any cap' },
}

/** Counts people of a class, and holds all changes of the class when they are too many. */
const shareGuard =
  (guard: ShareGuard): Guard =>
  (round) => {
    const limit = round.inputs.guards[guard]
    if (limit === 'off') return undefined
    const { effects, words } = CLASSES[guard]
    const judged = round.impacts.filter((one) => effects.has(one.effect) && isCounted(one, round, guard))
    const total = round.inputs.impact.people.total
    const allowed = allowance(limit, total)
    const teamClear = guard === 'maxCleared' ? teamWideClear(round) : undefined
    const counted = new Set([...(round.counted.get(guard) ?? []), ...judged.map(({ person }) => person)])
    if (counted.size <= allowed && !teamClear) return undefined
    const held = new Set(judged.flatMap((one) => one.changes).filter((key) => mayHold(key, round, guard)))
    if (teamClear) held.add(teamClear)
    const why =
      counted.size > allowed
        ? `${counted.size} of ${total} people ${words} (${shareAbove(limit.percent, counted.size, total)}), the limit is ${limitText(limit, total)}${sourceText(guard, round)}`
        : 'the team cap would be cleared'
    return { guard, held: [...held], why, counted: counted.size > allowed ? counted : undefined }
  }

/** Without the balance the credits that a seat includes are not known, so all use counts, and more people seem blocked than are. */
const SOURCE_TEXT: Readonly<Record<AddOnSource, string>> = {
  measured: ' (use is measured)',
  estimated: '',
  upperBound: ' (use is an upper bound while the balance is unknown)',
}

const sourceText = (guard: ShareGuard, round: Round): string =>
  guard === 'maxBlocked' ? SOURCE_TEXT[round.inputs.impact.people.useSource] : ''

const teamWideClear = (round: Round): ScopeKey | undefined =>
  [...round.active.values()].find((one) => one.scope.kind === 'team' && one.to === 'none' && mayHold(one.key, round, 'maxCleared'))?.key

/** A share with a floor, in people. */
export const allowance = (limit: ShareLimit, total: number): number => Math.max(limit.floor, (limit.percent * total) / 100)

const limitText = (limit: ShareLimit, total: number): string =>
  (limit.percent * total) / 100 >= limit.floor ? `${limit.percent} %` : count(limit.floor, 'person', 'people')

/** In the order in which they judge. */
export const GUARDS: readonly Guard[] = [
  rosterMissing,
  emptyPolicy,
  rosterShrink,
  directoryShrink,
  shareGuard('maxAffected'),
  shareGuard('maxLowered'),
  shareGuard('maxBlocked'),
  shareGuard('maxCleared'),
  maxRaise,
  protectedGuard,
  readQuality,
  breaker,
  semantics,
  envelope,
  contested,
]

/** The way out of guards that have no limit to raise. */
export const SETTLED_OTHERWISE: Partial<Record<GuardCode, string>> = {
  emptyPolicy: 'put the policies back',
  rosterShrink: `wait for two agreeing readings of the roster, which are enough up to ${DOUBT_CEILING_PERCENT} %`,
  readQuality: 'wait for the service to answer',
  semantics: 'set capSemantics: copied',
  protected: 'change spec.protected',
  breaker: 'wait until then',
  envelope: 'wait for a day, or widen the envelope',
  contested: 'stop the other writer',
}
