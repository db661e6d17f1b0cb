// Finds which messages are due now, and sends them: records that a message is about to be sent, sends it, records the outcome. A message that may have
// been sent is never sent again. There is no queue in memory: due messages follow from figures and the ledger.
import type { Finding } from '../../core/model/condition.ts'
import type { Told } from '../../core/model/facts.ts'
import { type Instant, isYounger } from '../../core/model/units.ts'
import { channelOf, type Due, type DueInputs, type Message, messagesDue } from '../../core/notify/due.ts'
import type { PoolUse } from '../../core/notify/happened.ts'
import { type Delivery, markEnded, markSending, settled } from '../../core/notify/told.ts'
import { rowsOf } from '../../core/resolve/roster.ts'
import type { FirstStop } from '../../core/use/first-stop.ts'
import type { RecordsReader } from '../../ports.ts'
import { fileFindings, finding } from '../conditions/findings.ts'
import { knownPools } from '../conditions/show.ts'
import { peopleShown, type StopFacts, stopOf } from '../conditions/view.ts'
import { cycleOf, type WorkspaceState } from '../cycle/state.ts'
import { LedgerError } from '../ledger/error.ts'
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
  const { settings } = notifier
  const ended = await endedUse(workspace, settings)
  let lately = await happened(workspace, settings)
  const known = ledger.fact('told')
  if (known) await keep(workspace, known, settled(known, clock.now(), lately))
  const tried: Tried = { working: new Set(), failing: new Set() }
  for (let left = MOST_AT_ONCE; left > 0 && !signals.ending.aborted; ) {
    const { messages, told, quiet } = dueNow(workspace, notifier, lately, ended)
    const batch = chosen(quiet ? [] : messages, tried).slice(0, Math.min(left, AT_A_TIME))
    if (!told || batch.length === 0) break
    left -= batch.length
    await keep(workspace, ledger.fact('told'), markSending(told, batch, clock.now()))
    const sending = batch.map(async (one) => {
      const delivery = await notifier.send(one, signals.cut)
      learn(tried, channelOf(one.key), delivery)
      // At once, because the process may end before the others are answered.
      await finish(workspace, new Map([[one.key, delivery]]))
    })
    for (const one of await Promise.allSettled(sending)) if (one.status === 'rejected') throw one.reason
    // Anew for each batch, because a digest counts all up to its own time.
    lately = await happened(workspace, settings)
  }
  return [...notifyFindings(ledger.fact('told'), clock.now()), ...fileFindings(await notifier.kept(), workspace.config.name)]
}

/** Channels that took a message in this run, and those that failed in it. */
interface Tried {
  readonly working: Set<string>
  readonly failing: Set<string>
}

function learn({ working, failing }: Tried, channel: string, delivery: Delivery): void {
  if (delivery.kind === 'sent' || (delivery.kind === 'refused' && delivery.alone)) working.add(channel)
  else if (delivery.kind !== 'rejected') failing.add(channel)
}

/** A channel is tried with one message first. Where it fails, its others wait for the next run. */
function chosen(messages: readonly Message[], { working, failing }: Tried): readonly Message[] {
  const first = new Set<string>()
  return messages.filter(({ key }) => {
    const channel = channelOf(key)
    if (failing.has(channel) || (first.has(channel) && !working.has(channel))) return false
    first.add(channel)
    return true
  })
}

async function finish({ ledger, clock }: Workspace, ended: ReadonlyMap<string, Delivery>): Promise<void> {
  const begun = ledger.fact('told')
  // Kept also where it cannot be recorded now: others may have ended meanwhile.
  if (begun) ledger.saveFact('told', markEnded(begun, ended, clock.now()))
  await ledger.commit()
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

interface Telling extends Pick<Workspace, 'state' | 'shown' | 'clock'> {
  readonly config: { readonly name: string }
  readonly ledger: Pick<RecordsReader, 'fact'>
}

/** What is due now, also in quiet hours. Old figures cause no message. */
export function dueNow(
  telling: Telling,
  { settings, label, all }: Pick<Notifier, 'settings' | 'label' | 'all'>,
  happened: DueInputs['happened'],
  ended: DueInputs['ended'],
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
    told: telling.ledger.fact('told'),
    ended,
    label,
    all,
  })
}

/** The facts are gathered for the first person who is asked for: nearly always nobody is. */
function stopsIn(telling: Telling, now: Instant): (email: string) => FirstStop | undefined {
  const { state, shown } = telling
  const gathered = ({ roster, balance }: NonNullable<WorkspaceState['usage']>): StopFacts => {
    const view = { people: peopleShown(telling), roster, pools: knownPools(telling), balance, use: shown.use }
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
  if (!state) return []
  return knownPools(telling).map(({ name, credits, figures: { used, exhaustedAt } }): PoolUse => {
    return { name, ...sharersOf(name, state), credits, used, exhaustedAt }
  })
}

/** A message that did not arrive is reported for a day after its last try, for it may not be due any more. Choice. */
const TOLD_FOR_MS = 86_400_000

/** One finding for each channel with messages that did not arrive. */
function notifyFindings(told: Told | undefined, now: Instant): readonly Finding[] {
  const unsent: ReadonlySet<string> = new Set(UNSENT.map(([state]) => state))
  const failed = Object.entries(told?.entries ?? {}).filter(([, { state, at }]) => unsent.has(state) && isYounger(at, now, TOLD_FOR_MS))
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

/** The present run, when the last one began, and what cuts off messages that are still being sent a while after the end. */
export const idleTelling = () => ({
  underWay: undefined as Promise<void> | undefined,
  begunAt: Number.NEGATIVE_INFINITY,
  late: new AbortController(),
})

/** At the end messages being sent get this time, because the next replica or the new settings wait for it. Choice. */
export const TELLING_GRACE_MS = 2_000

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
  telling.underWay = tellPeople(workspace, notifier, { ending: ends.ending, cut: AbortSignal.any([ends.cut, telling.late.signal]) })
    .then((found) => notice(workspace, { notify: found }))
    .catch((error: unknown) => {
      // Cycles report a ledger that cannot be written.
      if (!(error instanceof LedgerError || ends.ending.aborted)) reportBug(workspace, error)
    })
    .finally(() => {
      telling.underWay = undefined
    })
}
