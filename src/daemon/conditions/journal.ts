// The journal of a workspace: folds its events into entries and figures by day, both bounded. An event that is told again after a restart is not
// entered again.
import { GUARD_CODES } from '../../core/model/change.ts'
import type { Condition } from '../../core/model/condition.ts'
import type { CycleEvent, DayFigures, EventOf, JournalEntry } from '../../core/model/events.ts'
import type { Observed } from '../../core/model/observed.ts'
import type { Cap } from '../../core/model/policy.ts'
import { credits, DAY_MS, type Instant, MINUTE_MS, midnight } from '../../core/model/units.ts'
import { usedInCycle } from '../../core/use/burn.ts'
import type { Ledger } from '../../ports.ts'
import { orNothing } from '../ledger/error.ts'
import { withoutPerson } from '../ledger/forget.ts'

/** Entries, the oldest first, and days in order. */
export interface Journal {
  readonly entries: readonly JournalEntry[]
  readonly days: readonly DayFigures[]
  /** The last cycle failed, and the journal has an entry for it. */
  readonly isOut: boolean
  /** The last plan. */
  readonly planId?: string
}

/** Bounds of the journal. Choice. */
const JOURNAL_LIMITS = { entries: 500, days: 400, daysOfPools: 62 } as const
/** So many foreign changes of one minute get entries of their own; the others are counted. Choice. */
const MOST_FOREIGN = 20

/** Continues a journal that was kept. */
function journalOf(entries: readonly JournalEntry[] = [], days: readonly DayFigures[] = []): Journal {
  const last = entries.findLast(({ kind }) => kind === 'outage' || kind === 'recovery')
  return { entries, days, isOut: last?.kind === 'outage' }
}

/** Adds one event; returns the same object where there is nothing to keep. */
function journaled(journal: Journal, event: CycleEvent): Journal {
  switch (event.kind) {
    case 'change-finished': {
      const isReverted = event.result === 'applied' && event.change.cause === 'external'
      return isReverted ? counted(journal, event.at, ({ reverted }) => ({ reverted: reverted + 1 })) : journal
    }
    case 'condition':
      return transition(journal, event)
    case 'policy-loaded':
      return policyLoaded(journal, event)
    case 'planned':
      return planned({ ...journal, planId: event.plan.id }, event)
    case 'usage-read':
      return counted(journal, event.at, () => usedOf(event))
    case 'cycle-finished':
      return cycleFinished(journal, event)
    default:
      return journal
  }
}

const withEntry = (journal: Journal, entry: JournalEntry): Journal => ({
  ...journal,
  entries: [...journal.entries, entry].slice(-JOURNAL_LIMITS.entries),
})

/** Pools are kept by day for the two cycles that are shown. */
function planned(journal: Journal, { at, pools }: EventOf<'planned'>): Journal {
  if (!pools) return journal
  const after = counted(journal, at, () => ({ pools }))
  const since = at - JOURNAL_LIMITS.daysOfPools * DAY_MS
  const days = after.days.map((day) => {
    if (day.dayAt >= since || !day.pools) return day
    const { pools: _old, ...rest } = day
    return rest
  })
  return { ...after, days }
}

function transition(journal: Journal, { at, change, condition }: EventOf<'condition'>): Journal {
  switch (condition.type) {
    case 'ForeignChange':
      return change === 'ended' || condition.remembered ? journal : foreign(journal, at, condition)
    case 'Held':
    case 'Contested':
    case 'BreakerOpen':
      return held(journal, at, change, condition)
    case 'Paused':
      return change === 'ended' ? withEntry(journal, { at, kind: 'resume' }) : paused(journal, condition)
    default:
      return journal
  }
}

function foreign(journal: Journal, at: Instant, { scope, fields = {} }: Condition): Journal {
  const [verified, observed] = [capIn(fields['from']), observedIn(fields['to'])]
  if (!scope || verified === undefined || observed === undefined) return journal
  const entry = { at, kind: 'foreign', scope, verified, observed, ...planOf(journal) } as const
  return counted(withForeign(journal, entry), at, ({ found }) => ({ found: found + 1 }))
}

const planOf = ({ planId }: Journal) => (planId === undefined ? {} : { planId })

const capIn = (value: unknown): Cap | undefined => (typeof value === 'number' ? credits(value) : value === 'none' ? value : undefined)
const observedIn = (value: unknown): Observed | undefined => (value === 'unknown' ? value : capIn(value))

type Foreign = Extract<JournalEntry, { readonly kind: 'foreign' }>

function withForeign(journal: Journal, entry: Foreign): Journal {
  const { entries } = journal
  const recent = entries.filter((one) => one.kind === 'foreign' && entry.at - one.at < MINUTE_MS)
  const last = recent.at(-1)
  if (recent.length < MOST_FOREIGN || last?.kind !== 'foreign') return withEntry(journal, entry)
  return { ...journal, entries: entries.map((one) => (one === last ? { ...last, more: (last.more ?? 0) + 1 } : one)) }
}

function held(journal: Journal, at: Instant, change: EventOf<'condition'>['change'], { subject, fields = {} }: Condition): Journal {
  const id = typeof fields['hold'] === 'string' ? fields['hold'] : subject
  if (change === 'ended') return withEntry(journal, { at, kind: 'release', id })
  const last = journal.entries.findLast((one) => (one.kind === 'hold' || one.kind === 'release') && one.id === id)
  if (last?.kind === 'hold') return journal
  const told = fields['guards']
  const guards = GUARD_CODES.filter((guard) => Array.isArray(told) && told.includes(guard))
  return withEntry(journal, { at, kind: 'hold', id, guards, people: Number(fields['people'] ?? 0), ...planOf(journal) })
}

function policyLoaded(journal: Journal, { at, policy: { digest, revision, valid } }: EventOf<'policy-loaded'>): Journal {
  const last = journal.entries.findLast(({ kind }) => kind === 'policy')
  if (last?.kind === 'policy' && last.digest === digest && last.revision === revision && last.valid === valid) return journal
  return withEntry(journal, { at, kind: 'policy', digest, revision, valid })
}

function paused(journal: Journal, { since, fields = {} }: Condition): Journal {
  if (journal.entries.some((one) => one.kind === 'pause' && one.at === since)) return journal
  return withEntry(journal, {
    at: since,
    kind: 'pause',
    untilAt: Date.parse(String(fields['until'])),
    reason: String(fields['reason'] ?? ''),
  })
}

function cycleFinished(journal: Journal, { at, result, message }: EventOf<'cycle-finished'>): Journal {
  const isOut = result === 'error'
  if (isOut === journal.isOut) return journal
  const entry: JournalEntry = isOut ? { at, kind: 'outage', message } : { at, kind: 'recovery' }
  return { ...withEntry(journal, entry), isOut }
}

function usedOf({ roster }: EventOf<'usage-read'>): Partial<DayFigures> {
  const used = roster && usedInCycle(roster)
  return used === undefined ? {} : { used }
}

function counted(journal: Journal, at: Instant, change: (day: DayFigures) => Partial<DayFigures>): Journal {
  const dayAt = midnight(at)
  const last = journal.days.at(-1)
  const isToday = last?.dayAt === dayAt
  const day = last && isToday ? last : { dayAt, found: 0, reverted: 0 }
  const before = isToday ? journal.days.slice(0, -1) : journal.days
  return { ...journal, days: [...before, { ...day, ...change(day) }].slice(-JOURNAL_LIMITS.days) }
}

// The past events of a workspace that pages show: the journal, which the ledger keeps, and figures of its requests. It follows events and
// decides nothing.

/** The requests of this process since it started. */
export interface Requests {
  readonly sent: number
  /** Those without a good answer. */
  readonly failed: number
  /** The last of these. */
  readonly last?: Pick<EventOf<'request-finished'>, 'at' | 'operation' | 'outcome'>
}

const withRequest = ({ sent, failed, last }: Requests, { at, operation, outcome }: EventOf<'request-finished'>): Requests =>
  outcome === 'ok' ? { sent: sent + 1, failed, last } : { sent: sent + 1, failed: failed + 1, last: { at, operation, outcome } }

export type Chronicle = ReturnType<typeof chronicleOf>

/** Continues the journal of the ledger; begins a new one where that cannot be read. */
export function chronicleOf(ledger: Pick<Ledger, 'fact' | 'saveFact'>) {
  const recorded = () =>
    journalOf(
      orNothing(() => ledger.fact('journal')),
      orNothing(() => ledger.fact('days')),
    )
  let journal: Journal | undefined
  let kept: Journal | undefined
  // With its first event: after a change of the settings it is made while the workspace before still records.
  const current = (): Journal => {
    if (!journal) {
      journal = recorded()
      kept = journal
    }
    return journal
  }
  let requests: Requests = { sent: 0, failed: 0 }
  return {
    journal: current,
    requests: (): Requests => requests,
    onEvent(event: CycleEvent): void {
      if (event.kind === 'request-finished') requests = withRequest(requests, event)
      else journal = journaled(current(), event)
    },
    /** `email` is normalised. */
    forget(email: string): void {
      journal = withoutPerson(current(), email)
    },
    /** Saves the journal where it has changed; the next commit writes it. */
    keep(): void {
      const { entries, days } = current()
      if (entries !== kept?.entries) ledger.saveFact('journal', entries)
      if (days !== kept?.days) ledger.saveFact('days', days)
      kept = journal
    },
  }
}
