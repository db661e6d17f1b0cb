// Whether the next request may go out, whether a failed one may be retried, and when: a state machine over failures. A budget keeps retries a
// small share of the work, a circuit turns an outage into single probes, and a refused key is not used again at once. A refusal for the rate
// (429) is no failure and belongs to pacing.ts; but an operation that alone is refused so for long is left alone, because all else waits for it
// otherwise. Time and chance are arguments.

/** Attempts of one read, the first included. Choice. */
export const MAX_ATTEMPTS = 4
/** The retry budget: its size before anything succeeded, and the most that successes can add up to. Choice. */
const RETRY_TOKENS = { start: 10, max: 20 }
/**
 * So many requests in a row that fail at their first attempt open the circuit. So many refusals of a key in a row close an operation that has
 * worked before. Fewer, such as a few bad scopes with their retries, say nothing of other requests. Choice.
 */
const FAILURES_TO_OPEN = 10
const CIRCUIT_DELAY_MS = { first: 1_000, max: 300_000 }
const DENIAL_DELAY_MS = { first: 30_000, max: 600_000 }
const RETRY_DELAY_MS = { first: 500, max: 8_000 }
/**
 * For so long an operation may be refused for the rate, what the service says of the next try included, before it is left alone: one that only
 * measures, because reading caps waits for it; a write, where others were answered meanwhile. Reading caps never is. Choice.
 */
const LIMITED_MS = { measuring: 300_000, writing: 1_800_000 }
/** A longer wait that the service asks of one that only measures is its own: all others try again after this time. Choice. */
const TOLD_FOR_ALL_MS = 60_000

type Work = 'reading' | keyof typeof LIMITED_MS

const workOf = (operation: string): Work =>
  operation === 'GetUsageConfig' ? 'reading' : operation === 'UsageConfig' ? 'writing' : 'measuring'

/** While a gate exists, requests fail with `failure`; from `probeAt` on one request at a time is let through. */
interface Gate<Failure> {
  readonly failure: Failure
  readonly probeAt: number
  readonly delayMs: number
  readonly probing: boolean
}

/** What is known of one operation with one key. */
interface Permit<Failure> {
  /** Identity of the key, never its value; a permit of another key does not count. */
  readonly keyId: string
  readonly worked: boolean
  readonly denialsInRow: number
  /** Refused for the rate since then without an answer; whether others were answered meanwhile, and whether the gate is for that. */
  readonly limited?: { readonly sinceMs: number; readonly isAlone: boolean; readonly isLeft?: true }
  readonly gate?: Gate<Failure>
}

/** Opaque and immutable. */
export interface Backoff<Failure> {
  readonly retryTokens: number
  readonly failuresInRow: number
  readonly circuit?: Gate<Failure>
  readonly permits: Readonly<Record<string, Permit<Failure>>>
}

/**
 * The operation, and the identity of the key that the request will carry. Operations that need the same permission are judged separately: a
 * service may refuse one of them for its own reasons, and a refused balance says nothing of caps.
 */
interface Asker {
  readonly operation: string
  readonly keyId: string
}

/** `wait`: a probe is under way and its outcome decides. `fail`: not now; `failure` is the last error. */
type Admission<Failure> = { readonly kind: 'go' | 'probe' | 'wait' } | { readonly kind: 'fail'; readonly failure: Failure }

/**
 * How a request ended. `answered`: the service accepted the key and judged the request, whatever its answer. `failed`: 5xx, no answer, or an
 * unreadable one. `denied`: the key was refused. `limited`: it was refused for the rate, by `toldMs` for so long. `nothing`: it tells nothing (an abort).
 */
export type Ending<Failure> =
  | { readonly kind: 'answered' | 'nothing' }
  | { readonly kind: 'failed' | 'denied'; readonly failure: Failure }
  | { readonly kind: 'limited'; readonly failure: Failure; readonly toldMs: number }

export const startBackoff = <Failure>(): Backoff<Failure> => ({ retryTokens: RETRY_TOKENS.start, failuresInRow: 0, permits: {} })

/**
 * Whether a request may go out now; `nowMs` is monotonic. Choice: after 10 failures in a row, probes after 1 s, doubling to 5 min; for a refused
 * key after 30 s, doubling to 10 min.
 */
export function admit<Failure>(state: Backoff<Failure>, asker: Asker, nowMs: number): Admission<Failure> {
  const gates = [state.circuit, permitOf(state, asker)?.gate].filter((gate) => gate !== undefined)
  const shut = gates.find((gate) => !gate.probing && nowMs < gate.probeAt)
  if (shut) return { kind: 'fail', failure: shut.failure }
  if (gates.some((gate) => gate.probing)) return { kind: 'wait' }
  return { kind: gates.length > 0 ? 'probe' : 'go' }
}

/** Records that a request admitted as `probe` is under way. */
export function probing<Failure>(state: Backoff<Failure>, asker: Asker): Backoff<Failure> {
  return withGates(state, asker, (gate) => ({ ...gate, probing: true }))
}

/** `roll` is uniform in [0, 1); `again`: it was not the request's first attempt. */
interface EndedAt {
  readonly nowMs: number
  readonly roll: number
  readonly again?: boolean
}

/** Records how an admitted request ended. */
export function ended<Failure>(
  before: Backoff<Failure>,
  asker: Asker,
  admission: 'go' | 'probe',
  ending: Ending<Failure>,
  at: EndedAt,
): Backoff<Failure> {
  const state = admission === 'probe' ? withGates(before, asker, (gate) => ({ ...gate, probing: false })) : before
  switch (ending.kind) {
    case 'nothing':
      return state
    case 'answered':
      return withPermit(othersAlone(alive(state, 1)), asker, { keyId: asker.keyId, worked: true, denialsInRow: 0 })
    case 'limited':
      return withPermit(state, asker, limited(permitOf(state, asker), asker, ending, at.nowMs))
    case 'denied':
      return withPermit(alive(state, 0), asker, denied(permitOf(state, asker), asker, admission, ending.failure, at.nowMs))
    case 'failed':
      return failed(state, admission, ending.failure, at)
  }
}

/** Takes one retry out of the budget; undefined when none is left or the request has had all its attempts. */
export function spendRetry<Failure>(state: Backoff<Failure>, attempts: number): Backoff<Failure> | undefined {
  if (attempts >= MAX_ATTEMPTS || state.retryTokens < 1) return undefined
  return { ...state, retryTokens: state.retryTokens - 1 }
}

/** The pause before attempt `attempts + 1`: 0.5 s doubling to 8 s, of which a random share between half and all. */
export const retryDelayMs = (attempts: number, roll: number): number =>
  jittered(Math.min(RETRY_DELAY_MS.max, RETRY_DELAY_MS.first * 2 ** (attempts - 1)), roll)

const jittered = (delayMs: number, roll: number): number => delayMs * (0.5 + roll / 2)

function permitOf<Failure>(state: Backoff<Failure>, asker: Asker): Permit<Failure> | undefined {
  const permit = state.permits[asker.operation]
  return permit?.keyId === asker.keyId ? permit : undefined
}

function alive<Failure>(state: Backoff<Failure>, tokens: number): Backoff<Failure> {
  return { retryTokens: Math.min(RETRY_TOKENS.max, state.retryTokens + tokens), failuresInRow: 0, permits: state.permits }
}

const withPermit = <Failure>(state: Backoff<Failure>, asker: Asker, permit: Permit<Failure>): Backoff<Failure> => ({
  ...state,
  permits: { ...state.permits, [asker.operation]: permit },
})

function denied<Failure>(
  permit: Permit<Failure> | undefined,
  asker: Asker,
  admission: 'go' | 'probe',
  failure: Failure,
  nowMs: number,
): Permit<Failure> {
  const denialsInRow = (permit?.denialsInRow ?? 0) + 1
  const next = { keyId: asker.keyId, worked: permit?.worked ?? false, denialsInRow }
  if (permit?.gate) {
    if (admission === 'go') return { ...next, gate: permit.gate }
    const delayMs = Math.min(DENIAL_DELAY_MS.max, permit.gate.delayMs * 2)
    return { ...next, gate: { failure, delayMs, probeAt: nowMs + delayMs, probing: false } }
  }
  if (next.worked && denialsInRow < FAILURES_TO_OPEN) return next
  return { ...next, gate: { failure, delayMs: DENIAL_DELAY_MS.first, probeAt: nowMs + DENIAL_DELAY_MS.first, probing: false } }
}

/** An answer shows that the refusals of others are theirs alone. */
function othersAlone<Failure>(state: Backoff<Failure>): Backoff<Failure> {
  const found = Object.entries(state.permits).filter(([, { limited }]) => limited?.isAlone === false)
  const alone = found.map(([name, permit]) => [name, { ...permit, limited: { sinceMs: 0, ...permit.limited, isAlone: true } }] as const)
  return alone.length === 0 ? state : { ...state, permits: { ...state.permits, ...Object.fromEntries(alone) } }
}

function limited<Failure>(
  permit: Permit<Failure> = { keyId: '', worked: false, denialsInRow: 0 },
  { operation, keyId }: Asker,
  { failure, toldMs }: Extract<Ending<Failure>, { readonly kind: 'limited' }>,
  nowMs: number,
): Permit<Failure> {
  const since = permit.limited ?? { sinceMs: nowMs, isAlone: false }
  const { sinceMs, isAlone } = since
  const next = { ...permit, keyId, limited: since }
  const work = workOf(operation)
  if (work === 'reading' || (work === 'writing' && !isAlone) || nowMs - sinceMs + toldMs <= LIMITED_MS[work]) return next
  const delayMs = Math.max(toldMs, permit.gate ? Math.min(DENIAL_DELAY_MS.max, permit.gate.delayMs * 2) : DENIAL_DELAY_MS.first)
  return { ...next, limited: { ...since, isLeft: true }, gate: { failure, delayMs, probeAt: nowMs + delayMs, probing: false } }
}

/** Whether it is left alone for its refusals: another one tells nothing of the key's pace. */
export const isLeftAlone = <Failure>(state: Backoff<Failure>, asker: Asker): boolean => permitOf(state, asker)?.limited?.isLeft === true

/** What a `Retry-After` of one operation means: how long it holds back all requests of the key, and how long this request more than that. */
export function toldFor(operation: string, toldMs: number): { readonly allMs: number; readonly ownMs: number } {
  const isLong = workOf(operation) === 'measuring' && toldMs > TOLD_FOR_ALL_MS
  return isLong ? { allMs: TOLD_FOR_ALL_MS, ownMs: toldMs <= LIMITED_MS.measuring ? toldMs : 0 } : { allMs: toldMs, ownMs: 0 }
}

function failed<Failure>(state: Backoff<Failure>, admission: 'go' | 'probe', failure: Failure, at: EndedAt): Backoff<Failure> {
  if (at.again && admission === 'go') return state
  const failuresInRow = state.failuresInRow + 1
  // Requests that were under way when the circuit opened add nothing.
  if (state.circuit && admission === 'go') return { ...state, failuresInRow }
  if (!state.circuit && failuresInRow < FAILURES_TO_OPEN) return { ...state, failuresInRow }
  const delayMs = state.circuit ? Math.min(CIRCUIT_DELAY_MS.max, state.circuit.delayMs * 2) : CIRCUIT_DELAY_MS.first
  return { ...state, failuresInRow, circuit: { failure, delayMs, probeAt: at.nowMs + jittered(delayMs, at.roll), probing: false } }
}

function withGates<Failure>(state: Backoff<Failure>, asker: Asker, change: (gate: Gate<Failure>) => Gate<Failure>): Backoff<Failure> {
  const permit = permitOf(state, asker)
  const withCircuit = state.circuit ? { ...state, circuit: change(state.circuit) } : state
  return permit?.gate ? withPermit(withCircuit, asker, { ...permit, gate: change(permit.gate) }) : withCircuit
}
