// Collects runs into the ledger: use of the team and of each declared group by day, model and mode. It asks in chunks, records how far each
// answer reaches, and goes on from there. It never decides about a cap, and its requests wait for all that do.

// Choices. The first request begins with the previous cycle, and with all days that a forecast needs. Later requests for the team cover the
// last day, and every 6 h also the two days before it, because data arrives up to 3 h late and may be amended. Groups are asked for three
// days once a day, at most 8 groups at a time, the longest waiting first; 500 groups take 16 h. A chunk is 30 days, and is halved down to one
// day where it was too much for the service.

import type { Finding } from '../../core/model/condition.ts'
import type { LedgerFacts } from '../../core/model/facts.ts'
import type { Cycle, RunsReading, RunUse } from '../../core/model/observed.ts'
import type { RunsAsked } from '../../core/model/past.ts'
import { groupScope, scopeKey, TEAM, type TeamScope } from '../../core/model/scope.ts'
import { DAY_MS, HOUR_MS, type Instant, isYounger, midnight, sumOfKnown } from '../../core/model/units.ts'
import { forecastReadsFrom } from '../../core/use/burn.ts'
import type { DayRange } from '../../ports.ts'
import { malformedRows, RUNS, unread } from '../conditions/findings.ts'
import { cycleOf } from '../cycle/state.ts'
import { AMEND_EVERY_MS, answerOf, believed, CHUNK_DAYS, type Failure, LONGEST_BACK_DAYS, readBack, readForward } from './asking.ts'
import type { CollectParts, CollectState } from './kept.ts'
import type { HistoryRun } from './proof.ts'

const GROUPS_AT_A_TIME = 8
/** A little less than a day, so that each group keeps its time of day. */
const GROUP_EVERY_MS = 23 * HOUR_MS
const LONGEST_MONTH_DAYS = 31

interface Target {
  readonly scope: TeamScope | ReturnType<typeof groupScope>
  readonly groupName?: string
}

type Round = ReturnType<typeof newRound>

/** Collecting from several targets. */
function newRound(workspace: CollectParts, state: CollectState, signal: AbortSignal | undefined) {
  return { workspace, state, signal, malformedRows: 0 }
}

/** Other targets would fail for the same cause. */
const endsRound = (failure: Failure | undefined): boolean => failure !== undefined && !['invalid', 'not_found'].includes(failure.kind)

/** Collects what is due; all failures become one finding. Rejects only when `signal` aborts, or with a `LedgerError`. */
export async function collectRuns(workspace: CollectParts, state: CollectState, signal?: AbortSignal): Promise<readonly Finding[]> {
  const round = newRound(workspace, state, signal)
  const failure = await collect(round, { scope: TEAM })
  // The requests for groups would fail for the same cause.
  if (failure) return [unread('RUNS_UNREAD', RUNS, `${RUNS} could not be read: ${failure.message}`)]
  const found: Finding[] = []
  for (const target of dueGroups(workspace, state)) {
    workspace.collector.triedAt.set(scopeKey(target.scope), workspace.clock.monotonic())
    const failed = await collect(round, target)
    const message = `runs of ${scopeKey(target.scope)} could not be read: ${failed?.message}`
    if (failed) found.push(unread('GROUP_RUNS_UNREAD', 'runs of groups', message))
    if (endsRound(failed)) break
  }
  return [...found.slice(0, 1), ...malformedRows(RUNS, round.malformedRows)]
}

interface BackOptions extends Pick<HistoryRun, 'signal' | 'onRequest'> {
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
  const round = newRound(workspace, state, signal)
  const found: Finding[] = []
  for (const target of [{ scope: TEAM } as const, ...groupsOf(state)]) {
    const key = scopeKey(target.scope)
    const asked = believed(workspace.ledger.fact('runsAsked')?.[key], workspace.clock.now())
    if (onlyBack && !asked) continue
    await onRequest()
    const isFresh = onlyBack || (asked && isYounger(asked.readAt, workspace.clock.now(), FRESH_MS))
    const failed =
      (isFresh ? undefined : await collect(round, target)) ??
      (await readBack({ ...sourceOf(round, target, onRequest), reached: () => workspace.ledger.fact('runsAsked')?.[key] }, backTo))
    if (failed) found.push(unread('RUNS_UNREAD', RUNS, `${RUNS} of ${key} could not be read: ${failed.message}`))
    if (endsRound(failed)) break
  }
  return [...found, ...malformedRows(RUNS, round.malformedRows)]
}

/** Runs that are younger are not read again for the past. */
const FRESH_MS = HOUR_MS

/** The requests that `collectRunsBack` will make. */
export function runsRequests({ ledger, clock }: Pick<CollectParts, 'ledger' | 'clock'>, state: CollectState, backTo: Instant): number {
  const now = clock.now()
  const first = firstDay(undefined, cycleOf(state.usage), now)
  const ranges = (days: number): number => Math.max(0, Math.ceil(days / DAY_MS / CHUNK_DAYS))
  return [TEAM, ...groupsOf(state).map(({ scope }) => scope)].reduce((sum, scope) => {
    const asked = believed(ledger.fact('runsAsked')?.[scopeKey(scope)], now)
    const isFresh = asked && isYounger(asked.readAt, now, FRESH_MS)
    const forward = asked ? (isFresh ? 0 : 1) : ranges(midnight(now) + DAY_MS - first)
    return sum + forward + ranges((asked?.fromAt ?? first) - backTo)
  }, 0)
}

const groupsOf = (state: CollectState): readonly Target[] =>
  state.policy.set.groups
    .filter(({ scope }) => !state.unknownGroups.includes(scope.id))
    .map(({ scope, name }) => ({ scope: groupScope(scope.id), groupName: name }))

/** The runs of a target; `onRequest` is called before each request. */
const sourceOf = (round: Round, target: Target, onRequest = async () => {}) => ({
  key: scopeKey(target.scope),
  chunkDays: round.workspace.collector.chunkDays,
  async ask({ fromAt, untilAt }: DayRange) {
    const { client, clock } = round.workspace
    await onRequest()
    const question = { fromAt, untilAt: untilAt > clock.now() ? undefined : untilAt, groupName: target.groupName }
    const answer = await answerOf(() => client.readRuns(question, round.signal), round.signal)
    if (!answer.failure) round.malformedRows += answer.value.malformedRows ?? 0
    return answer
  },
  save: (days: DayRange, { rows }: RunsReading, asked: RunsAsked) => save(round, target, days, rows, asked),
})

function dueGroups({ ledger, clock, collector }: CollectParts, state: CollectState): readonly Target[] {
  const asked = ledger.fact('runsAsked') ?? {}
  const now = clock.now()
  const due = groupsOf(state)
    .map((target) => {
      const key = scopeKey(target.scope)
      const last = believed(asked[key], now)
      const askedMs = last && last.throughAt >= midnight(now) - DAY_MS ? now - last.readAt : Number.POSITIVE_INFINITY
      const triedMs = clock.monotonic() - (collector.triedAt.get(key) ?? Number.NEGATIVE_INFINITY)
      return { target, waitedMs: Math.min(askedMs, triedMs), askedMs }
    })
    .filter(({ askedMs }) => askedMs >= GROUP_EVERY_MS)
  return due
    .sort((a, b) => (a.waitedMs === b.waitedMs ? 0 : b.waitedMs - a.waitedMs))
    .slice(0, GROUPS_AT_A_TIME)
    .map(({ target }) => target)
}

/** Collects what is due of one target. Returns the failure that ended it, if any. */
async function collect(round: Round, target: Target): Promise<Failure | undefined> {
  const { ledger, clock } = round.workspace
  const now = clock.now()
  const known = ledger.fact('runsAsked')?.[scopeKey(target.scope)]
  const before = believed(known, now)
  const firstAt = firstDay(known, cycleOf(round.state.usage), now)
  return readForward({ ...sourceOf(round, target), now, before, firstAt, amendEveryMs: target.scope.kind === 'group' ? 0 : AMEND_EVERY_MS })
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
async function save(round: Round, { scope }: Target, days: DayRange, rows: readonly RunUse[], asked: RunsAsked): Promise<void> {
  const { ledger } = round.workspace
  const declared = new Set<string>([scopeKey(TEAM), ...round.state.policy.set.groups.map((group) => scopeKey(group.scope))])
  const throughAt = rows.reduce((last, { dayAt }) => Math.max(last, dayAt), asked.throughAt)
  const all = { ...ledger.fact('runsAsked'), [scopeKey(scope)]: { ...asked, throughAt } }
  const kept = Object.entries(all).filter(([key]) => declared.has(key))
  const batch = { ...days, rows: scope.kind === 'team' ? rows : byDay(rows) }
  await ledger.saveRuns(scope, { ...batch, asked: Object.fromEntries(kept) as LedgerFacts['runsAsked'] })
}

/** One row a day: there may be hundreds of groups, and no report needs more. */
function byDay(rows: readonly RunUse[]): readonly RunUse[] {
  return [...Map.groupBy(rows, ({ dayAt }) => dayAt)].map(([dayAt, all]) => {
    const used = sumOfKnown(all.map((row) => row.used))
    const messages = all.reduce((sum, row) => sum + row.messages, 0)
    return { dayAt, model: '', mode: '', messages, used }
  })
}
