// Collects the past use of people, one person and 30 days a request, newest days first, into the ledger. It first proves that an answer about
// one person tells of nobody else, and keeps nothing where it does. It never decides about a cap, and goes on from wherever another run ended.

// Choices. A person who was not active in a range is not asked for. An empty answer about somebody who was active is unknown, and not 0. A claim
// of a person runs out after half a minute, so that nobody waits long for a process that was killed; a person whom two read is read right, because
// days are replaced.

import type { Roster } from '../../core/model/observed.ts'
import type { PersonHistory } from '../../core/model/past.ts'
import { type Credits, DAY_MS, type Instant, MINUTE_MS, midnight, wholeCents } from '../../core/model/units.ts'
import {
  type CommonDays,
  type Days,
  doubtOf,
  FEWEST_COMPARED,
  missingDays,
  planHistory,
  type RangeOfPeople,
  rangesToRead,
  soundDays,
  sumOfDays,
  toldDays,
  type UsedDay,
  usedByDay,
  withDays,
} from '../../core/use/history.ts'
import type { Clock, Ledger } from '../../ports.ts'
import { believed, LONGEST_BACK_DAYS } from './asking.ts'
import { type CollectParts, skippedPeople } from './kept.ts'
import { ask, type HistoryRun, isOfOthers, prove, proving, type Total, totalOf, unfiltered } from './proof.ts'
import { serviceNow } from './usage.ts'

const CLAIM_MS = MINUTE_MS / 2
/** How often, and how often at most, people whom another process reads are looked at again. */
const WAIT_MS = 5_000
const MOST_ROUNDS = 1_000
/** People who need no request are saved together, and others have a turn between: a transaction for each would hold up a sweep beside it. */
const INACTIVE_AT_ONCE = 20

export type HistoryOutcome = Awaited<ReturnType<typeof collectHistory>>

/** A day is over once it is by this machine's clock and by the service's. */
export const nowForBoth = ({ clock, client }: Pick<CollectParts, 'clock' | 'client'>): Instant =>
  Math.min(clock.now(), serviceNow(clock.now(), client))

/** Whole days only: the present day is known from readings. */
export const wantedDays = (now: Instant, days: number): Days => ({
  fromAt: midnight(now) - Math.min(days, LONGEST_BACK_DAYS) * DAY_MS,
  untilAt: midnight(now),
})

/** What is known of everybody at once. */
export async function commonDays(ledger: Pick<Ledger, 'fact' | 'firstDay'>, now: Instant): Promise<CommonDays> {
  const asked = believed(ledger.fact('addOnAsked'), now)
  // Before its first row a service may not have measured yet.
  const [measuredFrom, recordedFrom] = [asked && (await ledger.firstDay('measured')), await ledger.firstDay('recorded')]
  const { droppedAt = 0 } = ledger.fact('history') ?? {}
  return {
    measured:
      asked && measuredFrom !== undefined ? { fromAt: Math.max(asked.fromAt, measuredFrom), untilAt: asked.throughAt + DAY_MS } : undefined,
    unassignable: new Set(ledger.fact('addOn')?.unassignable ?? []),
    recorded:
      recordedFrom === undefined
        ? undefined
        : { fromAt: Math.max(recordedFrom, midnight(droppedAt)), untilAt: ledger.fact('usage')?.roster.readAt ?? now },
  }
}

/** Whose past is read: approved people who were not forgotten, or these. */
export function peopleToRead(ledger: Pick<Ledger, 'fact'>, roster: Roster, only?: readonly string[]): readonly string[] {
  const skipped = skippedPeople(ledger, roster)
  return only ?? roster.people.flatMap(({ email, status }) => (status === 'approved' && !skipped.has(email) ? [email] : []))
}

/** What is to be read of whom. */
export async function historyPlan(
  { ledger, clock, config }: Pick<CollectParts, 'ledger' | 'config'> & { readonly clock: Pick<Clock, 'now'> },
  { roster, wanted, only }: Pick<HistoryRun, 'roster' | 'wanted' | 'only'>,
): Promise<readonly RangeOfPeople[]> {
  const now = clock.now()
  const known = new Map((await ledger.histories()).map((one) => [one.email, { ...one, known: soundDays(one.known, now) }]))
  return planHistory(
    peopleToRead(ledger, roster, only).map((email) => known.get(email) ?? { email, known: [] }),
    wanted,
    { common: await commonDays(ledger, now), lagMs: config.usageLagMs },
  )
}

type Run = ReturnType<typeof newRun>

const newRun = (parts: CollectParts, options: HistoryRun) => ({
  ...options,
  ...proving(parts),
  lagMs: parts.config.usageLagMs,
  failed: 0,
  withoutCredits: 0,
  isOver: false,
  /** Use of the days of the cycle after the wanted ones, which is compared and not kept, by e-mail. */
  today: new Map<string, Credits>(),
  /** Active days by range, and then by e-mail. */
  active: new Map<string, ReadonlyMap<string, number>>(),
  /** The roster's figures of the cycle, by e-mail. */
  listed: new Map(options.roster.people.map(({ email, used }) => [email, used])),
})

/**
 * Reads what is missing. Failures are part of the outcome: how many ranges of people could not be read, why the first one could not, and on how many
 * the workspace's runs carry no credits. Rejects only when `signal` aborts, or with a `LedgerError`.
 */
export async function collectHistory(parts: CollectParts, options: HistoryRun) {
  const run = newRun(parts, options)
  let plan = await historyPlan(parts, options)
  const [newest] = plan
  if (newest) await prove(run, newest)
  for (let round = 0; plan.length > 0 && !run.stopped && round < MOST_ROUNDS; round += 1) {
    // Another process reads them now, or has ended while it did.
    const claimed: RangeOfPeople[] = []
    for (const range of plan) {
      const emails = run.stopped ? [] : await readRange(run, range)
      if (emails.length > 0) claimed.push({ ...range, emails })
    }
    plan = claimed
    if (plan.length > 0 && !run.stopped) await parts.clock.sleep(WAIT_MS, options.signal)
  }
  if (!run.stopped) await compare(run)
  const { stopped, failed, why, withoutCredits } = run
  return { failed, stopped, why, withoutCredits }
}

/** Returns the people whom another process has claimed. */
async function readRange(run: Run, { emails, ...range }: RangeOfPeople): Promise<readonly string[]> {
  const total = await totalOf(run.parts, range)
  if (total === 'withoutCredits') {
    run.withoutCredits += emails.length
    run.onDone?.(emails.length)
    return []
  }
  const active = emails.length > 1 ? await activeIn(run, range) : undefined
  // Where the workspace used something, a listing in which nobody was active tells nothing.
  const isTold = !total.used || active?.values().some((days) => days > 0)
  const isInactive = (email: string): boolean => isTold === true && active?.get(email) === 0 && !mustHaveUsed(run, range, email)
  const byNeed = Map.groupBy(emails, isInactive)
  const inactive = byNeed.get(true) ?? []
  for (let first = 0; first < inactive.length && !run.stopped; first += INACTIVE_AT_ONCE) {
    await run.parts.clock.sleep(0, run.signal)
    const some = inactive.slice(first, first + INACTIVE_AT_ONCE)
    await keep(run, range, some, { rows: [], isFound: false, isSilent: false })
    run.onDone?.(some.length)
  }
  const queue = (byNeed.get(false) ?? []).values()
  const claimed: string[] = []
  let told = 0
  const work = async (): Promise<void> => {
    for (const email of queue) {
      if (run.stopped || run.isOver) return
      const used = await readPerson(run, range, email, isTold ? active?.get(email) : undefined, total)
      if (used === 'claimed') claimed.push(email)
      else {
        run.onDone?.(1)
        told += used
      }
      if (!run.stopped && (await isOfOthers(run, range, told, total))) await unfiltered(run)
    }
  }
  const all = Array.from({ length: Math.max(1, run.concurrency) }, work)
  try {
    await Promise.all(all)
    return claimed
  } catch (error) {
    run.isOver = true
    await Promise.allSettled(all)
    throw error
  }
}

/** Who was active in a range, asked once a run; undefined where it could not be read. */
async function activeIn(run: Run, range: Days): Promise<ReadonlyMap<string, number> | undefined> {
  const key = `${range.fromAt} ${range.untilAt}`
  const known = run.active.get(key)
  if (known) return known
  await run.onRequest?.()
  const listed = await ask(run, () => run.parts.client.readActiveDays(range, run.signal))
  if (!listed.failure) run.active.set(key, listed.value)
  return run.active.get(key)
}

/** Whether the roster's figure of the present cycle can only be of these days, or of today. */
const mustHaveUsed = ({ roster, wanted, listed }: Run, { fromAt, untilAt }: Days, email: string): boolean =>
  untilAt === wanted.untilAt && fromAt <= (roster.cycle?.startAt ?? 0) && (listed.get(email) ?? 0) >= FEWEST_COMPARED

/** Returns the use that was kept; `claimed`: another process reads this person now. */
async function readPerson(run: Run, range: Days, email: string, activeDays: number | undefined, total: Total): Promise<number | 'claimed'> {
  const { ledger, clock } = run.parts
  // A rest must not be taken with a claim, which would run out.
  await run.onRequest?.()
  let isKnown = false
  const isMine = await ledger.changeHistory([email], (history) => {
    // Another process may have read it since the plan was made.
    isKnown = rangesToRead(range, soundDays(history.known, clock.now()), [], run.lagMs).length === 0
    return isKnown ? undefined : claimed(history, run.parts.collector.by, clock.now())
  })
  if (isKnown) return 0
  if (!isMine) return 'claimed'
  try {
    return await readClaimed(run, range, email, activeDays, total)
  } catch (error) {
    // Nobody has to wait for a run that was stopped.
    await ledger.changeHistory([email], (history) => ({ history: withoutClaim(history) })).catch(() => undefined)
    throw error
  }
}

async function readClaimed(run: Run, range: Days, email: string, activeDays: number | undefined, total: Total): Promise<number> {
  const { ledger, clock, client } = run.parts
  // The newest answer also has the days since, which are not wanted yet: the figure of the cycle has them too.
  const isNewest = range.untilAt === run.wanted.untilAt
  const question = isNewest ? { fromAt: range.fromAt, email } : { ...range, email }
  const answer = await ask(run, () => client.readRuns(question, run.signal))
  if (answer.failure) {
    run.failed += 1
    await ledger.changeHistory([email], (history) => ({ history: withoutClaim(history) }))
    return 0
  }
  const rows = usedByDay(answer.value.rows, range)
  const sum = sumOfDays(rows)
  if (await isOfOthers(run, range, sum, total)) {
    await unfiltered(run)
    return 0
  }
  if (isNewest) {
    const fromAt = Math.max(range.untilAt, midnight(run.roster.cycle?.startAt ?? 0))
    const untilAt = midnight(serviceNow(clock.now(), client)) + 2 * DAY_MS
    run.today.set(email, sumOfDays(usedByDay(answer.value.rows, { fromAt, untilAt })))
  }
  const isFound = answer.value.rows.length > 0
  await keep(run, range, [email], { rows, isFound, isSilent: !isFound && (activeDays ?? 0) > 0 })
  return sum
}

const claimed = (history: PersonHistory, by: string, now: Instant): { readonly history: PersonHistory } | undefined => {
  const { claim } = history
  const isOthers = claim !== undefined && claim.by !== by && claim.untilAt > now && claim.untilAt <= now + CLAIM_MS
  return isOthers ? undefined : { history: { ...history, claim: { by, untilAt: now + CLAIM_MS } } }
}

const withoutClaim = ({ claim: _, ...history }: PersonHistory): PersonHistory => history

async function keep(
  { parts: { ledger, clock, client }, lagMs }: Run,
  range: Days,
  emails: readonly string[],
  { rows, isFound, isSilent }: { readonly rows: readonly UsedDay[]; readonly isFound: boolean; readonly isSilent: boolean },
): Promise<void> {
  const read = { ...range, readAt: nowForBoth({ clock, client }), isSilent: isSilent || undefined }
  await ledger.changeHistory(emails, (history) => ({
    history: { ...withoutClaim(history), known: withDays(history.known, read, lagMs), ...(isFound && { isFound }) },
    // What readings tell of a silent person stays.
    told: !isSilent || history.isFound ? { ...range, rows } : undefined,
  }))
}

/** Compares the days of the present cycle with the figure of the roster, for everybody whose newest days were just read. */
async function compare({ parts, roster, today, wanted, lagMs, listed }: Run): Promise<void> {
  const { ledger } = parts
  if (!roster.cycle) return
  const begunAt = roster.cycle.startAt
  const startAt = midnight(begunAt)
  const cycle = { fromAt: startAt, untilAt: wanted.untilAt }
  const known = new Map((await ledger.histories()).map((one) => [one.email, one]))
  const openAt = midnight(nowForBoth(parts) - lagMs)
  for (const [email, usedToday] of today) {
    const before = known.get(email)
    if (!before || missingDays(cycle, toldDays(before)).length > 0) continue
    const rows = await ledger.useOfPerson(email, cycle)
    // A part of the day on which the cycle began belongs to the one before.
    const settled = sumOfDays(rows.filter(({ dayAt }) => dayAt < openAt && dayAt >= begunAt))
    const doubt = doubtOf(startAt, wholeCents(sumOfDays(rows) + usedToday), settled, listed.get(email))
    if (JSON.stringify(doubt) !== JSON.stringify(before.doubt))
      await ledger.changeHistory([email], ({ doubt: _, ...history }) => ({ history: { ...history, doubt } }))
  }
}
