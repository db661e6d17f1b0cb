// A thread for what may be too much to read: with a memory bound and a deadline, beside everything else, which goes on meanwhile. It knows
// nothing of what is read; the thread gets one piece of data, tells where it is, and answers once.
import { type ResourceLimits, Worker } from 'node:worker_threads'
import type { Clock } from '../../ports.ts'
import { THREAD_MEMORY_MIB } from '../bounds.ts'

/** What a thread says: where it is, or its answer. */
export type Said<Answer> = { readonly kind: 'at'; readonly name: string } | { readonly kind: 'answer'; readonly answer: Answer }

/** `at`: what the thread was reading when it failed. */
export type Outcome<Answer> =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'memory' | 'time' | 'error'; readonly at?: string; readonly message: string }

export interface Errand {
  /** The file of the thread, beside the caller's; in the built program it ends otherwise. */
  readonly file: URL
  readonly data: unknown
  readonly clock: Clock
  readonly deadlineMs: number
  /** In MiB; that of reading policies unless given. */
  readonly memory?: ResourceLimits
  /** What it finds in its environment; nothing unless given. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Ends the thread before it has answered. */
  readonly signal?: AbortSignal
}

/** The URL of a source beside the one that asks, as it is called where the program runs. */
export const beside = (asking: string, name: string): URL => new URL(`./${name}${asking.endsWith('.ts') ? '.ts' : '.js'}`, asking)

/** Runs a thread until it has answered, failed, or had its time. */
export async function runAside<Answer>({ file, data, clock, deadlineMs, memory, env = {}, signal }: Errand): Promise<Outcome<Answer>> {
  const worker = new Worker(file, { workerData: data, resourceLimits: memory ?? THREAD_MEMORY_MIB, env: { ...env } })
  const over = new AbortController()
  let at: string | undefined
  const failed = (kind: 'memory' | 'time' | 'error', message: string): Outcome<Answer> => ({
    kind,
    message,
    ...(at === undefined ? {} : { at }),
  })
  try {
    return await new Promise<Outcome<Answer>>((resolve) => {
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
  } finally {
    over.abort()
    await worker.terminate()
  }
}
