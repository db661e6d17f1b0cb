// Recommends caps for the team and its groups from recorded use: so that at most a given share of people is blocked, or so that a budget is kept
// and used, with the same share of blocked people everywhere. The figures come from a simulation of the recommended policy. Caps of single people, grants
// and the rest of the policy stay. People without recorded use are not guessed.

import { type CapRule, type Grant, type PolicySet, protectedEmails } from '../../model/policy.ts'
import { byScope, type GroupScope, type ScopeKey, scopeKey, TEAM, type TeamScope } from '../../model/scope.ts'
import { credits, MAX_CAP, wholeCents } from '../../model/units.ts'
import { DUST, type ReplayPeople, replayPeople } from './demand.ts'
import { isCounted, type SimulationInputs } from './document.ts'
import { capsOfPolicy } from './in-force.ts'
import { demandsOf, presentPeople, type Simulation, simulate } from './simulation.ts'

/** `share`: of people blocked, 0 to 1. `credits`: add-on credits of the most expensive cycle. */
export type Target = { readonly kind: 'blocked'; readonly share: number } | { readonly kind: 'budget'; readonly credits: number }

export interface RecommendInputs extends Omit<SimulationInputs, 'against'> {
  readonly target: Target
  /** Ids of groups; absent: the team and all groups with members. */
  readonly only?: readonly string[]
}

/** Smaller caps cost more trouble than they save. Choice. */
const LEAST_CAP = 10
/** How often caps are raised to correct for people in several groups. */
const ROUNDS = 40
/** The steps of the share of blocked people, and between two shares, when looking for a budget. Choice. */
const SHARES = 400

/** Rounds up to a cap that is easy to remember: tens, fifties from 1,000 on, five hundreds from 10,000 on. Choice. */
export function niceCap(least: number): number {
  const step = least < 1_000 ? 10 : least < 10_000 ? 50 : 500
  return Math.min(MAX_CAP, Math.max(LEAST_CAP, Math.ceil((least - DUST) / step) * step))
}

export type Recommendation = Exclude<ReturnType<typeof recommend>, { readonly least: number }>

/** The recommended caps; `least` where no cap could keep the budget: people with caps or grants of their own use more than it by themselves. */
export function recommend(inputs: RecommendInputs) {
  const people = replayPeople(inputs.recorded, presentPeople(inputs.roster), inputs.groups)
  const known = knownDemand(inputs, people)
  const scopes = scopesOf(inputs, people, known)
  const { target } = inputs
  const simulated = (caps: Caps) => {
    const whole = withCaps(inputs.policy.set, caps)
    const simulation = simulate({ ...inputs, policy: { ...inputs.policy, set: whole } })
    // Add-on credits of the most expensive cycle under these caps.
    const dearest = Math.max(0, ...simulation.cycles.map(({ total }) => total.policy.credits.middle))
    const described = describe(inputs, people, scopes, caps, known, simulation)
    return { workspace: inputs.workspace, ...ofPlatform(inputs, whole), caps: described, dearest, simulation }
  }
  if (target.kind === 'blocked') return simulated(capsAt(scopes, known, target.share))
  // `known` leaves grants out: what they cost beyond the budget is taken from the others, until the simulation keeps it.
  // Each round wants fewer credits than the one before it came to, and so takes lower caps, of which there are few.
  for (let aim = target.credits; ; ) {
    const caps = capsWithin(scopes, known, aim)
    const result = simulated(caps ?? capsAt(scopes, known, 1))
    if (result.dearest <= target.credits + DUST) return result
    if (!caps) return { least: result.dearest }
    aim = Math.min(aim, dearestUnder(scopes, known, caps)) - (result.dearest - target.credits)
  }
}

type Known = ReturnType<typeof knownDemand>

function knownDemand(inputs: RecommendInputs, people: ReplayPeople) {
  const cycles: Float64Array[] = []
  for (const demand of demandsOf(inputs, people)) {
    const sums = new Float64Array(people.emails.length)
    for (const { addOn, cutOff } of demand.days) {
      for (let person = 0; person < sums.length; person += 1) sums[person] = (sums[person] ?? 0) + (addOn[person] ?? 0)
      for (const { person, middle } of cutOff) sums[person] = (sums[person] ?? 0) + middle
    }
    cycles.push(sums.map((sum, person) => (isCounted(people, demand, person) ? sum : -1)))
  }
  return {
    /** Add-on demand of each person by place, one array per cycle; -1 for a person who does not count in it. */
    cycles: cycles.slice(-inputs.shown),
    ...ownCaps(inputs, people),
  }
}

/**
 * The caps that the policy gives to single people, by place, Infinity without one: by name, by a rule or by a pool (the most that it gives), but neither
 * by a grant nor by the conflict rule.
 */
function ownCaps({ policy, roster, groups, cycles }: RecommendInputs, people: ReplayPeople) {
  const { onGroupConflict: _, ...set } = policy.set
  const source = capsOfPolicy({ set: { ...set, grants: [] }, people, groups, roster })
  const own = new Float64Array(people.emails.length).fill(Number.POSITIVE_INFINITY)
  const cycle = cycles.at(-1)
  if (!cycle) return { own, pools: source.pools() }
  const { caps, from } = source.capsOn({ at: cycle.endAt - 1, cycle, used: new Float64Array(people.emails.length) })
  const pools = source.pools()
  const pooled = new Map(pools.flatMap(({ max, members }) => members.map((person) => [person, max] as const)))
  const alone = own.map((none, person) => {
    const isOwn = source.scopes[from[person] ?? -1] === people.emails[person]
    return isOwn ? (caps[person] ?? none) : (pooled.get(person) ?? none)
  })
  return { own: alone, pools }
}

interface ScopePeople {
  readonly key: ScopeKey
  readonly scope: TeamScope | GroupScope
  readonly name: string
  readonly members: readonly number[]
  /** A cap that stays; Infinity for none. */
  readonly fixed?: number
}

type Scopes = ReturnType<typeof scopesOf>

/** Whether an entry stands in a file of a team, which keeps it. */
const isTheirs = ({ policy }: RecommendInputs, { at }: CapRule | Grant): boolean =>
  policy.delegated?.files.some(({ file }) => file === at.file) === true

/** What takes the place of platform's policy. */
const ofPlatform = (inputs: RecommendInputs, { rules, grants, ...set }: PolicySet) => ({
  set: { ...set, rules: rules.filter((one) => !isTheirs(inputs, one)), grants: grants.filter((one) => !isTheirs(inputs, one)) },
  envelopes: inputs.policy.delegated?.envelopes.length ?? 0,
})

function scopesOf(inputs: RecommendInputs, people: ReplayPeople, { own }: Known) {
  const { policy, groups, only } = inputs
  const { set } = policy
  const listed = new Set(groups.map(({ id }) => id))
  const one = (scope: TeamScope | GroupScope, name: string, members: readonly number[], isAsked: boolean): ScopePeople => {
    const key = scopeKey(scope)
    const rule = set.rules.find((known) => scopeKey(known.scope) === key)
    const mayChange = isAsked && members.length > 0 && !(rule && isTheirs(inputs, rule))
    const cap = rule === undefined || rule.cap === 'none' ? Number.POSITIVE_INFINITY : rule.cap
    return { key, scope, name, members, fixed: mayChange ? undefined : cap }
  }
  const free = people.emails.flatMap((_, person) => ((own[person] ?? 0) === Number.POSITIVE_INFINITY ? [person] : []))
  const grouped = set.groups
    .filter(({ scope }) => listed.has(scope.id))
    .map(({ scope, name }) => {
      const members = free.filter((person) => people.groupsOf[person]?.includes(scopeKey(scope)))
      return one(scope, name, members, only?.includes(scope.id) ?? true)
    })
    // Members of a group without a cap have the team's.
    .filter(({ fixed }) => fixed !== Number.POSITIVE_INFINITY)
  const inSome = new Set(grouped.flatMap(({ members }) => members))
  const outside = free.filter((person) => !inSome.has(person))
  const team = one(TEAM, 'the team', outside, only === undefined)
  const all = [...grouped, team]
  const byKey = new Map(grouped.map((group) => [group.key, group]))
  const of = people.emails.map((_, person): readonly ScopePeople[] => {
    if (own[person] !== Number.POSITIVE_INFINITY) return []
    const groupsOf = (people.groupsOf[person] ?? []).flatMap((key) => byKey.get(key) ?? [])
    return groupsOf.length > 0 ? groupsOf : [team]
  })
  return {
    /** The team last. */
    all,
    /** By place of a person: the scopes that may set their cap; the team only for people in no group. */
    of,
    onGroupConflict: set.onGroupConflict,
  }
}

/** The cap of a person without one of their own, and the scope that sets it. When the conflict rule decides between groups, no scope sets it. */
function capFrom({ of, onGroupConflict }: Scopes, caps: Caps, person: number): { readonly cap: number; readonly key?: ScopeKey } {
  const given = (of[person] ?? []).map(({ key }) => ({ key, cap: caps.get(key) ?? Number.POSITIVE_INFINITY }))
  const [first, ...others] = given
  if (!first) return { cap: Number.POSITIVE_INFINITY }
  const lowest = others.reduce((best, one) => (one.cap < best.cap ? one : best), first)
  if (!onGroupConflict || given.every(({ cap }) => cap === lowest.cap)) return lowest
  return { cap: onGroupConflict === 'min' ? lowest.cap : given.reduce((most, { cap }) => Math.max(most, cap), 0) }
}

const holdersOf = (scope: ScopePeople, scopes: Scopes, caps: Caps): readonly number[] =>
  scope.members.filter((person) => capFrom(scopes, caps, person).key === scope.key)

type Caps = Map<ScopeKey, number>

/** For each scope the lowest cap that blocks at most this share of the people who have it, over all cycles. */
function capsAt(scopes: Scopes, known: Known, share: number): Caps {
  const caps: Caps = new Map()
  for (const scope of scopes.all) caps.set(scope.key, scope.fixed ?? niceCap(quantile(demandsOfMembers(scope.members, known), share)))
  // A person in several groups has the lowest cap, so each cap is judged by the people who have it, and raised until it fits.
  for (let round = 0; round < ROUNDS; round += 1) {
    const raised = scopes.all.filter((scope) => scope.fixed === undefined && raise(scope, scopes, caps, known, share))
    if (raised.length === 0) break
  }
  return caps
}

const demandsOfMembers = (members: readonly number[], { cycles }: Known): readonly number[] =>
  cycles.flatMap((demand) => members.flatMap((person) => ((demand[person] ?? -1) >= 0 ? [demand[person] ?? 0] : [])))

/** The lowest value that at most this share of the values exceed; 0 for none. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => b - a)
  return sorted[Math.floor(values.length * share + 1e-9)] ?? 0
}

function raise(scope: ScopePeople, scopes: Scopes, caps: Caps, known: Known, share: number): boolean {
  const wanted = niceCap(quantile(demandsOfMembers(holdersOf(scope, scopes, caps), known), share))
  if (wanted <= (caps.get(scope.key) ?? 0)) return false
  caps.set(scope.key, wanted)
  return true
}

/**
 * The caps with the lowest share of blocked people, the same in every scope, with which the most expensive cycle keeps the budget; undefined for
 * none. Up to the caps of the next lower share they block the same people, only sooner: what the budget leaves goes there.
 */
function capsWithin(scopes: Scopes, known: Known, budget: number): Caps | undefined {
  const fits = (caps: Caps): boolean => dearestUnder(scopes, known, caps) <= budget
  const at = (step: number): Caps => capsAt(scopes, known, step / SHARES)
  if (!fits(at(SHARES))) return undefined
  const share = firstStep((step) => fits(at(step)))
  if (share === 0) return at(0)
  const [least, most] = [at(share), at(share - 1)]
  const between = (step: number): Caps =>
    new Map([...least].map(([key, cap]) => [key, towards(cap, most.get(key) ?? cap, (SHARES - step) / SHARES)]))
  return between(firstStep((step) => fits(between(step))))
}

const towards = (cap: number, most: number, part: number): number => (most > cap ? niceCap(cap + (most - cap) * part) : cap)

/** The first of `SHARES` steps that is enough; each after it is too. */
function firstStep(isEnough: (step: number) => boolean): number {
  let [low, high] = [0, SHARES]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (isEnough(middle)) high = middle
    else low = middle + 1
  }
  return low
}

function dearestUnder(scopes: Scopes, { cycles, own, pools }: Known, caps: Caps): number {
  const limits = own.map((alone, person) => (alone === Number.POSITIVE_INFINITY ? capFrom(scopes, caps, person).cap : alone))
  const granted = (demand: Float64Array, person: number): number => Math.min(Math.max(0, demand[person] ?? 0), limits[person] ?? 0)
  const sums = cycles.map((demand) => {
    const all = demand.reduce((sum, _, person) => sum + granted(demand, person), 0)
    // The members of a pool together may use less than all of them could one by one.
    const beyond = pools.map(({ credits: most, members }) => members.reduce((sum, person) => sum + granted(demand, person), -most))
    return beyond.reduce((sum, one) => sum - Math.max(0, one), all)
  })
  return Math.max(0, ...sums)
}

/** The policy with these caps in place of its own. */
function withCaps(set: PolicySet, caps: Caps): PolicySet {
  const known = byScope(set.rules)
  const scopes = [TEAM, ...set.groups.map(({ scope }) => scope)]
  const shared = scopes.flatMap((scope): readonly CapRule[] => {
    const key = scopeKey(scope)
    const [cap, rule] = [caps.get(key), known.get(key)]
    if (cap === undefined || cap === Number.POSITIVE_INFINITY) return rule ? [rule] : []
    return [{ at: { file: 'recommend', line: 1, column: 1 }, document: set.workspace, ...rule, scope, cap: credits(cap) }]
  })
  return { ...set, rules: [...shared, ...set.rules.filter(({ scope }) => scope.kind === 'user')] }
}

/** The recommended caps, with the figures of the simulation. */
export type RecommendedCap = ReturnType<typeof describe>[number]

function describe(inputs: RecommendInputs, people: ReplayPeople, scopes: Scopes, caps: Caps, known: Known, simulation: Simulation) {
  const { set } = inputs.policy
  const special = new Set([...protectedEmails(set), ...set.grants.flatMap(({ scope }) => (scope.kind === 'user' ? [scope.email] : []))])
  return scopes.all
    .filter(({ fixed }) => fixed === undefined)
    .map((one) => {
      const { key, scope, name } = one
      const cap = caps.get(key) ?? 0
      const reach = simulation.caps.find((other) => other.scope === key)
      const before = set.rules.find((rule) => scopeKey(rule.scope) === key)?.cap
      const holders = holdersOf(one, scopes, caps)
      const alike = new Set(holders.filter((person) => !special.has(people.emails[person] ?? '')))
      const sums = known.cycles.map((demand) => holders.reduce((sum, person) => sum + Math.max(0, demand[person] ?? 0), 0))
      const last = known.cycles.at(-1)
      return {
        scope,
        name,
        cap,
        /** The policy's present cap; undefined when none is declared. */
        before,
        /** With this cap in the last cycle. */
        people: holders.filter((person) => (last?.[person] ?? -1) >= 0).length,
        /** Members of the group whom a pool would not deal to as to the others: with another cap or a grant, or protected. */
        apart: people.groupsOf.filter((keys, person) => people.isPresent[person] && keys.includes(key) && !alike.has(person)).length,
        personCycles: reach?.personCycles ?? 0,
        blocked: reach?.blocked ?? 0,
        /** The highest add-on use of one of them if there were no cap. */
        highestDemand: wholeCents(demandsOfMembers(holders, known).reduce((most, demand) => Math.max(most, demand), 0)),
        /** What all of them together would have used without a cap in the most expensive cycle: a pool of so many credits would have blocked nobody. */
        poolCredits: wholeCents(Math.max(0, ...sums)),
      }
    })
}
