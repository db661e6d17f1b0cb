// Who goes next: requests wait here for their turn, by urgency, then in order of arrival. Each key has one pace, whatever it is used for,
// since the service counts per key; requests under way are bounded for the whole workspace. It never sends anything itself, and never lets
// a request through that its asker's `admit` refuses or that its key's pace does not allow yet.
import type { LearnedRate, RateSettings } from '../../core/pace/pace.ts'
import { answered, currentRate, earliestSendAt, learnedRate, sent } from '../../core/pace/pacing.ts'
import type { Clock } from '../../ports.ts'
import { head, join, type Lane, leave, nextLane, openLane, type Ticket, type Turn, type Waiter } from './lane.ts'
import { type KeyPace, type Paces, paceOf, rateOf } from './paces.ts'
import { onAbort } from './signals.ts'

export interface QueueOptions {
  readonly clock: Clock
  /** Requests under way at once, at most. */
  readonly concurrency: number
  readonly rate: RateSettings
  readonly paces: Paces
  /** What was learned before, by key name. */
  readonly learned: Readonly<Record<string, unknown>>
  readonly onLearned: (keyName: string, learned: LearnedRate, ratePerSecond: number) => void
}

export interface Queue {
  /** Resolves when the request may be sent; rejects with what `admit` failed with, or a signal's reason. */
  enter(ticket: Ticket): Promise<Turn>
  /** Requests per second that the key may send at now; undefined before it was used. */
  ratePerSecond(keyName: string): number | undefined
}

interface State {
  readonly options: QueueOptions
  readonly lanes: Map<string, Lane>
  underWay: number
  /** How many have entered. */
  entered: number
}

export function createQueue(options: QueueOptions): Queue {
  const state: State = { options, lanes: new Map(), underWay: 0, entered: 0 }
  return {
    enter(ticket) {
      const aborted = ticket.signals.find((signal) => signal?.aborted)
      if (aborted) return Promise.reject(aborted.reason)
      const lane = laneFor(state, ticket.keyName)
      state.entered += 1
      return new Promise<Turn>((resolve, reject) => {
        const waiter: Waiter = {
          ticket,
          order: ticket.again ? 0 : state.entered,
          gone: false,
          resolve: (turn) => {
            release()
            resolve(turn)
          },
          reject: (error) => {
            release()
            reject(error)
          },
        }
        const release = onAbort(ticket.signals, (reason) => {
          waiter.gone = true
          reject(reason)
          stopAlarmWhenEmpty(lane)
        })
        join(lane, waiter)
        pump(state)
      })
    },
    ratePerSecond: (keyName) => rateOf(options.paces, keyName),
  }
}

function laneFor({ lanes }: State, keyName: string): Lane {
  const lane = lanes.get(keyName) ?? openLane(keyName)
  lanes.set(keyName, lane)
  return lane
}

/** Lets out everyone who may go, the most urgent first; each turn lets one go or puts one lane aside. */
function pump(state: State): void {
  const aside = new Set<Lane>()
  for (let lane = nextLane(state.lanes.values(), aside); lane; lane = nextLane(state.lanes.values(), aside)) {
    if (!serve(state, lane)) aside.add(lane)
  }
}

/** False when the lane's first cannot go now. */
function serve(state: State, lane: Lane): boolean {
  const { clock, paces, rate: settings, learned, concurrency } = state.options
  const waiter = head(lane)
  if (!waiter) return false
  const permit = waiter.ticket.admit()
  if (permit.kind === 'fail') {
    leave(lane, waiter).reject(permit.error)
    return true
  }
  if (permit.kind === 'wait' || state.underWay >= concurrency) return false
  const nowMs = clock.monotonic()
  // Asked for now, because the key may have changed while the request waited.
  const key = paceOf(paces, { key: { id: permit.keyId, name: lane.keyName }, settings, learned: learned[lane.keyName], nowMs })
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
  for (const name of key.names) onLearned(name, learned, currentRate(key.pace))
}

function setAlarm(state: State, lane: Lane, at: number): void {
  const { clock } = state.options
  // An alarm that rings too early only looks again.
  if (lane.alarm && lane.alarm.at <= at) return
  lane.alarm?.cancel.abort()
  const alarm = { at, cancel: new AbortController() }
  lane.alarm = alarm
  clock.sleep(at - clock.monotonic(), alarm.cancel.signal).then(
    () => {
      if (lane.alarm === alarm) delete lane.alarm
      pump(state)
    },
    // Cancelled: another alarm stands, or nobody waits.
    () => undefined,
  )
}

/** An alarm that nobody waits for would keep a stopping process alive. */
function stopAlarmWhenEmpty(lane: Lane): void {
  if (head(lane) || !lane.alarm) return
  lane.alarm.cancel.abort()
  delete lane.alarm
}
