// What a seed determines: a company, its policy, a deployment with its peculiarities, and days with faults and events. Each purpose draws
// from a stream of its own, so that leaving out a kind of fault or event changes nothing else.

import { DEFAULT_GUARDS, type GuardSettings } from '../../../src/core/model/change.ts'
import { DAY_MS, HOUR_MS } from '../../../src/core/model/units.ts'
import type { NotifySettings } from '../../../src/core/notify/settings.ts'
import { between, type Draw, pick, stream } from '../../../src/sandbox/company/company.ts'
import type { Switches } from '../../../src/sandbox/switches.ts'
import { drawNotify } from './channels.ts'
import { EVENT_KINDS, type EventKind, FILE_EVENTS, MESSAGE_EVENTS, POOL_EVENTS, RULE_EVENTS, TEAM_EVENTS } from './events/kinds.ts'

export const MINUTE_MS = 60_000

/** The folder of platform's policies. */
export const POLICIES = '/policies'

/** One element of a list; undefined, without a draw, of an empty one. */
export const oneOf = <T>(draw: Draw, [first, ...rest]: readonly T[]): T | undefined => first && pick(draw, [first, ...rest])

export const FAULT_KINDS = [
  'drop-before',
  'drop-after',
  'lands-late',
  'slow',
  'server-error',
  'html',
  'truncated',
  'empty-body',
  'odd-body',
  'rate-limit',
  'stale-read',
  'short-roster',
  'spelling',
  'two-spellings',
  'key-refused',
  'key-echoed',
  'disk-full',
] as const
export type FaultKind = (typeof FAULT_KINDS)[number]

/** A fault that may affect each request between two instants. */
interface FaultWindow {
  readonly kind: FaultKind
  readonly fromMs: number
  readonly untilMs: number
  /** Probability for each request. */
  readonly rate: number
}

/** Something that happens in the world at an instant. */
export interface SimEvent {
  readonly kind: EventKind
  readonly atMs: number
  /** The name of its stream of chance. */
  readonly name: string
}

/** A day: a storm of faults and events, then calm until its end. */
interface Round {
  readonly fromMs: number
  readonly calmAtMs: number
  readonly settledAtMs: number
  readonly quietAtMs: number
  /** All shown holds are approved at the beginning of the calm. */
  readonly approving: boolean
  /** Then the daemon stops, policy and caps change, and until then `apply` has to end. */
  readonly appliedAtMs?: number
}

export interface Scenario {
  readonly seed: number
  readonly startAt: number
  readonly people: number
  readonly groups: number
  readonly switches: Partial<Switches>
  readonly capSemantics: 'layered' | 'copied'
  readonly intervalMs: number
  readonly usageIntervalMs: number
  readonly prune: boolean
  /** Foreign changes are shown and not reverted. */
  readonly onDrift: 'heal' | 'alert'
  readonly undeclaredUsers: 'ignore' | 'report'
  /** Policies have pools, people work up to their caps, and use shows hours late. */
  readonly pools: boolean
  /** Policies have rules over all properties in the roster. */
  readonly rules: boolean
  /** The folder of a team that decides about the caps of one group within an envelope. */
  readonly envelope: string | undefined
  /** A people file serves rules and pools. */
  readonly directory: boolean
  /** Who is told what, without leads; absent: nobody. */
  readonly notify: NotifySettings | undefined
  /** Its key allows so few requests that a sweep takes longer than the interval. */
  readonly isSlow: boolean
  /** The guards that count people are off in some lives, so that more is written. */
  readonly guards: GuardSettings
  readonly rate: { readonly start: number; readonly max: number; readonly concurrency: number }
  /** The round trip of a request in milliseconds. */
  readonly latencyMs: number
  readonly faults: readonly FaultWindow[]
  readonly events: readonly SimEvent[]
  readonly rounds: readonly Round[]
}

/** The parts of a scenario that are left out, to find the smallest one that fails. */
export interface Cut {
  readonly without: ReadonlySet<string>
  /** Only so many events, and no fault that begins after the last of them. */
  readonly until: number | undefined
}

export const NO_CUT: Cut = { without: new Set(), until: undefined }

export const NO_SHARES = { maxAffected: 'off', maxLowered: 'off', maxBlocked: 'off', maxCleared: 'off', maxRaise: 'off' } as const

const LATEST_START = Date.UTC(2027, 0, 1)

export function drawScenario(seed: number, days: number, cut: Cut = NO_CUT): Scenario {
  const draw = stream(seed, 'scenario')
  const isSlow = stream(seed, 'slow')() < 0.1
  // Few sweep every 5 min: their days take many times as long, and have no more events.
  const isQuick = stream(seed, 'quick')() < 0.08
  const drawnMs = pick(draw, isQuick ? [5] : [15, 20, 30, 45]) * MINUTE_MS
  const intervalMs = isSlow ? 5 * MINUTE_MS : drawnMs
  const usageIntervalMs = pick(draw, [10, 30, 60]) * MINUTE_MS
  const fanOut = draw() < 0.25
  const capSemantics = fanOut ? (draw() < 0.7 ? 'copied' : 'layered') : draw() < 0.12 ? 'copied' : 'layered'
  const pools = capSemantics === 'layered' && !fanOut && stream(seed, 'pools')() < 0.4
  const rules = stream(seed, 'rules')() < 0.3
  const inEnvelope = stream(seed, 'envelope')()
  const envelope = pools || inEnvelope > 0.35 ? undefined : inEnvelope < 0.25 ? `${POLICIES}/team` : '/team'
  const directory = !isSlow && envelope === undefined && stream(seed, 'people-file')() < 0.25
  const notify = stream(seed, 'channels')() < 0.25 ? drawNotify(stream(seed, 'notify/settings')) : undefined
  // A change of the people file counts hours later.
  const moreMs = (isSlow ? SLOW_MS : 0) + (directory ? 1.3 * usageIntervalMs + 25 * MINUTE_MS : 0)
  const rounds = drawRounds(seed, days, settlingMs(intervalMs, usageIntervalMs) + moreMs, intervalMs)
  const has: readonly (readonly [boolean, ReadonlySet<EventKind>])[] = [
    [pools, POOL_EVENTS],
    [rules, RULE_EVENTS],
    [envelope !== undefined, TEAM_EVENTS],
    [directory, FILE_EVENTS],
    [notify !== undefined, MESSAGE_EVENTS],
  ]
  const isOf = (kind: EventKind): boolean => has.every(([is, kinds]) => is || !kinds.has(kind))
  const events = drawEvents(seed, rounds).filter(({ kind }) => !cut.without.has(kind) && isOf(kind))
  const lastAt = cut.until === undefined ? undefined : (events[cut.until - 1]?.atMs ?? 0)
  const faults = drawFaults(seed, rounds)
  const quick = { start: 5, max: pick(draw, [5, 10, 50]), concurrency: pick(draw, [1, 4, 8]) }
  const rate = isSlow ? { ...quick, start: SLOW_RATE, max: SLOW_RATE } : quick
  return {
    seed,
    // Near the end of a month in every second seed, so that billing cycles roll over.
    startAt: drawStart(draw),
    people: between(draw, 5, 40),
    groups: between(draw, 1, 4),
    // Every third service tells add-on use per person.
    switches: {
      ...drawSwitches(draw, fanOut),
      addOnRows: stream(seed, 'add-on')() < 1 / 3 ? 'served' : 'refused',
      ...(pools && poolSwitches(stream(seed, 'pools/switches'))),
    },
    capSemantics,
    intervalMs,
    usageIntervalMs,
    prune: draw() < 0.85,
    onDrift: stream(seed, 'on-drift')() < 0.1 ? 'alert' : 'heal',
    undeclaredUsers: stream(seed, 'undeclared')() < 0.2 ? 'report' : 'ignore',
    isSlow,
    pools,
    rules,
    envelope,
    directory,
    notify,
    guards: stream(seed, 'guards')() < (pools ? 0.6 : 0.3) ? { ...DEFAULT_GUARDS, ...NO_SHARES } : DEFAULT_GUARDS,
    rate,
    latencyMs: pick(draw, [20, 80, 400]),
    faults: faults.filter(({ kind, fromMs }) => !cut.without.has(kind) && (lastAt === undefined || fromMs <= lastAt)),
    events: lastAt === undefined ? events : events.slice(0, cut.until),
    rounds,
  }
}

/** Mostly a service that shows use an hour or three late. */
const poolSwitches = (draw: Draw): Partial<Switches> => ({
  ...(draw() < 0.9 && { plan: 'enterprise' }),
  analyticsDelay: pick(draw, [0, 1, 3]) * HOUR_MS,
})

function drawStart(draw: Draw): number {
  const month = between(draw, 0, 11)
  const nearEnd = draw() < 0.5
  const monthEnd = Date.UTC(2026, month + 1, 1)
  const at = nearEnd
    ? monthEnd - between(draw, 1, 40) * HOUR_MS
    : Date.UTC(2026, month, between(draw, 1, 25)) + between(draw, 0, 23) * HOUR_MS
  return Math.min(at, LATEST_START)
}

function drawSwitches(draw: Draw, fanOut: boolean): Partial<Switches> {
  return {
    capSemantics: fanOut ? 'fan-out' : 'layered',
    capReads: draw() < 0.2 ? 'inherited' : 'explicit',
    zeroCap: pick(draw, ['stored', 'stored', 'omitted', 'rejected']),
    capSpelling: pick(draw, ['camel', 'snake', 'both']),
    writeBody: pick(draw, ['object', 'empty']),
    names: pick(draw, ['spec', 'live']),
    int64: pick(draw, ['number', 'string']),
    zeros: pick(draw, ['kept', 'omitted']),
    errors: pick(draw, ['error', 'connect', 'text', 'ok']),
    plan: pick(draw, ['enterprise', 'enterprise', 'team', 'quota']),
  }
}

/** How long after the storm all caps must be as desired: time for one or two rosters, three sweeps, and back-off. */
const settlingMs = (intervalMs: number, usageIntervalMs: number): number =>
  15 * MINUTE_MS + 2.2 * usageIntervalMs + 3.3 * intervalMs + 5 * MINUTE_MS

/** Requests a second of a slow key, and the extra time of its sweeps. */
const SLOW_RATE = 0.12
const SLOW_MS = 4 * HOUR_MS

/** `apply` has ended by then, also with a slow key. */
const APPLY_MS = 1.5 * HOUR_MS

function drawRounds(seed: number, days: number, settling: number, intervalMs: number): readonly Round[] {
  const draw = stream(seed, 'rounds')
  return Array.from({ length: days }, (_, day) => {
    const approving = draw() < 0.5
    const endMs = (day + 1) * DAY_MS - 1
    const isApplied = stream(seed, `applied/${day}`)() < 0.3
    const quietAtMs = isApplied ? endMs - APPLY_MS : endMs
    const settledAtMs = quietAtMs - 3.5 * intervalMs
    const calmAtMs = settledAtMs - settling * (approving ? 2 : 1)
    return { fromMs: day * DAY_MS, calmAtMs, settledAtMs, quietAtMs, approving, ...(isApplied && { appliedAtMs: endMs }) }
  })
}

/** Expected number of each event in a day of storm, if the seed has the kind at all. */
function drawEvents(seed: number, rounds: readonly Round[]): readonly SimEvent[] {
  const events = EVENT_KINDS.flatMap(({ kind, perDay, share }) => {
    const draw = stream(seed, `events/${kind}`)
    if (draw() >= share) return []
    return rounds.flatMap(({ fromMs, calmAtMs }, day) => {
      const count = Math.floor(perDay * 2 * draw() + draw())
      return Array.from({ length: count }, (_, index) => ({
        kind,
        atMs: Math.floor(fromMs + 1000 + draw() * (calmAtMs - fromMs - 2000)),
        name: `${kind}/${day}/${index}`,
      }))
    })
  })
  return events.sort((a, b) => a.atMs - b.atMs || (a.name < b.name ? -1 : 1))
}

function drawFaults(seed: number, rounds: readonly Round[]): readonly FaultWindow[] {
  return FAULT_KINDS.flatMap((kind) => {
    const draw = stream(seed, `faults/${kind}`)
    if (draw() < 0.3) return []
    return rounds.flatMap(({ fromMs, calmAtMs }) => {
      const windows = draw() < 0.7 ? 1 : 2
      return Array.from({ length: windows }, () => {
        const start = fromMs + draw() * (calmAtMs - fromMs)
        const lengthMs = pick(draw, [2, 20, 120, 600]) * MINUTE_MS
        return { kind, fromMs: start, untilMs: Math.min(start + lengthMs, calmAtMs), rate: pick(draw, [0.01, 0.05, 0.2, 0.5, 1]) }
      })
    })
  })
}
