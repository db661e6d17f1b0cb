// Decides which request is sent next: by urgency, then in order of arrival. Each key has one pace, since the service counts per key;
// requests under way are bounded for the whole workspace. It sends nothing itself, and never grants a turn that the ticket's `admit`
// refuses or the key's pace does not allow yet.
import type { LearnedRate, RateSettings } from '../../core/pace/pace.ts'
import { answered, currentRate, earliestSendAt, learnedRate, sent } from '../../core/pace/pacing.ts'
import type { Clock } from '../../ports.ts'
import { head, join, type Lane, leave, nextLane, openLane, type Ticket, type Turn, type Waiter } from './lane.ts'
import { type KeyPace, type Paces, paceOf, rateOf } from './paces.ts'
import { onAbort } from './signals.ts'

interface QueueOptions {
  readonly clock: Clock
  /** The most requests under way at once. */
  readonly concurrency: number
  readonly rate: RateSettings
  readonly paces: Paces
  /** The rates learned in earlier runs, by key name. */
  readonly learned: Readonly<Record<string, unknown>>
  readonly onLearned: (keyName: string, learned: LearnedRate, ratePerSecond: number) => void
}

export interface Queue {
  /** Resolves when the request may be sent; rejects with what `admit` failed with, or a signal's reason. */
  enter(ticket: Ticket): Promise<Turn>
  /** Requests per second that the key may send now; undefined before its first use. */
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

/** Grants all turns that are possible now, the most urgent first. Each round grants one or puts a lane aside. */
function pump(state: State): void {
  const aside = new Set<Lane>()
  for (let lane = nextLane(state.lanes.values(), aside); lane; lane = nextLane(state.lanes.values(), aside)) {
    if (!serve(state, lane)) aside.add(lane)
  }
}

/** False when the first of the lane cannot go now. */
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
  // Not earlier, because the key may have changed while the request waited.
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
