// Finds which messages are due now, and sends them: records that a message is about to be sent, sends it, records the outcome. A message that may have
// been sent is never sent again. There is no queue in memory: due messages follow from figures and the ledger.
import type { Finding } from '../../core/model/condition.ts'
import type { Told, ToldEntry } from '../../core/model/facts.ts'
import { type Instant, isYounger } from '../../core/model/units.ts'
import { channelOf, type Due, type DueInputs, type Message, messagesDue } from '../../core/notify/due.ts'
import type { PoolUse } from '../../core/notify/happened.ts'
import { type Delivery, markEnded, markSending, settleOpen } from '../../core/notify/told.ts'
import { rowsOf } from '../../core/resolve/roster.ts'
import type { FirstStop } from '../../core/use/first-stop.ts'
import type { RecordsReader } from '../../ports.ts'
import { fileFindings, finding } from '../conditions/findings.ts'
import { poolsOfCycle } from '../conditions/show.ts'
import { peopleShown, type StopFacts, stopOf } from '../conditions/view.ts'
import { cycleOf, type WorkspaceState } from '../cycle/state.ts'
import { LedgerError } from '../ledger/error.ts'
import { timer } from '../schedule/system.ts'
import { notice, reportBug, type Workspace } from '../workspace.ts'
import type { Notifier } from './channels.ts'
import { endedUse, happened, sharersOf } from './happened.ts'

/** Messages that are recorded and sent together. Choice. */
const AT_A_TIME = 10

/** The rest goes out after the next reading. Choice. */
const MOST_AT_ONCE = 500

/** Older figures cause no message. Choice. */
const FIGURES_LIFE_MS = 24 * 3_600_000

interface Ending {
  /** No further message is begun. */
  readonly ending: AbortSignal
  /** Messages being sent are cut off. */
  readonly cut: AbortSignal
}

/** Sends what is due now; the findings tell what could not be sent, and which files cannot be read. Rejects with a `LedgerError`. */
async function tellPeople(workspace: Workspace, notifier: Notifier, signals: Ending): Promise<readonly Finding[]> {
  const { ledger, clock } = workspace
  const known = ledger.fact('told')
  if (known) await keep(workspace, known, settleOpen(known, clock.now()))
  const { settings } = notifier
  const looked: LookedUp = { ended: await endedUse(workspace, settings), happened: await happened(workspace, settings) }
  const trust = trusted(entriesOf(ledger.fact('told'), stillAsked(workspace, notifier, looked)))
  for (let left = MOST_AT_ONCE; left > 0 && !signals.ending.aborted; ) {
    const { messages, told, quiet } = dueNow(workspace, notifier, looked)
    const batch = chosen(quiet ? [] : messages, trust).slice(0, Math.min(left, AT_A_TIME))
    if (!told || batch.length === 0) break
    left -= batch.length
    await keep(workspace, ledger.fact('told'), markSending(told, batch, clock.now()))
    await send(workspace, batch, async (one) => {
      const delivery = await notifier.send(one, signals.cut)
      learn(trust, channelOf(one.key), delivery)
      return delivery
    })
  }
  const unsent = notifyFindings(entriesOf(ledger.fact('told'), stillAsked(workspace, notifier, looked)), clock.now())
  return [...unsent, ...fileFindings(await notifier.kept(), workspace.config.name)]
}

/** What is known of channels. */
type Trust = ReturnType<typeof trusted>

function trusted(entries: Entries) {
  const last = new Map<string, ToldEntry>()
  for (const [key, entry] of entries) {
    const channel = channelOf(key)
    if (entry.at >= (last.get(channel)?.at ?? entry.at)) last.set(channel, entry)
  }
  const silent = [...last].flatMap(([channel, { state }]) => (state === 'unknown' ? channel : []))
  const refusing = entries.flatMap(([key, { state }]) => (state === 'waiting' ? channelOf(key) : []))
  return {
    /** They failed just now: their messages wait untried. */
    failing: new Set<string>(),
    /** They failed earlier, or gave no answer last: they are tried with one message. */
    doubtful: new Set([...silent, ...refusing]),
  }
}

type Entries = readonly (readonly [string, ToldEntry])[]

/** Without messages that wait and will not be tried again: the cap was raised, the person left, the channel was removed. */
const entriesOf = (told: Told | undefined, isAsked: (key: string, beneath: number) => boolean): Entries =>
  Object.entries(told?.entries ?? {}).filter(([key, { state, beneath }]) => state !== 'waiting' || isAsked(key, beneath ?? 0))

/** Whether a waiting message would still be due. Without figures this is not known, and taken as true. */
function stillAsked(workspace: Workspace, notifier: Notifier, looked: LookedUp): (key: string, beneath: number) => boolean {
  const told = workspace.ledger.fact('told')
  const all = Object.entries(told?.entries ?? {})
  const tried = all.filter(([, { state }]) => state !== 'waiting')
  // Nearly always nothing waits, and nothing has to be computed.
  if (!told || tried.length === all.length) return () => true
  const untried = { ...told, entries: Object.fromEntries(tried) }
  const due = dueNow(workspace, notifier, { ...looked, told: untried })
  const levels = new Map(due.messages.map(({ key, level }) => [key, level]))
  return (key, beneath) => !due.told || (levels.get(key) ?? 0) > beneath
}

function learn({ failing, doubtful }: Trust, channel: string, delivery: Delivery): void {
  if (delivery.kind === 'sent' || (delivery.kind === 'refused' && delivery.alone)) doubtful.delete(channel)
  else if (delivery.kind !== 'rejected') failing.add(channel)
}

function chosen(messages: readonly Message[], { failing, doubtful }: Trust): readonly Message[] {
  const tried = new Set<string>()
  return messages.filter(({ key }) => {
    const channel = channelOf(key)
    if (failing.has(channel) || (doubtful.has(channel) && tried.has(channel))) return false
    tried.add(channel)
    return true
  })
}

/** An outcome that is known waits so long at most for those of others to be recorded with it. Choice. */
const RECORDED_WITHIN_MS = 2_000

/** Sends messages, and records their outcomes: also while a channel hangs, because the process may end before that one answers. */
async function send(workspace: Workspace, batch: readonly Message[], post: (message: Message) => Promise<Delivery>): Promise<void> {
  const ended = new Map<string, Delivery>()
  const over = new AbortController()
  const sending = Promise.allSettled(batch.map(async (message) => ended.set(message.key, await post(message)))).finally(() => over.abort())
  await using begun = new AsyncDisposableStack()
  begun.defer(async () => void (await sending))
  for (let recorded = 0; recorded < ended.size || !over.signal.aborted; ) {
    await workspace.clock.sleep(RECORDED_WITHIN_MS, over.signal).catch(() => undefined)
    const known = ended.size
    if (known > recorded) await finish(workspace, ended)
    recorded = known
  }
  for (const one of await sending) if (one.status === 'rejected') throw one.reason
}

async function finish(workspace: Workspace, ended: ReadonlyMap<string, Delivery>): Promise<void> {
  const begun = workspace.ledger.fact('told')
  if (begun) await keep(workspace, begun, markEnded(begun, ended, workspace.clock.now()))
}

/** Saves the fact; takes it back when it cannot be recorded. */
async function keep({ ledger }: Workspace, before: Told | undefined, after: Told): Promise<void> {
  if (before === after) return
  ledger.saveFact('told', after)
  try {
    await ledger.commit()
  } catch (error) {
    ledger.saveFact('told', before)
    throw error
  }
}

/** What was looked up in the ledger. */
type LookedUp = Pick<DueInputs, 'ended' | 'happened'>

interface Telling extends Pick<Workspace, 'state' | 'shown' | 'clock'> {
  readonly config: { readonly name: string }
  readonly ledger: Pick<RecordsReader, 'fact'>
}

/** What is due now, also in quiet hours. Old figures cause no message. */
export function dueNow(
  telling: Telling,
  { settings, label, all }: Pick<Notifier, 'settings' | 'label' | 'all'>,
  { told = telling.ledger.fact('told'), ended, happened = [] }: LookedUp & Pick<Partial<DueInputs>, 'told'> = {},
): Due {
  const { clock, config } = telling
  const now = clock.now()
  const usage = figuresOf(telling)
  const names = new Map(usage?.roster.people.map(({ email, name }) => [email, name]))
  return messagesDue({
    now,
    workspace: config.name,
    settings,
    cycle: cycleOf(usage),
    people: usage ? peopleShown(telling).map((one) => ({ ...one, name: names.get(one.email) ?? '' })) : [],
    // Whom an event touches is known from the last good reading, whose figures may be old.
    groups: telling.state?.usage?.groups ?? [],
    pools: poolsToTell(telling),
    stopOf: stopsIn(telling, now),
    happened,
    revision: telling.state?.policy.revision ?? '',
    told,
    ended,
    label,
    all,
  })
}

/** The facts are gathered for the first person who is asked for: nearly always nobody is. */
function stopsIn(telling: Telling, now: Instant): (email: string) => FirstStop | undefined {
  const { state, shown } = telling
  const gathered = ({ roster, balance }: NonNullable<WorkspaceState['usage']>): StopFacts => {
    const view = { people: peopleShown(telling), roster, pools: poolsOfCycle(telling), balance, use: shown.use }
    return { view, desiredState: shown.desiredState }
  }
  let known: StopFacts | undefined
  return (email) => {
    const usage = state?.usage
    known ??= usage && gathered(usage)
    const person = usage && rowsOf(usage.roster).get(email)
    return known && person && stopOf(known, person, now)
  }
}

/** Undefined where the figures are old. */
function figuresOf({ state, clock }: Pick<Telling, 'state' | 'clock'>): WorkspaceState['usage'] {
  const usage = state?.usage
  return usage && isYounger(usage.roster.readAt, clock.now(), FIGURES_LIFE_MS + 1) ? usage : undefined
}

function poolsToTell(telling: Pick<Telling, 'state' | 'shown'>): readonly PoolUse[] {
  const { state } = telling
  return poolsOfCycle(telling).flatMap(({ name, credits, figures: { used, exhaustedAt } }): readonly PoolUse[] =>
    state ? [{ name, ...sharersOf(name, state), credits, used, exhaustedAt }] : [],
  )
}

/** A message that failed for good is reported for a day. Choice. */
const TOLD_FOR_MS = 86_400_000

/** One finding for each channel with messages that did not arrive. */
function notifyFindings(entries: Entries, now: number): readonly Finding[] {
  const failed = entries.filter(
    ([, { state, at }]) => state === 'waiting' || ((state === 'failed' || state === 'unknown') && isYounger(at, now, TOLD_FOR_MS)),
  )
  return [...Map.groupBy(failed, ([key]) => channelOf(key))].map(([channel, all]): Finding => {
    const ofChannel = all.map(([, entry]) => entry).sort((a, b) => b.at - a.at)
    const reason = ofChannel[0]?.reason ?? 'for an unknown reason'
    const parts = UNSENT.flatMap(([state, words]) => {
      const count = ofChannel.filter((entry) => entry.state === state).length
      return count === 0 ? [] : `${count} ${words}`
    })
    const message = `${channel}: ${all.length} ${all.length === 1 ? 'message' : 'messages'} could not be sent (${parts.join(', ')}): ${reason}`
    return finding('NotifyFailed', 'NOTIFY_FAILED', message, `notify ${channel}`, { version: reason })
  })
}

const UNSENT = [
  ['waiting', 'tried again'],
  ['failed', 'given up'],
  ['unknown', 'may have arrived and not sent again'],
] as const

type TellingState = ReturnType<typeof idleTelling>

/** The present run, and when the last one began. */
export const idleTelling = () => ({ underWay: undefined as Promise<void> | undefined, begunAt: Number.NEGATIVE_INFINITY })

/** Choice. */
const RUN_EVERY_MS = 60_000

/** Begins a run where one is due. `collecting`: use is being read, so wait for measured figures rather than send estimates. */
export function keepTold(workspace: Workspace, telling: TellingState, ends: Ending, collecting: boolean): void {
  const { notifier, clock, state, shown, findings } = workspace
  // Where no messages are asked for any more, none has failed.
  if (!notifier && findings.notify?.length) notice(workspace, { notify: [] })
  if (!notifier || !state || !shown.desiredState || telling.underWay || (collecting && !state.measured)) return
  if (ends.ending.aborted || clock.monotonic() - telling.begunAt < RUN_EVERY_MS) return
  telling.begunAt = clock.monotonic()
  const grace = graceOf(workspace, ends.ending)
  telling.underWay = tellPeople(workspace, notifier, { ending: ends.ending, cut: AbortSignal.any([ends.cut, grace.signal]) })
    .then((found) => notice(workspace, { notify: found }))
    .catch((error: unknown) => {
      // Cycles report a ledger that cannot be written.
      if (!(error instanceof LedgerError || ends.ending.aborted)) reportBug(workspace, error)
    })
    .finally(() => {
      grace.close()
      telling.underWay = undefined
    })
}

/** At the end of the process messages being sent get this time, because the next replica waits for the end. Choice. */
const GRACE_MS = 2_000

/** Aborts when this time after the end has passed. */
function graceOf({ clock }: Pick<Workspace, 'clock'>, ending: AbortSignal) {
  const [cut, over] = [new AbortController(), new DisposableStack()]
  const begin = (): unknown => over.use(timer(clock, GRACE_MS, () => cut.abort(new Error('the grace period is over'))))
  ending.addEventListener('abort', begin, { once: true })
  over.defer(() => ending.removeEventListener('abort', begin))
  return { signal: cut.signal, close: () => over.dispose() }
}
