// Whose turn it is to use one of a process's few connections: in order, but for leases, which have one of their own, because a thousand workspaces that
// start at once must not cost those that run their leases. Waiting has an end, and is no sign that the database is away.
import type { Clock } from '../../../ports.ts'

export interface Slots {
  /** Resolves with what gives the turn back. Rejects with `refused` when it did not come in time. */
  take(isUrgent: boolean): Promise<() => void>
}

export interface SlotsOptions {
  /** One of them is for what is urgent. */
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
