// Collects add-on use by person, where the service tells it (service-notes.md, section 1, Add-on use per person). It asks once whether it does,
// then for the days of this cycle, then for all days before them; later only for the days that may have changed. It never decides about a
// cap, and the queue lets it wait for everything that does.
//
// Choices. A service that does not tell it is asked again after 24 h, or after the next start; a key that may not, after an hour. A chunk is
// 30 days, and half of that after it was too much, down to one day; then people are asked for by their keys. Days before this cycle are asked
// for until 90 of them held nothing, and 400 at most. Each time the last day is read again, and the one before it as long as use of it may
// still arrive (`usageLag`), for pools count on that; every 6 h also the two before the last.

import { isYounger } from '../../core/model/age.ts'
import type { Finding } from '../../core/model/condition.ts'
import type { AddOnReading, AddOnRow, Cycle } from '../../core/model/observed.ts'
import { type Credits, credits, DAY_MS, HOUR_MS, type Instant, wholeCents } from '../../core/model/units.ts'
import { isDoubtful, type MeasuredAddOn, type MeasuredCycle } from '../../core/use/add-on.ts'
import type { AddOnAsked, AddOnSum, Clock, DayRange, Ledger, ReadClient } from '../../ports.ts'
import { malformedRows, unread } from '../conditions/findings.ts'
import { DEFAULT_USAGE_LAG_MS } from '../config/values.ts'
import { cycleOf, type WorkspaceState } from '../cycle/state.ts'
import { type Failure, failureOf } from '../cycle/write/failure.ts'
import type { Workspace } from '../workspace.ts'
import { believed, CHUNK_DAYS, LONGEST_BACK_DAYS } from './kept.ts'

const ABSENT_REST_MS = DAY_MS
const DENIED_REST_MS = HOUR_MS
const WIDE_EVERY_MS = 6 * HOUR_MS
const WIDE_DAYS = 2
/** So much of nothing is taken for the source's beginning. */
const EMPTY_DAYS = 90
/** Queries of one request, where people are asked for one by one. */
const PEOPLE_AT_A_TIME = 20
/** Rows of one chunk that are in memory at once, where people are asked for one by one. */
const MOST_ROWS = 100_000
/** More people than this are not asked for one by one with every reading, but every 3 h, as often as the service has news. */
const MANY_PEOPLE = 1_000
const MANY_REST_MS = 3 * HOUR_MS

/** What collecting remembers while the process lives. */

interface Round {
  readonly workspace: Workspace
  readonly state: WorkspaceState
  readonly cycle: Cycle
  readonly signal: AbortSignal | undefined
  readonly now: Instant
  /** Rows that made no sense. */
  aside: number
  latestDayAt: Instant | undefined
  unassignable: readonly string[] | undefined
}

/** Asks for what is due; what could not be read is one finding. Rejects only when `signal` aborts, or with a `LedgerError`. */
export async function collectAddOn(workspace: Workspace, state: WorkspaceState, signal?: AbortSignal): Promise<readonly Finding[]> {
  const { clock, collector } = workspace
  const cycle = cycleOf(state.usage)
  if (!cycle || clock.monotonic() < collector.addOn.restUntil) return collector.addOn.found
  const latestDayAt = state.measured?.latestDayAt
  const round: Round = { workspace, state, cycle, signal, now: clock.now(), aside: 0, latestDayAt, unassignable: undefined }
  const failure = (await forward(round)) ?? (await backward(round))
  if (failure === 'unavailable') return forget(workspace, state)
  if (failure && isFinal(failure)) return rest(workspace, failure)
  const people = state.usage?.roster.people.length ?? 0
  if (!failure && collector.addOn.byPerson && people > MANY_PEOPLE) collector.addOn.restUntil = clock.monotonic() + MANY_REST_MS
  const [present] = state.measured?.cycles ?? []
  collector.addOn.found = [
    ...(failure ? [unreadFinding(failure)] : []),
    ...malformedRows(ADD_ON, round.aside),
    ...(present && isDoubtful(present) ? [NOBODYS] : []),
  ]
  return collector.addOn.found
}

/** What a finding about it is called by. */
const ADD_ON = 'add-on use'

const unreadFinding = ({ message }: Failure): Finding => unread('ADD_ON_USE_UNREAD', ADD_ON, `${ADD_ON} could not be read: ${message}`)

const NOBODYS: Finding = {
  type: 'AddOnUseDoubted',
  subject: ADD_ON,
  reason: 'ADD_ON_USE_DOUBTED',
  message: 'more than half of the add-on use that the service tells is of nobody on the roster; it is estimated instead',
}

/** It does not tell it, or not any more: from now on it is estimated. */
async function forget({ ledger, clock, collector }: Workspace, state: WorkspaceState): Promise<readonly Finding[]> {
  if (ledger.fact('addOnAsked')) ledger.saveFact('addOnAsked', undefined)
  if (ledger.fact('addOn')) ledger.saveFact('addOn', undefined)
  await ledger.commit()
  state.measured = undefined
  collector.addOn.restUntil = clock.monotonic() + ABSENT_REST_MS
  collector.addOn.whyNot = 'absent'
  collector.addOn.found = []
  return []
}

/** Asked again soon it would be refused again. */
const isFinal = ({ kind, unsent }: Failure): boolean => kind === 'auth' || (kind === 'invalid' && !unsent)

function rest({ clock, collector }: Workspace, failure: Failure): readonly Finding[] {
  const isDenied = failure.kind === 'auth'
  collector.addOn.restUntil = clock.monotonic() + (isDenied ? DENIED_REST_MS : ABSENT_REST_MS)
  collector.addOn.whyNot = isDenied ? 'denied' : 'absent'
  // A key without this permission keeps caps as well as any: it is shown, and nobody is woken for it.
  collector.addOn.found = isDenied ? [] : [unreadFinding(failure)]
  return collector.addOn.found
}

type Ended = Failure | 'unavailable' | undefined

/** From the last day that was asked for, or the start of this cycle, up to now. */
async function forward(round: Round): Promise<Ended> {
  const { workspace, cycle, now } = round
  const before = believed(workspace.ledger.fact('addOnAsked'), now)
  const isWide = !before || !isYounger(before.wideAt, now, WIDE_EVERY_MS)
  const againAt =
    before && (isWide ? before.throughAt - WIDE_DAYS * DAY_MS : firstOpenDay(before, workspace.config.usageLagMs ?? DEFAULT_USAGE_LAG_MS))
  let fromAt = before && againAt !== undefined ? Math.max(before.fromAt, againAt) : midnight(Math.min(cycle.startAt, now))
  const startAt = before?.fromAt ?? fromAt
  while (fromAt <= now) {
    // Somewhere the next day has begun.
    const untilAt = Math.min(fromAt + workspace.collector.addOn.chunkDays * DAY_MS, midnight(now) + 2 * DAY_MS)
    const reading = await ask(round, { fromAt, untilAt })
    if ('failure' in reading) return reading.failure
    const isLast = untilAt > now
    const throughAt = Math.max(Math.min(untilAt - DAY_MS, midnight(now)), before?.throughAt ?? startAt)
    const asked = {
      ...{ fromAt: startAt, throughAt, readAt: now, wideAt: isLast && isWide ? now : (before?.wideAt ?? startAt) },
      ...{ hasRows: hadRows(round) || reading.rows.length > 0, emptyDays: before?.emptyDays ?? 0, isWhole: before?.isWhole ?? false },
    }
    await keep(round, { fromAt, untilAt }, reading, asked)
    fromAt = untilAt
  }
  await summarise(round)
  return undefined
}

/** Use of a day goes on arriving after its midnight: so long the day before is read again, too. */
const firstOpenDay = ({ throughAt, readAt }: AddOnAsked, usageLagMs: number): Instant => Math.min(throughAt, midnight(readAt - usageLagMs))

const hadRows = ({ workspace }: Round): boolean => workspace.ledger.fact('addOnAsked')?.hasRows ?? false

/** The days before, the latest first, until the source has no more. */
async function backward(round: Round): Promise<Ended> {
  const { workspace, now } = round
  const earliestAt = midnight(now) - LONGEST_BACK_DAYS * DAY_MS
  let before = workspace.ledger.fact('addOnAsked')
  if (!before || before.isWhole) return undefined
  while (!before.isWhole) {
    const untilAt: Instant = before.fromAt
    const fromAt = Math.max(earliestAt, untilAt - workspace.collector.addOn.chunkDays * DAY_MS)
    const reading = fromAt < untilAt ? await ask(round, { fromAt, untilAt }) : NOTHING
    if ('failure' in reading) return reading.failure
    const emptyDays: number = reading.rows.length === 0 ? before.emptyDays + (untilAt - fromAt) / DAY_MS : 0
    const isWhole = fromAt <= earliestAt || emptyDays >= EMPTY_DAYS
    const asked: AddOnAsked = {
      ...before,
      fromAt: Math.min(fromAt, untilAt),
      emptyDays,
      isWhole,
      hasRows: before.hasRows || reading.rows.length > 0,
    }
    await keep(round, { fromAt, untilAt }, reading, asked)
    before = asked
  }
  await summarise(round)
  return undefined
}

const NOTHING: AddOnReading = { rows: [], unassignable: [] }

const midnight = (at: Instant): Instant => Math.floor(at / DAY_MS) * DAY_MS

/** One chunk, of everybody at once or of one after the other. */
async function ask(round: Round, days: DayRange): Promise<AddOnReading | { readonly failure: Exclude<Ended, undefined> }> {
  const { workspace, state, signal } = round
  const memory = workspace.collector.addOn
  try {
    const reading = memory.byPerson ? await askByPerson(round, days) : await workspace.client.readAddOnUse(days, signal)
    memory.whyNot = undefined
    if (reading === 'tooMuch') return { failure: tooMuch(round) }
    return reading === 'unavailable' ? { failure: reading } : reading
  } catch (error) {
    signal?.throwIfAborted()
    const failure = failureOf(error)
    if (memory.byPerson || !isTooMuch(failure)) return { failure }
    const isRefused = failure.kind === 'invalid'
    if (!isRefused && memory.chunkDays > 1) {
      memory.chunkDays = Math.floor(memory.chunkDays / 2)
      return { failure }
    }
    memory.byPerson = true
    memory.chunkDays = CHUNK_DAYS
    return isRefused && (state.usage?.roster.people.length ?? 0) > 0 ? ask(round, days) : { failure }
  }
}

/** The answer may be too long for the service, for its time or for the wire; or the service wants to be asked for somebody. */
const isTooMuch = ({ kind, unsent }: Failure): boolean => !unsent && (kind === 'invalid' || kind === 'malformed' || kind === 'timeout')

/** Those who have no key, and those who left, are not asked for. */
async function askByPerson({ workspace, state, signal }: Round, days: DayRange): Promise<AddOnReading | 'unavailable' | 'tooMuch'> {
  const emails = (state.usage?.roster.people ?? []).map(({ email }) => email)
  const rows: AddOnRow[] = []
  let unassignable: readonly string[] = []
  let malformed = 0
  for (let at = 0; at < emails.length; at += PEOPLE_AT_A_TIME) {
    const reading = await workspace.client.readAddOnUse({ ...days, emails: emails.slice(at, at + PEOPLE_AT_A_TIME) }, signal)
    if (reading === 'unavailable') return reading
    if (rows.length + reading.rows.length > MOST_ROWS) return 'tooMuch'
    for (const row of reading.rows) rows.push(row)
    unassignable = reading.unassignable
    malformed += reading.malformedRows ?? 0
  }
  return { rows, unassignable, ...(malformed > 0 && { malformedRows: malformed }) }
}

/** What can be done about it is tried with the next reading; nothing can about a day alone. */
function tooMuch({ workspace }: Round): Failure {
  const memory = workspace.collector.addOn
  const isDay = memory.chunkDays <= 1
  memory.chunkDays = Math.max(1, Math.floor(memory.chunkDays / 2))
  const message = `the people of ${isDay ? 'a day' : 'some days'} have more than ${MOST_ROWS} rows`
  return { kind: isDay ? 'invalid' : 'malformed', message, unsent: false }
}

async function keep(
  round: Round,
  days: DayRange,
  { rows, unassignable, malformedRows: bad = 0 }: AddOnReading,
  asked: AddOnAsked,
): Promise<void> {
  round.aside += bad
  round.unassignable ??= unassignable
  for (const { dayAt } of rows) round.latestDayAt = Math.max(round.latestDayAt ?? dayAt, dayAt)
  await round.workspace.ledger.saveAddOnUse({ ...days, rows, asked })
}

/** What is asked for with every cycle is worked out once for each reading. */
async function summarise({ workspace: { ledger }, state, cycle, latestDayAt, unassignable = [] }: Round): Promise<void> {
  const asked = ledger.fact('addOnAsked')
  const cycles: MeasuredCycle[] = []
  const previous = state.usage?.previousCycle?.cycle
  for (const one of [cycle, ...(previous ? [{ ...previous, endAt: midnight(cycle.startAt) }] : [])]) {
    const sums = await cycleSums(ledger, one)
    if (sums) cycles.push(measuredCycle(one.startAt, sums))
  }
  const measured: MeasuredAddOn | undefined =
    asked && cycles.length > 0
      ? { readAt: asked.readAt, ...(latestDayAt !== undefined && { latestDayAt }), cycles, unassignable }
      : undefined
  ledger.saveFact('addOn', measured)
  await ledger.commit()
  state.measured = measured
}

/** What everybody used in a cycle, by e-mail; undefined where the ledger does not know all of its days. */
export async function cycleSums(
  ledger: Pick<Ledger, 'fact' | 'addOnSums'>,
  { startAt, endAt }: Cycle,
): Promise<ReadonlyMap<string, AddOnSum> | undefined> {
  const asked = ledger.fact('addOnAsked')
  if (!asked?.hasRows || asked.fromAt > midnight(startAt)) return undefined
  return ledger.addOnSums({ fromAt: midnight(startAt), untilAt: endAt })
}

/** Whether the last use of a cycle that is over had arrived when its days were last read; else they may be missing. */
export function hasWholeCycle({ wideAt }: Pick<AddOnAsked, 'wideAt'>, { endAt }: Cycle): boolean {
  return wideAt >= endAt + FRESH_MS
}

/** The part that add-on credits paid. */
export function measuredCycle(startAt: Instant, sums: Iterable<readonly [string, Pick<AddOnSum, 'addOn'>]>): MeasuredCycle {
  const people: [string, Credits][] = []
  let others = credits(0)
  for (const [email, { addOn }] of sums) {
    if (email === '') others = credits(Math.max(0, addOn))
    else if (addOn > 0) people.push([email, addOn])
  }
  return { startAt, people: Object.fromEntries(people), others }
}

/** Use of the last hours has not arrived anyway (service-notes.md, section 1, Freshness). */
const FRESH_MS = 3 * HOUR_MS
/** A command waits no longer for what is only measured better. Choice. */
const PATIENCE_MS = 30_000

export interface AskParts {
  readonly client: ReadClient
  readonly clock: Clock
}

/**
 * For commands, which collect nothing: where the ledger does not know this cycle's add-on use of late, the service is asked. What it does
 * not tell is estimated, without a word. Rejects only when `signal` aborts.
 */
export async function askMeasured({ client, clock }: AskParts, state: WorkspaceState, signal?: AbortSignal): Promise<void> {
  const cycle = cycleOf(state.usage)
  if (!cycle || (state.measured && isYounger(state.measured.readAt, clock.now(), FRESH_MS))) return
  const over = new AbortController()
  clock.sleep(PATIENCE_MS, over.signal).then(
    () => over.abort(new Error('it took too long')),
    () => undefined,
  )
  try {
    const use = await readCycle(client, cycle, clock.now(), signal ? AbortSignal.any([signal, over.signal]) : over.signal)
    if (use) {
      const { sums, ...rest } = use
      state.measured = { readAt: clock.now(), cycles: [measuredCycle(cycle.startAt, sums)], ...rest }
    }
  } catch (error) {
    signal?.throwIfAborted()
    if (!over.signal.aborted) failureOf(error)
  } finally {
    over.abort(new Error('it is there'))
  }
}

/** What one answer after the other came to. */
export interface CycleUse {
  /** By e-mail; '' for those whom no listing of people names. */
  readonly sums: ReadonlyMap<string, AddOnSum>
  readonly latestDayAt: Instant
  readonly unassignable: readonly string[]
}

/** One cycle's add-on use from the service; undefined where it does not tell it, or tells of nobody. */
export async function readCycle(
  client: Pick<ReadClient, 'readAddOnUse'>,
  { startAt, endAt }: Cycle,
  now: Instant,
  signal?: AbortSignal,
): Promise<CycleUse | undefined> {
  const sums = new Map<string, AddOnSum>()
  let unassignable: readonly string[] = []
  let latestDayAt: Instant | undefined
  const lastAt = Math.min(endAt, midnight(now) + 2 * DAY_MS)
  for (let fromAt = midnight(startAt); fromAt < lastAt; fromAt += CHUNK_DAYS * DAY_MS) {
    const reading = await client.readAddOnUse({ fromAt, untilAt: Math.min(fromAt + CHUNK_DAYS * DAY_MS, lastAt) }, signal)
    if (reading === 'unavailable') return undefined
    unassignable = reading.unassignable
    for (const { email, used, addOn, dayAt } of reading.rows) {
      const known = sums.get(email)
      sums.set(email, { used: wholeCents((known?.used ?? 0) + used), addOn: wholeCents((known?.addOn ?? 0) + addOn) })
      latestDayAt = Math.max(latestDayAt ?? dayAt, dayAt)
    }
  }
  return latestDayAt === undefined ? undefined : { sums, latestDayAt, unassignable }
}
