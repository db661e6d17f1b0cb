// `collect`: the order of the requests, what is said before and while they run, and how the command ends. It shares the work with a running
// daemon: then it is four times slower than the daemon, and rests after a refusal for the rate.
import type { RequestEvent } from '../../api/send.ts'
import { plain } from '../../core/escape/terminal.ts'
import { isYounger } from '../../core/model/age.ts'
import type { Roster } from '../../core/model/observed.ts'
import { HOUR_MS, MINUTE_MS } from '../../core/model/units.ts'
import { type Days, requestsOf } from '../../core/use/history.ts'
import { collectAddOn } from '../../daemon/collect/add-on.ts'
import { collectHistory, type HistoryOutcome, historyPlan, peopleToRead } from '../../daemon/collect/history.ts'
import { type CollectParts, newCollector } from '../../daemon/collect/kept.ts'
import { collectRunsBack, runsRequests } from '../../daemon/collect/runs.ts'
import { learnUsage } from '../../daemon/collect/usage.ts'
import type { WorkspaceConfig } from '../../daemon/config/settings.ts'
import { recall, type WorkspaceState } from '../../daemon/cycle/state.ts'
import { keyedHash } from '../../daemon/ledger/forget.ts'
import { isLocked } from '../../daemon/ledger/sqlite/lock.ts'
import { randomSalt } from '../../daemon/schedule/system.ts'
import type { Clock, Ledger } from '../../ports.ts'
import { connectReader, readSetup, type WorkspaceSetup } from '../compose.ts'
import { showWarnings } from '../plan/output.ts'
import { type Cli, CommandError, UsageError } from '../shared/context.ts'
import { inEach } from '../shared/each.ts'
import { worstExit } from '../shared/exit.ts'
import { interruptible } from '../shared/interrupt.ts'
import { learnedPaces } from '../shared/ledger/learned-pace.ts'
import { ledgerOf, withStore } from '../shared/ledger/store.ts'
import { progressBar } from '../shared/progress.ts'
import { tellLine } from '../shared/tell.ts'
import { count, dayText, people, span } from '../shared/text.ts'
import type { CollectFlags } from './command.ts'
import { type Collected, collected, exitOf, renderCollectJson, renderCollectText } from './render.ts'

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
    return await readPast(job, parts, state, { roster, rate, gate })
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
  const reading = await learnUsage(client, state, { settings: config, ledger, clock: cli.clock }, signal)
  for (const { message } of reading.findings) tellLine(cli, `${config.name}: ${message}`)
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
  const asking = { roster, wanted, ...(flags.person !== undefined && { only: [flags.person] }) }
  const plan = requestsOf(await historyPlan(parts, asking))
  const most = runsRequests(parts, state, wanted.fromAt) + plan.people + plan.listings + PROOFS
  tellLine(cli, costText(config, peopleToRead(parts.ledger, roster, asking.only).length, wanted, most, rate, isBeside))
  const onRequest = gate.turn
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
  const outcome: HistoryOutcome = await collectHistory(parts, options).finally(bar.stop)
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
