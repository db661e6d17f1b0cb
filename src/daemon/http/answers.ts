// A cache of answers: each is made once for a state of the workspace and shared by all requests until that state changes. It bounds what is kept and
// how many wait to be made, because any client may ask for anything.
import { createHash } from 'node:crypto'
import type { Clock } from '../../ports.ts'
import { DocumentError } from './documents/documents.ts'

/** An answer is shared for this many times as long as making it took, whatever changes: so making it takes at most a fifth of the time. Choice. */
const SHARED_TIMES = 4
const MOST_KEPT = 200
const MOST_KEPT_BYTES = 4 * 1024 * 1024

interface Answer {
  readonly bytes: Buffer
  /** Names the question and the state that it was made for. */
  readonly etag: string
}

export interface Answers {
  /** `state` names the state that the answer depends on. A failure is not kept. Rejects with a `DocumentError` 503 when too many answers wait to be
   * made, or nobody waits for this one any more. */
  get(question: string, state: string, make: () => Promise<string>, isGone: () => boolean): Promise<Answer>
  /** The tag of the answer for this state, without making the answer. */
  etag(question: string, state: string): string
}

interface Kept {
  readonly answer: Answer
  readonly state: string
  readonly madeMs: number
  readonly costMs: number
}

interface Making {
  readonly answer: Promise<Answer>
  /** Of each that asked for it, whether it has left. */
  readonly areGone: (() => boolean)[]
}

/** `boot` names this process: tags of another process never match. */
export function createAnswers(clock: Pick<Clock, 'monotonic' | 'sleep'>, boot: string): Answers {
  const kept = new Map<string, Kept>()
  const making = new Map<string, Making>()
  const runBounded = boundedRunner(clock)
  let keptBytes = 0

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
    async get(question, state, write, isGone) {
      const one = kept.get(question)
      const ageMs = one ? clock.monotonic() - one.madeMs : 0
      if (one && (ageMs < one.costMs * SHARED_TIMES || one.state === state)) return one.answer
      // Requests that come while it is made share it, also when the state has changed since.
      const pending = making.get(question)
      if (pending) {
        pending.areGone.push(isGone)
        return pending.answer
      }
      const areGone = [isGone]
      const isWanted = (): boolean => areGone.some((gone) => !gone())
      const answer = runBounded(() => make(question, state, write), isWanted).finally(() => making.delete(question))
      making.set(question, { answer, areGone })
      return answer
    },
  }
}

/** Answers that are made at the same time; each holds its data in memory. Choice. */
const MOST_MADE = 4
/** Answers that wait to be made; whoever asks for another one is asked to come back. Choice. */
const MOST_WAITING = 64
/** Answers are made for this long without a pause. The pause is longer than the other answers take, or their timers would leave the event loop no
 * time for anything else. */
const STRETCH_MS = 8
const REST_MS = 50

/** Runs a few jobs at the same time while the others wait, and leaves the event loop time for everything else. */
function boundedRunner(clock: Pick<Clock, 'monotonic' | 'sleep'>): <T>(job: () => Promise<T>, isWanted: () => boolean) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  let sinceMs = clock.monotonic()
  return async (job, isWanted) => {
    if (running === 0) sinceMs = clock.monotonic()
    if (waiting.length >= MOST_WAITING) throw new DocumentError(503, TOO_MANY)
    if (running >= MOST_MADE) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    try {
      if (!isWanted()) throw new DocumentError(503, TOO_MANY)
      if (clock.monotonic() - sinceMs >= STRETCH_MS) {
        await clock.sleep(REST_MS)
        sinceMs = clock.monotonic()
      }
      return await job()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}

const TOO_MANY = 'too many pages are being made; ask again in a few seconds'
