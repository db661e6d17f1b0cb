// Says that a command waits for the service's rate limit, once it has waited for long: it goes on waiting, for that may take hours and ends
// by itself. A refusal now and then is how the pace is learned, and nothing is said of it.

import type { RequestEvent } from '../../api/send.ts'
import type { Cli } from './context.ts'
import { tellLine } from './tell.ts'

/** So long without any answer but refusals. Choice. */
const LONG_MS = 10_000

export interface Waiting {
  readonly onRequest: (event: Pick<RequestEvent, 'outcome'>) => void
  readonly stop: () => void
}

/** Tells at most once. */
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
