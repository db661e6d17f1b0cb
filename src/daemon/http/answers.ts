// A cache of answers: each is made once for a state of the workspace and shared by all requests until that state changes. It bounds what is kept and
// what is being sent to slow readers, because any client may ask for anything and read it slowly.
import { createHash } from 'node:crypto'
import type { Clock } from '../../ports.ts'

/** An answer is shared for this many times as long as making it took, whatever changes: so making it takes at most a fifth of the time. Choice. */
const SHARED_TIMES = 4
const MOST_KEPT = 200
const MOST_KEPT_BYTES = 4 * 1024 * 1024
/** Bytes that may be sent to readers at once; further readers are asked to come back. Choice. */
const MOST_SENT_BYTES = 24 * 1024 * 1024

export interface Answer {
  readonly bytes: Buffer
  /** Names the question and the state that it was made for. */
  readonly etag: string
}

export interface Answers {
  /** `state` names the state that the answer depends on. A failure is not kept. */
  get(question: string, state: string, make: () => Promise<string>): Promise<Answer>
  /** The tag of the answer for this state, without making the answer. */
  etag(question: string, state: string): string
  /** Reserves room to send it, until `release`; undefined when there is no room. */
  reserve(bytes: Buffer): { readonly release: () => void } | undefined
}

interface Kept {
  readonly answer: Answer
  readonly state: string
  readonly madeMs: number
  readonly costMs: number
}

/** `boot` names this process: tags of another process never match. */
export function createAnswers(clock: Pick<Clock, 'monotonic' | 'sleep'>, boot: string): Answers {
  const kept = new Map<string, Kept>()
  const making = new Map<string, Promise<Answer>>()
  const sending = new Map<Buffer, number>()
  const runBounded = boundedRunner(clock)
  let keptBytes = 0
  let sentBytes = 0

  const etag = (question: string, state: string): string =>
    `W/"${createHash('sha256').update(`${boot}\n${state}\n${question}`).digest('hex').slice(0, 24)}"`

  function forget(question: string): void {
    const one = kept.get(question)
    if (one && kept.delete(question)) keptBytes -= one.answer.bytes.length
  }
  function keep(question: string, one: Kept): void {
    forget(question)
    kept.set(question, one)
    keptBytes += one.answer.bytes.length
    for (const oldest of kept.keys()) {
      if (kept.size <= MOST_KEPT && keptBytes <= MOST_KEPT_BYTES) break
      forget(oldest)
    }
  }
  async function make(question: string, state: string, write: () => Promise<string>): Promise<Answer> {
    const beganMs = clock.monotonic()
    const answer = { bytes: Buffer.from(await write()), etag: etag(question, state) }
    const madeMs = clock.monotonic()
    keep(question, { answer, state, madeMs, costMs: madeMs - beganMs })
    return answer
  }
  return {
    etag,
    async get(question, state, write) {
      const one = kept.get(question)
      const ageMs = one ? clock.monotonic() - one.madeMs : 0
      if (one && (ageMs < one.costMs * SHARED_TIMES || one.state === state)) return one.answer
      // Requests that come while it is made share it, also when the state has changed since.
      const pending = making.get(question) ?? runBounded(() => make(question, state, write)).finally(() => making.delete(question))
      making.set(question, pending)
      return pending
    },
    reserve(bytes) {
      const users = sending.get(bytes) ?? 0
      if (users === 0 && sentBytes > 0 && sentBytes + bytes.length > MOST_SENT_BYTES) return undefined
      if (users === 0) sentBytes += bytes.length
      sending.set(bytes, users + 1)
      let isDone = false
      return {
        release() {
          if (isDone) return
          isDone = true
          const left = (sending.get(bytes) ?? 1) - 1
          if (left > 0) sending.set(bytes, left)
          else if (sending.delete(bytes)) sentBytes -= bytes.length
        },
      }
    },
  }
}

/** Answers that are made at the same time; each holds its data in memory. Choice. */
const MOST_MADE = 4
/** Answers are made for this long without a pause. The pause is longer than the other answers take, or their timers would leave the event loop no
 * time for anything else. */
const STRETCH_MS = 8
const REST_MS = 50

/** Runs a few jobs at the same time while the others wait, and leaves the event loop time for everything else. */
function boundedRunner(clock: Pick<Clock, 'monotonic' | 'sleep'>): <T>(job: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  let sinceMs = clock.monotonic()
  return async (job) => {
    if (running === 0) sinceMs = clock.monotonic()
    if (running >= MOST_MADE) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    if (clock.monotonic() - sinceMs >= STRETCH_MS) {
      await clock.sleep(REST_MS)
      sinceMs = clock.monotonic()
    }
    try {
      return await job()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
