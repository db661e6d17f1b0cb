// What changed, for those who look: each workspace has a version that rises with the events that change what is shown, and whoever listens is told of it,
// not more often than once a second for each workspace. It keeps no state of a workspace but that number.
import type { ConditionType } from '../../core/model/condition.ts'
import type { CycleEvent } from '../../core/model/events.ts'
import type { Clock } from '../../ports.ts'

/** What an event is about, for pages to know what to ask for again. */
const TOPICS = ['caps', 'holds', 'people', 'policy', 'pause', 'cycle', 'changes', 'comparison'] as const
export type Topic = (typeof TOPICS)[number]

export interface LiveChange {
  readonly workspace: string
  readonly version: number
  readonly topics: readonly Topic[]
}

export interface Live {
  /** Of this process; versions of another one mean nothing. */
  readonly boot: string
  onEvent(event: CycleEvent): void
  /** Something that is shown changed without an event of the cycle. */
  changed(workspace: string, topics: readonly Topic[]): void
  /** Of one workspace; 0 while nothing happened. */
  version(workspace: string): number
  /** Nothing is told any more. */
  close(): void
  /** Called once for all that happens within a second; returns how to end it. */
  listen(listener: (change: LiveChange) => void): () => void
}

/** Everything within this time is one change. Choice. */
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

interface Told {
  version: number
  /** What was not told yet. */
  readonly topics: Set<Topic>
  waiting: boolean
}

/** `boot` names this process. */
export function createLive(clock: Clock, boot: string): Live {
  const known = new Map<string, Told>()
  const closed = new AbortController()
  const listeners = new Set<(change: LiveChange) => void>()
  const of = (workspace: string): Told => {
    const told = known.get(workspace) ?? { version: 0, topics: new Set(), waiting: false }
    known.set(workspace, told)
    return told
  }
  function tell(workspace: string, told: Told): void {
    told.waiting = false
    told.version += 1
    const change = { workspace, version: told.version, topics: TOPICS.filter((topic) => told.topics.has(topic)) }
    told.topics.clear()
    for (const listener of listeners) listener(change)
  }
  function changed(workspace: string, topics: readonly Topic[]): void {
    if (topics.length === 0) return
    const told = of(workspace)
    for (const topic of topics) told.topics.add(topic)
    if (told.waiting) return
    told.waiting = true
    clock.sleep(TOGETHER_MS, closed.signal).then(
      () => tell(workspace, told),
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
