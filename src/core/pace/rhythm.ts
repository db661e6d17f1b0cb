// What a workspace does next, and how often a scope is read and why, for the daemon, `explain` and the documents: with every sweep, or, where a
// sweep takes longer than the interval, within a bound for all scopes, and sooner the more could leak.
import { type CapAt, effectiveCap, type People } from '../interpret/effective.ts'
import type { Cycle } from '../model/observed.ts'
import type { PolicySet } from '../model/policy.ts'
import { type Scope, type ScopeKey, scopeKey } from '../model/scope.ts'
import type { Instant } from '../model/units.ts'
import { grantWindow } from '../resolve/grants.ts'
import { LONGEST_SWEEPS, type ReadingIntervals, type Watched } from './reading-order.ts'

/** Intervals vary by this share either way, so that many instances do not send at the same time. */
const JITTER = 0.1

/** The wall clock may be set during a sleep: while a grant is awaited, check at least this often. */
const LONGEST_SLEEP_MS = 60_000

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

/** Recurring work: when it last began on the monotonic clock (absent: never), and the delay from then. */
interface RecurringWork {
  readonly lastAt?: number
  readonly delayMs: number
}

/** Milliseconds until it is due; 0 when it is due now or never ran. */
export const dueInMs = ({ lastAt, delayMs }: RecurringWork, monotonicNow: number): number =>
  lastAt === undefined ? 0 : Math.max(0, lastAt + delayMs - monotonicNow)

interface ScheduleInputs {
  readonly caps: RecurringWork
  readonly usage: RecurringWork
  /** From `nextGrantInstant`. */
  readonly grantAt?: Instant
  readonly now: Instant
  readonly monotonicNow: number
}

interface NextWork {
  readonly capsDue: boolean
  readonly usageDue: boolean
  /** How long to sleep before asking again; 0 when something is due. */
  readonly sleepMs: number
}

/** What is due now, and how long to sleep. A grant that starts or ends makes caps due. */
export function nextWork({ caps, usage, grantAt, now, monotonicNow }: ScheduleInputs): NextWork {
  const grantInMs = grantAt === undefined ? undefined : Math.max(0, grantAt - now)
  const capsInMs = Math.min(dueInMs(caps, monotonicNow), grantInMs ?? Number.POSITIVE_INFINITY)
  const usageInMs = dueInMs(usage, monotonicNow)
  const sleepMs = Math.min(capsInMs, usageInMs, grantInMs === undefined ? Number.POSITIVE_INFINITY : LONGEST_SLEEP_MS)
  return { capsDue: capsInMs === 0, usageDue: usageInMs === 0, sleepMs }
}

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

export interface Rhythm {
  /** The scope that is read: the one asked about, or the one whose cap applies to the person. */
  readonly key: ScopeKey
  /** The present time between two readings. */
  readonly everyMs: number
  /** Only where sweeps are sliced. */
  readonly sliced?: Bound & {
    /** Credits that could be used beyond the cap within half a working day, if another client raised it. */
    readonly risk: number
    readonly isSuspect: boolean
    /** The head-room of the person asked about, and their credits a working day. */
    readonly person?: { readonly headRoom: number; readonly pacePerDay: number }
  }
}

/** How long a scope waits at most where sweeps are sliced. */
interface Bound {
  readonly atLeastEveryMs: number
  readonly sweepMs: number
  readonly scopes: number
  readonly readsPerSecond: number
}

/** All that is known of a sliced scope where use by day is not known. */
export interface RhythmBound extends Bound {
  readonly key: ScopeKey
}

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

/** The scope that sweeps read: the one asked about, or the one whose cap applies to the person. */
function readFor({ scope, toRead, people, declared }: Pick<RhythmInputs, 'scope' | 'toRead' | 'people' | 'declared'>) {
  const own = scopeKey(scope)
  const person = people.byKey.get(own)
  const effective = person && effectiveCap(person, declared)
  const keys = new Set(toRead.map(scopeKey))
  const key = keys.has(own) ? own : effective?.from
  return key === undefined || !keys.has(key) ? undefined : { key, person, effective }
}

function boundOf(scopes: number, readsPerSecond: number): Bound {
  const sweepMs = (scopes * 1000) / readsPerSecond
  return { atLeastEveryMs: LONGEST_SWEEPS * sweepMs, sweepMs, scopes, readsPerSecond }
}

/** Undefined for a scope that no sweep reads. */
export function rhythmBound(inputs: Omit<RhythmInputs, 'intervalMs' | 'slicing'>, readsPerSecond: number): RhythmBound | undefined {
  const read = readFor(inputs)
  return read && { key: read.key, ...boundOf(inputs.toRead.length, readsPerSecond) }
}

/** Undefined for a scope that no sweep reads. */
export function rhythmOf({ intervalMs, slicing, ...inputs }: RhythmInputs): Rhythm | undefined {
  const read = readFor(inputs)
  if (!read) return undefined
  const { key, person, effective } = read
  const watched = slicing?.watched.find((one) => one.key === key)
  if (!slicing || !watched) return { key, everyMs: intervalMs }
  const { readsPerSecond, intervals, paces } = slicing
  const isSuspect = watched.suspect === true
  return {
    key,
    // No scope is read twice in one sweep; suspects are read with the next.
    everyMs: isSuspect ? intervalMs : Math.max(intervalMs, intervals(watched.risk)),
    sliced: {
      ...boundOf(slicing.watched.length, readsPerSecond),
      risk: watched.risk,
      isSuspect,
      person:
        person && typeof effective?.cap === 'number'
          ? { headRoom: Math.max(0, effective.cap - person.use), pacePerDay: paces.get(person.email) ?? 0 }
          : undefined,
    },
  }
}

const number = (value: number): string => String(value < 10 ? Math.round(value * 10) / 10 : Math.round(value))

const span = (ms: number): string => (ms < 60_000 ? `${Math.max(1, Math.round(ms / 1000))} s` : `${Math.round(ms / 60_000)} min`)

/** `read with every sweep, every 5 min`, or the bound, the present interval and its reason. */
export function rhythmText({ everyMs, sliced }: Rhythm): string {
  if (!sliced) return `read with every sweep, every ${span(everyMs)}`
  return `${boundText(sliced)}; now every ${span(everyMs)}: ${whyNow(sliced)}`
}

/** The same where only the bound is known. */
export const rhythmBoundText = (bound: RhythmBound): string =>
  `${boundText(bound)}, and sooner the more credits could leak there; how soon follows from use by day, which is not known here`

const boundText = ({ atLeastEveryMs, sweepMs, scopes, readsPerSecond }: Bound): string =>
  `read at least every ${span(atLeastEveryMs)} (a sweep of ${scopes} scopes takes ${span(sweepMs)} at ${number(readsPerSecond)} readings/s)`

function whyNow({ isSuspect, risk, person }: NonNullable<Rhythm['sliced']>): string {
  if (isSuspect) return 'there is a sign that its cap is wrong'
  if (person && person.pacePerDay > 0)
    return `${number(person.headRoom)} credits from the cap at ${number(person.pacePerDay)} credits a day`
  if (risk > 0) return `up to ${number(risk)} credits could be used beyond the cap within half a day`
  return 'nobody is near the cap'
}
