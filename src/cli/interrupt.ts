// Ctrl-C and SIGTERM for commands that run once: the first asks the work to stop where it is safe, the second ends the process.
import type { Cli } from './context.ts'
import { EXIT } from './exit.ts'

/** Runs work with a signal that the first interrupt aborts. */
export async function interruptible<T>(cli: Cli, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const stopListening = cli.signals.on('interrupt', () => {
    if (controller.signal.aborted) cli.signals.exit(EXIT.failed)
    controller.abort(new Error('interrupted'))
  })
  try {
    return await work(controller.signal)
  } finally {
    stopListening()
  }
}
