// Collects runs into the ledger: use of the team and of each declared group by day, model and mode. It asks in chunks, records how far each
// answer reaches, and goes on from there. It never decides about a cap, and its requests wait for all that do.

// Choices. The first request begins with the previous cycle, and with all days that a forecast needs. Later requests for the team cover the
// last day, and every 6 h also the two days before it, because data arrives up to 3 h late and may be amended. Groups are asked for three
// days once a day, at most 8 groups at a time, the longest waiting first; 500 groups take 16 h. A chunk is 30 days, and is halved down to one
// day where it was too much for the service.

import type { Finding } from '../../core/model/condition.ts'
import type { Cycle, RunUse } from '../../core/model/observed.ts'
import { groupScope, scopeKey, TEAM, type TeamScope } from '../../core/model/scope.ts'
import { DAY_MS, HOUR_MS, type Instant, isYounger, midnight } from '../../core/model/units.ts'
import { forecastReadsFrom } from '../../core/use/burn.ts'
import type { RunsAsked } from '../../core/use/history.ts'
import type { LedgerFacts, RunsBatch } from '../../ports.ts'
import { malformedRows, RUNS, unread } from '../conditions/findings.ts'
import { cycleOf } from '../cycle/state.ts'
import { type Failure, failureOf, isTooMuch } from './add-on.ts'
import { believed, CHUNK_DAYS, type CollectParts, type CollectState, LONGEST_BACK_DAYS } from './kept.ts'
import { sumOfKnown } from './usage-summary.ts'

const AMEND_EVERY_MS = 6 * HOUR_MS
const AMENDED_DAYS = 2
const GROUPS_AT_A_TIME = 8
/** A little less than a day, so that each group keeps its time of day. */
const GROUP_EVERY_MS = 23 * HOUR_MS
const LONGEST_MONTH_DAYS = 31

interface Target {
  readonly scope: TeamScope | ReturnType<typeof groupScope>
  readonly groupName?: string
}

/** Collects what is due; all failures become one finding. Rejects only when `signal` aborts, or with a `LedgerError`. */
export async function collectRuns(workspace: CollectParts, state: CollectState, signal?: AbortSignal): Promise<readonly Finding[]> {
  const malformed: Malformed = { rows: 0 }
  const failure = await collect(workspace, state, { scope: TEAM }, malformed, signal)
  // The requests for groups would fail for the same cause.
  if (failure) return [unread('RUNS_UNREAD', RUNS, `${RUNS} could not be read: ${failure.message}`)]
  const found: Finding[] = []
  for (const target of dueGroups(workspace, state)) {
    workspace.collector.triedAt.set(scopeKey(target.scope), workspace.clock.monotonic())
    const failed = await collect(workspace, state, target, malformed, signal)
    const message = `runs of ${scopeKey(target.scope)} could not be read: ${failed?.message}`
    if (failed) found.push(unread('GROUP_RUNS_UNREAD', 'runs of groups', message))
    if (failed && failed.kind !== 'invalid' && failed.kind !== 'not_found') break
  }
  return [...found.slice(0, 1), ...malformedRows(RUNS, malformed.rows)]
}

/** Counts the malformed rows of one round. */
interface Malformed {
  rows: number
}

interface BackOptions {
  readonly signal?: AbortSignal
  readonly onRequest?: () => Promise<void>
  /** The newest days are collected by others. */
  readonly onlyBack?: boolean
}

/**
 * Collects the team's and the groups' runs back to a day, the latest first; `onRequest` is called before each request. Failures become findings,
 * and end the target. Rejects only when `signal` aborts, or with a `LedgerError`.
 */
export async function collectRunsBack(
  workspace: CollectParts,
  state: CollectState,
  backTo: Instant,
  { signal, onRequest = async () => undefined, onlyBack = false }: BackOptions = {},
): Promise<readonly Finding[]> {
  const malformed: Malformed = { rows: 0 }
  const found: Finding[] = []
  for (const target of [{ scope: TEAM } as const, ...groupsOf(state)]) {
    const key = scopeKey(target.scope)
    const asked = believed(workspace.ledger.fact('runsAsked')?.[key], workspace.clock.now())
    if (onlyBack && !asked) continue
    await onRequest()
    const isFresh = onlyBack || (asked && isYounger(asked.readAt, workspace.clock.now(), FRESH_MS))
    const failed =
      (isFresh ? undefined : await collect(workspace, state, target, malformed, signal)) ??
      (await goBack(workspace, state, target, backTo, malformed, { onRequest, signal }))
    if (failed) found.push(unread('RUNS_UNREAD', RUNS, `${RUNS} of ${key} could not be read: ${failed.message}`))
    if (failed && failed.kind !== 'invalid' && failed.kind !== 'not_found') break
  }
  return [...found, ...malformedRows(RUNS, malformed.rows)]
}

/** Runs that are younger are not read again for the past. */
const FRESH_MS = HOUR_MS

/** The requests that `collectRunsBack` will make. */
export function runsRequests({ ledger, clock }: Pick<CollectParts, 'ledger' | 'clock'>, state: CollectState, backTo: Instant): number {
  const now = clock.now()
  const first = firstDay(undefined, cycleOf(state.usage), now)
  const ranges = (days: number): number => Math.max(0, Math.ceil(days / DAY_MS / CHUNK_DAYS))
  return [TEAM, ...groupsOf(state).map(({ scope }) => scope)]
    .map((scope) => {
      const asked = believed(ledger.fact('runsAsked')?.[scopeKey(scope)], now)
      const isFresh = asked && isYounger(asked.readAt, now, FRESH_MS)
      const forward = asked ? (isFresh ? 0 : 1) : ranges(midnight(now) + DAY_MS - first)
      return forward + ranges((asked?.fromAt ?? first) - backTo)
    })
    .reduce((sum, one) => sum + one, 0)
}

const groupsOf = (state: CollectState): readonly Target[] =>
  state.policy.set.groups
    .filter(({ scope }) => !state.unknownGroups.includes(scope.id))
    .map(({ scope, name }) => ({ scope: groupScope(scope.id), groupName: name }))

/** Collects the days before those that are known, chunk by chunk. */
async function goBack(
  workspace: CollectParts,
  state: CollectState,
  target: Target,
  backTo: Instant,
  malformed: Malformed,
  { signal, onRequest }: { readonly signal?: AbortSignal; readonly onRequest: () => Promise<void> },
): Promise<Failure | undefined> {
  const { ledger, collector } = workspace
  const key = scopeKey(target.scope)
  for (let asked = ledger.fact('runsAsked')?.[key]; asked && asked.fromAt > backTo; asked = ledger.fact('runsAsked')?.[key]) {
    const chunkDays = collector.chunkDays.get(key) ?? CHUNK_DAYS
    const range = { fromAt: Math.max(backTo, asked.fromAt - chunkDays * DAY_MS), untilAt: asked.fromAt }
    try {
      await onRequest()
      const groupName = target.groupName === undefined ? {} : { groupName: target.groupName }
      const { rows, malformedRows: count = 0 } = await workspace.client.readRuns({ ...range, ...groupName }, signal)
      malformed.rows += count
      await save(workspace, state, target, { ...range, rows }, { ...asked, fromAt: range.fromAt })
    } catch (error) {
      signal?.throwIfAborted()
      const failure = failureOf(error)
      if (!isTooMuch(failure) || chunkDays === 1) return failure
      collector.chunkDays.set(key, Math.max(1, Math.floor(chunkDays / 2)))
    }
  }
  return undefined
}

function dueGroups({ ledger, clock, collector }: CollectParts, state: CollectState): readonly Target[] {
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

/** Collects what is due of one target, chunk by chunk. Returns the failure that ended it, if any. */
async function collect(
  workspace: CollectParts,
  state: CollectState,
  target: Target,
  malformed: Malformed,
  signal?: AbortSignal,
): Promise<Failure | undefined> {
  const { ledger, clock, collector } = workspace
  const key = scopeKey(target.scope)
  const now = clock.now()
  const known = ledger.fact('runsAsked')?.[key]
  const before = believed(known, now)
  const isAmending = !before || target.scope.kind === 'group' || !isYounger(before.wideAt, now, AMEND_EVERY_MS)
  let fromAt = before
    ? Math.max(before.fromAt, before.throughAt - (isAmending ? AMENDED_DAYS : 0) * DAY_MS)
    : firstDay(known, cycleOf(state.usage), now)
  const startAt = before?.fromAt ?? fromAt
  while (true) {
    const chunkDays = collector.chunkDays.get(key) ?? CHUNK_DAYS
    const untilAt = fromAt + chunkDays * DAY_MS
    const isLast = untilAt > now
    try {
      const question = {
        fromAt,
        untilAt: !isLast ? untilAt : undefined,
        ...(target.groupName !== undefined && { groupName: target.groupName }),
      }
      const { rows, malformedRows: count = 0 } = await workspace.client.readRuns(question, signal)
      malformed.rows += count
      const throughAt = isLast ? rows.reduce((last, { dayAt }) => Math.max(last, dayAt), midnight(now)) : untilAt - DAY_MS
      const wideAt = isLast && isAmending ? now : (before?.wideAt ?? startAt)
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

/** The earliest day of the previous cycle, of the days that a forecast needs, and of the days that are known already. */
function firstDay(known: RunsAsked | undefined, cycle: Cycle | undefined, now: Instant): Instant {
  const earliest = midnight(now) - LONGEST_BACK_DAYS * DAY_MS
  const first =
    !cycle || cycle.startAt > now
      ? midnight(now) - 2 * LONGEST_MONTH_DAYS * DAY_MS
      : midnight(cycle.startAt - Math.max(LONGEST_MONTH_DAYS * DAY_MS, cycle.endAt - cycle.startAt))
  return Math.max(earliest, Math.min(first, forecastReadsFrom(now), known?.fromAt ?? first))
}

/** Saves a chunk. A group that is not declared any more is collected from the start when it comes back. */
async function save(
  { ledger }: CollectParts,
  state: CollectState,
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

/** One row a day: there may be hundreds of groups, and no report needs more. */
function byDay(rows: readonly RunUse[]): readonly RunUse[] {
  return [...Map.groupBy(rows, ({ dayAt }) => dayAt)].map(([dayAt, all]) => {
    const used = sumOfKnown(all.map((row) => row.used))
    const messages = all.reduce((sum, row) => sum + row.messages, 0)
    return { dayAt, model: '', mode: '', messages, used }
  })
}
