// Runs work that may need too much memory or time in a thread with bounds, while the process goes on. The thread gets one piece of data, says
// where it is, and answers once.
import { parentPort, type ResourceLimits, Worker, workerData } from 'node:worker_threads'
import { leaveBehind } from '../../files.ts'
import type { Clock } from '../../ports.ts'
import { THREAD_MEMORY_MIB } from '../bounds.ts'

/** A message of the thread: where it is, or its answer. */
type Said<Answer> = { readonly kind: 'at'; readonly name: string } | { readonly kind: 'answer'; readonly answer: Answer }

/** `at`: the file that the thread was reading when it failed. */
export type Outcome<Answer> =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'memory' | 'time' | 'error'; readonly at?: string; readonly message: string }

interface Errand {
  /** The source of the thread (see `beside`). */
  readonly file: URL
  readonly data: unknown
  readonly clock: Clock
  readonly deadlineMs: number
  /** In MiB; default: the bounds for reading policies. */
  readonly memory?: ResourceLimits
  /** The thread's environment; default: empty. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Ends the thread early. */
  readonly signal?: AbortSignal
}

/** The URL of a source file in the folder of the asking module: .ts in the sources, .js in the built program. */
export const beside = (asking: string, name: string): URL => new URL(`./${name}${asking.endsWith('.ts') ? '.ts' : '.js'}`, asking)

/** In a thread: answers with what `work` makes of its data, and says on the way where it is. */
export async function answerWith<Data, Answer>(work: (data: Data, say: (at: string) => void) => Answer | Promise<Answer>): Promise<void> {
  const say = (said: Said<Answer>): void => parentPort?.postMessage(said)
  say({ kind: 'answer', answer: await work(workerData, (name) => say({ kind: 'at', name })) })
}

/** Runs a thread until it answers, fails, or the deadline passes. */
export async function runAside<Answer>({ file, data, clock, deadlineMs, memory, env = {}, signal }: Errand): Promise<Outcome<Answer>> {
  const worker = new Worker(file, { workerData: data, resourceLimits: memory ?? THREAD_MEMORY_MIB, env: { ...env } })
  using ended = new DisposableStack()
  const over = ended.adopt(new AbortController(), (one) => one.abort())
  let at: string | undefined
  const failed = (kind: 'memory' | 'time' | 'error', message: string): Outcome<Answer> => ({ kind, message, at })
  const outcome = await new Promise<Outcome<Answer>>((resolve) => {
    worker.on('message', (said: Said<Answer>) => {
      if (said.kind === 'at') at = said.name
      else resolve(said)
    })
    worker.on('error', (error: NodeJS.ErrnoException) =>
      resolve(failed(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'error', error.message)),
    )
    worker.on('exit', (code) => resolve(failed('error', `the thread ended with ${code}`)))
    signal?.addEventListener('abort', () => resolve(failed('error', 'stopped')), { once: true, signal: over.signal })
    clock.sleep(deadlineMs, over.signal).then(
      () => resolve(failed('time', `not read within ${deadlineMs / 1000} s`)),
      () => undefined,
    )
  })
  // One that waits for a file does not end before the file answers.
  const ending = leaveBehind(worker.terminate())
  if (outcome.kind === 'answer') await ending
  return outcome
}
