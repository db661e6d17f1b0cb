// The guards: what a plan may not do to people without a second look. A guard holds back every change of the class it is about; the
// rest is judged again until nothing changes. It never lets through more because somebody asked loudly: only approvals of exactly the
// held changes release them (approval.ts).

import { type CountedPerson, TEAM_KEY } from '../interpret/effective.ts'
import type { GuardCode, Hold, ShareLimit } from '../model/change.ts'
import { compareScopes, type ScopeKey, scopeKey, userScope } from '../model/scope.ts'
import type { Difference } from './diff.ts'
import { breaker, contested, maxRaise } from './guard-limits.ts'
import { counts, type Finding, type Guard, type GuardInputs, holdWhere, isReleased, type Judgement, type Round } from './guard-round.ts'
import { type Impact, impactOf, impactOn, isFree, type NetEffect } from './impact.ts'

/** Judges a plan's differences; holds are in the order of their first change. */
export function judge(inputs: GuardInputs): Judgement {
  const active = new Map(inputs.differences.map((one) => [one.key, one]))
  const whole = inputs.whole ?? impactOf(active, inputs.impact)
  const byChange = new Map<ScopeKey, GuardCode[]>()
  const findings = new Map<GuardCode, Finding>()
  const warnings = new Map<GuardCode, string>()
  // Each round takes at least one change out, so there are at most as many rounds as changes, and one to see that it is over.
  for (let round = 0; round <= inputs.differences.length; round += 1) {
    const view: Round = { inputs, active, impacts: round === 0 ? whole : impactOf(active, inputs.impact) }
    const found = GUARDS.flatMap((guard) => guard(view) ?? [])
    const taken = new Set<ScopeKey>()
    for (const finding of found) {
      if (finding.held.length === 0) warnings.set(finding.guard, finding.why)
      else findings.set(finding.guard, findings.get(finding.guard) ?? finding)
      for (const key of finding.held) {
        byChange.set(key, [...(byChange.get(key) ?? []), finding.guard])
        taken.add(key)
      }
    }
    for (const [key, guards] of wouldOverwriteHeld(view, byChange)) {
      byChange.set(key, guards)
      taken.add(key)
    }
    if (taken.size === 0) break
    for (const key of taken) active.delete(key)
  }
  const { holds, heldBy } = holdsFrom(byChange, findings, inputs, whole)
  const unheld = [...warnings].filter(([guard]) => !findings.has(guard))
  return { holds, heldBy, warnings: unheld.map(([guard, message]) => ({ guard, message: `${inputs.facts.workspace}: ${message}` })) }
}

/** Where caps are copied, a wide write would carry out or overwrite what is held for the people it reaches: it is held as well. */
function wouldOverwriteHeld(round: Round, byChange: ReadonlyMap<ScopeKey, readonly GuardCode[]>): ReadonlyMap<ScopeKey, GuardCode[]> {
  const { capSemantics, people } = round.inputs.impact
  const held = new Map<ScopeKey, GuardCode[]>()
  if (capSemantics !== 'copied' || byChange.size === 0) return held
  for (const person of people.approved) {
    const guards = byChange.get(person.key)
    if (!guards) continue
    for (const wide of [...person.groups, TEAM_KEY]) {
      if (!round.active.has(wide) || byChange.has(wide) || isReleased(wide, round)) continue
      held.set(wide, [...new Set([...(held.get(wide) ?? []), ...guards])])
    }
  }
  return held
}

/** Changes kept back by the same guards form one hold. */
function holdsFrom(
  byChange: ReadonlyMap<ScopeKey, readonly GuardCode[]>,
  findings: ReadonlyMap<GuardCode, Finding>,
  inputs: GuardInputs,
  impacts: readonly Impact[],
): { holds: Hold[]; heldBy: Map<ScopeKey, string> } {
  const groups = Map.groupBy(
    inputs.differences.filter((one) => byChange.has(one.key)),
    (one) => byChange.get(one.key)?.join('+') ?? '',
  )
  const heldBy = new Map<ScopeKey, string>()
  const holds: Hold[] = []
  for (const [codes, members] of groups) {
    const guards = codes.split('+') as GuardCode[]
    const changes = members.toSorted((a, b) => compareScopes(a.scope, b.scope)).map(({ scope, from, to }) => ({ scope, from, to }))
    const id = holdId(inputs.facts.workspace, members, inputs.digest)
    const keys = new Set(members.map((one) => one.key))
    for (const key of keys) heldBy.set(key, id)
    const people = impacts.filter((impact) => impact.changes.some((key) => keys.has(key))).length
    const why = guards.map((guard) => findings.get(guard)?.why ?? guard).join('; ')
    holds.push({ id, guards, people, changes, message: `${inputs.facts.workspace}: ${why}; approve hold ${id} or ${wayOut(guards)}` })
  }
  return { holds, heldBy }
}

const SETTLED_OTHERWISE: Partial<Record<GuardCode, string>> = {
  emptyPolicy: 'put the policies back',
  rosterShrink: 'wait for two agreeing readings of the roster',
  readQuality: 'wait for the service to answer',
  semantics: 'set capSemantics: copied',
  protected: 'change spec.protected',
  breaker: 'wait until then',
  contested: 'stop the other writer',
}

function wayOut(guards: readonly GuardCode[]): string {
  const limits = guards.filter((guard) => !SETTLED_OTHERWISE[guard]).map((guard) => `guards.${guard}`)
  const others = guards.flatMap((guard) => SETTLED_OTHERWISE[guard] ?? [])
  return [...(limits.length > 0 ? [`raise ${limits.join(' and ')}`] : []), ...others].join(', ')
}

/** 12 hex digits over the workspace and the sorted (scope, from, to): the same in every cycle while they are the same. */
export function holdId(
  workspace: string,
  changes: readonly Pick<Difference, 'key' | 'from' | 'to'>[],
  digest: (text: string) => string,
): string {
  const lines = changes.map((one) => `${one.key}\t${one.from}\t${one.to}`).sort()
  return digest([workspace, ...lines].join('\n')).slice(0, 12)
}

const rosterMissing: Guard = (round) =>
  round.inputs.facts.rosterMissing
    ? holdWhere(
        'readQuality',
        round,
        'the roster was never read, or not for 24 h, so people cannot be counted and nothing is written',
        () => true,
      )
    : undefined

const emptyPolicy: Guard = (round) => {
  const { facts, settings } = round.inputs
  if (!settings.emptyPolicy) return undefined
  const before = facts.verifiedDeclared ?? 0
  const fell = before - facts.declared
  const empty = facts.declared === 0
  if (!empty && !(fell > before / 2 && fell > 5)) return undefined
  const why = empty ? `no policy declares any scope (${before} before)` : `declared scopes fell from ${before} to ${facts.declared}`
  return holdWhere('emptyPolicy', round, `${why}, so nothing is cleared`, (one) => one.to === 'none')
}

const rosterShrink: Guard = (round) => {
  const { facts, settings } = round.inputs
  const doubt = facts.rosterDoubt
  if (!doubt || settings.rosterShrink === 'off') return undefined
  const percent = share(doubt.before - doubt.now, doubt.before)
  const why = `approved people fell from ${doubt.before} to ${doubt.now} (${percent} %), the limit is ${settings.rosterShrink} %`
  const affected = new Set(round.impacts.filter((one) => !isFree(one.effect)).flatMap((one) => one.changes))
  return holdWhere(
    'rosterShrink',
    round,
    why,
    (one) => one.scope.kind !== 'user' || one.to === 'none' || isLess(one) || affected.has(one.key),
  )
}

const isLess = (one: Difference): boolean => one.from !== 'none' && one.to !== 'none' && one.to < one.from

const readQuality: Guard = (round) => badReads(round) ?? unlistedGroups(round)

const unlistedGroups: Guard = (round) => {
  const { unlistedGroups: groups, rosterMissing: isHeld } = round.inputs.facts
  const [first] = round.active.keys().filter((key) => groups?.has(key))
  if (first === undefined || isHeld) return undefined
  return holdWhere(
    'readQuality',
    round,
    `${first}: its members are not known, so nobody can count them`,
    (one) => groups?.has(one.key) === true,
  )
}

const badReads: Guard = (round) => {
  const { facts, settings } = round.inputs
  if (settings.readQuality === 'off' || facts.rosterMissing) return undefined
  const { failed, total, teamFailed, cause } = facts.reads
  const limit = settings.readQuality
  const many = failed >= limit.floor && failed * 100 > limit.percent * total
  if (!teamFailed && !many) return undefined
  const what = teamFailed
    ? 'the team cap could not be read'
    : `${failed} of ${total} reads failed (${share(failed, total)} %), the limit is ${limit.percent} %`
  const why = cause ? `${what}: ${cause}` : what
  return holdWhere(
    'readQuality',
    round,
    why,
    // What is not known is never changed.
    (one) => !(one.scope.kind === 'user' && isRaise(one)),
  )
}

const isRaise = (one: Difference): boolean => one.from !== 'none' && one.to !== 'none' && one.to > one.from

const semantics: Guard = (round) => {
  const { facts, settings, impact } = round.inputs
  if (!settings.semantics || !facts.copyingSeen || impact.capSemantics === 'copied') return undefined
  const why = 'this service copies a team or group cap to each member (seen), while capSemantics is layered'
  return holdWhere('semantics', round, why, (one) => one.scope.kind !== 'user')
}

const protectedGuard: Guard = (round) => {
  const { facts, settings } = round.inputs
  if (!settings.protected || facts.protectedPeople.size === 0) return undefined
  const hit = impactOnProtected(round).filter((one) => !isFree(one.effect))
  const judged = hit.filter((one) => one.changes.some((key) => counts(key, round, 'protected')))
  if (judged.length === 0) return undefined
  const held = new Set(judged.flatMap((one) => one.changes).filter((key) => counts(key, round, 'protected')))
  const who = judged.map((one) => one.person.email)
  const named = who.length > 3 ? `${who.slice(0, 3).join(', ')} and ${who.length - 3} more` : who.join(', ')
  const why = `${named} ${who.length === 1 ? 'is' : 'are'} protected and would be ${judged.map((one) => one.effect)[0]}`
  return { guard: 'protected', held: [...held], why }
}

/**
 * Protected people count from what is there now, wherever an interrupted plan began, and also while their access is switched off. Only
 * whose cap we have overwritten ourselves counts from before that.
 */
function impactOnProtected({ inputs, active }: Round): readonly Impact[] {
  const { baseline: _, ...present } = inputs.impact
  const emails = [...inputs.facts.protectedPeople].sort()
  const listed = emails.flatMap((email) => present.people.byKey.get(scopeKey(userScope(email))) ?? [])
  const isOverwritten = ({ key }: CountedPerson): boolean => present.overwritten?.has(key) === true
  return [
    ...impactOn(listed.filter(isOverwritten), active, inputs.impact),
    ...impactOn(
      listed.filter((one) => !isOverwritten(one)),
      active,
      present,
    ),
  ]
}

type ShareGuard = 'maxAffected' | 'maxLowered' | 'maxBlocked' | 'maxCleared'

const CLASSES: Record<ShareGuard, { readonly effects: ReadonlySet<NetEffect>; readonly words: string }> = {
  maxAffected: { effects: new Set(['lowered', 'blocked', 'cleared']), words: 'would be lowered, blocked or cleared' },
  maxLowered: { effects: new Set(['lowered']), words: 'would be lowered' },
  maxBlocked: { effects: new Set(['blocked']), words: 'would be blocked, by a cap of 0 or one at or below their use' },
  maxCleared: { effects: new Set(['cleared']), words: 'would be left without any cap' },
}

/** Counts people of a class; what an interrupted plan had already done counts too, as nobody released it. */
const shareGuard =
  (guard: ShareGuard): Guard =>
  (round) => {
    const limit = round.inputs.settings[guard]
    if (limit === 'off') return undefined
    const { effects, words } = CLASSES[guard]
    const judged = round.impacts.filter(
      (one) => effects.has(one.effect) && (one.changes.length === 0 || one.changes.some((key) => counts(key, round, guard))),
    )
    const total = round.inputs.impact.people.total
    const allowed = allowance(limit, total)
    const teamClear = guard === 'maxCleared' ? teamWideClear(round) : undefined
    if (judged.length <= allowed && !teamClear) return undefined
    const held = new Set(judged.flatMap((one) => one.changes).filter((key) => counts(key, round, guard)))
    if (teamClear) held.add(teamClear)
    const why =
      judged.length > allowed
        ? `${judged.length} of ${total} people ${words} (${share(judged.length, total)} %), the limit is ${limitText(limit, total)}${upperBound(guard, round)}`
        : 'the team cap would be cleared'
    return { guard, held: [...held], why }
  }

/** Without the balance nobody knows what a seat includes, so use counts whole, and more people look blocked than are. */
const upperBound = (guard: ShareGuard, round: Round): string =>
  guard === 'maxBlocked' && round.inputs.impact.people.useIsUpperBound ? ' (use is an upper bound while the balance is unknown)' : ''

const teamWideClear = (round: Round): ScopeKey | undefined =>
  [...round.active.values()].find((one) => one.scope.kind === 'team' && one.to === 'none' && counts(one.key, round, 'maxCleared'))?.key

/** A share with a floor, in people. */
export const allowance = (limit: ShareLimit, total: number): number => Math.max(limit.floor, (limit.percent * total) / 100)

const limitText = (limit: ShareLimit, total: number): string =>
  (limit.percent * total) / 100 >= limit.floor ? `${limit.percent} %` : `${limit.floor} people`

const share = (part: number, whole: number): number => (whole === 0 ? 100 : Math.round((part / whole) * 100))

const GUARDS: readonly Guard[] = [
  rosterMissing,
  emptyPolicy,
  rosterShrink,
  shareGuard('maxAffected'),
  shareGuard('maxLowered'),
  shareGuard('maxBlocked'),
  shareGuard('maxCleared'),
  maxRaise,
  protectedGuard,
  readQuality,
  breaker,
  semantics,
  contested,
]
