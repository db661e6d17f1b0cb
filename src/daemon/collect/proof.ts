// What the service's answers about single people are worth: whether they tell of others too, or carry no credits. It stops the reading of the past
// where it finds so, and removes what was kept. It never judges by one person alone.

import type { Roster, RunUse } from '../../core/model/observed.ts'
import { scopeKey, TEAM } from '../../core/model/scope.ts'
import { type Credits, credits, DAY_MS, sumOfKnown } from '../../core/model/units.ts'
import { type Days, isAboveTotal, RANGE_DAYS } from '../../core/use/history.ts'
import { answerOf, type Failure } from './asking.ts'
import type { CollectParts } from './kept.ts'

/** So many failed answers in a row end the run: more would fail for the same cause. */
const MOST_FAILURES = 5

/** Why the past of people is not read. */
export type HistoryStop =
  | { readonly code: 'HISTORY_UNFILTERED' | 'HISTORY_WITHOUT_CREDITS' }
  | { readonly code: 'HISTORY_UNREAD'; readonly failure: Pick<Failure, 'message'> }

/** What a run of reading the past is asked to do. */
export interface HistoryRun {
  /** Whose past is read. */
  readonly roster: Roster
  readonly wanted: Days
  /** Of these people only. */
  readonly only?: readonly string[]
  readonly concurrency: number
  readonly signal?: AbortSignal
  /** Called before each request: waits for its turn. */
  readonly onRequest?: () => Promise<void>
  /** Called with the number of requests of a person's range that are over, or were not needed. */
  readonly onDone?: (count: number) => void
}

/** What it knows of the service's answers. */
type Proving = HistoryRun & ReturnType<typeof proving>

export const proving = (parts: CollectParts) => ({
  parts,
  /** Failed answers in a row. */
  failures: 0,
  /** Why the first one failed, and why the run ends early. */
  why: undefined as Failure | undefined,
  stopped: undefined as HistoryStop | undefined,
})

/** Before the first figure of a run is kept: past runs carry credits, and somebody whom nobody knows has no runs. */
export async function prove(run: Proving, { fromAt, untilAt }: Days): Promise<void> {
  const { ledger, client, clock, collector } = run.parts
  const runs = await ledger.runs(TEAM, run.wanted)
  if (runs.length > 0 && runs.every(({ used }) => used === undefined)) {
    run.stopped = { code: 'HISTORY_WITHOUT_CREDITS' }
    return
  }
  // Of a domain that can never exist, and new each time.
  const email = `nobody-${collector.by}-${clock.now().toString(36)}@capkeeper.invalid`
  await run.onRequest?.()
  const answer = await ask(run, () => client.readRuns({ fromAt, untilAt, email }, run.signal))
  // A service that does not know the person has looked for them.
  if (!answer.failure && answer.value.rows.length > 0) await unfiltered(run)
  else if (answer.failure && !['not_found', 'invalid'].includes(answer.failure.kind))
    run.stopped = { code: 'HISTORY_UNREAD', failure: answer.failure }
}

/** Everything that was kept may be use of others, and what readings told of its days was replaced by it. */
export async function unfiltered(run: Proving): Promise<void> {
  run.stopped = { code: 'HISTORY_UNFILTERED' }
  await run.parts.ledger.dropHistories(run.parts.clock.now())
}

export async function ask<T>(run: Proving, request: () => Promise<T>) {
  const answer = await answerOf(request, run.signal)
  const { failure } = answer
  run.failures = failure ? run.failures + 1 : 0
  run.why ??= failure
  if (failure && (failure.kind === 'auth' || run.failures >= MOST_FAILURES)) run.stopped ??= { code: 'HISTORY_UNREAD', failure }
  return answer
}

/** The use of the whole workspace in a range; it is read again before anything is held against it. */
export interface Total {
  /** Undefined where its days are not known. */
  used: Credits | undefined
}

/** `withoutCredits`: on another plan than today's. A day by itself may have had free runs only, so a month is looked at. */
export async function totalOf({ ledger }: Pick<CollectParts, 'ledger'>, range: Days): Promise<Total | 'withoutCredits'> {
  const asked = ledger.fact('runsAsked')?.[scopeKey(TEAM)]
  const month = await ledger.runs(TEAM, { ...range, fromAt: Math.min(range.fromAt, range.untilAt - RANGE_DAYS * DAY_MS) })
  if (month.length > 0 && month.every(({ used }) => used === undefined)) return 'withoutCredits'
  const isKnown = asked !== undefined && asked.fromAt <= range.fromAt && asked.throughAt >= range.untilAt - DAY_MS
  return { used: isKnown ? totalUsed(month.filter(({ dayAt }) => dayAt >= range.fromAt)) : undefined }
}

const totalUsed = (rows: readonly RunUse[]): Credits => sumOfKnown(rows.map(({ used }) => used)) ?? credits(0)

/**
 * Whether answers about people tell of others too: together they have more than the workspace. Use of the last days may have arrived since the
 * workspace was read.
 */
export async function isOfOthers(run: Proving, range: Days, told: number, total: Total): Promise<boolean> {
  if (total.used === undefined || !isAboveTotal(told, total.used)) return false
  await run.onRequest?.()
  const answer = await ask(run, () => run.parts.client.readRuns(range, run.signal))
  if (answer.failure) return false
  total.used = totalUsed(answer.value.rows)
  return isAboveTotal(told, total.used)
}
