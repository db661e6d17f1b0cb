// What happened in a workspace: the timeline (writes from the ledger's history and everything else from the journal, the newest first), one plan, and the
// comparison of policies over past cycles. The timeline pages by instant, so that new entries do not move those on later pages.
import { createHash } from 'node:crypto'
import type { HistoryEntry } from '../../../../core/model/change.ts'
import { CHANGE_KINDS, type JournalEntry, type WorkspaceView } from '../../../../core/model/events.ts'
import { shortRevision, whileInvalid } from '../../../../core/model/policy.ts'
import { parseScope, type Scope, scopeKey } from '../../../../core/model/scope.ts'
import { DAY_MS, formatInstant, type Instant } from '../../../../core/model/units.ts'
import type { SimulatedCycle, SimulationRow } from '../../../../core/use/replay/document.ts'
import type { BlockedPerson, PersonChange } from '../../../../core/use/replay/simulation.ts'
import type { Compared, ComparedPolicies, ComparisonState } from '../../../replay/comparisons.ts'
import { asked, DocumentError, limitOf, PAGE, type Parameter, pageOf, type Query, type Seen, text, word } from '../documents.ts'
import { writeEntry } from '../explained.ts'
import { groupShown } from '../people/people.ts'
import { personShown } from '../people/roster.ts'
import { bounded, dayText, headAbout, keyText, placeOf, rfc3339, scopeText } from '../show.ts'
import type { ChangeEntry, ChangeListDocument, ComparisonDocument, PlanDocument, Showing } from '../types.ts'

/** `state` is undefined where comparisons are not made, and until a policy was read. */
export function comparisonDocument(seen: Seen, state: ComparisonState | undefined): ComparisonDocument {
  const head = headAbout('Comparison', seen)
  if (!state) return { ...head, state: 'lacking', message: TOO_LITTLE['no-policy'] }
  const { made, since } = state
  const compared = made?.compared
  return {
    ...head,
    ...progressOf(compared, since !== undefined, seen),
    since: rfc3339(since),
    madeAt: rfc3339(made?.at),
    wholeFrom: compared && 'wholeAt' in compared && compared.wholeAt !== undefined ? dayText(compared.wholeAt) : undefined,
    figures: compared?.kind === 'made' ? figuresOf(compared.simulation, seen) : undefined,
  }
}

const TOO_LITTLE = {
  'no-policy': 'no policies have been read yet',
  'no-days': 'no day of anybody’s use is recorded yet; days are recorded while the daemon runs',
  'no-cycle': 'the service names no billing cycle',
} as const

function progressOf(
  compared: Compared | undefined,
  isRunning: boolean,
  { people }: Showing,
): Pick<ComparisonDocument, 'state' | 'message'> {
  if (isRunning || !compared) return { state: 'running' }
  if (compared.kind === 'made') return { state: 'made' }
  return compared.kind === 'failed'
    ? { state: 'failed', message: people.text(compared.message) }
    : { state: 'lacking', message: TOO_LITTLE[compared.kind] }
}

function figuresOf(simulation: ComparedPolicies, showing: Showing): NonNullable<ComparisonDocument['figures']> {
  const { policy, addOn, creditsPerSeat, pricePerCredit, recorded, cycles, blocked, gains, losses, unreached, capsReached } = simulation
  const { people } = showing
  return {
    policy,
    addOn,
    creditsPerSeat,
    pricePerCredit,
    recorded: { from: dayText(recorded.firstAt), through: dayText(recorded.lastAt) },
    cycles: cycles.map((one) => ({ ...cycleOf(one, showing), groupsOmitted: one.groupsOmitted })),
    blocked: blocked.items.map((one) => blockedOf(one, showing)),
    blockedOmitted: blocked.omitted,
    gains: gains.items.map((one) => changeOf(one, showing)),
    gainsOmitted: gains.omitted,
    losses: losses.items.map((one) => changeOf(one, showing)),
    lossesOmitted: losses.omitted,
    unreached: unreached.items.map(({ scope, cap, highest }) => ({ scope: keyText(scope, showing), cap, highest })),
    unreachedOmitted: unreached.omitted,
    capsReached,
    notes: simulation.notes.map(people.text),
  }
}

const cycleOf = ({ startAt, endAt, isWhole, total, groups, pools }: SimulatedCycle, { people }: Showing) => {
  const named = <R extends SimulationRow>(row: R): R => ({ ...row, key: people.text(row.key), name: people.text(row.name) })
  return { start: rfc3339(startAt), end: rfc3339(endAt), whole: isWhole, total, groups: groups.map(named), pools: pools.map(named) }
}

const blockedOf = ({ email, cycleStartAt, workingDays, policy, beside }: BlockedPerson, { people }: Showing) => {
  const stopped = (one: NonNullable<BlockedPerson['policy']>) => ({ from: dayText(one.fromAt), days: one.days, cap: one.cap })
  return {
    person: people.label(email),
    cycleStart: rfc3339(cycleStartAt),
    workingDays,
    policy: policy && stopped(policy),
    beside: beside && stopped(beside),
  }
}

const changeOf = ({ email, credits, blockedDays }: PersonChange, { people }: Showing) => ({
  person: people.label(email),
  credits,
  blockedDays,
})

const MOST_ENTRIES = 200

/** An instant, and how many entries of that instant were seen, 2,000 at most. */
const CURSOR = /^(\d{1,15})-(1?\d{1,3}|2000)$/

export const CHANGES_QUERY: readonly Parameter[] = [
  word('kind', CHANGE_KINDS, 'What happened.'),
  text('scope', '`team`, `group:ID`, or a person as shown.'),
  { name: 'since', about: 'Nothing older than this.', kind: 'instant' },
  { name: 'after', about: '`next` of the previous answer.', kind: 'text', pattern: CURSOR },
  limitOf(50, MOST_ENTRIES),
]

/** The next page: everything up to this instant, without the first `skip` entries at it. */
type Cursor = ReturnType<typeof cursorOf>

export async function changesDocument(seen: Seen, query: Query = {}): Promise<ChangeListDocument> {
  const question = asked(query, CHANGES_QUERY)
  const { view, journal, records } = seen
  const limit = question.whole('limit')
  const cursor = cursorOf(question.text('after'))
  const scope = await scopeOf(question.text('scope'), seen)
  const kind = question.word('kind', CHANGE_KINDS)
  const sinceAt = question.instant('since')
  const asksWrites = kind === undefined || kind === 'write'
  const range = { limit: cursor.skip + limit + 1, untilAt: cursor.untilAt, scope, sinceAt }
  const writes = asksWrites ? await records.history(range) : []
  const others = (journal?.entries ?? []).filter(
    (entry) =>
      (kind === undefined || entry.kind === kind) &&
      entry.at <= cursor.untilAt &&
      (sinceAt === undefined || entry.at >= sinceAt) &&
      (scope === undefined || (entry.kind === 'foreign' && scopeKey(entry.scope) === scopeKey(scope))),
  )
  const joined = [
    ...writes.map((entry) => ofWrite(entry, seen)),
    ...others.toReversed().map((entry) => ({ at: entry.at, entry: journalChange(entry, view, seen) })),
  ]
  // In one instant as they were recorded: by anything else a write beyond this page's limit could belong on an earlier page.
  joined.sort((a, b) => b.at - a.at)
  const atCursor = joined.findIndex(({ at }) => at < cursor.untilAt)
  const skipped = Math.min(cursor.skip, atCursor === -1 ? joined.length : atCursor)
  const listed = joined.slice(skipped, skipped + limit)
  const last = listed.at(-1)
  const isMore = joined.length > skipped + limit
  return {
    ...headAbout('ChangeList', seen),
    limit,
    items: listed.map(({ entry }) => entry),
    next: last && isMore ? nextOf(last.at, listed, cursor) : undefined,
  }
}

interface Dated {
  readonly at: Instant
  readonly entry: ChangeEntry
}

/** The greatest instant that a `Date` can be. */
const LATEST: Instant = 8_640_000_000_000_000

function cursorOf(after: string | undefined) {
  if (after === undefined) return { untilAt: LATEST, skip: 0 }
  const [, at, skip] = CURSOR.exec(after) ?? []
  if (at === undefined || skip === undefined) {
    throw new DocumentError(400, `after cannot be ${JSON.stringify(after)}; give "next" of the previous answer`)
  }
  return { untilAt: Number(at), skip: Number(skip) }
}

function nextOf(at: Instant, listed: readonly Dated[], cursor: Cursor): string {
  const seen = listed.filter((one) => one.at === at).length + (at === cursor.untilAt ? cursor.skip : 0)
  return `${at}-${seen}`
}

async function scopeOf(given: string | undefined, seen: Seen): Promise<Scope | undefined> {
  if (given === undefined) return undefined
  const row = personShown(await seen.index(), given)
  if (row) return { kind: 'user', email: row.email }
  const scope = parseScope(given)
  const group = scope?.kind === 'group' ? groupShown(seen, scope.id) : undefined
  if (group) return group
  // An e-mail that people are not shown by must not be accepted.
  if (!scope || scope.kind === 'user' || seen.people.text(given) !== given)
    throw new DocumentError(404, 'there is no such scope: write team, group:ID, or a person as shown')
  return scope
}

/** Stays the same as long as the entry is kept. */
const idOf = (at: Instant, ...about: readonly (string | number)[]): string =>
  `${at}-${createHash('sha256').update(JSON.stringify(about)).digest('hex').slice(0, 12)}`

function ofWrite(entry: HistoryEntry, showing: Showing): Dated {
  const { at, scope, from, to, planId, digest, result } = entry
  const written = writeEntry(entry, showing)
  const shown = scopeText(scope, showing)
  const verb = result === 'applied' ? WRITTEN[entry.effect] : `could not be ${WRITTEN[entry.effect]}`
  return {
    at,
    entry: {
      ...written,
      id: idOf(at, 'write', planId, scopeKey(scope), to),
      kind: 'write',
      tone: result === 'applied' ? 'good' : 'bad',
      text: `${shown} ${verb}: ${from} → ${to}`,
      digest,
    },
  }
}

const WRITTEN: Readonly<Record<HistoryEntry['effect'], string>> = {
  set: 'set',
  raise: 'raised',
  lower: 'lowered',
  block: 'lowered to what is used or less',
  clear: 'cleared',
}

/** An entry of the journal in the timeline. */
function journalChange(one: JournalEntry, view: WorkspaceView, showing: Showing): ChangeEntry {
  const { at, kind } = one
  const { about = [], ...told } = toldOf(one, view, showing)
  const plan = 'planId' in one && one.planId !== undefined ? { planId: one.planId } : {}
  return { at: rfc3339(at), kind, id: idOf(at, kind, ...about), ...told, ...plan }
}

/** `about`: what tells it from others of its kind at that instant. */
type Told = Omit<ChangeEntry, 'at' | 'kind' | 'id'> & { readonly about?: readonly (string | number)[] }

function toldOf(one: JournalEntry, view: WorkspaceView, showing: Showing): Told {
  const { people } = showing
  switch (one.kind) {
    case 'foreign': {
      const { verified, observed, more = 0 } = one
      const scope = keyText(scopeKey(one.scope), showing)
      const others = more > 0 ? `, and ${more} more` : ''
      const text = `${scope} was changed by another client: ${verified} → ${observed}${others}`
      const count = more > 0 ? { count: more + 1 } : {}
      return { about: [scopeKey(one.scope), observed], tone: 'warn', text, scope, from: verified, to: observed, ...count }
    }
    case 'hold': {
      const { id, guards, people: reached } = one
      const text = `held by ${guards.join(', ')}: ${reached} ${reached === 1 ? 'person' : 'people'} affected`
      const stands = view.holds.some((hold) => hold.id === id)
      return { about: [id], tone: 'warn', text, hold: id, stands, guards, people: reached }
    }
    case 'release':
      return { about: [one.id], tone: 'good', text: `hold ${one.id} is over`, hold: one.id, stands: false }
    case 'policy': {
      const { digest, revision, valid } = one
      const name = revision === '' ? digest : shortRevision(revision)
      const text = valid ? `policies ${name} are in force` : `the policy files are not valid; ${whileInvalid(digest)}`
      const stands = view.policy?.digest === digest && view.policy.valid === valid
      return { about: [digest, String(valid)], tone: valid ? 'good' : 'bad', text, digest, revision, stands }
    }
    case 'pause': {
      const text = `paused until ${formatInstant(one.untilAt)}`
      return { tone: 'warn', text, reason: people.text(one.reason), stands: view.pause?.pausedAt === one.at }
    }
    case 'resume':
      return { tone: 'good', text: 'writing goes on' }
    case 'outage':
      return { tone: 'bad', text: `cycles fail${one.message === undefined ? '' : `: ${people.text(one.message)}`}` }
    case 'recovery':
      return { tone: 'good', text: 'cycles work again' }
  }
}

export const PLAN_QUERY: readonly Parameter[] = [
  { name: 'at', about: 'An instant at which it wrote; needed to find a plan of long ago.', kind: 'instant' },
  PAGE,
  limitOf(50, 500),
]

/** Remaining changes that are listed. Choice. */
const MOST_CHANGES = 100
/** Writes that are searched for one plan, and how many are read at a time. Choice. */
const MOST_WRITES = 10_000
const AT_A_TIME = 500

export async function planDocument(seen: Seen, id: string, query: Query = {}): Promise<PlanDocument> {
  const question = asked(query, PLAN_QUERY)
  const { view, journal, planned } = seen
  const writes = await writesOf(id, seen, question.instant('at'))
  const entries = (journal?.entries ?? []).filter((entry) => 'planId' in entry && entry.planId === id)
  const present = planned?.plan.id === id ? planned.plan : undefined
  if (writes.length === 0 && entries.length === 0 && !present) throw new DocumentError(404, UNKNOWN)
  const [latest] = writes
  const revision = latest?.revision ?? present?.revision
  const digest = latest?.digest ?? present?.policyDigest
  const instants = [...writes, ...entries].map(({ at }) => at)
  return {
    ...headAbout('Plan', seen),
    id,
    present: present !== undefined,
    revision,
    digest,
    ...(instants.length > 0 && { first: rfc3339(Math.min(...instants)), last: rfc3339(Math.max(...instants)) }),
    applied: writes.filter(({ result }) => result === 'applied').length,
    failed: writes.filter(({ result }) => result !== 'applied').length,
    ...bounded('changes', present?.changes ?? [], MOST_CHANGES, ({ scope, from, to, effect, cause, disposition, source }) => ({
      scope: scopeText(scope, seen),
      from,
      to,
      effect,
      cause,
      disposition: disposition.kind,
      hold: disposition.kind === 'held' ? disposition.hold : undefined,
      why: 'reason' in disposition ? seen.people.text(disposition.reason) : undefined,
      source: source && placeOf(source, seen, present?.revision),
    })),
    met: entries
      .toSorted((a, b) => b.at - a.at)
      .slice(0, MOST_CHANGES)
      .map((entry) => journalChange(entry, view, seen)),
    ...pageOf(
      writes.map((entry) => writeEntry(entry, seen)),
      question,
    ),
  }
}

const UNKNOWN = `nothing is recorded of this plan: it is not the present plan, and neither the last ${MOST_WRITES} writes nor the journal have it; give the plan's whole id, and "at" for a plan of long ago`

/** The newest first. */
async function writesOf(id: string, { records, clock }: Seen, at: Instant | undefined): Promise<readonly HistoryEntry[]> {
  const found = new Map<string, HistoryEntry>()
  let untilAt = at === undefined ? undefined : at + DAY_MS
  for (let looked = 0; looked < MOST_WRITES; looked += AT_A_TIME) {
    const batch = await records.history({ limit: AT_A_TIME, untilAt })
    for (const entry of batch) if (entry.planId === id) found.set(JSON.stringify([entry.at, entry.scope]), entry)
    const oldest = batch.at(-1)
    if (!oldest || batch.length < AT_A_TIME) break
    // With `at`, the writes of one application are within a day of it.
    if (at !== undefined && oldest.at < at - DAY_MS) break
    // A whole batch at one instant would be read again for ever.
    untilAt = oldest.at === untilAt ? oldest.at - 1 : oldest.at
    await clock.sleep(1)
  }
  return [...found.values()]
}
