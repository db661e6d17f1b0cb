// The guards: what a plan may not do to people without a review. Each guard holds every change of its class. The remaining changes are judged
// again, until no guard finds more. Only approvals of exactly the held changes release them (../approval.ts).

import { editLine } from '../../escape/text.ts'
import { ancestorsOf, type CountedPerson } from '../../interpret/effective.ts'
import { type GuardCode, HOLD_ID_DIGITS, type Hold } from '../../model/change.ts'
import type { PolicyEntry } from '../../model/policy.ts'
import { byScope, compareScopes, type ScopeKey, scopeKey } from '../../model/scope.ts'
import { impactOf } from '../impact.ts'
import type { Difference } from '../snapshot.ts'
import { type Finding, type GuardInputs, isReleased, originAt, type Round, type Unreleased } from './round.ts'
import { GUARDS, SETTLED_OTHERWISE } from './table.ts'

export type Judgement = ReturnType<typeof judge>

/** Judges a plan's differences, which are in the order of scopes; holds are in the order of their first change. */
function judge(inputs: GuardInputs) {
  const now = holdChanges(inputs)
  /** Guards that found something wrong and no change to hold. */
  const unheld = [...now.warnings].filter(([guard]) => !now.findings.has(guard))
  const warnings = unheld.map(([guard, message]) => ({ guard, message: `${inputs.workspace}: ${message}` }))
  if (!inputs.unreleased) return { ...holdsFrom(now, inputs), warnings }
  // A change that was held before a release stays held by the same guards, though the release has made it harmless: it needs its own approval.
  const { held: wasHeld, ...unreleased } = inputs.unreleased
  const before = holdChanges({ ...inputs, ...unreleased })
  const stillHeld = [...before.guardsOf].filter(([key]) => wasHeld.has(key))
  const guardsOf = new Map([...now.guardsOf, ...stillHeld])
  const people = new Map([...now.people, ...[...before.people].filter(([key]) => wasHeld.has(key))])
  const found = [...before.findings].map(([guard, one]) => [guard, { ...one, why: `${one.why} (before anything was released)` }] as const)
  const findings = new Map([...found, ...now.findings])
  return { ...holdsFrom({ guardsOf, people, findings }, inputs), warnings }
}

type HeldChanges = ReturnType<typeof holdChanges>

/** The guards that hold each change. */
type GuardsOf = ReadonlyMap<ScopeKey, readonly GuardCode[]>

/** Holds changes round by round, until the guards find nothing more among the active ones. */
function holdChanges(inputs: GuardInputs) {
  const active = byScope(inputs.differences)
  const guardsOf = new Map<ScopeKey, readonly GuardCode[]>()
  /** The people whom each held change affects, beside the changes that were not held in earlier rounds. */
  const people = new Map<ScopeKey, Set<CountedPerson>>()
  const findings = new Map<GuardCode, Finding>()
  /** Guards that found something wrong, perhaps without a change to hold. */
  const warnings = new Map<GuardCode, string>()
  const counted = new Map<GuardCode, ReadonlySet<CountedPerson>>()
  let impacts = inputs.whole
  // Each round but the last holds at least one more change.
  for (;;) {
    const view: Round = { inputs, active, impacts, counted }
    const found = GUARDS.flatMap((guard) => guard(view) ?? [])
    const held = new Set<ScopeKey>()
    for (const finding of found) {
      if (finding.counted) counted.set(finding.guard, finding.counted)
      if (finding.held.length === 0) {
        // Where all changes to hold were released a warning is not needed.
        if (inputs.released.size === 0 || !COUNTING.has(finding.guard)) warnings.set(finding.guard, finding.why)
      } else findings.set(finding.guard, findings.get(finding.guard) ?? finding)
      for (const key of finding.held) {
        guardsOf.set(key, [...(guardsOf.get(key) ?? []), finding.guard])
        held.add(key)
      }
    }
    for (const [key, guards] of wouldOverwriteHeld(view, guardsOf)) {
      guardsOf.set(key, guards)
      held.add(key)
    }
    if (held.size === 0) return { guardsOf: withReveals(guardsOf, inputs), people, findings, warnings }
    for (const { person, changes } of impacts)
      for (const key of changes) if (held.has(key)) people.set(key, (people.get(key) ?? new Set()).add(person))
    for (const key of held) active.delete(key)
    impacts = impactOf(active, inputs.impact)
  }
}

const COUNTING: ReadonlySet<GuardCode> = new Set(['maxAffected', 'maxLowered', 'maxBlocked', 'maxCleared', 'maxRaise'])

/** Where caps are copied, a team or group write would carry out or overwrite the changes held for its members: it is held as well. */
function wouldOverwriteHeld(round: Round, guardsOf: GuardsOf): GuardsOf {
  const { capSemantics, people } = round.inputs.impact
  const held = new Map<ScopeKey, GuardCode[]>()
  if (capSemantics !== 'copied') return held
  for (const person of people.approved) {
    const guards = guardsOf.get(person.key)
    if (!guards) continue
    for (const ancestor of ancestorsOf(person.key, people)) {
      if (!round.active.has(ancestor) || guardsOf.has(ancestor) || isReleased(ancestor, round)) continue
      held.set(ancestor, [...new Set([...(held.get(ancestor) ?? []), ...guards])])
    }
  }
  return held
}

/**
 * A clear that the write to an ancestor reveals is one step with that write, and people are counted by the end of both: what holds the write
 * holds the clear, and one approval releases both.
 */
function withReveals(guardsOf: GuardsOf, { differences, released }: GuardInputs): GuardsOf {
  const revealed = differences.flatMap(({ key, revealedBy }) => {
    const guards = revealedBy && !released.has(key) ? guardsOf.get(scopeKey(revealedBy)) : undefined
    return guards ? [[key, [...new Set([...guards, ...(guardsOf.get(key) ?? [])])]] as const] : []
  })
  return new Map([...guardsOf, ...revealed])
}

/** Changes held by the same guards form one hold; so do all changes of one pool deal. */
function holdsFrom(
  { guardsOf, people, findings }: Omit<HeldChanges, 'warnings'>,
  inputs: GuardInputs,
): { readonly holds: readonly Hold[]; readonly heldBy: ReadonlyMap<ScopeKey, string> } {
  const held = inputs.differences.flatMap((one) => {
    const guards = guardsOf.get(one.key)
    return guards ? [{ ...one, guards }] : []
  })
  const groups = Map.groupBy(held, ({ pool, guards }) => pool?.key ?? guards.join('+'))
  const heldBy = new Map<ScopeKey, string>()
  const holds: Hold[] = []
  for (const members of groups.values()) {
    const guards = [...new Set(members.flatMap((one) => one.guards))]
    const changes = members.map(({ scope, from, to }) => ({ scope, from, to }))
    const id = holdId(members, inputs)
    for (const { key } of members) heldBy.set(key, id)
    const affected = new Set(members.flatMap(({ key }) => [...(people.get(key) ?? [])]))
    const why = guards.map((guard) => findings.get(guard)?.why ?? guard).join('; ')
    const release = releaseNow(inputs)
    const out = wayOut(guards, findings)
    const ways = release === 'never' ? `no approval releases this; ${out}` : `approve hold ${id} (${editLine('approve', id)}) or ${out}`
    const now = inputs.idle === undefined ? '' : `; nothing is written now: ${inputs.idle}`
    const message = `${inputs.workspace}: ${why}; ${ways}${now}`
    holds.push({ id, guards, people: affected.size, changes, message, release })
  }
  return { holds, heldBy }
}

/** Without any roster nobody can be counted, and no approval counts. */
function releaseNow({ facts, idle }: GuardInputs): Hold['release'] {
  if (facts.rosterMissing === 'never') return 'never'
  return idle === undefined ? undefined : 'later'
}

function wayOut(guards: readonly GuardCode[], findings: HeldChanges['findings']): string {
  const limits = guards.filter((guard) => !SETTLED_OTHERWISE[guard]).map((guard) => `guards.${guard}`)
  const others = guards.flatMap((guard) => {
    const [way, { edits = [] }] = [SETTLED_OTHERWISE[guard], findings.get(guard) ?? { edits: [] }]
    return way === undefined ? [] : [edits.length > 0 ? `${way} (${edits.join('; ')})` : way]
  })
  return [...(limits.length > 0 ? [`raise ${limits.join(' and ')}`] : []), ...others].join(', and ')
}

/**
 * 32 hex digits over the workspace and the sorted (scope, from, to): the same in every cycle while these are the same. A pool's deal is
 * identified by workspace, declaration and members, because each reading changes its amounts.
 */
function holdId(changes: readonly Difference[], { workspace, digest }: GuardInputs): string {
  const deal = changes.find(({ pool }) => pool)?.pool
  if (deal) return digest(JSON.stringify([workspace, 'pool', deal.key])).slice(0, HOLD_ID_DIGITS)
  const lines = changes.map(({ key, from, to }) => JSON.stringify([key, from, to])).sort()
  return digest(JSON.stringify([workspace, lines])).slice(0, HOLD_ID_DIGITS)
}

/** Judges a plan's differences, part by part where some are of envelopes. Where caps are copied, a wide write and all others are one. */
export function judgeParts(inputs: GuardInputs): Judgement {
  const all = [...inputs.differences, ...(inputs.unreleased?.differences ?? [])]
  const names = new Map(all.map((one) => [one.key, envelopeOf(one, inputs)]))
  const envelopes = [...new Set([...names.values()].flatMap((name) => name ?? []))]
  const isBegun = Object.keys(inputs.impact.baseline ?? {}).some((key) => envelopeAt(key as ScopeKey, inputs) !== undefined)
  if ((envelopes.length === 0 && !isBegun) || inputs.impact.capSemantics === 'copied') return judge(inputs)
  const ofPlatform = judge(partOf(inputs, new Set(), undefined, names))
  const isGoing = ({ key }: Difference): boolean => names.get(key) === undefined && !ofPlatform.heldBy.has(key)
  const going = new Set(inputs.differences.filter(isGoing).map(({ key }) => key))
  const parts = envelopes.map((name) => judge(partOf(inputs, going, name, names)))
  return joined([ofPlatform, ...parts])
}

/** A clear that another write reveals is one step with that write. */
const envelopeOf = ({ key, revealedBy, entry }: Difference, inputs: GuardInputs): string | undefined =>
  envelopeAt(revealedBy ? scopeKey(revealedBy) : key, inputs, entry.kind)

/** What the conflict rule makes of a team's group and another is the team's: whatever it says of its group holds nothing of platform. */
function envelopeAt(key: ScopeKey, { policy, owned, people }: GuardInputs, kind: PolicyEntry['kind'] = 'undeclared'): string | undefined {
  const names: Readonly<Record<string, string>> | undefined = policy.settled?.envelopeOf
  if (!names) return undefined
  const groups = originAt(key, kind, { owned }) === 'conflict' ? (people.byKey.get(key)?.groups ?? []) : []
  return [key, ...groups].flatMap((one) => (Object.hasOwn(names, one) ? (names[one] ?? []) : []))[0]
}

/**
 * The changes of one envelope or of platform. Those that are `going` are counted with them, and not held. What other envelopes have changed since
 * the plan began does not count.
 */
function partOf(
  inputs: GuardInputs,
  going: ReadonlySet<ScopeKey>,
  envelope: string | undefined,
  names: ReadonlyMap<ScopeKey, string | undefined>,
): GuardInputs {
  const { unreleased } = inputs
  const isIts = (name: string | undefined): boolean => name === undefined || name === envelope
  const part = <P extends Omit<Unreleased, 'held' | 'freed'>>(plan: P, counted: ReadonlySet<ScopeKey>): P => {
    const differences = plan.differences.filter(({ key }) => counted.has(key) || names.get(key) === envelope)
    const begun = Object.entries(plan.impact.baseline ?? {}).filter(([key]) => isIts(envelopeAt(key as ScopeKey, inputs)))
    const impact = { ...plan.impact, baseline: Object.fromEntries(begun) }
    return { ...plan, differences, impact, whole: impactOf(byScope(differences), impact), released: plan.released.union(counted) }
  }
  return { ...part(inputs, going), unreleased: unreleased && part(unreleased, going.difference(unreleased.freed)) }
}

function joined(parts: readonly Judgement[]): Judgement {
  const warnings = new Map(parts.flatMap((part) => part.warnings.map((one) => [`${one.guard} ${one.message}`, one])))
  const holds = parts.flatMap((part) => part.holds)
  return {
    holds: holds.toSorted((a, b) => (a.changes[0] && b.changes[0] ? compareScopes(a.changes[0].scope, b.changes[0].scope) : 0)),
    heldBy: new Map<ScopeKey, string>(parts.flatMap((part) => [...part.heldBy])),
    warnings: [...warnings.values()],
  }
}
