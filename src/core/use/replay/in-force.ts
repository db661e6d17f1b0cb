// The caps that were in force on past days, as far as the ledger knows: what capkeeper wrote, what it saw other clients write at its scopes, and
// what is set there now. Any other cap is not known and counts as none; a note says so.

import { TEAM_KEY } from '../../interpret/effective.ts'
import type { HistoryEntry } from '../../model/change.ts'
import type { JournalEntry } from '../../model/events.ts'
import type { Cycle, GroupMembers, OwnedCap, Roster } from '../../model/observed.ts'
import type { Cap, PolicySet } from '../../model/policy.ts'
import { type ScopeKey, scopeKey } from '../../model/scope.ts'
import { type Instant, wholeCents } from '../../model/units.ts'
import type { PoolPeople } from '../../pools/deal.ts'
import { poolPace } from '../../pools/figures.ts'
import { aim, give, matters } from '../../pools/share-out.ts'
import { claim, emptyTable, type PoolTable } from '../../pools/table.ts'
import type { RejectedScope } from '../../resolve/candidate.ts'
import type { DesiredInputs } from '../../resolve/chain.ts'
import { resolveDesired } from '../../resolve/desired.ts'
import { grantId, grantStatuses, isInForce } from '../../resolve/grants.ts'
import type { CapSource, CapsOfDay, ReplayDay, ReplayPeople } from './demand.ts'

/** Numbers scopes in the order in which they first appear. */
function scopeList() {
  const scopes: ScopeKey[] = []
  const places = new Map<ScopeKey, number>()
  const place = (key: ScopeKey): number => {
    const known = places.get(key) ?? scopes.push(key) - 1
    places.set(key, known)
    return known
  }
  return { scopes, place }
}

/** Everybody's cap: their own, else the lowest of their groups', else the team's (as `effectiveCap`). */
function capsOfAll(people: ReplayPeople, set: ReadonlyMap<ScopeKey, Cap>, place: (key: ScopeKey) => number): CapsOfDay {
  const caps = new Float64Array(people.emails.length)
  const from = new Int32Array(people.emails.length)
  for (let person = 0; person < people.emails.length; person += 1) capOfOne(people, set, place, person, { caps, from })
  return { caps, from }
}

/** The cap of one person, written into `result`. */
function capOfOne(
  { emails, groupsOf }: ReplayPeople,
  set: ReadonlyMap<ScopeKey, Cap>,
  place: (key: ScopeKey) => number,
  person: number,
  result: CapsOfDay,
): void {
  let key = emails[person] as ScopeKey
  let cap = set.get(key)
  if (cap === undefined || cap === 'none') {
    cap = undefined
    for (const group of groupsOf[person] ?? []) {
      const one = set.get(group)
      if (one === undefined || one === 'none' || (cap !== undefined && cap <= one)) continue
      cap = one
      key = group
    }
  }
  if (cap === undefined) {
    cap = set.get(TEAM_KEY)
    key = TEAM_KEY
  }
  const isSet = cap !== undefined && cap !== 'none'
  result.caps[person] = isSet ? Number(cap) : Number.POSITIVE_INFINITY
  result.from[person] = isSet ? place(key) : -1
}

/** Caps without any deal, and the members of pools. */
interface UndealtDay {
  readonly caps: CapsOfDay
  readonly pools: readonly PoolPeople[]
}

const placesOf = ({ emails }: ReplayPeople): ReadonlyMap<string, number> => new Map(emails.map((email, place) => [email, place]))

export type PoolPlaces = ReturnType<typeof placesIn>[number]

/** Pools and the places of their members. */
const placesIn = (pools: readonly PoolPeople[], places: ReadonlyMap<string, number>) =>
  pools.map(({ pool, members }) => ({
    ...{ name: pool.name, credits: pool.credits },
    /** The most that a member gets. */
    max: pool.max ?? pool.credits,
    members: members.flatMap(({ email }) => places.get(email) ?? []),
  }))

/** The state of a pool from one day to the next. */
interface PoolOnDays {
  readonly terms: PoolPeople['pool']
  readonly table: PoolTable
  /** By place in the table: the place of the person. */
  readonly rows: Int32Array
  /** The last deal; NaN: nothing yet. */
  readonly dealt: Float64Array
  /** The cap of the day before; infinite without one. */
  readonly inForce: Float64Array
  /** Members who are not dealt, with the cap of the day before. */
  readonly undealt: readonly { readonly person: number; readonly cap: number }[]
  /** The cycle of the last deal. */
  cycleStartAt: Instant | undefined
}

/** The pool's state after the grants in force changed; `before`: until then. A member whose own cap changed is dealt again. */
function poolOnDays(
  { pool, members }: PoolPeople,
  { caps }: UndealtDay,
  places: ReadonlyMap<string, number>,
  before: PoolOnDays | undefined,
): PoolOnDays {
  const here = members.flatMap((member) => {
    const person = places.get(member.email)
    return person === undefined ? [] : [{ ...member, person }]
  })
  const dealt = here.filter((one) => !one.protected)
  const first = dealt.filter(({ fixed }) => fixed !== undefined)
  const named = [...first, ...dealt.filter(({ fixed }) => fixed === undefined)]
  const table = emptyTable(named.length, first.length)
  table.isRead.fill(1)
  const after: PoolOnDays = {
    terms: pool,
    table,
    rows: Int32Array.from(named, ({ person }) => person),
    dealt: new Float64Array(named.length).fill(Number.NaN),
    inForce: new Float64Array(named.length).fill(Number.POSITIVE_INFINITY),
    undealt: here.flatMap((one) => (one.protected ? [{ person: one.person, cap: caps.caps[one.person] ?? Number.POSITIVE_INFINITY }] : [])),
    cycleStartAt: before?.cycleStartAt,
  }
  const rowsBefore = new Map(before && Array.from(before.rows, (person, row) => [person, row] as const))
  for (const [row, { person, fixed }] of named.entries()) {
    if (fixed !== undefined) table.fixed[row] = fixed
    const rowBefore = rowsBefore.get(person)
    if (!before || rowBefore === undefined) continue
    after.inForce[row] = before.inForce[rowBefore] ?? Number.POSITIVE_INFINITY
    if (Object.is(table.fixed[row], before.table.fixed[rowBefore])) after.dealt[row] = before.dealt[rowBefore] ?? Number.NaN
  }
  return after
}

/** Deals, if that matters, with what is known on the morning of a day. */
function dealOn(pool: PoolOnDays, { at, cycle, used }: ReplayDay): void {
  const { terms, table, dealt } = pool
  const isNewCycle = pool.cycleStartAt !== cycle.startAt
  let [usedByThem, undealt, standing] = [0, 0, 0]
  for (const { person, cap } of pool.undealt) {
    const use = wholeCents(used[person] ?? 0)
    usedByThem += use
    undealt += Number.isFinite(cap) ? Math.max(use, cap) : use
    standing += Math.max(use, cap)
  }
  const seen = fillIn(pool, used)
  claim(table, terms, poolPace(usedByThem + seen.used, table.size + pool.undealt.length, cycle, at))
  const aimed = aim(table, terms, undealt)
  const isOver = undealt + seen.counted > terms.credits
  if (isNewCycle || seen.isOpen || matters(table, aimed, isOver)) {
    pool.cycleStartAt = cycle.startAt
    give(table, aimed, { room: terms.credits - standing - seen.counted, isOver })
    for (let row = 0; row < table.size; row += 1) {
      const cap = table.given[row] ?? Number.NaN
      if (!Number.isNaN(cap)) dealt[row] = cap
    }
  }
}

/** Fills use and caps as of the day before into the table. `counted`: the sum that members count for; `isOpen`: one of them has no deal yet. */
function fillIn({ table: { use, present, count, fixed, size }, rows, dealt, inForce }: PoolOnDays, used: Float64Array) {
  let [all, counted, isOpen] = [0, 0, false]
  for (let row = 0; row < size; row += 1) {
    // To the cent, as in a reading.
    const own = Math.round((used[rows[row] ?? 0] ?? 0) * 100) / 100
    const cap = inForce[row] ?? 0
    const most = Math.max(own, cap)
    all += own
    use[row] = own
    present[row] = cap === Number.POSITIVE_INFINITY ? Number.NaN : cap
    count[row] = most
    counted += most
    if (Number.isNaN(dealt[row]) && (cap !== 0 || Number(fixed[row]) > 0)) isOpen = true
  }
  return { used: all, counted, isOpen }
}

/**
 * Puts the deal in force at once: its raises are within the credits, and nothing has changed since it was made. Where nothing is dealt to a
 * member, the cap in force stays.
 */
function putInForce({ rows, dealt, inForce }: PoolOnDays, { caps, from }: CapsOfDay): void {
  for (const [row, person] of rows.entries()) {
    const given = Number(Number.isNaN(dealt[row]) ? inForce[row] : dealt[row])
    if (given === Number.POSITIVE_INFINITY) continue
    inForce[row] = given
    caps[person] = given
    from[person] = -1
  }
}

interface PolicyCapsInputs {
  readonly set: PolicySet
  readonly people: ReplayPeople
  readonly roster?: Roster
  readonly groups: readonly GroupMembers[]
}

export type PolicyCaps = ReturnType<typeof capsOfPolicy>

/** Days with the same grants in force have the same caps except for pools, and are resolved once. */
export function capsOfPolicy(inputs: PolicyCapsInputs) {
  const known = new Map<string, UndealtDay>()
  const rejected = new Map<string, RejectedScope>()
  const openRules = new Map<string, string>()
  const { scopes, place } = scopeList()
  const places = placesOf(inputs.people)
  let pools: readonly PoolPlaces[] = []
  const undealtOn = (at: Instant, cycle: Cycle): UndealtDay => {
    const resolvable = inputsOn(inputs, at, cycle)
    const key = grantsOn(resolvable)
    const found = known.get(key)
    if (found) return found
    const resolution = resolveDesired(resolvable)
    for (const one of resolution.rejected) rejected.set(scopeKey(one.scope), one)
    for (const { code, subject, message } of resolution.ruleNotes) if (code === 'RULE_UNKNOWN') openRules.set(subject, message)
    const caps = capsOfAll(inputs.people, new Map(resolution.desired.map(({ scope, cap }) => [scopeKey(scope), cap])), place)
    const undealt = { caps, pools: resolution.pools }
    pools = placesIn(resolution.pools, places)
    known.set(key, undealt)
    return undealt
  }
  const another = (): CapSource => {
    let dealt: { readonly from: UndealtDay; readonly caps: CapsOfDay; readonly pools: readonly PoolOnDays[] } | undefined
    return {
      scopes,
      capsOn(day) {
        const from = undealtOn(day.at, day.cycle)
        if (from.pools.length === 0) return from.caps
        if (dealt?.from !== from) {
          const before = new Map(dealt?.pools.map((pool) => [pool.terms.name, pool]))
          const onDays = from.pools.map((one) => poolOnDays(one, from, places, before.get(one.pool.name)))
          dealt = { from, pools: onDays, caps: structuredClone(from.caps) }
        }
        for (const pool of dealt.pools) {
          dealOn(pool, day)
          putInForce(pool, dealt.caps)
        }
        return dealt.caps
      },
    }
  }
  return {
    ...another(),
    /** The same for another replay, which has its own deals. */
    another,
    /** Scopes that the policy rejected on a day so far, and rules of which the roster does not tell whom they match, with the reason. */
    ...{ rejected, openRules },
    /** Pools with their members; none before the first day. */
    pools: () => pools,
  }
}

const inputsOn = ({ set, roster, groups }: PolicyCapsInputs, now: Instant, cycle: Cycle): DesiredInputs => ({
  set,
  roster,
  groups,
  unknownGroups: [],
  cycle,
  now,
  capSemantics: 'layered',
  owned: new Map(),
  prune: true,
  conflictsGone: {},
  newReading: undefined,
  grantsFrozen: false,
})

/** The grants in force, as a cache key. */
const grantsOn = (inputs: DesiredInputs): string => {
  const inForce = grantStatuses(inputs.set.grants, inputs).filter(({ state }) => isInForce(state))
  return JSON.stringify(inForce.map(({ grant }) => grantId(grant)))
}

/** A cap that changed. */
export type CapChange = Pick<HistoryEntry, 'at' | 'scope' | 'from' | 'to'>

/** Known changes, the oldest first: our writes that landed, and foreign changes that readings found, which a write of the same instant reverts. */
export function capChanges(history: readonly HistoryEntry[], journal: readonly JournalEntry[]): readonly CapChange[] {
  const written: readonly CapChange[] = history.filter(({ result }) => result === 'applied')
  const found = journal.flatMap((entry): readonly CapChange[] =>
    entry.kind === 'foreign' && entry.observed !== 'unknown'
      ? [{ at: entry.at, scope: entry.scope, from: entry.verified, to: entry.observed }]
      : [],
  )
  return [...found, ...written.toReversed()].sort((a, b) => a.at - b.at)
}

/** The caps before these changes. A scope of ours without a change always had its present cap. Choice. */
export function setBefore(owned: readonly OwnedCap[], changes: readonly CapChange[]): Map<ScopeKey, Cap> {
  const set = new Map<ScopeKey, Cap>(owned.map(({ scope, cap }) => [scopeKey(scope), cap]))
  for (const { scope, from } of changes.toReversed()) set.set(scopeKey(scope), from)
  return set
}

/** `history` has the newest first. */
export function capsInForce(
  people: ReplayPeople,
  owned: readonly OwnedCap[],
  history: readonly HistoryEntry[],
  journal: readonly JournalEntry[] = [],
): CapSource {
  const writes = capChanges(history, journal)
  const set = setBefore(owned, writes)
  const places = placesOf(people)
  const { scopes, place } = scopeList()
  let next = 0
  let caps: CapsOfDay | undefined
  return {
    scopes,
    capsOn({ at }) {
      const touched: ScopeKey[] = []
      for (let write = writes[next]; write && write.at <= at; write = writes[next]) {
        const key = scopeKey(write.scope)
        set.set(key, write.to)
        touched.push(key)
        next += 1
      }
      const persons = touched.flatMap((key) => places.get(key) ?? [])
      if (!caps || persons.length < touched.length) {
        caps = capsOfAll(people, set, place)
      } else if (persons.length > 0) {
        caps = { caps: caps.caps.slice(), from: caps.from.slice() }
        for (const person of persons) capOfOne(people, set, place, person, caps)
      }
      return caps
    },
  }
}
