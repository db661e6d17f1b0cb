// Reads roster, members of the declared groups, and balance. A part that fails keeps its last known good value and becomes a finding; it never
// stops the others. core/resolve/roster.ts decides whether a shrunken roster is believed.

import type { Finding } from '../../core/model/condition.ts'
import type { UsageFacts } from '../../core/model/facts.ts'
import { type Balance, type GroupMembers, mayBeSet, type Roster, type SetAside } from '../../core/model/observed.ts'
import { groupScope, scopeKey } from '../../core/model/scope.ts'
import { beyondLimit, DAY_MS, type Instant } from '../../core/model/units.ts'
import { noteRules, strictest } from '../../core/plan/reviewed.ts'
import { newestUse, poolCondition } from '../../core/resolve/conditions.ts'
import { resolveDesired } from '../../core/resolve/desired.ts'
import type { NewReading } from '../../core/resolve/matches.ts'
import { groupsOfTurn, judgeRoster, keepGroups, takeCycle } from '../../core/resolve/roster.ts'
import type { ReadClient } from '../../ports.ts'
import { finding, malformedRows, unread } from '../conditions/findings.ts'
import { countReading, desiredInputs, type Planner, rulesNow, type WorkspaceState } from '../cycle/state.ts'
import type { DirectorySettings } from '../directory/directory-thread.ts'
import { learnDirectory } from '../directory/learn.ts'
import type { ReadPeopleFile } from '../directory/read.ts'
import { answerOf } from './asking.ts'

/** The subject of findings. */
const ROSTER = 'the roster'
const BALANCE = 'the balance'

export type UsageReading = Awaited<ReturnType<typeof learnUsage>>

interface UsageParts extends Pick<Planner, 'config' | 'ledger' | 'clock'> {
  readonly client: ReadClient
  readonly readPeopleFile: ReadPeopleFile
}

/** A reading under way. */
interface Reading extends UsageParts {
  readonly state: WorkspaceState
  readonly signal: AbortSignal | undefined
  readonly found: Finding[]
}

/**
 * Reads roster, groups and balance into the state, alike for the cycle and the preview. Rejects only when `signal` aborts. `findings`: parts that
 * could not be read, and oddities of the others.
 */
export async function learnUsage(state: WorkspaceState, parts: UsageParts, signal?: AbortSignal) {
  const { client, config } = parts
  const found: Finding[] = []
  const reading: Reading = { ...parts, state, signal, found }
  const rows = await attempt(reading, 'ROSTER_UNREAD', ROSTER, () => client.readRoster(signal))
  // An empty roster is a failed reading: guards could count nobody by it.
  const listed = rows && rows.people.length > 0 ? withoutCount(rows) : undefined
  const active = listed && (await withActiveDays(listed, reading))
  const roster = active && config.directory ? await withPeopleFile(active, config.directory, reading) : active
  found.push(...malformedRows(ROSTER, rows?.malformedRows))
  if (rows && !listed) found.push(unread('ROSTER_UNREAD', ROSTER, 'the roster came without anybody, which counts as not read'))
  const read = await attempt(reading, 'BALANCE_UNREAD', BALANCE, () => client.readBalance(signal))
  // Read now, or last known good; also without a roster. Undefined where the plan has none.
  const balance = read === 'unavailable' ? undefined : (read ?? state.usage?.balance)
  const groups = await readGroups(reading)
  // Undefined while no roster was ever read.
  const facts = assemble(reading, roster, balance, groups.members)
  if (facts) noteOddities(roster, read, found)
  // Undefined when the roster could not be read, or is doubted.
  const newReading: NewReading | undefined = roster && !facts?.doubted ? { groups: groups.read } : undefined
  state.usage = facts
  state.unknownGroups = groups.unknown
  // Counted here and not in a plan, which may be made after the next reading, after a restart, or never.
  if (newReading) countReading(state, resolveDesired({ ...desiredInputs(state, parts), newReading }))
  return { facts, balance, newReading, findings: found }
}

/** Reads a part; a failure becomes a finding with this code, and gives undefined. */
async function attempt<T>({ signal, found }: Reading, code: string, part: string, read: () => Promise<T>): Promise<T | undefined> {
  const answer = await answerOf(read, signal)
  if (!answer.failure) return answer.value
  found.push(unread(code, part, answer.failure.message))
  return undefined
}

/**
 * Adds what the people file says. People whom only the last roster has count as well: this one may be doubted, and a file that lost the same
 * people must be too.
 */
async function withPeopleFile(roster: Roster, settings: DirectorySettings, reading: Reading): Promise<Roster> {
  const { state, clock, readPeopleFile, found } = reading
  const limitPercent = limitOf('directoryShrink', state.directory?.next?.doubtedAt, reading)
  const here = new Set(roster.people.map(({ email }) => email))
  const missing = state.usage?.roster.people.filter(({ email }) => !here.has(email)) ?? []
  const all = { ...roster, people: [...roster.people, ...missing] }
  const learned = await learnDirectory(all, { settings, memory: state.directory, limitPercent, clock, readPeopleFile })
  found.push(...learned.findings)
  state.directory = learned.memory
  return { ...learned.roster, people: learned.roster.people.slice(0, roster.people.length) }
}

/** A limit for a doubt that was first shown then; absent: that was not shown yet. As for changes, a weaker limit counts for what was shown before it. */
function limitOf(guard: 'rosterShrink' | 'directoryShrink', shownAt: Instant | undefined, { state, config, ledger, clock }: Reading) {
  const rules = rulesNow(state, config)
  const { before = [] } = config.approvals === 'together' ? {} : noteRules(ledger.fact('rules'), rules, clock.now())
  const earlier = before.filter(({ weakenedAt }) => shownAt === undefined || weakenedAt <= shownAt)
  return strictest(rules, earlier).guards[guard]
}

/** The number of malformed rows is a finding, and not part of the roster. */
function withoutCount({ malformedRows: _, ...roster }: Roster & SetAside): Roster {
  return roster
}

/** Members of a group as they were known, else as read now: what made the roster doubtful, such as a key that sees one group only, empties the other groups as well. */
function knownFirst(fresh: readonly GroupMembers[], known: readonly GroupMembers[]): readonly GroupMembers[] {
  return fresh.map((group) => keepGroups(known, [group])[0] ?? group)
}

/** Declared groups, and former ones that still carry a cap of ours: they are read until it is gone. */
function groupsToRead({ state, ledger }: Reading): readonly { readonly id: string; readonly name: string }[] {
  const declared = state.policy.set.groups.map(({ scope, name }) => ({ id: scope.id, name }))
  const ids = new Set(declared.map(({ id }) => id))
  const ours = new Set(ledger.owned().flatMap((one) => (one.scope.kind === 'group' && mayBeSet(one) ? [one.scope.id] : [])))
  return [...declared, ...(state.usage?.groups ?? []).filter(({ id }) => ours.has(id) && !ids.has(id))]
}

async function readGroups(reading: Reading) {
  const { client, state, signal, found } = reading
  const groups = groupsToRead(reading)
  const members = new Map(keepGroups(state.usage?.groups ?? [], groups).map((one) => [one.id, one]))
  const unknown: string[] = []
  const read: string[] = []
  await Promise.all(
    groups.map(async ({ id, name }) => {
      const answer = await answerOf(() => client.readGroup({ id, name }, signal), signal)
      if (!answer.failure) {
        members.set(id, answer.value)
        read.push(id)
        return
      }
      const { failure } = answer
      if (failure.kind === 'not_found' || state.unknownGroups.includes(id)) unknown.push(id)
      const scope = groupScope(id)
      const about = scopeKey(scope)
      const message = `${about} (${name}): ${failure.message}`
      if (failure.kind === 'not_found') found.push(finding('UnknownGroup', 'GROUP_UNKNOWN', message, about, { scope }))
      // A shared failure is told once, and not for every group that was not even asked for.
      else found.push({ ...unread('GROUP_UNREAD', about, message), scope, ...(failure.unsent && { onlyIfHeld: true }) })
    }),
  )
  const listed = groups.filter(({ id }) => !unknown.includes(id))
  return { members: listed.flatMap(({ id }) => members.get(id) ?? []), unknown: unknown.sort(), read }
}

/** Now by the service's clock, where it is known. */
export const serviceNow = (now: Instant, client: Pick<ReadClient, 'clockSkewMs' | 'serviceNow'>): Instant =>
  client.serviceNow?.() ?? now + (client.clockSkewMs() ?? 0)

/** The facts with the doubted roster as the good one. */
export function withDoubted(usage: UsageFacts, { client, clock }: Pick<UsageParts, 'client' | 'clock'>): UsageFacts {
  const { doubted, turn: _, ...rest } = usage
  return doubted ? { ...rest, ...takeCycle(doubted.roster, usage, clock.now(), serviceNow(clock.now(), client)) } : usage
}

function assemble(
  reading: Reading,
  roster: Roster | undefined,
  balance: Balance | undefined,
  groups: readonly GroupMembers[],
): UsageFacts | undefined {
  const { clock, client, state } = reading
  const { usage: known } = state
  const now = clock.now()
  const cycle = roster?.cycle ?? balance?.cycle
  const fresh = roster && { ...roster, ...(cycle && { cycle }) }
  const judged = fresh && judgeRoster(fresh, known, limitOf('rosterShrink', known?.doubted?.since, reading), now)
  const taken = fresh && judged?.roster === fresh ? takeCycle(fresh, known, now, serviceNow(now, client)) : known
  if (!taken) return undefined
  const doubted = judged ? judged.doubted : known?.doubted
  const { turn, previousCycle } = taken
  const members = groupsOfTurn(turn, doubted ? knownFirst(groups, known?.groups ?? []) : groups, known?.groups ?? [])
  return { roster: taken.roster, groups: members, balance, doubted, turn, previousCycle }
}

function noteOddities(roster: Roster | undefined, balance: Balance | 'unavailable' | undefined, found: Finding[]): void {
  if (roster?.statusesAbsent)
    found.push(finding('StatusesAbsent', 'STATUSES_ABSENT', 'nobody on the roster has a status; all count as approved', ROSTER))
  if (roster && roster.duplicates.length > 0) {
    const { length } = roster.duplicates
    const message = `${length === 1 ? '1 person stands' : `${length} people stand`} in the roster more than once; the first approved row counts, else the first`
    found.push(finding('RosterDuplicates', 'ROSTER_DUPLICATES', message, ROSTER))
  }
  const beyond = roster && beyondLimit('people', roster.people.length)
  if (beyond !== undefined) found.push(finding('BeyondLimit', 'BEYOND_LIMIT', beyond, ROSTER))
  if (balance === 'unavailable')
    found.push(finding('BalanceUnavailable', 'BALANCE_UNAVAILABLE', 'this plan has no credit balance; its metrics are off', BALANCE))
}

// Reads on how many of the last days people were active. The service tells it for one range of days at a time, so each range that a rule or
// pool names is a request of its own. A range that cannot be read stays unknown.

/** More ranges than this are not read. */
const MOST_RANGES = 10

/**
 * Adds active days to the roster, where rules or pools use them. Days are counted back from the newest use of anybody, so that an outage of
 * analytics makes no person less active.
 */
async function withActiveDays(roster: Roster, reading: Reading): Promise<Roster> {
  const { client, signal } = reading
  const { set } = reading.state.policy
  const conditions = [...set.peopleRules.map(({ when }) => when), ...set.pools.flatMap((pool) => poolCondition(pool) ?? [])]
  const asked = [...new Set(conditions.flatMap(({ activeDays }) => activeDays?.within ?? []))].sort((a, b) => a - b).slice(0, MOST_RANGES)
  const newestAt = newestUse(roster)
  if (asked.length === 0 || newestAt === undefined) return roster
  const untilAt = (Math.floor(newestAt / DAY_MS) + 1) * DAY_MS
  const answers: (readonly [number, ReadonlyMap<string, number>])[] = []
  for (const within of asked) {
    const days = await attempt(reading, 'ACTIVE_DAYS_UNREAD', `active days of the last ${within}`, () =>
      client.readActiveDays({ fromAt: untilAt - within * DAY_MS, untilAt }, signal),
    )
    if (days) answers.push([within, days])
  }
  if (answers.length === 0) return roster
  const activeDaysOf = (email: string): Readonly<Record<number, number>> =>
    Object.fromEntries(answers.flatMap(([within, days]) => (days.has(email) ? [[within, days.get(email) ?? 0]] : [])))
  return { ...roster, people: roster.people.map((person) => ({ ...person, activeDays: activeDaysOf(person.email) })) }
}
