// What changed, for open pages: each workspace has a version that rises with every event that changes what is shown, and listeners are told, at most once
// a second for each workspace.
import type { ConditionType } from '../../core/model/condition.ts'
import type { CycleEvent } from '../../core/model/events.ts'
import type { Clock } from '../../ports.ts'

/** What an event is about, so that a page knows what to ask for again. */
const TOPICS = ['caps', 'holds', 'people', 'policy', 'pause', 'cycle', 'changes', 'comparison'] as const
type Topic = (typeof TOPICS)[number]

export interface LiveChange {
  readonly workspace: string
  readonly version: number
  readonly topics: readonly Topic[]
}

export interface Live {
  /** Names this process; versions of another process mean nothing. */
  readonly boot: string
  onEvent(event: CycleEvent): void
  /** Call it when something that is shown changed without an event of the cycle. */
  changed(workspace: string, topics: readonly Topic[]): void
  /** 0 until something happened. */
  version(workspace: string): number
  /** Ends all notifications. */
  close(): void
  /** The listener is called once for all changes within a second; the result ends it. */
  listen(listener: (change: LiveChange) => void): () => void
}

/** Events within this time are one change. Choice. */
const TOGETHER_MS = 1_000

const TOPICS_OF: Readonly<Record<Exclude<CycleEvent['kind'], 'condition'>, readonly Topic[]>> = {
  'policy-loaded': ['policy', 'changes'],
  'request-finished': [],
  'rate-learned': [],
  'usage-read': ['people'],
  planned: ['caps'],
  'change-finished': ['caps', 'changes'],
  bug: ['cycle'],
  'cycle-finished': ['cycle', 'caps'],
}

const TOPICS_OF_CONDITIONS: Readonly<Partial<Record<ConditionType, readonly Topic[]>>> = {
  Held: ['holds', 'changes'],
  Contested: ['holds', 'changes'],
  BreakerOpen: ['holds', 'changes'],
  ForeignChange: ['caps', 'changes'],
  Paused: ['pause', 'changes'],
  PolicyInvalid: ['policy', 'changes'],
}

const topicsOf = (event: CycleEvent): readonly Topic[] =>
  event.kind === 'condition' ? (TOPICS_OF_CONDITIONS[event.condition.type] ?? ['cycle']) : TOPICS_OF[event.kind]

interface Pending {
  version: number
  /** Not told yet. */
  readonly topics: Set<Topic>
  waiting: boolean
}

export function createLive(clock: Clock, boot: string): Live {
  const known = new Map<string, Pending>()
  const closed = new AbortController()
  const listeners = new Set<(change: LiveChange) => void>()
  function tell(workspace: string, pending: Pending): void {
    pending.waiting = false
    pending.version += 1
    const change = { workspace, version: pending.version, topics: TOPICS.filter((topic) => pending.topics.has(topic)) }
    pending.topics.clear()
    for (const listener of listeners) listener(change)
  }
  function changed(workspace: string, topics: readonly Topic[]): void {
    if (topics.length === 0) return
    const pending = known.get(workspace) ?? { version: 0, topics: new Set(), waiting: false }
    known.set(workspace, pending)
    for (const topic of topics) pending.topics.add(topic)
    if (pending.waiting) return
    pending.waiting = true
    clock.sleep(TOGETHER_MS, closed.signal).then(
      () => tell(workspace, pending),
      () => undefined,
    )
  }
  return {
    boot,
    changed,
    onEvent: (event) => changed(event.workspace, topicsOf(event)),
    version: (workspace) => known.get(workspace)?.version ?? 0,
    close: () => closed.abort(),
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
