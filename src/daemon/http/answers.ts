// Answers to many questions, each made once for a state of the workspace and shared by all who ask meanwhile. It bounds what is kept and what is on
// its way to slow readers, because anybody may ask, for anything, and take their time.
import { createHash } from 'node:crypto'
import type { Clock } from '../../ports.ts'

/** An answer is shared for so many times as long as it took to make it, whatever happens: making one takes a fifth of the time at most. Choice. */
const SHARED_TIMES = 4
const MOST_KEPT = 200
const MOST_KEPT_BYTES = 4 * 1024 * 1024
/** What may be on its way to readers at once; beyond it new ones are asked to come back. Choice. */
const MOST_SENT_BYTES = 24 * 1024 * 1024

export interface Answer {
  readonly bytes: Buffer
  /** Names the question and the state it was made for. */
  readonly etag: string
}

export interface Answers {
  /** `state` names the state that the answer depends on. A failure is not kept. */
  get(question: string, state: string, make: () => Promise<string>): Promise<Answer>
  /** The tag that the answer has for this state, without making it. */
  etag(question: string, state: string): string
  /** Whether there is room to send it; then it takes its place until `release`. */
  take(bytes: Buffer): { readonly release: () => void } | undefined
}

interface Kept {
  readonly answer: Answer
  readonly state: string
  readonly madeMs: number
  readonly costMs: number
}

/** `boot` names this process: another one makes other answers for the same state. */
export function createAnswers(clock: Pick<Clock, 'monotonic' | 'sleep'>, boot: string): Answers {
  const kept = new Map<string, Kept>()
  const making = new Map<string, Promise<Answer>>()
  const sending = new Map<Buffer, number>()
  const lanes = inLanes(clock)
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
      // Whoever asks while it is made gets the same, also when the state is another one meanwhile.
      const under = making.get(question) ?? lanes(() => make(question, state, write)).finally(() => making.delete(question))
      making.set(question, under)
      return under
    },
    take(bytes) {
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

/** So many answers are made side by side: each holds what it is made of in memory. Choice. */
const MOST_MADE = 4
/** So long answers are made at a stretch; then everything else gets its turn, for longer than the other answers under way take at it: timers that
 * are due before the last one is through would leave the event loop no time for anything else. */
const STRETCH_MS = 8
const REST_MS = 50

/** Lets a few jobs run side by side and the others wait, without holding anybody else up. */
function inLanes(clock: Pick<Clock, 'monotonic' | 'sleep'>): <T>(job: () => Promise<T>) => Promise<T> {
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
