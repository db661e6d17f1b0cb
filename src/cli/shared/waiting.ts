// Tells once that a command has long been waiting for the service's rate limit. The command goes on waiting, because a limit may last for hours
// and ends by itself. A single refusal is not told: the pace is learned from them.

import type { RequestEvent } from '../../api/send.ts'
import type { Cli } from './context.ts'
import { tellLine } from './tell.ts'

/** For how long all answers were refusals. Choice. */
const LONG_MS = 10_000

interface Waiting {
  readonly onRequest: (event: Pick<RequestEvent, 'outcome'>) => void
  readonly stop: () => void
}

export function tellOfWaiting(cli: Pick<Cli, 'stderr' | 'secrets' | 'clock'>, workspace: string): Waiting {
  let waiting: AbortController | undefined
  let isTold = false
  const stop = (): void => {
    waiting?.abort()
    waiting = undefined
  }
  const wait = async ({ signal }: AbortController): Promise<void> => {
    await cli.clock.sleep(LONG_MS, signal)
    isTold = true
    tellLine(cli, `note: ${workspace}: the service refuses requests, because its rate limit is reached; waiting until it takes them`)
  }
  return {
    onRequest({ outcome }) {
      if (outcome !== 'rate_limited') return stop()
      if (waiting || isTold) return
      waiting = new AbortController()
      wait(waiting).catch(() => undefined)
    },
    stop,
  }
}
