// Shares a process's few connections, in order of arrival. One is reserved for leases, so that a thousand workspaces that start at once cannot
// cost running workspaces their leases. The wait has a bound, and its end does not mean that the database is away.
import type { Clock } from '../../../ports.ts'

interface Slots {
  /** Resolves with a function that gives the slot back. Rejects with `refused` after the wait. */
  take(isUrgent: boolean): Promise<() => void>
}

interface SlotsOptions {
  /** One of them is reserved for urgent queries. */
  readonly count: number
  readonly patienceMs: number
  readonly clock: Pick<Clock, 'sleep'>
  readonly refused: () => Error
}

interface Waiting {
  readonly come: () => void
}

export function createSlots({ count, patienceMs, clock, refused }: SlotsOptions): Slots {
  const used = { urgent: 0, others: 0 }
  const [urgent, others]: [Set<Waiting>, Set<Waiting>] = [new Set(), new Set()]
  const give = (): void => {
    if (used.urgent + used.others >= count) return
    const [first] = urgent
    const [other] = used.others < count - 1 ? others : []
    const one = first ?? other
    if (!one) return
    if (urgent.delete(one)) used.urgent += 1
    else if (others.delete(one)) used.others += 1
    one.come()
    give()
  }
  const back = (of: keyof typeof used): (() => void) => {
    let isBack = false
    return () => {
      if (isBack) return
      isBack = true
      used[of] -= 1
      give()
    }
  }
  return {
    async take(isUrgent) {
      const turn = Promise.withResolvers<void>()
      const of = isUrgent ? 'urgent' : 'others'
      const queue = isUrgent ? urgent : others
      const own: Waiting = { come: turn.resolve }
      queue.add(own)
      give()
      if (!queue.has(own)) return back(of)
      const over = new AbortController()
      void clock.sleep(patienceMs, over.signal).then(
        () => queue.delete(own) && turn.reject(refused()),
        () => undefined,
      )
      await turn.promise.finally(() => over.abort())
      return back(of)
    },
  }
}
