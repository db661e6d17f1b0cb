// `collect`: the order of the requests, what is said before and while they run, and how the command ends. It shares the work with a running
// daemon: then it is four times slower than the daemon, and rests after a refusal for the rate. Its client has no write method.
import { InvalidArgumentError } from 'commander'
import type { RequestEvent } from '../../api/send.ts'
import { plain } from '../../core/escape/text.ts'
import type { Roster } from '../../core/model/observed.ts'
import { parseScope } from '../../core/model/scope.ts'
import { DAY_MS, type Instant, MINUTE_MS, midnight } from '../../core/model/units.ts'
import { countGrades, DAY_GRADES, type DayGrade, type Days, gradesOf, requestsOf } from '../../core/use/history.ts'
import { collectAddOn } from '../../daemon/collect/add-on.ts'
import { collectHistory, commonDays, type HistoryOutcome, historyPlan, nowForBoth, peopleToRead } from '../../daemon/collect/history.ts'
import { type CollectParts, newCollector, skippedPeople } from '../../daemon/collect/kept.ts'
import type { HistoryStop } from '../../daemon/collect/proof.ts'
import { collectRunsBack, runsRequests } from '../../daemon/collect/runs.ts'
import { learnUsage } from '../../daemon/collect/usage.ts'
import { recall, type WorkspaceState } from '../../daemon/cycle/state.ts'
import { readPeopleFile } from '../../daemon/directory/read.ts'
import { LedgerError } from '../../daemon/ledger/error.ts'
import { keyedHash } from '../../daemon/ledger/forget.ts'
import { randomSalt } from '../../daemon/schedule/system.ts'
import type { Clock, Ledger } from '../../ports.ts'
import { connectReader, readSetup, type WorkspaceSetup } from '../compose.ts'
import { action, COMMANDS, type FlagsOf, type NetworkFlags, sameArgs } from '../shared/command.ts'
import { type Cli, CommandError, EXIT, type ExitCode, UsageError, worstExit } from '../shared/context.ts'
import { inEach, interruptible } from '../shared/each.ts'
import { slowestPace } from '../shared/ledger/replica.ts'
import { ledgerOf, mustBeKept, withStore } from '../shared/ledger/store.ts'
import { sweepProgress } from '../shared/progress.ts'
import { amountText, count, dayText, documentText, people, present, span, tellLine } from '../shared/text.ts'

/** The most days that a ledger keeps. */
const [, MOST_DAYS] = COMMANDS.collect.flags.days.whole
const DAYS = 180

function readPerson(text: string): string {
  const scope = parseScope(text)
  if (scope?.kind !== 'user') throw new InvalidArgumentError('Write an e-mail address.')
  return scope.email
}

const OWN = { person: readPerson }
type CollectFlags = FlagsOf<typeof COMMANDS.collect, typeof OWN>

export const register = action(COMMANDS.collect, collectCommand, OWN)

/** The days that the flags ask for; the present day is left out, because it is not over. Throws a `UsageError`. */
function daysOf({ days, since, until }: Pick<CollectFlags, 'days' | 'since' | 'until'>, now: Instant): Days {
  const today = midnight(now)
  const earliest = today - MOST_DAYS * DAY_MS
  if (days !== undefined && since !== undefined) throw new UsageError('--days and --since both say where to begin; give one of them')
  for (const [flag, day] of [['--since', since] as const, ['--until', until] as const]) {
    if (day === undefined) continue
    if (day > today) throw new UsageError(`${flag} ${dayText(day)} is in the future; today is ${dayText(today)}`)
    if (day >= earliest) continue
    const first = `the first day is ${dayText(earliest)}`
    throw new UsageError(`${flag} ${dayText(day)} is more than ${MOST_DAYS} days ago, and no ledger keeps more; ${first}`)
  }
  if (since === today) throw new UsageError(`--since ${dayText(since)} is today, which is not over; the last day is yesterday`)
  if (since !== undefined && until !== undefined && since > until)
    throw new UsageError(`--since ${dayText(since)} is after --until ${dayText(until)}; swap them`)
  const untilAt = Math.min(today, until === undefined ? today : until + DAY_MS)
  const fromAt = since ?? untilAt - (days ?? DAYS) * DAY_MS
  return { fromAt: Math.max(fromAt, earliest), untilAt }
}

/** What the ledger knows now. */
async function knownOf({ ledger, cli, config, wanted }: Job, roster: Roster, only: readonly string[] | undefined) {
  const known = new Map((await ledger.histories()).map((one) => [one.email, one]))
  const common = await commonDays(ledger, cli.clock.now())
  const all = peopleToRead(ledger, roster, only).map((email) => {
    const person = known.get(email) ?? { email, known: [] }
    const { doubt } = person
    return {
      email,
      days: countGrades(wanted, person, common),
      /** Adjoining days of one grade, in the order of time; `until` is inclusive. */
      ranges: gradesOf(wanted, person, common).map(({ fromAt, untilAt, grade }) => ({
        ...{ from: dayText(fromAt), until: dayText(untilAt - 1), grade },
      })),
      doubt: doubt && { told: doubt.told, listed: doubt.listed },
    }
  })
  const totals = Object.fromEntries(DAY_GRADES.map((grade) => [grade, all.reduce((sum, { days }) => sum + days[grade], 0)]))
  return {
    workspace: config.name,
    wanted,
    people: all,
    totals: totals as Record<DayGrade, number>,
    /** People who were forgotten, and whose past was not read. */
    skipped: skippedPeople(ledger, roster).size,
  }
}

/** One workspace after a run. */
type Collected = Awaited<ReturnType<typeof readPast>>

function exitOf({ totals: { measured, reconstructed, partial, missing } }: Collected): ExitCode {
  if (missing === 0) return EXIT.done
  return measured + reconstructed + partial === 0 ? EXIT.failed : EXIT.partial
}

/** `{apiVersion, kind: "Collection", createdAt, workspaces: [{workspace, from, until, requests, totals, stopped?, failed, skipped, people}]}` (choice). */
const renderCollectJson = (all: readonly Collected[], now: Instant): string =>
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

const renderCollectText = (all: readonly Collected[], flags: NetworkFlags): string =>
  `${all.flatMap((one) => [...linesOf(one), '']).join('\n')}${nextText(all, flags)}`

function linesOf(one: Collected): readonly string[] {
  const { workspace, wanted, people: found, totals, skipped, outcome, requests, tookMs, knowsSeats, isMeasureDenied } = one
  const all = DAY_GRADES.reduce((sum, grade) => sum + totals[grade], 0)
  const share = (part: number): string => `${amount(part)} (${all === 0 ? 0 : Number(((100 * part) / all).toFixed(1))} %)`
  const doubted = found.flatMap(({ email, doubt }) => (doubt ? [{ email, ...doubt }] : []))
  const unread = found.filter(({ days }) => days.missing > 0).length
  const { stopped, failed, why, withoutCredits } = outcome
  return present(
    `${plain(workspace)}: the past of ${people(found.length)} ${spanText(wanted)}, ${count(requests, 'request')} in ${span(tookMs)}`,
    DAY_GRADES.map((grade) => `  ${grade.padEnd(15)}${share(totals[grade])}`),
    stopped && `  stopped: ${plain(stopText(stopped))}`,
    failed > 0 && `  note: ${count(failed, 'range')} could not be read: ${plain(why?.message ?? '')}; start again to try once more`,
    withoutCredits > 0 &&
      `  note: ${count(withoutCredits, 'range')} of people are unknown, because the runs of the workspace carry no credits in them.`,
    unread > 0 &&
      !stopped &&
      failed === 0 &&
      withoutCredits === 0 &&
      `  note: of ${people(unread)} the service tells no run on days when they were active: those are unknown, and not 0.`,
    doubted.slice(0, VISIBLE).map(({ email, told, listed }) => {
      const sums = `the days of this cycle sum to ${amountText(told)} credits, and the list of people says ${amountText(listed)}`
      return `  note: ${plain(email)}: ${sums}.`
    }),
    doubted.length > VISIBLE && `  note: … and ${people(doubted.length - VISIBLE)} more`,
    skipped > 0 && `  note: ${people(skipped)} left out, because the ledger was told to forget them; --person EMAIL reads one again.`,
    isMeasureDenied && '  note: measured add-on use is unknown: it needs Analytics Read.',
    !knowsSeats && `  note: ${NO_SEATS}`,
    '  note: People who left are in no figure, and a person who was renamed is two people.',
  )
}

const NO_SEATS =
  'add-on use of days that are not measured is unknown, because the credits of a seat are (Billing Read, or creditsPerSeat in the config).'

const spanText = ({ fromAt, untilAt }: Days): string => `from ${dayText(fromAt)} to ${dayText(untilAt - 1)}`

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
  return `${['Next: capkeeper simulate', ...sameArgs(flags)].join(' ')}\n`
}

/** Beside a daemon: its share of the learned pace, and the rest after a refusal for the rate. */
const SHARE = 1 / 4
const REST_MS = 10 * MINUTE_MS
const LEAST_RATE = 0.1
/** Requests that find out whether the service tells add-on use, and whether its filter is real. */
const PROOFS = 2

/** Collects in all workspaces. */
async function collectCommand(flags: CollectFlags, cli: Cli): Promise<void> {
  const wanted = daysOf(flags, cli.clock.now())
  const setup = await readSetup(cli, flags)
  const file = setup.config.ledger
  mustBeKept(file)
  const { done, codes } = await interruptible(cli, (signal) => {
    signal.addEventListener('abort', () => tellLine(cli, 'note: what was read is kept; start again to go on'), { once: true })
    return withStore(cli, file, 'note', (store) =>
      inEach(
        cli,
        setup.workspaces,
        async (one) => {
          const ledger = await ledgerOf(store, one.config)
          // Where it cannot be told, there may be a daemon.
          const isBeside = (await store.isHeld(one.config.name)) !== false
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

async function collectOne(job: Job) {
  const { cli, config, policy, ledger, isBeside, signal } = job
  const rate = rateOf(job)
  const gate = createGate(job, rate)
  const slow = { ...config, rate: { ...config.rate, start: rate, max: isBeside ? rate : config.rate.max } }
  const learned = isBeside ? {} : { learned: ledger.fact('pace') ?? {} }
  using connection = connectReader(cli, slow, { signal, onRequest: gate.onRequest, ...learned })
  const { client } = connection
  const state = recall(policy, ledger)
  const parts: CollectParts = { config, client, ledger, clock: cli.clock, collector: newCollector(randomSalt().slice(0, 8)) }
  const roster = await readPeople(job, parts, state)
  const wanted = { ...job.wanted, untilAt: Math.min(job.wanted.untilAt, midnight(nowForBoth(parts))) }
  if (wanted.untilAt <= wanted.fromAt)
    throw new CommandError(`${config.name}: by the service's clock none of these days is over; correct the clock of this machine`)
  return await readPast({ ...job, wanted }, parts, state, roster, gate)
}

/** The pace for the estimate; beside a daemon also its bound. */
function rateOf({ config, ledger, isBeside }: Pick<Job, 'config' | 'ledger' | 'isBeside'>): number {
  const rate = slowestPace(ledger.fact('pace'), config.rate.start)
  return isBeside ? Math.max(LEAST_RATE, rate * SHARE) : rate
}

/** Counts requests. Beside a daemon they keep the pace here, so that none waits its turn behind one that is refused for the rate: then it rests. */
function createGate({ cli, isBeside, config, signal }: Pick<Job, 'cli' | 'isBeside' | 'config' | 'signal'>, rate: number) {
  let [restUntil, nextAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
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
      const waitMs = (): number => Math.max(restUntil, nextAt) - clock.monotonic()
      for (let ms = waitMs(); ms > 0; ms = waitMs()) await clock.sleep(ms, signal)
      if (isBeside) nextAt = clock.monotonic() + 1_000 / rate
    },
  }
}

/** Reads people, groups and the balance; a ledger without a daemon keeps them, because later commands need them. */
async function readPeople(job: Job, { client }: CollectParts, state: WorkspaceState): Promise<Roster> {
  const { cli, config, ledger, isBeside, flags, signal } = job
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
  const left = hashes.filter((hash) => person === undefined || hash !== keyedHash(salt, person))
  if (left.length < hashes.length) {
    ledger.saveFact('forgottenHashes', left)
    // Rows that were read meanwhile do not name them.
    ledger.saveFact('addOnAsked', undefined)
  }
  await ledger.commit()
  return roster
}

async function readPast(job: Job, parts: CollectParts, state: WorkspaceState, roster: Roster, gate: ReturnType<typeof createGate>) {
  const { cli, config, flags, wanted, signal } = job
  const [begunAt, begun] = [cli.clock.now(), gate.requests()]
  const asking = { roster, wanted, only: flags.person === undefined ? undefined : [flags.person] }
  const plan = requestsOf(await historyPlan(parts, asking))
  const most = runsRequests(parts, state, wanted.fromAt) + plan.people + plan.listings + PROOFS
  tellLine(cli, costText(job, peopleToRead(parts.ledger, roster, asking.only).length, most))
  const onRequest = gate.turn
  const read = async (): Promise<HistoryOutcome> => {
    for (const { message } of await collectRunsBack(parts, state, wanted.fromAt, { signal, onRequest }))
      tellLine(cli, `${config.name}: ${message}`)
    for (const { message } of await collectAddOn(parts, state, signal, wanted.fromAt)) tellLine(cli, `${config.name}: ${message}`)
    const left = requestsOf(await historyPlan(parts, asking)).people
    const since = cli.clock.now()
    const more = (done: number, total: number): string => {
      const [requests, now] = [gate.requests() - begun, cli.clock.now()]
      const rate = requests / Math.max(1, (now - begunAt) / 1_000)
      return `, ${count(requests, 'request')}, ${rate.toFixed(1)}/s, ${span(((now - since) / Math.max(1, done)) * (total - done))} left`
    }
    const { some: onDone, stop } = await sweepProgress(`${plain(config.name)}: ranges`, cli.stderr, signal, { expected: left, more })
    const options = { ...asking, concurrency: config.rate.concurrency, signal, onRequest, onDone }
    return collectHistory(parts, options).finally(stop)
  }
  const outcome = await read().catch((error: unknown): HistoryOutcome => {
    if (!(error instanceof LedgerError)) throw error
    return { failed: 0, withoutCredits: 0, why: undefined, stopped: { code: 'HISTORY_UNREAD', failure: error } }
  })
  return {
    ...(await knownOf(job, roster, asking.only)),
    outcome,
    requests: gate.requests() - begun,
    tookMs: cli.clock.now() - begunAt,
    knowsSeats: (state.usage?.balance ?? config.creditsPerSeat) !== undefined,
    /** No key may ask how much of the use was paid from add-on credits. */
    isMeasureDenied: parts.collector.addOn.whyNot === 'denied',
  }
}

/** How much it will cost, before it begins. */
function costText(job: Job, persons: number, most: number): string {
  const rate = rateOf(job)
  const pace = `${Number(rate.toPrecision(2))} a second${job.isBeside ? ', a quarter of the pace of the daemon beside it' : ''}`
  return `${job.config.name}: the past of ${people(persons)} ${spanText(job.wanted)}: ${count(most, 'request')} at most, about ${span((most / rate) * 1_000)} at ${pace}`
}
