// Collects add-on use by person where the service measures it (docs/service.md, Add-on use per person): first the days of this
// cycle, then all days before them, later only the days that may have changed. It never decides about a cap, and its requests wait for all
// that do.

import type { Finding } from '../../core/model/condition.ts'
import type { AddOnReading, Cycle, RunUse } from '../../core/model/observed.ts'
import type { AddOnAsked } from '../../core/model/past.ts'
import { compareText, TEAM } from '../../core/model/scope.ts'
import { type Credits, DAY_MS, HOUR_MS, type Instant, isYounger, midnight, wholeCents } from '../../core/model/units.ts'
import { isDoubtful, type MeasuredAddOn, type MeasuredCycle } from '../../core/use/add-on.ts'
import type { AddOnSum, DayRange, Ledger, ReadClient } from '../../ports.ts'
import { finding, malformedRows, unread } from '../conditions/findings.ts'
import { cycleOf } from '../cycle/state.ts'
import { type Answer, answerOf, believed, CHUNK_DAYS, type Failure, LONGEST_BACK_DAYS, readBack, readForward } from './asking.ts'
import { type CollectParts, type CollectState, skippedPeople } from './kept.ts'

// Choices. A service that does not measure add-on use is asked again after 24 h or after the next start, a key without the permission after an
// hour. Days before this cycle are read until 90 in a row held nothing, and 400 at most. The last day is always read again, and so is the day
// before while its use may still arrive (`usageLag`), because pools depend on it; every 6 h also the two days before the last.

const REST_MS = { absent: DAY_MS, denied: HOUR_MS } as const
/** So many empty days mean that the service has no earlier ones. */
const EMPTY_DAYS = 90

interface Round {
  readonly workspace: CollectParts
  readonly state: CollectState
  readonly cycle: Cycle
  readonly signal: AbortSignal | undefined
  readonly now: Instant
  readonly backTo: Instant | undefined
  malformedRows: number
  latestDayAt: Instant | undefined
  unassignable: readonly string[] | undefined
}

/** Collects what is due, no further back than `backTo` (default: 400 days); a failure becomes a finding. Rejects only when `signal` aborts, or with a `LedgerError`. */
export async function collectAddOn(
  workspace: CollectParts,
  state: CollectState,
  signal?: AbortSignal,
  backTo?: Instant,
): Promise<readonly Finding[]> {
  const { clock, collector } = workspace
  const cycle = cycleOf(state.usage)
  if (!cycle || clock.monotonic() < collector.addOn.restUntil) return collector.addOn.found
  const latestDayAt = state.measured?.latestDayAt
  const round: Round = { workspace, state, cycle, signal, now: clock.now(), backTo, malformedRows: 0, latestDayAt, unassignable: undefined }
  const failure = (await forward(round)) ?? (await backward(round))
  if (failure === UNAVAILABLE) return forget(workspace, state)
  // A key without this permission can still write caps, so it is shown but raises no alert.
  if (failure && isFinal(failure))
    return failure.kind === 'auth' ? rest(workspace, 'denied', []) : rest(workspace, 'absent', [unreadFinding(failure)])
  const [present] = state.measured?.cycles ?? []
  collector.addOn.found = [
    ...(failure ? [unreadFinding(failure)] : []),
    ...malformedRows(ADD_ON, round.malformedRows),
    ...(present && isDoubtful(present) ? [finding('AddOnUseDoubted', 'ADD_ON_USE_DOUBTED', DOUBTED, ADD_ON)] : []),
  ]
  return collector.addOn.found
}

/** The subject of findings. */
const ADD_ON = 'add-on use'

const unreadFinding = ({ message }: Failure): Finding => unread('ADD_ON_USE_UNREAD', ADD_ON, `${ADD_ON} could not be read: ${message}`)

const DOUBTED = 'more than half of the add-on use that the service tells is of nobody on the roster; it is estimated instead'

/** The service does not measure add-on use, or not any more: from now on it is estimated. */
async function forget(workspace: CollectParts, state: CollectState): Promise<readonly Finding[]> {
  const { ledger } = workspace
  if (ledger.fact('addOnAsked')) ledger.saveFact('addOnAsked', undefined)
  if (ledger.fact('addOn')) ledger.saveFact('addOn', undefined)
  await ledger.commit()
  state.measured = undefined
  return rest(workspace, 'absent', [])
}

/** The same request would soon be refused again. */
const isFinal = ({ kind, unsent }: Failure): boolean => kind === 'auth' || (kind === 'invalid' && !unsent)

function rest(workspace: CollectParts, whyNot: 'absent' | 'denied', found: readonly Finding[]): readonly Finding[] {
  const { clock, collector } = workspace
  const { addOn } = collector
  addOn.restUntil = clock.monotonic() + REST_MS[whyNot]
  addOn.whyNot = whyNot
  addOn.found = found
  return found
}

/** Collects from the last day that was read, or from the start of this cycle, up to now. */
async function forward(round: Round): Promise<Failure | undefined> {
  const { workspace, cycle, now } = round
  const before = believed(workspace.ledger.fact('addOnAsked'), now)
  const [firstAt, { addOn }] = [midnight(Math.min(cycle.startAt, now)), workspace.collector]
  const failure = await readForward({
    ...sourceOf(round),
    ...{ now, before, firstAt },
    openAt: before && (addOn.isMoved ? firstAt : firstOpenDay(before, workspace.config.usageLagMs)),
    save: (days, reading, asked) => keep(round, days, reading, { ...asked, emptyDays: before?.emptyDays ?? 0 }),
  })
  if (!failure) addOn.isMoved = await summarise(round)
  return failure
}

/** Use of a day still arrives after its midnight; until then the day before is read again, too. */
const firstOpenDay = ({ throughAt, readAt }: AddOnAsked, usageLagMs: number): Instant => Math.min(throughAt, midnight(readAt - usageLagMs))

/** Collects the earlier days, the latest first, until the service has no more. */
async function backward(round: Round): Promise<Failure | undefined> {
  const { workspace, now, backTo = Number.NEGATIVE_INFINITY } = round
  const reached = (): AddOnAsked | undefined => {
    const asked = workspace.ledger.fact('addOnAsked')
    return asked && asked.emptyDays < EMPTY_DAYS ? asked : undefined
  }
  const before = workspace.ledger.fact('addOnAsked')?.fromAt
  const failure = await readBack(
    {
      ...sourceOf(round),
      reached,
      save: (days, reading, asked) =>
        keep(round, days, reading, {
          ...asked,
          emptyDays: reading.rows.length === 0 ? asked.emptyDays + (days.untilAt - days.fromAt) / DAY_MS : 0,
        }),
    },
    Math.max(backTo, midnight(now) - LONGEST_BACK_DAYS * DAY_MS),
  )
  if (!failure && workspace.ledger.fact('addOnAsked')?.fromAt !== before) await summarise(round)
  return failure
}

/** Everybody at once; the rows of people who were forgotten name nobody. */
const sourceOf = ({ workspace, state, signal }: Round) => ({
  key: 'addOn' as const,
  chunkDays: workspace.collector.chunkDays,
  async ask(days: DayRange) {
    const except = state.usage ? skippedPeople(workspace.ledger, state.usage.roster) : new Set<string>()
    const answer = await askAddOn(workspace.client, { ...days, except }, signal)
    if (answer.failure) return answer
    workspace.collector.addOn.whyNot = undefined
    return { value: { ...answer.value, unassignable: [...new Set([...answer.value.unassignable, ...except])].sort(compareText) } }
  },
})

async function askAddOn(
  client: Pick<ReadClient, 'readAddOnUse'>,
  days: Parameters<ReadClient['readAddOnUse']>[0],
  signal: AbortSignal | undefined,
): Promise<Answer<AddOnReading>> {
  const answer = await answerOf(() => client.readAddOnUse(days, signal), signal)
  if (answer.failure) return answer
  return answer.value === 'unavailable' ? { failure: UNAVAILABLE } : { value: answer.value }
}

/** The service does not measure it. */
const UNAVAILABLE: Failure = { kind: 'not_found', message: `${ADD_ON} is not measured` }

async function keep(
  round: Round,
  days: DayRange,
  { rows, unassignable, malformedRows: count = 0 }: AddOnReading,
  asked: Omit<AddOnAsked, 'hasRows'>,
): Promise<void> {
  const { ledger } = round.workspace
  round.malformedRows += count
  round.unassignable ??= unassignable
  for (const { dayAt } of rows) round.latestDayAt = Math.max(round.latestDayAt ?? dayAt, dayAt)
  const hasRows = rows.length > 0 || ledger.fact('addOnAsked')?.hasRows === true
  await ledger.saveAddOnUse({ ...days, rows, asked: { ...asked, hasRows } })
}

/** Sums up the cycles once for each reading, because every cycle needs the sums. Returns whether the days of this one are to be read again. */
async function summarise(round: Round): Promise<boolean> {
  const { state, cycle, latestDayAt, unassignable = [] } = round
  const { ledger } = round.workspace
  let isMoved = false
  const asked = ledger.fact('addOnAsked')
  const cycles: MeasuredCycle[] = []
  const previous = state.usage?.previousCycle?.cycle
  const listed = new Set(state.usage?.roster.people.map(({ email }) => email))
  for (const one of [cycle, ...(previous ? [{ ...previous, endAt: midnight(Math.min(previous.endAt, cycle.startAt)) }] : [])]) {
    const sums = await cycleSums(ledger, one, unassignable)
    if (sums) cycles.push(measuredCycle(one.startAt, sums, (email) => listed.has(email)))
    if (sums && one === cycle) isMoved = hasMoved(round, sums, listed)
  }
  const measured: MeasuredAddOn | undefined = asked?.hasRows ? { readAt: asked.readAt, latestDayAt, cycles, unassignable } : undefined
  ledger.saveFact('addOn', measured)
  await ledger.commit()
  state.measured = measured
  return isMoved
}

/** Credits; less is worth no reading. Choice. */
const LEAST_MOVED = 20

/**
 * Whether days may be kept under a former address: they tell less than half of somebody's use, and enough of people who left. Once for each person,
 * because a service may not tell the use of people who left again.
 */
function hasMoved({ workspace, state }: Round, sums: ReadonlyMap<string, AddOnSum>, listed: ReadonlySet<string>): boolean {
  const { moved } = workspace.collector.addOn
  let left = 0
  for (const [email, { used }] of sums) if (email !== '' && !listed.has(email)) left += used
  const found = (state.usage?.roster.people ?? []).filter(({ email, used = 0 }) => {
    const less = used - (sums.get(email)?.used ?? 0)
    return less >= Math.max(LEAST_MOVED, used / 2) && left >= less / 2 && !moved.has(email)
  })
  for (const { email } of found) moved.add(email)
  return found.length > 0
}

/** Add-on use in a cycle by e-mail; undefined where the ledger does not know all its days, and where the service began to measure within it. */
export async function cycleSums(
  ledger: Pick<Ledger, 'fact' | 'addOnSums' | 'firstDay' | 'useByPerson' | 'runs'>,
  { startAt, endAt }: Cycle,
  unassignable = ledger.fact('addOn')?.unassignable ?? [],
): Promise<ReadonlyMap<string, AddOnSum> | undefined> {
  const asked = ledger.fact('addOnAsked')
  if (!asked?.hasRows || asked.fromAt > midnight(startAt)) return undefined
  const never = new Set(unassignable)
  const before = { fromAt: midnight(startAt), untilAt: Math.min((await ledger.firstDay('measured')) ?? 0, endAt) }
  const others = await ledger.useByPerson(before)
  if (others.some(({ email }) => !never.has(email)) || tellsUse(never, await ledger.runs(TEAM, before))) return undefined
  return ledger.addOnSums({ fromAt: midnight(startAt), untilAt: endAt })
}

/** Whether runs are of somebody whom add-on use tells. */
const tellsUse = ({ size }: ReadonlySet<string>, runs: readonly RunUse[]): boolean => size === 0 && runs.some(({ used = 0 }) => used > 0)

/** Whether all use of a past cycle had arrived when its days were last read. */
export function hasWholeCycle({ wideAt }: Pick<AddOnAsked, 'wideAt'>, { endAt }: Cycle): boolean {
  return wideAt >= endAt + FRESH_MS
}

/** Sums of a cycle as figures of people; `others`: use of nobody whom a listing of people names, also of who has left since a day was read. */
export function measuredCycle(
  startAt: Instant,
  sums: Iterable<readonly [string, Pick<AddOnSum, 'addOn'>]>,
  isListed: (email: string) => boolean = (email) => email !== '',
): MeasuredCycle {
  const people: [string, Credits][] = []
  let others = 0
  for (const [email, { addOn }] of sums) {
    if (!isListed(email)) others += addOn
    if (email !== '' && addOn > 0) people.push([email, addOn])
  }
  return { startAt, people: Object.fromEntries(people), others: wholeCents(Math.max(0, others)) }
}

/** Newer use has not arrived anyway (docs/service.md, Limits). */
const FRESH_MS = 3 * HOUR_MS

/**
 * Reads this cycle's add-on use for commands, which collect nothing, unless the ledger has recent figures. What the service does not measure is
 * estimated. Rejects only when `signal` aborts.
 */
export async function askMeasured(
  { client, clock }: Pick<CollectParts, 'client' | 'clock'>,
  state: CollectState,
  signal?: AbortSignal,
): Promise<void> {
  const [cycle, now] = [cycleOf(state.usage), clock.now()]
  if (!cycle || (state.measured && isYounger(state.measured.readAt, now, FRESH_MS))) return
  // By e-mail; '' for people whom no listing names.
  const sums = new Map<string, AddOnSum>()
  let unassignable: readonly string[] = []
  let untilAt = now
  const failure = await readForward({
    ...{ key: 'addOn', chunkDays: new Map(), now, before: undefined, firstAt: midnight(cycle.startAt) },
    ask: (days) => askAddOn(client, days, signal),
    async save(_days, reading) {
      unassignable = reading.unassignable
      for (const { dayAt, email, used, addOn } of reading.rows) {
        untilAt = Math.min(untilAt, dayAt)
        const known = sums.get(email)
        sums.set(email, { used: wholeCents((known?.used ?? 0) + used), addOn: wholeCents((known?.addOn ?? 0) + addOn) })
      }
    },
  })
  if (failure || sums.size === 0) return
  // Of a longer cycle the days just before are enough to tell.
  const before = { fromAt: Math.max(midnight(cycle.startAt), untilAt - CHUNK_DAYS * DAY_MS), untilAt }
  const runs = untilAt > before.fromAt ? await answerOf(() => client.readRuns(before, signal), signal) : undefined
  if (runs && !runs.failure && tellsUse(new Set(unassignable), runs.value.rows)) return
  state.measured = { readAt: now, cycles: [measuredCycle(cycle.startAt, sums)], unassignable }
}
