// What is known of the past after `collect`, as text and as JSON, and the exit code that follows from it.
import { plain } from '../../core/escape/terminal.ts'
import type { Roster } from '../../core/model/observed.ts'
import type { Instant } from '../../core/model/units.ts'
import { countGrades, DAY_GRADES, type DayGrade, type Days, gradesOf } from '../../core/use/history.ts'
import { commonDays, type HistoryOutcome, type HistoryStop, peopleToRead, skippedPeople } from '../../daemon/collect/history.ts'
import type { CollectParts, CollectState } from '../../daemon/collect/kept.ts'
import { ledgerArgs, type NetworkFlags } from '../shared/args.ts'
import { documentText } from '../shared/document.ts'
import { EXIT, type ExitCode } from '../shared/exit.ts'
import { amountText, count, dayText, people, span } from '../shared/text.ts'

interface CollectedPerson {
  readonly email: string
  readonly days: Readonly<Record<DayGrade, number>>
  /** Adjoining days of one grade, in the order of time; `until` is inclusive. */
  readonly ranges: readonly { readonly from: string; readonly until: string; readonly grade: DayGrade }[]
  readonly doubt?: { readonly told: number; readonly listed: number }
}

/** One workspace after a run. */
export interface Collected {
  readonly workspace: string
  readonly wanted: Days
  readonly people: readonly CollectedPerson[]
  readonly totals: Readonly<Record<DayGrade, number>>
  /** People who were forgotten, and whose past was not read. */
  readonly skipped: number
  readonly outcome: HistoryOutcome
  readonly requests: number
  readonly tookMs: number
  readonly knowsSeats: boolean
}

interface Inputs {
  readonly parts: CollectParts
  readonly state: CollectState
  readonly roster: Roster
  readonly wanted: Days
  readonly outcome: HistoryOutcome
  readonly requests: number
  readonly tookMs: number
  readonly only: readonly string[] | undefined
}

/** What the ledger knows now. */
export async function collected({ parts, state, roster, wanted, only, ...rest }: Inputs): Promise<Collected> {
  const { ledger, clock, config } = parts
  const known = new Map((await ledger.histories()).map((one) => [one.email, one]))
  const common = await commonDays(ledger, clock.now())
  const skipped = skippedPeople(ledger, roster)
  const all = peopleToRead(ledger, roster, only).map((email): CollectedPerson => {
    const person = known.get(email) ?? { email, known: [] }
    const { doubt } = person
    return {
      email,
      days: countGrades(wanted, person, common),
      ranges: gradesOf(wanted, person, common).map(({ fromAt, untilAt, grade }) => ({
        ...{ from: dayText(fromAt), until: dayText(untilAt - 1), grade },
      })),
      ...(doubt && { doubt: { told: doubt.told, listed: doubt.listed } }),
    }
  })
  const totals = Object.fromEntries(DAY_GRADES.map((grade) => [grade, all.reduce((sum, { days }) => sum + days[grade], 0)]))
  return {
    ...rest,
    workspace: config.name,
    wanted,
    people: all,
    totals: totals as Record<DayGrade, number>,
    skipped: skipped.size,
    knowsSeats: state.usage?.balance !== undefined,
  }
}

export function exitOf({ totals: { measured, reconstructed, partial, missing } }: Collected): ExitCode {
  if (missing === 0) return EXIT.done
  return measured + reconstructed + partial === 0 ? EXIT.failed : EXIT.partial
}

/** `{apiVersion, kind: "Collection", createdAt, workspaces: [{workspace, from, until, requests, totals, stopped?, failed, skipped, people}]}` (choice). */
export const renderCollectJson = (all: readonly Collected[], now: Instant): string =>
  documentText('Collection', {
    createdAt: now,
    workspaces: all.map(({ workspace, wanted, people: found, totals, skipped, outcome, requests }) => ({
      workspace,
      ...{ from: dayText(wanted.fromAt), until: dayText(wanted.untilAt - 1), requests, totals },
      ...(outcome.stopped && { stopped: { code: outcome.stopped.code, message: stopText(outcome.stopped) } }),
      ...{ failed: outcome.failed, skipped, people: found },
    })),
  })

/** Doubtful people that are named. */
const VISIBLE = 5

export const renderCollectText = (all: readonly Collected[], flags: NetworkFlags): string =>
  `${all.flatMap((one) => [...linesOf(one), '']).join('\n')}${nextText(all, flags)}`

function linesOf({
  workspace,
  wanted,
  people: found,
  totals,
  skipped,
  outcome,
  requests,
  tookMs,
  knowsSeats,
}: Collected): readonly string[] {
  const { measured, reconstructed, partial, missing } = totals
  const all = measured + reconstructed + partial + missing
  const share = (part: number): string => `${amount(part)} (${all === 0 ? 0 : Number(((100 * part) / all).toFixed(1))} %)`
  const doubted = found.filter(({ doubt }) => doubt)
  const unread = found.filter(({ days }) => days.missing > 0).length
  return [
    `${plain(workspace)}: the past of ${people(found.length)} from ${dayText(wanted.fromAt)} to ${dayText(wanted.untilAt - 1)}, ${count(requests, 'request')} in ${span(tookMs)}`,
    `  measured       ${share(measured)}`,
    `  reconstructed  ${share(reconstructed)}`,
    `  partial        ${share(partial)}`,
    `  missing        ${share(missing)}`,
    ...(outcome.stopped ? [`  stopped: ${plain(stopText(outcome.stopped))}`] : []),
    ...(outcome.failed > 0
      ? [`  note: ${count(outcome.failed, 'range')} could not be read: ${plain(outcome.why?.message ?? '')}; start again to try once more`]
      : []),
    ...(unread > 0 && !outcome.stopped && outcome.failed === 0
      ? [`  note: ${people(unread)} were active on days of which the service tells no run: those are unknown, and not 0.`]
      : []),
    ...doubted
      .slice(0, VISIBLE)
      .map(
        ({ email, doubt }) =>
          `  note: ${plain(email)}: the days of this cycle sum to ${amountText(doubt?.told ?? 0)} credits, and the list of people says ${amountText(doubt?.listed ?? 0)}.`,
      ),
    ...(doubted.length > VISIBLE ? [`  note: … and ${people(doubted.length - VISIBLE)} more`] : []),
    ...(skipped > 0
      ? [`  note: ${people(skipped)} left out, because the ledger was told to forget them; --person EMAIL reads one again.`]
      : []),
    ...(knowsSeats
      ? []
      : ['  note: add-on use of days that are not measured is unknown, because the credits of a seat are (Billing Read).']),
    '  note: People who left are in no figure, and a person who was renamed is two people.',
  ]
}

const amount = (number: number): string => number.toLocaleString('en')

/** Why the past of people is not read, and what to do. */
function stopText(stop: HistoryStop): string {
  switch (stop.code) {
    case 'HISTORY_UNFILTERED':
      return 'HISTORY_UNFILTERED: the service answers a question about one person with the use of others, so nothing of it was kept; the team and the groups are known'
    case 'HISTORY_WITHOUT_CREDITS':
      return 'HISTORY_WITHOUT_CREDITS: past runs carry no credits on this plan, so the use of past days is unknown; figures of people stay estimated'
    case 'HISTORY_UNREAD':
      return `HISTORY_UNREAD: ${stop.failure.message}`
  }
}

function nextText(all: readonly Collected[], flags: NetworkFlags): string {
  if (!all.some(({ totals }) => totals.measured + totals.reconstructed > 0)) return ''
  return (
    `Next: capkeeper simulate ${[...ledgerArgs(flags), ...(flags.policies ?? []).map((path) => `--policies ${path}`)].join(' ')}`.trimEnd() +
    '\n'
  )
}
