// What stops or hurries the daemon from outside: Ctrl-C, SIGTERM and SIGHUP, from its first step to its last. Whoever asks a second time
// does not wait for anything. It never touches the daemon itself.
import type { Cli } from '../shared/context.ts'
import { EXIT } from '../shared/exit.ts'

export interface Ending {
  /** Aborts when somebody asks the daemon to stop. */
  readonly stop: AbortSignal
  /** Resolves then. */
  readonly asked: Promise<void>
  /** What SIGHUP does from now on; one that came before does it at once. */
  onReload(reload: () => void): void
  close(): void
}

/** Listens until it is closed. */
export function createEnding({ signals, stdin }: Pick<Cli, 'signals' | 'stdin'>): Ending {
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
    stop: stop.signal,
    asked: asked.promise,
    onReload(given) {
      reload = given
      if (missed > 0) reload()
    },
    close() {
      offInterrupt()
      offHangup()
    },
  }
}
