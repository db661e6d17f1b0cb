// What a workspace does next, and how often a scope is read and why, for the daemon, `explain` and the documents: with every sweep, or, where a
// sweep takes longer than the interval, within a bound for all scopes, and sooner the more could leak.
import { type CapAt, type CountedPerson, effectiveCap, type People } from '../interpret/effective.ts'
import type { Cycle } from '../model/observed.ts'
import type { PolicySet } from '../model/policy.ts'
import { type Scope, type ScopeKey, scopeKey } from '../model/scope.ts'
import { type Credits, greatest, type Instant } from '../model/units.ts'
import { grantWindow } from '../resolve/grants.ts'

// Which caps are read next while a whole sweep takes longer than the interval. Each scope has a deadline: the more credits could leak through
// it, the sooner, and none later than a bound for all. A scope without use only waits longer.

/** A managed scope. */
export interface Watched {
  readonly key: ScopeKey
  /** When it was last read successfully; absent: never. */
  readonly readAt?: Instant
  /** Credits that could be used beyond the declared cap within half a working day, if another client raised it now; at least 0. */
  readonly risk: number
  /** There is a sign that its cap is wrong: it is read first. */
  readonly suspect?: true
}

/** No scope waits longer than so many plain sweeps; the other requests go where credits could leak. Choice. */
const LONGEST_SWEEPS = 1.1

/** How long a leak lasts before the next reading of use shows it, in working days. Choice. */
const LEAK_DAYS = 0.5

/** What one person could soon use beyond their declared cap, if it were raised: nothing while the cap is far off. */
export const riskOf = ({ pacePerDay, headRoom }: { readonly pacePerDay: number; readonly headRoom: number }): number =>
  Math.max(0, LEAK_DAYS * pacePerDay - Math.max(0, headRoom))

/** Credits that a person uses on a working day, from their use on so many calendar days. */
export const paceOf = (used: Credits, days: number): number => (days > 0 ? used / ((days * 5) / 7) : 0)

interface WatchInputs {
  readonly scopes: readonly Scope[]
  /** When a scope was last read successfully. */
  readonly readAt: (key: ScopeKey) => Instant | undefined
  readonly people: People
  /** Declared caps. */
  readonly declared: CapAt
  /** Credits that a person uses on a working day. */
  readonly pacePerDay: (email: string) => number
  /** What a person had used when the scope that sets their cap was last read, as far as that is remembered. */
  readonly useWhenRead: (email: string) => Credits | undefined
  /** Whether another client changed the scope lately. */
  readonly changedByOthers: (scope: Scope) => boolean
}

/** Every scope with its risk, in the given order. */
export function watchedScopes(inputs: WatchInputs): readonly Watched[] {
  const risks = new Map<ScopeKey, number>()
  const suspects = new Set<ScopeKey>()
  for (const person of inputs.people.approved) {
    const { cap, from } = effectiveCap(person, inputs.declared)
    if (typeof cap !== 'number' || from === undefined) continue
    const risk = riskOf({ pacePerDay: inputs.pacePerDay(person.email), headRoom: cap - person.use })
    risks.set(from, (risks.get(from) ?? 0) + risk)
    if (usesBeyond(person, cap, inputs.useWhenRead(person.email))) suspects.add(from)
  }
  return inputs.scopes.map((scope) => {
    const key = scopeKey(scope)
    const readAt = inputs.readAt(key)
    const isSuspect = suspects.has(key) || inputs.changedByOthers(scope)
    return { key, risk: risks.get(key) ?? 0, readAt, suspect: isSuspect ? true : undefined }
  })
}

/** A cap that holds stops use: a person whose use grew beyond it since it was read must have another cap. */
const usesBeyond = ({ use }: CountedPerson, cap: Credits, whenRead: Credits | undefined): boolean =>
  use > cap && use > (whenRead ?? Number.POSITIVE_INFINITY)

/** No scope of so many waits longer for its reading, in ms. */
const longestInterval = (scopes: number, readsPerSecond: number): number => Math.round((LONGEST_SWEEPS * scopes * 1000) / readsPerSecond)

/** The time between two readings, in ms, by risk. */
type ReadingIntervals = (risk: number) => number

/**
 * Intervals that use exactly `readsPerSecond`: min(longest, k ÷ √risk), with the smallest k that the requests allow. The cost of a late
 * detection grows with risk × interval, and is least when intervals are proportional to 1 ÷ √risk.
 */
export function readingIntervals(risks: readonly number[], readsPerSecond: number): ReadingIntervals {
  const longestMs = longestInterval(risks.length, readsPerSecond)
  const roots = risks.map(Math.sqrt)
  const demand = (k: number): number => roots.reduce((sum, root) => sum + Math.max(1 / longestMs, root / k), 0)
  const allowed = readsPerSecond / 1000
  let [low, high] = [0, longestMs * Math.max(1, greatest(roots))]
  for (let step = 0; step < BISECTIONS; step += 1) {
    const middle = (low + high) / 2
    if (demand(middle) > allowed) low = middle
    else high = middle
  }
  return (risk) => (risk > 0 ? Math.min(longestMs, high / Math.sqrt(risk)) : longestMs)
}

/** Steps of the bisection: enough for one part in a trillion. */
const BISECTIONS = 40

/** The latest time to read a scope. */
const readingDueAt = ({ readAt, risk }: Watched, intervals: ReadingIntervals): Instant =>
  readAt === undefined ? Number.NEGATIVE_INFINITY : readAt + intervals(risk)

/** Suspects take at most this share of the readings, so that no scope waits longer than the bound. Choice. */
const SUSPECT_SHARE = 0.5

/** The next `count` scopes to read: suspects first, then scopes never read, then by deadline; of equal ones the older reading first. */
export function nextReadings(watched: readonly Watched[], count: number, intervals: ReadingIntervals): readonly ScopeKey[] {
  const queue = watched.map((one) => ({
    key: one.key,
    isSuspect: one.suspect === true,
    dueAt: readingDueAt(one, intervals),
    readAt: one.readAt ?? Number.NEGATIVE_INFINITY,
  }))
  queue.sort((a, b) => compare(a.dueAt, b.dueAt) || compare(a.readAt, b.readAt) || (a.key < b.key ? -1 : 1))
  const suspects = queue.filter(({ isSuspect }) => isSuspect).slice(0, Math.ceil(count * SUSPECT_SHARE))
  const first = new Set(suspects)
  return [...suspects, ...queue.filter((one) => !first.has(one))].slice(0, count).map(({ key }) => key)
}

const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1)

/** Intervals vary by this share either way, so that many instances do not send at the same time. */
const JITTER = 0.1

/** The next instant on the wall clock at which a grant starts or ends; undefined when none is known. */
export function nextGrantInstant(set: PolicySet, cycle: Cycle | undefined, now: Instant): Instant | undefined {
  let next: Instant | undefined
  for (const grant of set.grants) {
    const window = grantWindow(grant, cycle)
    const untilAt = window.kind === 'instant' ? window.untilAt : undefined
    for (const at of [grant.fromAt, untilAt]) if (at !== undefined && at > now && (next === undefined || at < next)) next = at
  }
  return next
}

/** The time to the next cycle in milliseconds: `intervalMs` ± 10 %, evenly over `roll` in [0, 1). */
export const nextCycleDelay = (intervalMs: number, roll: number): number => Math.round(intervalMs * (1 - JITTER + 2 * JITTER * roll))

/** The share of requests for sweeps; the rest is for roster, balance and writes with their read-backs. Choice. */
const SWEEP_SHARE = 0.8

/** The rate of sweeps, and how many scopes they read within an interval. */
export function sweepRate(requestsPerSecond: number, intervalMs: number): { readonly readsPerSecond: number; readonly count: number } {
  const readsPerSecond = requestsPerSecond * SWEEP_SHARE
  return { readsPerSecond, count: Math.floor((readsPerSecond * intervalMs) / 1000) }
}

/** How sweeps are sliced. */
export interface Slicing {
  readonly readsPerSecond: number
  readonly watched: readonly Watched[]
  readonly intervals: ReadingIntervals
  /** Credits that a person uses on a working day, by e-mail. */
  readonly paces: ReadonlyMap<string, number>
}

export type Rhythm = NonNullable<ReturnType<typeof rhythmOf>>

/** All that is known of a sliced scope where use by day is not known. */
export type RhythmBound = NonNullable<ReturnType<typeof rhythmBound>>

interface RhythmInputs {
  readonly scope: Scope
  readonly toRead: readonly Scope[]
  readonly people: People
  /** Declared caps. */
  readonly declared: CapAt
  readonly intervalMs: number
  /** Absent: every sweep is whole. */
  readonly slicing?: Slicing | undefined
}

/** The scope that sweeps read: the one asked about, or the one whose cap applies to the person. Undefined where no sweep reads it. */
function readFor({ scope, toRead, people, declared }: Pick<RhythmInputs, 'scope' | 'toRead' | 'people' | 'declared'>) {
  const own = scopeKey(scope)
  const person = people.byKey.get(own)
  const effective = person && effectiveCap(person, declared)
  const keys = new Set(toRead.map(scopeKey))
  const key = keys.has(own) ? own : effective?.from
  return key === undefined || !keys.has(key) ? undefined : { key, person, cap: effective?.cap }
}

export function rhythmBound(inputs: Parameters<typeof readFor>[0], readsPerSecond: number) {
  const read = readFor(inputs)
  return read && { key: read.key, atLeastEveryMs: longestInterval(inputs.toRead.length, readsPerSecond) }
}

/** How often a scope is read, or the one whose cap applies to the person. Undefined where no sweep reads it. */
export function rhythmOf({ intervalMs, slicing, ...inputs }: RhythmInputs) {
  const read = readFor(inputs)
  if (!read) return undefined
  const { key, person, cap } = read
  const watched = slicing?.watched.find((one) => one.key === key)
  if (!slicing || !watched) return { key, everyMs: intervalMs }
  return {
    /** The scope that is read. */
    key,
    /** The present time between two readings. */
    // No scope is read twice in one sweep; suspects are read with the next.
    everyMs: watched.suspect ? intervalMs : Math.max(intervalMs, slicing.intervals(watched.risk)),
    /** Only where sweeps are sliced. */
    sliced: {
      atLeastEveryMs: slicing.intervals(0),
      watched,
      /** The head-room of the person asked about, and their credits a working day. */
      person:
        person && typeof cap === 'number'
          ? { headRoom: Math.max(0, cap - person.use), pacePerDay: slicing.paces.get(person.email) ?? 0 }
          : undefined,
    },
  }
}

const number = (value: number): string => String(value < 10 ? Math.round(value * 10) / 10 : Math.round(value))

const span = (ms: number): string => (ms < 60_000 ? `${Math.max(1, Math.round(ms / 1000))} s` : `${Math.round(ms / 60_000)} min`)

/** `read with every sweep, every 5 min`, or the present interval, the longest one, and why; only the longest one where use is not known. */
export function rhythmText(rhythm: Rhythm | RhythmBound): string {
  if ('atLeastEveryMs' in rhythm)
    return `read at least every ${span(rhythm.atLeastEveryMs)}, and sooner the more credits could leak there; how soon follows from use by day, which is not known here`
  const { everyMs, sliced } = rhythm
  if (!sliced) return `read with every sweep, every ${span(everyMs)}`
  return `read every ${span(everyMs)}, at least every ${span(sliced.atLeastEveryMs)}: ${whyNow(sliced)}`
}

function whyNow({ watched: { suspect, risk }, person }: NonNullable<Rhythm['sliced']>): string {
  if (suspect) return 'there is a sign that its cap is wrong'
  if (person && person.pacePerDay > 0)
    return `${number(person.headRoom)} credits from the cap at ${number(person.pacePerDay)} credits a day`
  return risk > 0 ? `up to ${number(risk)} credits could be used beyond the cap within half a day` : 'nobody is near the cap'
}
