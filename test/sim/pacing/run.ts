// Runs clients that pace themselves by core/pace/pacing.ts against one simulated limiter, on virtual time, without network and timers; a
// seed decides every latency. Counts requests, answers and refusals after the warm-up.
import type { LearnedRate, Pace, RateSettings } from '../../../src/core/pace/pace.ts'
import { answered, earliestSendAt, learnedRate, sent, startPace } from '../../../src/core/pace/pacing.ts'
import { allowedBetween, type Limiter, type LimiterSpec, makeLimiter, offer, type Verdict } from './limits.ts'

export interface ClientSpec {
  readonly settings: RateSettings
  /** Round trip of each request: `latencyMs` give or take a quarter, or the share `latencyJitter` of it. */
  readonly latencyMs: number
  readonly latencyJitter?: number
  /** Timers fire up to this many milliseconds late; default 1. */
  readonly timerLateMs?: number
  readonly concurrency?: number
  readonly learned?: LearnedRate
  /** The rate at which work arrives; endless work when absent. */
  readonly demand?: number
}

export interface RunSpec {
  readonly limiter: LimiterSpec
  readonly clients: readonly ClientSpec[]
  readonly warmUpMs: number
  readonly durationMs: number
  readonly seed: number
}

export interface RunResult {
  /** Successes by client, after the warm-up. */
  readonly successes: readonly number[]
  readonly refusals: number
  /** Successes of all clients divided by what the limiter would have allowed. */
  readonly use: number
  /** Refusals divided by requests. */
  readonly refused: number
  readonly learned: readonly LearnedRate[]
}

interface Flight {
  readonly sentAtMs: number
  readonly arrivesAtMs: number
  readonly answerAtMs: number
  verdict: Verdict | undefined
}

interface Client {
  readonly spec: ClientSpec
  pace: Pace
  flights: Flight[]
  successes: number
  refusals: number
  workAtMs: number
  lateMs: number
}

type OnAnswer = (atMs: number, kind: Verdict['kind']) => void

export function runPacing(spec: RunSpec, onAnswer?: OnAnswer): RunResult {
  const limiter = makeLimiter(spec.limiter)
  const random = { state: spec.seed }
  const clients = spec.clients.map(startClient)
  const endMs = spec.warmUpMs + spec.durationMs
  let nowMs = 0
  while (nowMs < endMs) nowMs = takeEvent({ clients, limiter, random, nowMs, warmUpMs: spec.warmUpMs, onAnswer })
  const successes = clients.map((client) => client.successes)
  const total = successes.reduce((sum, one) => sum + one, 0)
  const refusals = clients.reduce((sum, client) => sum + client.refusals, 0)
  return {
    successes,
    refusals,
    use: total / allowedBetween(spec.limiter, spec.warmUpMs, endMs),
    refused: refusals / Math.max(1, total + refusals),
    learned: clients.map((client) => learnedRate(client.pace)),
  }
}

/** Its use for the first `count` answers of a client that has learned nothing, its climb included: a run of a command. */
export function useOfFirst(spec: Omit<RunSpec, 'warmUpMs' | 'durationMs'>, count: number): number {
  const answeredMs: number[] = []
  runPacing({ ...spec, warmUpMs: 0, durationMs: 600_000 }, (atMs, kind) => void (kind === 'ok' && answeredMs.push(atMs)))
  const endMs = answeredMs[count - 1]
  return endMs === undefined ? 0 : count / allowedBetween(spec.limiter, 0, endMs)
}

function startClient(spec: ClientSpec): Client {
  return { spec, pace: startPace(spec.settings, 0, spec.learned), flights: [], successes: 0, refusals: 0, workAtMs: 0, lateMs: 0 }
}

interface World {
  readonly clients: readonly Client[]
  readonly limiter: Limiter
  readonly random: { state: number }
  readonly nowMs: number
  readonly warmUpMs: number
  readonly onAnswer: OnAnswer | undefined
}

/** Carries out the earliest of all sends, arrivals and answers and returns its time. */
function takeEvent(world: World): number {
  let atMs = Number.POSITIVE_INFINITY
  let client: Client | undefined
  let flight: Flight | undefined
  for (const one of world.clients) {
    if (one.flights.length < (one.spec.concurrency ?? 8)) {
      const sendAtMs = Math.max(earliestSendAt(one.pace, world.nowMs) + one.lateMs, one.workAtMs)
      if (sendAtMs < atMs) [atMs, client, flight] = [sendAtMs, one, undefined]
    }
    for (const flying of one.flights) {
      const dueMs = flying.verdict ? flying.answerAtMs : flying.arrivesAtMs
      if (dueMs < atMs) [atMs, client, flight] = [dueMs, one, flying]
    }
  }
  if (!client) return Number.POSITIVE_INFINITY
  if (!flight) send(world, client, atMs)
  else if (flight.verdict) takeAnswer(world, client, flight, flight.verdict)
  else flight.verdict = offer(world.limiter, atMs)
  return atMs
}

function send(world: World, client: Client, atMs: number): void {
  const { latencyMs, demand, latencyJitter = 0.25, timerLateMs = 1 } = client.spec
  const oneWay = (): number => (latencyMs / 2) * (1 - latencyJitter + 2 * latencyJitter * nextRandom(world.random))
  const there = oneWay()
  const back = oneWay()
  client.flights.push({ sentAtMs: atMs, arrivesAtMs: atMs + there, answerAtMs: atMs + there + back, verdict: undefined })
  client.pace = sent(client.pace, atMs)
  client.lateMs = timerLateMs * nextRandom(world.random)
  if (demand !== undefined) client.workAtMs = Math.max(client.workAtMs + 1000 / demand, atMs)
}

function takeAnswer(world: World, client: Client, flight: Flight, verdict: Verdict): void {
  client.flights.splice(client.flights.indexOf(flight), 1)
  client.pace = answered(client.pace, flight.answerAtMs, verdict, flight.sentAtMs)
  if (flight.answerAtMs >= world.warmUpMs) {
    if (verdict.kind === 'ok') client.successes += 1
    else client.refusals += 1
  }
  world.onAnswer?.(flight.answerAtMs, verdict.kind)
}

/** Uniform in [0, 1), a linear congruential sequence: the same seed gives the same run. */
function nextRandom(random: { state: number }): number {
  random.state = (Math.imul(random.state, 1_664_525) + 1_013_904_223) >>> 0
  return random.state / 4_294_967_296
}
