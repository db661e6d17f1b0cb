// Ctrl-C and SIGTERM for commands that run once: the first asks the work to stop where it is safe, the second ends the process.
import type { Cli } from './context.ts'
import { EXIT } from './exit.ts'

/** How long a write in flight, and its reading back, may go on after the first interrupt; as long as the daemon's. */
const GRACE_MS = 8_000

/** Runs work with a signal that the first interrupt aborts, and one that aborts when the time for a write in flight is over as well. */
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
