// Collects runs: what the team and each declared group used by day, model and mode, into the ledger. It asks in chunks, keeps each answer
// with how far it has come, and goes on from there whenever it is started again. It never decides about a cap, and the queue lets it wait
// for everything that does.
//
// Choices. The first time it asks from the start of the previous cycle on, and for all that a forecast looks at. Later, of the team: the
// last day each time, and every 6 h also the two days before it, as data arrives up to 3 h late and may be amended. Of groups: three days
// once a day, and no more than 8 groups at a time, those first that were asked longest ago; 500 groups are through within 16 h. A chunk is
// 30 days, and half of that after it was too much for the service or for its time, down to one day.

import { isYounger } from '../../core/model/age.ts'
import type { Finding } from '../../core/model/condition.ts'
import type { Cycle, RunUse } from '../../core/model/observed.ts'
import { groupScope, scopeKey, TEAM, type TeamScope } from '../../core/model/scope.ts'
import { DAY_MS, HOUR_MS, type Instant } from '../../core/model/units.ts'
import { forecastReadsFrom } from '../../core/use/forecast.ts'
import type { LedgerFacts, RunsAsked, RunsBatch } from '../../ports.ts'
import { malformedRows, RUNS, unread } from '../conditions/findings.ts'
import { cycleOf, type WorkspaceState } from '../cycle/state.ts'
import { type Failure, failureOf } from '../cycle/write/failure.ts'
import type { Workspace } from '../workspace.ts'
import { believed, CHUNK_DAYS, LONGEST_BACK_DAYS } from './kept.ts'
import { sumOfKnown } from './usage-summary.ts'

const WIDE_EVERY_MS = 6 * HOUR_MS
const WIDE_DAYS = 2
const GROUPS_AT_A_TIME = 8
/** A little less than a day, so that groups do not drift through the day. */
const GROUP_EVERY_MS = 23 * HOUR_MS
const LONGEST_MONTH_DAYS = 31

interface Target {
  readonly scope: TeamScope | ReturnType<typeof groupScope>
  readonly groupName?: string
}

/** Asks for what is due; what could not be read is one finding. Rejects only when `signal` aborts, or with a `LedgerError`. */
export async function collectRuns(workspace: Workspace, state: WorkspaceState, signal?: AbortSignal): Promise<readonly Finding[]> {
  const aside: Aside = { rows: 0 }
  const failure = await collect(workspace, state, { scope: TEAM }, aside, signal)
  // What stops the one stops the others; they would only be told again.
  if (failure) return [unread('RUNS_UNREAD', RUNS, `${RUNS} could not be read: ${failure.message}`)]
  const found: Finding[] = []
  for (const target of dueGroups(workspace, state)) {
    workspace.collector.triedAt.set(scopeKey(target.scope), workspace.clock.monotonic())
    const failed = await collect(workspace, state, target, aside, signal)
    const message = `runs of ${scopeKey(target.scope)} could not be read: ${failed?.message}`
    if (failed) found.push(unread('GROUP_RUNS_UNREAD', 'runs of groups', message))
    if (failed && failed.kind !== 'invalid' && failed.kind !== 'not_found') break
  }
  return [...found.slice(0, 1), ...malformedRows(RUNS, aside.rows)]
}

/** How many rows made no sense, in one round. */
interface Aside {
  rows: number
}

function dueGroups({ ledger, clock, collector }: Workspace, state: WorkspaceState): readonly Target[] {
  const asked = ledger.fact('runsAsked') ?? {}
  const now = clock.now()
  const unknown = new Set(state.unknownGroups)
  const due = state.policy.set.groups
    .filter(({ scope }) => !unknown.has(scope.id))
    .map(({ scope, name }) => {
      const key = scopeKey(scope)
      const last = believed(asked[key], now)
      const askedMs = last && last.throughAt >= midnight(now) - DAY_MS ? now - last.readAt : Number.POSITIVE_INFINITY
      const triedMs = clock.monotonic() - (collector.triedAt.get(key) ?? Number.NEGATIVE_INFINITY)
      return { target: { scope: groupScope(scope.id), groupName: name }, waitedMs: Math.min(askedMs, triedMs), askedMs }
    })
    .filter(({ askedMs }) => askedMs >= GROUP_EVERY_MS)
  return due
    .sort((a, b) => (a.waitedMs === b.waitedMs ? 0 : b.waitedMs - a.waitedMs))
    .slice(0, GROUPS_AT_A_TIME)
    .map(({ target }) => target)
}

/** Asks for what is due of one target, chunk by chunk; the failure that ended it, if one did. */
async function collect(
  workspace: Workspace,
  state: WorkspaceState,
  target: Target,
  aside: Aside,
  signal?: AbortSignal,
): Promise<Failure | undefined> {
  const { ledger, clock, collector } = workspace
  const key = scopeKey(target.scope)
  const now = clock.now()
  const known = ledger.fact('runsAsked')?.[key]
  const before = believed(known, now)
  const isWide = !before || target.scope.kind === 'group' || !isYounger(before.wideAt, now, WIDE_EVERY_MS)
  let fromAt = before
    ? Math.max(before.fromAt, before.throughAt - (isWide ? WIDE_DAYS : 0) * DAY_MS)
    : firstDay(known, cycleOf(state.usage), now)
  const startAt = before?.fromAt ?? fromAt
  while (true) {
    const chunkDays = collector.chunkDays.get(key) ?? CHUNK_DAYS
    const untilAt = fromAt + chunkDays * DAY_MS
    const isLast = untilAt > now
    try {
      const question = { fromAt, ...(!isLast && { untilAt }), ...(target.groupName !== undefined && { groupName: target.groupName }) }
      const { rows, malformedRows: bad = 0 } = await workspace.client.readRuns(question, signal)
      aside.rows += bad
      const throughAt = isLast ? rows.reduce((last, { dayAt }) => Math.max(last, dayAt), midnight(now)) : untilAt - DAY_MS
      const wideAt = isLast && isWide ? now : (before?.wideAt ?? startAt)
      const asked = { fromAt: startAt, throughAt: Math.max(throughAt, before?.throughAt ?? startAt), readAt: clock.now(), wideAt }
      await save(workspace, state, target, { fromAt, untilAt: throughAt + DAY_MS, rows }, asked)
      if (isLast) return undefined
      fromAt = untilAt
    } catch (error) {
      signal?.throwIfAborted()
      const failure = failureOf(error)
      if (isTooMuch(failure)) collector.chunkDays.set(key, Math.max(1, Math.floor(chunkDays / 2)))
      return failure
    }
  }
}

const midnight = (at: Instant): Instant => Math.floor(at / DAY_MS) * DAY_MS

/** The start of the previous cycle, of what a forecast looks at, and of all that is known. */
function firstDay(known: RunsAsked | undefined, cycle: Cycle | undefined, now: Instant): Instant {
  const earliest = midnight(now) - LONGEST_BACK_DAYS * DAY_MS
  const first =
    !cycle || cycle.startAt > now
      ? midnight(now) - 2 * LONGEST_MONTH_DAYS * DAY_MS
      : midnight(cycle.startAt - Math.max(LONGEST_MONTH_DAYS * DAY_MS, cycle.endAt - cycle.startAt))
  return Math.max(earliest, Math.min(first, forecastReadsFrom(now), known?.fromAt ?? first))
}

/** The answer may be too long for the service, for its time or for the wire. */
const isTooMuch = ({ kind, unsent }: Failure): boolean => !unsent && (kind === 'invalid' || kind === 'malformed' || kind === 'timeout')

/** What is no longer declared is asked from the start when it comes back. */
async function save(
  { ledger }: Workspace,
  state: WorkspaceState,
  { scope }: Target,
  batch: Omit<RunsBatch, 'asked'>,
  asked: RunsAsked,
): Promise<void> {
  const declared = new Set<string>([scopeKey(TEAM), ...state.policy.set.groups.map((group) => scopeKey(group.scope))])
  const all = { ...ledger.fact('runsAsked'), [scopeKey(scope)]: asked }
  const kept = Object.entries(all).filter(([key]) => declared.has(key))
  const rows = scope.kind === 'team' ? batch.rows : byDay(batch.rows)
  await ledger.saveRuns(scope, { ...batch, rows, asked: Object.fromEntries(kept) as LedgerFacts['runsAsked'] })
}

/** One row a day: of groups nobody asks more, and there may be hundreds of them. */
function byDay(rows: readonly RunUse[]): readonly RunUse[] {
  return [...Map.groupBy(rows, ({ dayAt }) => dayAt)].map(([dayAt, all]) => {
    const used = sumOfKnown(all.map((row) => row.used))
    const messages = all.reduce((sum, row) => sum + row.messages, 0)
    return { dayAt, model: '', mode: '', messages, ...(used !== undefined && { used }) }
  })
}
