// The past of people as the daemon's least urgent work: after each reading of use it goes on with whatever is missing, and shows how far it is. It
// never decides about a cap, and its requests wait for all that do.
import type { Finding } from '../../core/model/condition.ts'
import type { HistoryShown } from '../../core/model/events.ts'
import type { Roster } from '../../core/model/observed.ts'
import { scopeKey, TEAM } from '../../core/model/scope.ts'
import { DAY_MS, MINUTE_MS } from '../../core/model/units.ts'
import { countGrades, DAY_GRADES, type Days } from '../../core/use/history.ts'
import { finding, unread } from '../conditions/findings.ts'
import { LedgerError } from '../ledger/error.ts'
import { notice, reportBug, type Workspace } from '../workspace.ts'
import { collectHistory, commonDays, historyPlan, nowForBoth, peopleToRead, wantedDays } from './history.ts'
import type { CollectState } from './kept.ts'
import { type HistoryStop, totalOf } from './proof.ts'
import { collectRunsBack } from './runs.ts'
import { showUsageSummary } from './usage-summary.ts'

/** Requests at once: the cap that a sweep waits for has at most these before it. Choice. */
const CONCURRENCY = 2
/** While it goes on, how far it is becomes visible this often. Choice. */
const SHOW_EVERY_MS = MINUTE_MS
/** A service without a real filter, or without credits, is asked again after a day; after a failure, an hour. Choice. */
const REST_MS = { final: DAY_MS, failed: 60 * MINUTE_MS } as const

/** Goes on reading what is missing, beside everything else, and notices what keeps it from that. It may take hours. */
export function keepPast(workspace: Workspace, state: CollectState, signal: AbortSignal): void {
  const { past } = workspace.collector
  past.underWay ??= collectPast(workspace, state, signal)
    .then((history) => notice(workspace, { history }))
    .catch((error: unknown) => {
      if (signal.aborted) return
      if (error instanceof LedgerError) notice(workspace, { history: [unread('HISTORY_UNREAD', PAST, error.message)] })
      else reportBug(workspace, error)
    })
    .finally(() => {
      past.underWay = undefined
    })
}

/** Reads what is missing; does nothing where the past is off. Rejects only when `signal` aborts, or with a `LedgerError`. */
async function collectPast(workspace: Workspace, state: CollectState, signal: AbortSignal): Promise<readonly Finding[]> {
  const { config, clock, collector } = workspace
  const roster = state.usage?.roster
  const days = config.historyDays ?? 0
  if (days === 0 || !roster || clock.monotonic() < collector.past.restUntil) return collector.past.found
  // A day is read once, after its use has arrived.
  const wanted = wantedDays(nowForBoth(workspace) - config.usageLagMs, days)
  const runsFrom = (): unknown => workspace.ledger.fact('runsAsked')?.[scopeKey(TEAM)]?.fromAt
  const before = runsFrom()
  await collectRunsBack(workspace, state, wanted.fromAt, { signal, onlyBack: true })
  if (runsFrom() !== before) await showUsageSummary(workspace)
  let shownAt = clock.monotonic()
  await show(workspace, roster, wanted)
  const onDone = (): void => {
    if (clock.monotonic() - shownAt < SHOW_EVERY_MS) return
    shownAt = clock.monotonic()
    // What is shown may be a minute old; the ledger's failure is reported by the work itself.
    void show(workspace, roster, wanted).catch(() => undefined)
  }
  const { stopped, failed } = await collectHistory(workspace, { roster, wanted, concurrency: CONCURRENCY, signal, onDone })
  const isFinal = stopped !== undefined && stopped.code !== 'HISTORY_UNREAD'
  if (stopped || failed > 0) collector.past.restUntil = clock.monotonic() + (isFinal ? REST_MS.final : REST_MS.failed)
  await show(workspace, roster, wanted, stopped)
  collector.past.found = stopped ? findingsOf(stopped) : []
  return collector.past.found
}

function findingsOf(stopped: HistoryStop): readonly Finding[] {
  switch (stopped.code) {
    case 'HISTORY_UNFILTERED':
      return [finding('HistoryUnfiltered', stopped.code, UNFILTERED, PAST)]
    // Another condition says it already.
    case 'HISTORY_WITHOUT_CREDITS':
      return []
    case 'HISTORY_UNREAD':
      return [unread(stopped.code, PAST, `${PAST} could not be read: ${stopped.failure.message}`)]
  }
}

const UNFILTERED = 'the service answers a question about one person with the use of others; the past of people is not read'

/** The subject of findings. */
const PAST = 'the past of people'

/** Shows how many days of people are known, and how many ranges are left. */
async function show(workspace: Workspace, roster: Roster, wanted: Days, stopped?: HistoryStop): Promise<void> {
  const { ledger, clock } = workspace
  const known = new Map((await ledger.histories()).map((one) => [one.email, one]))
  const common = await commonDays(ledger, clock.now())
  const days = { measured: 0, reconstructed: 0, partial: 0, missing: 0 }
  for (const email of peopleToRead(ledger, roster)) {
    const counts = countGrades(wanted, known.get(email) ?? { email, known: [] }, common)
    for (const grade of DAY_GRADES) days[grade] += counts[grade]
  }
  let left = 0
  // Of days without credits nobody is asked.
  for (const { emails, ...range } of await historyPlan(workspace, { roster, wanted }))
    if ((await totalOf(workspace, range)) !== 'withoutCredits') left += emails.length
  const history: HistoryShown = { ...wanted, days, left, stopped: stopped?.code }
  workspace.shown = { ...workspace.shown, history }
}
