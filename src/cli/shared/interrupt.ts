// Ctrl-C and SIGTERM for commands that run once: the first stops the work where that is safe, the second ends the process.
import type { Cli } from './context.ts'
import { EXIT } from './exit.ts'

/** How long a write in flight and the read after it may take after the first interrupt; as long as in the daemon. */
const GRACE_MS = 8_000

/** Runs work with two signals: the first interrupt aborts `stop`, and `cut` when the time for a write in flight is over. */
export async function interruptible<T>(cli: Cli, work: (stop: AbortSignal, cut: AbortSignal) => Promise<T>): Promise<T> {
  const [stop, cut, ended] = [new AbortController(), new AbortController(), new AbortController()]
  const stopListening = cli.signals.on('interrupt', () => {
    if (stop.signal.aborted) cli.signals.exit(EXIT.failed)
    stop.abort(new Error('interrupted'))
    cli.clock.sleep(GRACE_MS, ended.signal).then(
      () => cut.abort(new Error('interrupted')),
      () => undefined,
    )
  })
  try {
    return await work(stop.signal, cut.signal)
  } finally {
    stopListening()
    ended.abort()
  }
}
