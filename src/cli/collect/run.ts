// `collect`: the order of the requests, what is said before and while they run, and how the command ends. It shares the work with a running
// daemon: then it is four times slower than the daemon, and rests after a refusal for the rate.
import type { RequestEvent } from '../../api/send.ts'
import { plain } from '../../core/escape/text.ts'
import type { Roster } from '../../core/model/observed.ts'
import { HOUR_MS, type Instant, isYounger, MINUTE_MS, midnight } from '../../core/model/units.ts'
import { countGrades, DAY_GRADES, type DayGrade, type Days, gradesOf, requestsOf } from '../../core/use/history.ts'
import { collectAddOn } from '../../daemon/collect/add-on.ts'
import {
  collectHistory,
  commonDays,
  type HistoryOutcome,
  type HistoryStop,
  historyPlan,
  nowForBoth,
  peopleToRead,
  skippedPeople,
} from '../../daemon/collect/history.ts'
import { type CollectParts, type CollectState, newCollector } from '../../daemon/collect/kept.ts'
import { collectRunsBack, runsRequests } from '../../daemon/collect/runs.ts'
import { learnUsage } from '../../daemon/collect/usage.ts'
import type { WorkspaceConfig } from '../../daemon/config/settings.ts'
import { recall, type WorkspaceState } from '../../daemon/cycle/state.ts'
import { readPeopleFile } from '../../daemon/directory/read.ts'
import { LedgerError } from '../../daemon/ledger/error.ts'
import { keyedHash } from '../../daemon/ledger/forget.ts'
import { isLocked } from '../../daemon/ledger/sqlite/database.ts'
import { randomSalt } from '../../daemon/schedule/system.ts'
import type { Clock, Ledger } from '../../ports.ts'
import { connectReader, readSetup, type WorkspaceSetup } from '../compose.ts'
import { ledgerArgs, type NetworkFlags } from '../shared/args.ts'
import { type Cli, CommandError, EXIT, type ExitCode, UsageError, worstExit } from '../shared/context.ts'
import { inEach, interruptible } from '../shared/each.ts'
import { learnedPaces } from '../shared/ledger/replica.ts'
import { ledgerOf, withStore } from '../shared/ledger/store.ts'
import { showWarnings } from '../shared/problems.ts'
import { progressBar } from '../shared/progress.ts'
import { amountText, count, dayText, documentText, padEnd, people, span, tellLine } from '../shared/text.ts'
import type { CollectFlags } from './command.ts'

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
  /** No key may ask how much of the use was paid from add-on credits. */
  readonly isMeasureDenied: boolean
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
  const { ledger, clock, config, collector } = parts
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
      doubt: doubt && { told: doubt.told, listed: doubt.listed },
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
    knowsSeats: (state.usage?.balance ?? config.creditsPerSeat) !== undefined,
    isMeasureDenied: collector.addOn.whyNot === 'denied',
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
      stopped: outcome.stopped && { code: outcome.stopped.code, message: stopText(outcome.stopped) },
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
  isMeasureDenied,
}: Collected): readonly string[] {
  const all = DAY_GRADES.reduce((sum, grade) => sum + totals[grade], 0)
  const share = (part: number): string => `${amount(part)} (${all === 0 ? 0 : Number(((100 * part) / all).toFixed(1))} %)`
  const doubted = found.filter(({ doubt }) => doubt)
  const unread = found.filter(({ days }) => days.missing > 0).length
  return [
    `${plain(workspace)}: the past of ${people(found.length)} from ${dayText(wanted.fromAt)} to ${dayText(wanted.untilAt - 1)}, ${count(requests, 'request')} in ${span(tookMs)}`,
    ...DAY_GRADES.map((grade) => `  ${padEnd(grade, 15)}${share(totals[grade])}`),
    ...(outcome.stopped ? [`  stopped: ${plain(stopText(outcome.stopped))}`] : []),
    ...(outcome.failed > 0
      ? [`  note: ${count(outcome.failed, 'range')} could not be read: ${plain(outcome.why?.message ?? '')}; start again to try once more`]
      : []),
    ...(unread > 0 && !outcome.stopped && outcome.failed === 0
      ? [`  note: of ${people(unread)} the service tells no run on days when they were active: those are unknown, and not 0.`]
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
    ...(isMeasureDenied ? ['  note: measured add-on use is unknown: it needs Analytics Read.'] : []),
    ...(knowsSeats
      ? []
      : [
          '  note: add-on use of days that are not measured is unknown, because the credits of a seat are (Billing Read, or creditsPerSeat in the config).',
        ]),
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

/** Beside a daemon: its share of the learned pace, and the rest after a refusal for the rate. */
const SHARE = 1 / 4
const REST_MS = 10 * MINUTE_MS
const LEAST_RATE = 0.1
/** Requests that find out whether the service tells add-on use, and whether its filter is real. */
const PROOFS = 2

/** Collects in all workspaces. */
export async function collectCommand(flags: CollectFlags, wanted: Days, cli: Cli): Promise<void> {
  const setup = await readSetup(cli, flags)
  showWarnings(setup.warnings, cli)
  const file = setup.config.ledger
  if (file === ':memory:')
    throw new UsageError('a ledger in memory is gone with its process, and with it what was collected; name a file with --ledger')
  const { done, codes } = await interruptible(cli, (signal) => {
    signal.addEventListener('abort', () => tellLine(cli, 'note: what was read is kept; start again to go on'), { once: true })
    return withStore(cli, file, 'note', (store) =>
      inEach(
        cli,
        setup.workspaces,
        async (one) => {
          const ledger = await ledgerOf(store, one.config)
          const isBeside = isLocked(file) ?? isYounger(ledger.fact('usage')?.roster.readAt ?? 0, cli.clock.now(), HOUR_MS)
          return collectOne({ cli, flags, wanted, ledger, isBeside, signal, ...one })
        },
        signal,
      ),
    )
  })
  cli.stdout.write(flags.output === 'json' ? renderCollectJson(done, cli.clock.now()) : renderCollectText(done, flags))
  cli.finish(worstExit([...done.map(exitOf), ...codes]))
}

interface Job extends WorkspaceSetup {
  readonly cli: Cli
  readonly flags: CollectFlags
  readonly wanted: Days
  readonly ledger: Ledger
  /** A daemon is running on the same ledger. */
  readonly isBeside: boolean
  readonly signal: AbortSignal
}

async function collectOne(job: Job): Promise<Collected> {
  const { cli, config, policy, ledger, isBeside, signal } = job
  const rate = rateOf(job)
  const gate = createGate(job)
  const slow = { ...config, rate: { ...config.rate, start: rate, max: isBeside ? rate : config.rate.max } }
  const learned = isBeside ? {} : { learned: ledger.fact('pace') ?? {} }
  const { client, close } = connectReader(cli, slow, { signal, onRequest: gate.onRequest, ...learned })
  try {
    const state = recall(policy, ledger)
    const parts: CollectParts = { config, client, ledger, clock: cli.clock, collector: newCollector(randomSalt().slice(0, 8)) }
    const roster = await readPeople(job, parts, state)
    const wanted = { ...job.wanted, untilAt: Math.min(job.wanted.untilAt, midnight(nowForBoth(parts))) }
    if (wanted.untilAt <= wanted.fromAt)
      throw new CommandError(`${config.name}: by the service's clock none of these days is over; correct the clock of this machine`)
    return await readPast({ ...job, wanted }, parts, state, { roster, rate, gate })
  } finally {
    close()
  }
}

/** The pace for the estimate; beside a daemon also its bound. */
function rateOf({ config, ledger, isBeside }: Pick<Job, 'config' | 'ledger' | 'isBeside'>): number {
  const learned = Math.min(...learnedPaces(ledger.fact('pace')).map((one) => one.rate))
  const rate = Number.isFinite(learned) ? learned : config.rate.start
  return isBeside ? Math.max(LEAST_RATE, rate * SHARE) : rate
}

/** Counts requests, and rests after a refusal for the rate beside a daemon. */
function createGate({ cli, isBeside, config, signal }: Pick<Job, 'cli' | 'isBeside' | 'config' | 'signal'>) {
  let restUntil = Number.NEGATIVE_INFINITY
  let requests = 0
  const clock: Clock = cli.clock
  return {
    requests: () => requests,
    onRequest({ outcome }: RequestEvent): void {
      requests += 1
      if (outcome !== 'rate_limited' || !isBeside || clock.monotonic() < restUntil) return
      restUntil = clock.monotonic() + REST_MS
      tellLine(
        cli,
        `note: ${config.name}: the service refused a request for its rate; resting for ${span(REST_MS)}, so that the daemon does not wait`,
      )
    },
    async turn(): Promise<void> {
      const restMs = restUntil - clock.monotonic()
      if (restMs > 0) await clock.sleep(restMs, signal)
    },
  }
}

/** Reads people, groups and the balance; a ledger without a daemon keeps them, because later commands need them. */
async function readPeople(
  { cli, config, ledger, isBeside, flags, signal }: Job,
  { client }: CollectParts,
  state: WorkspaceState,
): Promise<Roster> {
  const reading = await learnUsage(state, { client, config, ledger, clock: cli.clock, readPeopleFile }, signal)
  for (const { message } of reading.findings.filter(({ onlyIfHeld }) => !onlyIfHeld)) tellLine(cli, `${config.name}: ${message}`)
  if (!reading.newReading || !state.usage)
    throw new CommandError(`${config.name}: nobody's past can be read without the list of people (UserPageAnalytics)`)
  const { roster } = state.usage
  const { person } = flags
  if (person !== undefined && !roster.people.some(({ email }) => email === person))
    throw new CommandError(`${config.name}: nobody on the roster has the address ${person}; correct --person`)
  if (!isBeside) ledger.saveFact('usage', state.usage)
  if (ledger.fact('peopleSalt') === undefined) ledger.saveFact('peopleSalt', randomSalt())
  const salt = ledger.fact('peopleSalt') ?? ''
  const hashes = ledger.fact('forgottenHashes') ?? []
  if (person !== undefined && hashes.length > 0)
    ledger.saveFact(
      'forgottenHashes',
      hashes.filter((hash) => hash !== keyedHash(salt, person)),
    )
  await ledger.commit()
  return roster
}

interface Work {
  readonly roster: Roster
  readonly rate: number
  readonly gate: ReturnType<typeof createGate>
}

async function readPast(job: Job, parts: CollectParts, state: WorkspaceState, { roster, rate, gate }: Work): Promise<Collected> {
  const { cli, config, flags, wanted, signal, isBeside } = job
  const [begunAt, begun] = [cli.clock.now(), gate.requests()]
  const asking = { roster, wanted, only: flags.person === undefined ? undefined : [flags.person] }
  const plan = requestsOf(await historyPlan(parts, asking))
  const most = runsRequests(parts, state, wanted.fromAt) + plan.people + plan.listings + PROOFS
  tellLine(cli, costText(config, peopleToRead(parts.ledger, roster, asking.only).length, wanted, most, rate, isBeside))
  const onRequest = gate.turn
  const read = async (): Promise<HistoryOutcome> => {
    for (const { message } of await collectRunsBack(parts, state, wanted.fromAt, { signal, onRequest }))
      tellLine(cli, `${config.name}: ${message}`)
    for (const { message } of await collectAddOn(parts, state, signal, wanted.fromAt)) tellLine(cli, `${config.name}: ${message}`)
    const left = requestsOf(await historyPlan(parts, asking)).people
    const bar = await progressBar(left, `${plain(config.name)}: ranges of people`, cli.stderr, signal)
    let done = 0
    const onDone = (more: number): void => {
      done += more
      bar.update(done)
    }
    const options = { ...asking, concurrency: config.rate.concurrency, signal, onRequest, onDone }
    return collectHistory(parts, options).finally(bar.stop)
  }
  const outcome = await read().catch((error: unknown): HistoryOutcome => {
    if (!(error instanceof LedgerError)) throw error
    return { failed: 0, stopped: { code: 'HISTORY_UNREAD', failure: error } }
  })
  return collected({
    parts,
    state,
    roster,
    wanted,
    outcome,
    requests: gate.requests() - begun,
    tookMs: cli.clock.now() - begunAt,
    only: asking.only,
  })
}

/** How much it will cost, before it begins. */
function costText({ name }: WorkspaceConfig, persons: number, wanted: Days, most: number, rate: number, isBeside: boolean): string {
  const days = `from ${dayText(wanted.fromAt)} to ${dayText(wanted.untilAt - 1)}`
  const pace = `${Number(rate.toPrecision(2))} a second${isBeside ? ', a quarter of the pace of the daemon beside it' : ''}`
  return `${name}: the past of ${people(persons)} ${days}: ${count(most, 'request')} at most, about ${span((most / rate) * 1_000)} at ${pace}`
}
