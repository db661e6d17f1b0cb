// Decides which request is sent next: by urgency, then in order of arrival. Each key has one pace (`Paces`), since the service counts per key;
// requests under way are bounded for the whole workspace. It sends nothing itself, and never grants a turn that the ticket's `admit`
// refuses or the key's pace does not allow yet. Also runs work under several signals.
import type { LearnedRate, Pace, RateSettings } from '../../core/pace/pace.ts'
import { answered, currentRate, earliestSendAt, learnedRate, sent, startPace, succeeding, withSettings } from '../../core/pace/pacing.ts'
import type { Clock } from '../../ports.ts'

/** Writes and the readings that decide them; then the readings of a sweep; then measurements. */
const URGENCIES = ['urgent', 'normal', 'late'] as const
export type Urgency = (typeof URGENCIES)[number]

/** Whether a request may be sent now, and with which key. After `wait` it is asked again when another request ends. */
export type Permit =
  | { readonly kind: 'go' | 'probe'; readonly keyId: string }
  | { readonly kind: 'wait' }
  | { readonly kind: 'fail'; readonly error: unknown }

interface Ticket {
  /** The configuration's name of the key. */
  readonly keyName: string
  readonly urgency: Urgency
  /** Goes before others of its urgency, because it has waited before. */
  readonly again: boolean
  readonly admit: () => Permit
  /** Called when the request is sent, before any other request is admitted. */
  readonly onAdmitted: (admission: 'go' | 'probe') => void
  readonly signals: readonly (AbortSignal | undefined)[]
}

interface Waiter {
  readonly ticket: Ticket
  /** Its place in the order of arrival, across all lanes. */
  readonly order: number
  readonly resolve: (turn: Turn) => void
  readonly reject: (error: unknown) => void
  /** Listens to the ticket's signals no more. */
  readonly release: () => void
  /** Aborted; removed when it comes first. */
  gone: boolean
}

/** The right to send one request now; `end` must be called exactly once. */
export interface Turn {
  readonly admission: 'go' | 'probe'
  /** `undefined`: there was no answer, so nothing is known about the rate. */
  end(answer: { readonly kind: 'ok' } | { readonly kind: 'refused'; readonly retryAfterMs?: number } | undefined): void
}

interface Lane {
  readonly keyName: string
  readonly waiting: Record<Urgency, Waiter[]>
  /** When the lane is served again. */
  alarm?: { readonly at: number; readonly cancel: AbortController }
}

/** The first that still waits; aborted ones before it are removed. */
function head(lane: Lane): Waiter | undefined {
  for (const urgency of URGENCIES) {
    const line = lane.waiting[urgency]
    while (line[0]?.gone) line.shift()
    if (line[0]) return line[0]
  }
  return undefined
}

/** Removes the first of the lane. */
function leave(lane: Lane, first: Waiter): Waiter {
  lane.waiting[first.ticket.urgency].shift()
  first.release()
  return first
}

/** Of the lanes that are not put aside, the one whose first waiter is the most urgent, then the earliest. */
function nextLane(lanes: Iterable<Lane>, aside: ReadonlySet<Lane>): Lane | undefined {
  let best: { readonly lane: Lane; readonly rank: number; readonly order: number } | undefined
  for (const lane of lanes) {
    const first = aside.has(lane) ? undefined : head(lane)
    if (!first) continue
    const rank = URGENCIES.indexOf(first.ticket.urgency)
    if (!best || rank < best.rank || (rank === best.rank && first.order < best.order)) best = { lane, rank, order: first.order }
  }
  return best?.lane
}

type Signals = readonly (AbortSignal | undefined)[]

/** Calls back once, when the first of the signals aborts or if one already has. The returned function removes the listeners. */
export function onAbort(signals: Signals, callback: (reason: unknown) => void): () => void {
  const present = signals.filter((signal) => signal !== undefined)
  const release = (): void => {
    for (const signal of present) signal.removeEventListener('abort', fire)
  }
  const fire = (): void => {
    release()
    callback(present.find((signal) => signal.aborted)?.reason)
  }
  if (present.some((signal) => signal.aborted)) fire()
  else for (const signal of present) signal.addEventListener('abort', fire, { once: true })
  return release
}

/** Runs work under a signal that aborts when any of several does. */
export async function underSignals<Value>(signals: Signals, work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
  const [only, ...others] = signals.filter((signal) => signal !== undefined)
  // The common case: every request of a sweep has one signal.
  if (only && others.length === 0) return work(only)
  const joined = new AbortController()
  const release = onAbort(signals, (reason) => joined.abort(reason))
  try {
    return await work(joined.signal)
  } finally {
    release()
  }
}

/** One key's pace. All names of the same key share it. */
interface KeyPace {
  readonly names: Set<string>
  pace: Pace
  /** What was last reported as learned. */
  known: LearnedRate
}

/** Opaque: made once for each workspace of a process, and handed to every client of it. */
export interface Paces {
  readonly ofKey: Map<string, KeyPace>
  readonly ofName: Map<string, KeyPace>
}

export const createPaces = (): Paces => ({ ofKey: new Map(), ofName: new Map() })

/** The pace of a key under the current settings. A changed key continues at the pace of its predecessor: the service is the same. */
function paceOf({ paces, rate, learned }: QueueOptions, name: string, id: string, nowMs: number): KeyPace {
  const before = paces.ofName.get(name)
  // What was learned earlier is for a name that is new to this process.
  const own = paces.ofKey.get(id) ?? opened(before ? succeeding(before.pace, nowMs) : startPace(rate, nowMs, learned[name]))
  own.pace = withSettings(own.pace, rate)
  if (before === own) return own
  before?.names.delete(name)
  own.names.add(name)
  paces.ofKey.set(id, own)
  paces.ofName.set(name, own)
  for (const [key, { names }] of paces.ofKey) if (names.size === 0) paces.ofKey.delete(key)
  return own
}

const opened = (pace: Pace): KeyPace => ({ names: new Set(), pace, known: learnedRate(pace) })

interface QueueOptions {
  readonly clock: Clock
  /** The most requests under way at once. */
  readonly concurrency: number
  readonly rate: RateSettings
  readonly paces: Paces
  /** The rates learned in earlier runs, by key name. */
  readonly learned: Readonly<Record<string, unknown>>
  readonly onLearned: (keyName: string, learned: LearnedRate) => void
}

export type Queue = ReturnType<typeof createQueue>

/** `entered`: how many have entered. */
const newState = (options: QueueOptions) => ({ options, lanes: new Map<string, Lane>(), underWay: 0, entered: 0 })
type State = ReturnType<typeof newState>

export function createQueue(options: QueueOptions) {
  const state = newState(options)
  return {
    /** Resolves when the request may be sent; rejects with what `admit` failed with, or a signal's reason. */
    enter(ticket: Ticket): Promise<Turn> {
      const aborted = ticket.signals.find((signal) => signal?.aborted)
      if (aborted) return Promise.reject(aborted.reason)
      const { keyName } = ticket
      const lane: Lane = state.lanes.get(keyName) ?? { keyName, waiting: { urgent: [], normal: [], late: [] } }
      state.lanes.set(keyName, lane)
      state.entered += 1
      return new Promise<Turn>((resolve, reject) => {
        const waiter: Waiter = {
          ...{ ticket, resolve, reject, gone: false },
          order: ticket.again ? 0 : state.entered,
          release: onAbort(ticket.signals, (reason) => {
            waiter.gone = true
            reject(reason)
            stopAlarmWhenEmpty(lane)
          }),
        }
        const line = lane.waiting[ticket.urgency]
        if (ticket.again) line.unshift(waiter)
        else line.push(waiter)
        pump(state)
      })
    },
    /** Requests per second that the key may send now; undefined before its first use. */
    ratePerSecond(keyName: string): number | undefined {
      const own = options.paces.ofName.get(keyName)
      return own && currentRate(own.pace)
    },
  }
}

/** Grants all turns that are possible now, the most urgent first. Each round grants one or puts a lane aside. */
function pump(state: State): void {
  const aside = new Set<Lane>()
  for (let lane = nextLane(state.lanes.values(), aside); lane; lane = nextLane(state.lanes.values(), aside)) {
    if (!serve(state, lane)) aside.add(lane)
  }
}

/** False when the first of the lane cannot go now. */
function serve(state: State, lane: Lane): boolean {
  const { clock, concurrency } = state.options
  const waiter = head(lane)
  if (!waiter) return false
  const permit = waiter.ticket.admit()
  if (permit.kind === 'fail') {
    leave(lane, waiter).reject(permit.error)
    return true
  }
  if (permit.kind === 'wait' || state.underWay >= concurrency) return false
  const nowMs = clock.monotonic()
  // Not earlier, because the key may have changed while the request waited.
  const key = paceOf(state.options, lane.keyName, permit.keyId, nowMs)
  const at = earliestSendAt(key.pace, nowMs)
  if (at > nowMs) {
    setAlarm(state, lane, at)
    return false
  }
  leave(lane, waiter).ticket.onAdmitted(permit.kind)
  waiter.resolve(openTurn(state, key, permit.kind, nowMs))
  return true
}

function openTurn(state: State, key: KeyPace, admission: 'go' | 'probe', sentAtMs: number): Turn {
  const { clock, onLearned } = state.options
  state.underWay += 1
  key.pace = sent(key.pace, sentAtMs)
  return {
    admission,
    end(answer) {
      state.underWay -= 1
      if (answer) {
        key.pace = answered(key.pace, clock.monotonic(), answer, sentAtMs)
        report(key, onLearned)
      }
      pump(state)
    },
  }
}

function report(key: KeyPace, onLearned: QueueOptions['onLearned']): void {
  const learned = learnedRate(key.pace)
  const { rate, limited, tryMs } = key.known
  if (learned.rate === rate && learned.limited === limited && learned.tryMs === tryMs) return
  key.known = learned
  for (const name of key.names) onLearned(name, learned)
}

function setAlarm(state: State, lane: Lane, at: number): void {
  const { clock } = state.options
  // An alarm that rings too early does no harm: the lane is served again.
  if (lane.alarm && lane.alarm.at <= at) return
  lane.alarm?.cancel.abort()
  const alarm = { at, cancel: new AbortController() }
  lane.alarm = alarm
  clock.sleep(at - clock.monotonic(), alarm.cancel.signal).then(
    () => {
      if (lane.alarm === alarm) delete lane.alarm
      pump(state)
    },
    // Cancelled: another alarm is set, or no request waits.
    () => undefined,
  )
}

/** A needless alarm would keep a stopping process alive. */
function stopAlarmWhenEmpty(lane: Lane): void {
  if (head(lane) || !lane.alarm) return
  lane.alarm.cancel.abort()
  delete lane.alarm
}
