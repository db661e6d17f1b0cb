// Why a scope has its cap: every declaration that applies with its place, which one won and why each other lost, the readings, use, the last
// write, and what holds or defers the next. It only collects the decisions of other files; the CLI renders them.

import { type Effective, effectiveCap, isApproved } from '../interpret/effective.ts'
import type { HistoryEntry, Hold, Plan } from '../model/change.ts'
import type { GrantState } from '../model/events.ts'
import { type Balance, balanceOf, type CapReading } from '../model/observed.ts'
import { type Scope, type ScopeKey, scopeKey, TEAM } from '../model/scope.ts'
import { formatInstant, type Instant, wholeCents } from '../model/units.ts'
import type { PoolPeople } from '../pools/deal.ts'
import { dealLines, figuresIn } from '../pools/figures.ts'
import type { Origin } from '../resolve/candidate.ts'
import { type Declarations, type DesiredInputs, grantCandidate, personChain, previewGrant, sharedCandidates } from '../resolve/chain.ts'
import { type DesiredCap, declaredIn, resolveDesired } from '../resolve/desired.ts'
import { type GrantStatus, isInForce } from '../resolve/grants.ts'
import { ruleCandidate } from '../resolve/matches.ts'
import { addOnFigures, type MeasuredAddOn } from '../use/add-on.ts'
import { isUsedUp } from '../use/burn.ts'
import { firstStop } from '../use/first-stop.ts'

export interface ExplainInputs {
  /** What policy asks follows from it. */
  readonly asked: DesiredInputs
  readonly readings: ReadonlyMap<ScopeKey, CapReading>
  /** Newest first. */
  readonly history: readonly HistoryEntry[]
  readonly holds: readonly Hold[]
  readonly plan?: Plan
  /** Has the credits that a seat includes; without it use is an upper bound. */
  readonly balance?: Balance
  readonly measured?: MeasuredAddOn
}

/** One declaration in the chain. Exactly one wins, unless nothing is declared or groups conflict. */
export interface ExplainedCandidate {
  /** `cap` is `none` for a grant whose sum is invalid. */
  readonly candidate: Origin
  readonly wins: boolean
  /** Why it won or lost, as a clause: "a user cap is narrower", "ended 2026-12-16 00:00 UTC". */
  readonly why: string
  /** Present for grants. */
  readonly state?: GrantState
}

export type Explanation = ReturnType<typeof explain>

/** Explains one scope (docs/commands.md, explain). */
export function explain(inputs: ExplainInputs, scope: Scope) {
  const here = isAt(scope)
  const { asked } = inputs
  const resolution = resolveDesired(asked)
  const desired = resolution.desired.find(here)
  const groups = asked.set.groups.filter((group) => scope.kind === 'user' && isMember(asked, group.scope.id, scope.email))
  const ancestors: Scope[] = scope.kind === 'team' ? [] : [...groups.map((group) => group.scope), TEAM]
  const declared = chainOf(inputs, scope, ancestors, desired)
  const won = declared.chain.find(({ wins }) => wins)
  const winner = ancestors.find((one) => won && isAt(one)(won.candidate))
  return {
    scope,
    /** Declared groups of a user. */
    groups: groups.map((group) => ({ id: group.scope.id, name: group.name })),
    /** The scope that was most likely meant, where neither the roster nor a policy knows this one. */
    nearest: nearestOf(asked, scope),
    ...declared,
    desired,
    /** This scope and its ancestors, with their readings. */
    observed: [scope, ...ancestors].map((one) => observedAt(inputs, one)),
    ...(scope.kind === 'user' && {
      ...personOf(inputs, scope.email, ancestors, resolution.pools),
      pool: dealOf(asked, resolution.pools, scope.email),
    }),
    lastWrite: inputs.history.find(here),
    ...changeAt(inputs, scope),
    inherits: winner && inheritedChange(inputs, winner),
    rejected: resolution.rejected.find(here),
    skipped: resolution.skipped.find(here),
    problems: inputs.plan?.problems.filter(here) ?? [],
    owned: asked.owned.get(scopeKey(scope)),
  }
}

const isAt =
  (scope: Scope) =>
  (one: { readonly scope?: Scope }): boolean =>
    one.scope !== undefined && scopeKey(one.scope) === scopeKey(scope)

/** The change that the present plan makes there, and the hold of it. */
const changeAt = ({ plan, holds }: ExplainInputs, scope: Scope) => ({
  change: plan?.changes.find(isAt(scope)),
  hold: holds.find((one) => one.changes.some(isAt(scope))),
})

/** The change at the group or team whose declaration wins. */
function inheritedChange(inputs: ExplainInputs, scope: Scope) {
  const { change, hold } = changeAt(inputs, scope)
  return change && { scope, change, hold }
}

/** Nothing while there is no roster: then every address may be right. */
function nearestOf({ set, roster, nearest }: DesiredInputs, scope: Scope): ScopeKey | undefined {
  const key = scopeKey(scope)
  const declared = [...set.rules, ...set.grants, ...set.groups, ...set.protectedPeople].map((one) => one.scope)
  const listed = scope.kind === 'user' ? roster?.people.map(({ email }): Scope => ({ kind: 'user', email })) : []
  if (!nearest || !listed) return undefined
  const known = [...new Set([...listed, ...declared].flatMap((one) => (one.kind === scope.kind ? scopeKey(one) : [])))]
  const isKnown = scope.kind === 'user' ? listed.some((one) => scopeKey(one) === key) : known.includes(key)
  const others = isKnown ? [] : known.filter((one) => one !== key)
  const near = nearest(key, others)
  return others.find((one) => one === near)
}

/** The person's pool, with its deal in words. */
function dealOf(asked: DesiredInputs, declared: readonly PoolPeople[], email: string) {
  const one = poolOf(asked, declared, email)
  if (!one) return doubtOf(asked, declared, email)
  const { name } = one.pool
  const lines = one.state ? dealLines(one.pool, one.state, email) : [`pool ${name}: nothing is dealt yet`]
  return { name, lines }
}

/** Of whom it is not known whether they are a member. */
function doubtOf(asked: DesiredInputs, declared: readonly PoolPeople[], email: string) {
  const pool = declared.find(({ unknown }) => unknown?.emails.includes(email))?.pool
  if (pool?.members.kind !== 'when') return undefined
  const { name, members } = pool
  const why = declaredIn(asked).rules.whyOf(members, email)
  return { name, lines: [`pool ${name}: whether its condition holds is not known (${why}), so the person stays out of it`] }
}

const isMember = ({ unknownGroups, groups }: DesiredInputs, id: string, email: string): boolean =>
  !unknownGroups.includes(id) && groups.some((group) => group.id === id && group.emails.includes(email))

function observedAt({ readings }: ExplainInputs, scope: Scope) {
  const known = readings.get(scopeKey(scope))
  // The monotonic clock means nothing outside this process.
  return { scope, reading: known && { ...known, readMs: undefined } }
}

function personOf(inputs: ExplainInputs, email: string, ancestors: readonly Scope[], pools: readonly PoolPeople[]) {
  const { asked, balance, measured, readings } = inputs
  const { roster, now, cycle } = asked
  const row = roster?.people.find((one) => one.email === email)
  const use = row && addOnFigures({ now, cycle, measured, balance }).of(email, row.used)
  const groups = ancestors.filter((one) => one.kind === 'group').map(scopeKey)
  const status = row && (roster && isApproved(row, roster) ? 'approved' : row.status)
  // People who are not approved are not read, and a cap of their own would apply before an ancestor's.
  const isLeftAlone = roster !== undefined && status !== 'approved'
  const inForce: Effective = isLeftAlone
    ? { cap: 'unknown', from: undefined }
    : effectiveCap({ key: scopeKey({ kind: 'user', email }), groups }, (key) => readings.get(key)?.observed)
  const { cap } = inForce
  const own =
    use && typeof cap === 'number' ? { cap, addOn: use.credits, used: row.used, creditsPerSeat: balance?.creditsPerSeat } : undefined
  return {
    /** Absent without a roster; `off-roster`: it does not list the person. */
    person: roster && { status: status ?? ('off-roster' as const), disabled: row?.disabled ?? false },
    /** The cap in force as the readings show it. */
    inForce,
    /** `isUpperBound`: all used credits count, because those that a seat includes are not known. `headRoom`: negative above the cap. */
    use: use && {
      ...{ used: use.credits, source: use.source, isUpperBound: use.source === 'upperBound' },
      headRoom: typeof cap === 'number' ? wholeCents(cap - use.credits) : undefined,
    },
    stopsFirst: use && stopOf(inputs, poolOf(asked, pools, email), own),
  }
}

/** `without`: that day needs the use and the caps of everybody, which are not read here. */
function stopOf({ asked, balance }: ExplainInputs, dealt: ReturnType<typeof poolOf>, own: Parameters<typeof firstStop>[0]['own']) {
  const { now, cycle } = asked
  const present = balanceOf(cycle, balance)
  const over = present && isUsedUp(present) ? { exhaustedAt: present.readAt } : undefined
  const pool = dealt && figuresIn(cycle, dealt.pool, dealt.state)
  return { ...firstStop({ now, cycle, own, pool, balance: over }), without: over ? undefined : ('balance' as const) }
}

function poolOf({ pools = {} }: DesiredInputs, declared: readonly PoolPeople[], email: string) {
  const pool = declared.find(({ members }) => members.some((member) => member.email === email))?.pool
  return pool && { pool, state: Object.hasOwn(pools, pool.name) ? pools[pool.name] : undefined }
}

type View = ReturnType<typeof viewOf>

/** `open`: the rule of which it is not known whether it matches: no later candidate counts. */
function viewOf(found: Declarations, scope: Scope) {
  if (scope.kind !== 'user') {
    const candidates = sharedCandidates(found, scope)
    const winner = candidates.find((one) => one.cap !== 'none') ?? candidates.at(-1)
    return { candidates, open: undefined, winner, verdict: 'agreed' as const }
  }
  const { groups, verdict, candidates, winner } = personChain(found, scope.email)
  if (verdict.kind !== 'unknown') return { candidates, open: undefined, winner, verdict: groups.kind }
  const why = found.rules.whyOf(verdict.rule, scope.email)
  return { candidates, open: ruleCandidate(verdict.rule, scope, why), winner: undefined, verdict: groups.kind }
}

function chainOf(inputs: ExplainInputs, scope: Scope, ancestors: readonly Scope[], desired: DesiredCap | undefined) {
  const found = declaredIn(inputs.asked)
  const view = viewOf(found, scope)
  const won: Origin | undefined = desired && isBeyondChain(desired, view) ? desired.origin : view.winner
  const candidates: readonly Origin[] = view.candidates
  const place = won ? candidates.indexOf(won) : -1
  const { open } = view
  const chain: ExplainedCandidate[] = [
    ...(open && won?.kind !== 'rule' ? [{ candidate: open, wins: false, why: STAYS }] : []),
    ...(won ? [{ candidate: won, wins: true, why: open && won.kind === 'rule' ? STAYS : whyWon(won), state: stateOf(found, won) }] : []),
    ...candidates.flatMap((one, index) => {
      if (one === won) return []
      const why = open
        ? `whether rule ${open.rule} matches is not known`
        : one.cap === 'none' && (index < place || (place < 0 && scopeKey(one.scope) === scopeKey(scope)))
          ? SETS_NOTHING
          : whyLost(one, won, view.verdict)
      return [{ candidate: one, wins: false, why, state: stateOf(found, one) }]
    }),
    ...[scope, ...ancestors].flatMap((one) => idleGrants(found, one, inputs.asked.now)),
  ]
  return {
    /** The winner first, then the losers in order of precedence, grants that are not in force last. */
    chain,
    /** The cap that all declarations result in; absent when none applies or groups conflict. */
    cap: won?.cap,
  }
}

/** Whether the desired cap is none of the chain: a base that a grant gives back, a conflict cap to be removed, or a copy that is kept. */
function isBeyondChain({ origin, cap }: DesiredCap, { winner, verdict }: View): boolean {
  if (origin.kind === 'cap' || origin.kind === 'grant') return false
  if (!winner) return true
  if (origin.kind === 'pool') return winner.kind !== 'pool'
  if (origin.kind === 'restore') return cap !== 'none'
  return (origin.kind === 'conflict' && verdict !== 'chosen') || (origin.kind === 'copied' && cap !== winner.cap)
}

const STAYS = 'it is not known whether it matches, so the cap in force stays and no later rule is tried'
const BENEATH_GRANT = 'a grant on the same scope is in force'
const SETS_NOTHING = 'sets nothing here, so the next wider one applies'

function whyWon(won: Origin): string {
  switch (won.kind) {
    case 'grant':
      return won.untilAt === undefined ? 'a grant in force' : `a grant in force, ends ${formatInstant(won.untilAt)}`
    case 'cap':
      return won.cap === 'none' ? 'no cap is declared here or wider' : 'the narrowest cap declared'
    case 'restore':
      return 'a grant has ended, and the cap from before it is restored'
    case 'rule':
      return won.cap === 'none' ? SETS_NOTHING : 'the first rule that matches, and nothing is declared for the person alone'
    case 'pool':
      return 'what the pool deals'
    case 'conflict':
    case 'copied':
      return won.reason ?? 'the cap that applies to this person'
  }
}

function whyLost(one: Origin, won: Origin | undefined, verdict: View['verdict']): string {
  if (won?.kind === 'pool') {
    const isFirst = one.scope.kind === 'user' && one.kind !== 'conflict'
    return isFirst ? `pool ${won.pool} deals at most what is left` : 'a pool is narrower'
  }
  if (one.kind === 'pool') return 'a cap for the person is dealt first'
  if (one.kind === 'rule' && won?.kind !== 'rule' && won?.kind !== 'grant') return 'a cap for the person goes before rules'
  if (!won)
    return one.scope.kind === 'group' ? 'the groups of this person differ and spec.onGroupConflict is not set' : 'a group cap is narrower'
  if (one.kind === 'cap' && won.kind === 'grant' && scopeKey(one.scope) === scopeKey(won.scope)) return BENEATH_GRANT
  if (one.scope.kind === 'group' && won.kind === 'conflict' && verdict === 'chosen')
    return 'spec.onGroupConflict decides between the groups'
  if (one.scope.kind === 'group' && won.scope.kind === 'group') {
    return one.cap === won.cap ? `${scopeKey(won.scope)} asks for the same` : BENEATH_GRANT
  }
  if (won.kind === 'rule') return 'a rule is narrower'
  return `a ${won.scope.kind} ${won.kind === 'grant' ? 'grant' : 'cap'} is narrower`
}

const stateOf = (found: Declarations, { kind, scope, at }: Origin): GrantState | undefined =>
  kind === 'grant' ? found.grantsOf.get(scopeKey(scope))?.find((one) => one.grant.at === at)?.state : undefined

/** Grants of the scope that are not in force, and invalid ones. */
function idleGrants(found: Declarations, scope: Scope, now: Instant): ExplainedCandidate[] {
  const key = scopeKey(scope)
  const { rejected } = found.scopes.get(key) ?? {}
  const statuses = (found.grantsOf.get(key) ?? []).filter(({ state }) => rejected !== undefined || !isInForce(state))
  return statuses.map((status) => {
    const preview = previewGrant(found, status)
    const candidate = 'code' in preview ? grantCandidate(status, 'none') : preview
    const why = rejected && isInForce(status.state) ? rejected.message : whyIdle(status, now)
    return { candidate, wins: false, why, state: status.state }
  })
}

function whyIdle({ grant: { fromAt }, state, note, untilAt }: GrantStatus, now: Instant): string {
  if (note !== undefined) return note
  if (state === 'ended') return untilAt === undefined ? 'ended with its billing cycle' : `ended ${formatInstant(untilAt)}`
  return fromAt !== undefined && fromAt > now ? `starts ${formatInstant(fromAt)}` : 'its billing cycle has not begun'
}
