// The signals of a daemon: the first interrupt stops it, the second ends the process, and a hangup reads the configuration again.
import { type Cli, EXIT } from '../shared/context.ts'

export type Ending = ReturnType<typeof createEnding>

/** Listens until the scope that has it ends. */
export function createEnding({ signals, stdin }: Pick<Cli, 'signals' | 'stdin'>) {
  const stop = new AbortController()
  const asked = Promise.withResolvers<void>()
  let missed = 0
  let reload = (): void => {
    missed += 1
  }
  const end = (): void => {
    if (stop.signal.aborted) signals.exit(EXIT.failed)
    stop.abort(new Error('stopped'))
    asked.resolve()
  }
  const offInterrupt = signals.on('interrupt', end)
  // On a terminal a hangup means that the terminal was closed.
  const offHangup = signals.on('hangup', stdin.isTTY === true ? end : () => reload())
  return {
    /** Aborts on the first interrupt. */
    stop: stop.signal,
    /** Resolves on the first interrupt. */
    asked: asked.promise,
    /** Sets what SIGHUP does. If one came before, it runs at once. */
    onReload(given: () => void): void {
      reload = given
      if (missed > 0) reload()
    },
    [Symbol.dispose](): void {
      offInterrupt()
      offHangup()
    },
  }
}
