// What the service's answers about single people are worth: whether they tell of others too, or carry no credits. It stops the reading of the past
// where it finds so, and removes what was kept. It never judges by one person alone.

// Choice. The proof is made again after a day.

import type { Roster, RunUse } from '../../core/model/observed.ts'
import type { HistoryState } from '../../core/model/past.ts'
import { scopeKey, TEAM } from '../../core/model/scope.ts'
import { type Credits, credits, DAY_MS, isYounger, sumOfKnown } from '../../core/model/units.ts'
import { type Days, isAboveTotal, missingDays, RANGE_DAYS, toldDays } from '../../core/use/history.ts'
import { answerOf, type Failure } from './asking.ts'
import type { CollectParts } from './kept.ts'

const PROOF_LIFE_MS = DAY_MS
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

export const proving = (parts: CollectParts, everybody: readonly string[]) => ({
  parts,
  /** Whose past may be read. */
  everybody,
  /** Failed answers in a row. */
  failures: 0,
  isProvenAnew: false,
  /** Why the first one failed, and why the run ends early. */
  why: undefined as Failure | undefined,
  stopped: undefined as HistoryStop | undefined,
})

/** Before the first figure is kept: past runs carry credits, and somebody whom nobody knows has no runs. */
export async function prove(run: Proving, range: Days): Promise<void> {
  const { ledger, clock } = run.parts
  const runs = await ledger.runs(TEAM, run.wanted)
  if (runs.length > 0 && runs.every(({ used }) => used === undefined)) {
    run.stopped = { code: 'HISTORY_WITHOUT_CREDITS' }
    return keepState(run, { isFiltered: true, hasCredits: false })
  }
  const before = ledger.fact('history')
  if (before?.isFiltered && before.hasCredits && isYounger(before.checkedAt, clock.now(), PROOF_LIFE_MS)) return undefined
  const answer = await askOfNobody(run, range)
  // A service that does not know the person has looked for them.
  const isFiltered = answer.failure ? ['not_found', 'invalid'].includes(answer.failure.kind) : answer.value.rows.length === 0
  if (answer.failure && !isFiltered) run.stopped = { code: 'HISTORY_UNREAD', failure: answer.failure }
  else if (!isFiltered) await unfiltered(run)
  else await keepState(run, { isFiltered: true, hasCredits: true })
}

async function askOfNobody(run: Proving, { fromAt, untilAt }: Days) {
  const { client, clock, collector } = run.parts
  // Of a domain that can never exist, and new each time.
  const email = `nobody-${collector.by}-${clock.now().toString(36)}@capkeeper.invalid`
  await run.onRequest?.()
  return ask(run, () => client.readRuns({ fromAt, untilAt, email }, run.signal))
}

async function keepState({ parts: { ledger, clock } }: Proving, found: Omit<HistoryState, 'checkedAt'>): Promise<void> {
  ledger.saveFact('history', { droppedAt: ledger.fact('history')?.droppedAt, checkedAt: clock.now(), ...found })
  await ledger.commit()
}

/** Everything that was kept may be use of others, and what readings told of its days was replaced by it. */
export async function unfiltered(run: Proving): Promise<void> {
  run.stopped = { code: 'HISTORY_UNFILTERED' }
  const now = run.parts.clock.now()
  await run.parts.ledger.dropHistories({ checkedAt: now, droppedAt: now, isFiltered: false, hasCredits: true })
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
  /** Who is read now. */
  readonly emails: readonly string[]
  /** What is known of all others in this range. */
  before?: Promise<number>
}

/** `withoutCredits`: on another plan than today's. A day by itself may have had free runs only, so a month is looked at. */
export async function totalOf(
  { parts: { ledger } }: Pick<Proving, 'parts'>,
  range: Days,
  emails: readonly string[],
): Promise<Total | 'withoutCredits'> {
  const asked = ledger.fact('runsAsked')?.[scopeKey(TEAM)]
  const month = await ledger.runs(TEAM, { ...range, fromAt: Math.min(range.fromAt, range.untilAt - RANGE_DAYS * DAY_MS) })
  if (month.length > 0 && month.every(({ used }) => used === undefined)) return 'withoutCredits'
  const isKnown = asked !== undefined && asked.fromAt <= range.fromAt && asked.throughAt >= range.untilAt - DAY_MS
  return { used: isKnown ? totalUsed(month.filter(({ dayAt }) => dayAt >= range.fromAt)) : undefined, emails }
}

const totalUsed = (rows: readonly RunUse[]): Credits => sumOfKnown(rows.map(({ used }) => used)) ?? credits(0)

/**
 * Whether answers about people tell of others too. Where only with what earlier runs have read people have more than the workspace, the service may
 * have amended that since: then it is proven anew.
 */
export async function isOfOthers(run: Proving, range: Days, told: number, total: Total): Promise<boolean> {
  if (await exceeds(run, range, told, total)) return true
  if (told <= 0 || run.isProvenAnew) return false
  total.before ??= usedBefore(run, range, total)
  if (!(await exceeds(run, range, told + (await total.before), total))) return false
  run.isProvenAnew = true
  const answer = await askOfNobody(run, range)
  return !answer.failure && answer.value.rows.length > 0
}

/** What everybody on the roster who is not read now has, as far as the service has told it of the whole range. */
async function usedBefore({ parts: { ledger }, everybody }: Proving, range: Days, { emails }: Total): Promise<number> {
  const now = new Set(emails)
  const known = new Map((await ledger.histories()).map((one) => [one.email, one]))
  const isTold = (email: string): boolean => !now.has(email) && missingDays(range, toldDays(known.get(email))).length === 0
  const told = new Set(everybody.filter(isTold))
  return (await ledger.useByPerson(range)).reduce((sum, { email, used }) => (told.has(email) ? sum + used : sum), 0)
}

/** Whether people have more than the workspace. Use of the last days may have arrived since the workspace was read. */
async function exceeds(run: Proving, range: Days, people: number, total: Total): Promise<boolean> {
  if (total.used === undefined || !isAboveTotal(people, total.used)) return false
  await run.onRequest?.()
  const answer = await ask(run, () => run.parts.client.readRuns(range, run.signal))
  if (answer.failure) return false
  total.used = totalUsed(answer.value.rows)
  return isAboveTotal(people, total.used)
}
