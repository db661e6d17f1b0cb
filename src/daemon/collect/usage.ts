// Reads who is on the team, in which declared groups, and what is left: roster, group members, balance. A part that fails keeps its last
// good value and says so; it never stops the others. What is believed of a shrunken roster is decided in core/resolve/roster.ts.

import { beyondLimit } from '../../core/model/limits.ts'
import type { Balance, GroupMembers, OwnedCap, Roster, SetAside } from '../../core/model/observed.ts'
import type { PolicySet } from '../../core/model/policy.ts'
import { groupScope, scopeKey } from '../../core/model/scope.ts'
import { poolCondition } from '../../core/resolve/conditions.ts'
import { judgeRoster, keepGroups, usedByEmail } from '../../core/resolve/roster.ts'
import type { Clock, ReadClient, UsageFacts } from '../../ports.ts'
import { malformedRows, type Warning } from '../conditions/standing.ts'
import { failureOf } from '../cycle/failure.ts'
import type { Planner, WorkspaceState } from '../cycle/state.ts'

/** What a reading of use leaves behind. */
export interface UsageReading {
  /** Absent when no roster was ever read. */
  readonly facts?: UsageFacts
  /** Read now, or the last good one; also when there is no roster. Absent when the plan has none. */
  readonly balance?: Balance
  readonly unknownGroups: readonly string[]
  /** Every declared group was read afresh, and a roster that is believed: what it says of a person's groups is whole. */
  readonly groupsRead: boolean
  /** The roster was read afresh, and is believed. */
  readonly rosterRead: boolean
  readonly warnings: readonly Warning[]
}

export interface UsageInputs {
  readonly client: ReadClient
  readonly set: PolicySet
  readonly known: UsageFacts | undefined
  readonly unknownGroups: readonly string[]
  /** Scopes of ours: the members of a group that policy has dropped count until its cap is gone. */
  readonly owned: readonly OwnedCap[]
  readonly limitPercent: number | 'off'
  readonly clock: Clock
  readonly signal?: AbortSignal
}

/** Reads use and keeps what is believed of it; the cycle and the preview learn it the same way. Rejects only when `signal` aborts. */
export async function learnUsage(
  client: ReadClient,
  knowledge: WorkspaceState,
  { settings, ledger, clock }: Pick<Planner, 'settings' | 'ledger' | 'clock'>,
  signal?: AbortSignal,
): Promise<UsageReading> {
  const reading = await readUsage({
    client,
    set: knowledge.policy.set,
    known: knowledge.usage,
    unknownGroups: knowledge.unknownGroups,
    owned: ledger.owned(),
    limitPercent: settings.guards.rosterShrink,
    clock,
    ...(signal && { signal }),
  })
  knowledge.usage = reading.facts
  knowledge.unknownGroups = reading.unknownGroups
  knowledge.groupReadingIsNew ||= reading.groupsRead
  knowledge.rosterReadingIsNew ||= reading.rosterRead
  return reading
}

/** Reads roster, groups and balance. Rejects only when `signal` aborts. */
export async function readUsage(inputs: UsageInputs): Promise<UsageReading> {
  const { client, signal } = inputs
  const warnings: Warning[] = []
  const attempt = async <T>(code: string, read: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await read()
    } catch (error) {
      signal?.throwIfAborted()
      warnings.push({ code, message: failureOf(error).message })
      return undefined
    }
  }
  const rows = await attempt('ROSTER_UNREAD', () => client.readRoster(signal))
  // A team without anybody is a reading that went wrong: nobody could be counted by it.
  const listed = rows && rows.people.length > 0 ? withoutCount(rows) : undefined
  const roster = listed && (await withActiveDays(listed, inputs, attempt))
  warnings.push(...malformedRows('the roster', rows?.malformedRows))
  if (rows && !listed) warnings.push({ code: 'ROSTER_UNREAD', message: 'the roster came without anybody, which counts as not read' })
  const balance = await attempt('BALANCE_UNREAD', () => client.readBalance(signal))
  const groups = await readGroups(inputs, warnings)
  const assembled = assemble(inputs, roster, balance, groups.members, warnings)
  const isDoubted = assembled.facts?.doubted !== undefined
  const believed = balance === undefined ? inputs.known?.balance : balance
  return {
    ...assembled,
    ...(believed && believed !== 'unavailable' && { balance: believed }),
    unknownGroups: groups.unknown,
    groupsRead: groups.read && roster !== undefined && !isDoubted,
    rosterRead: roster !== undefined && !isDoubted,
    warnings,
  }
}

type Attempt = <T>(code: string, read: () => Promise<T>) => Promise<T | undefined>

/** Every number of days that a condition asks about is a question of its own; those beyond stay unanswered. */
const MOST_RANGES = 10

/**
 * Asks on how many days people were active, where rules or pools go by it. The days are counted back from the newest use of anybody, so that
 * an outage of analytics makes nobody less active.
 */
async function withActiveDays(roster: Roster, { client, set, signal }: UsageInputs, attempt: Attempt): Promise<Roster> {
  const conditions = [...set.peopleRules.map(({ when }) => when), ...set.pools.flatMap((pool) => poolCondition(pool) ?? [])]
  const asked = [...new Set(conditions.flatMap(({ activeDays }) => activeDays?.within ?? []))].sort((a, b) => a - b).slice(0, MOST_RANGES)
  const newestAt = roster.people.reduce((newest, { lastUsedAt = newest }) => Math.max(newest, lastUsedAt), Number.NEGATIVE_INFINITY)
  if (asked.length === 0 || newestAt === Number.NEGATIVE_INFINITY) return roster
  const untilAt = (Math.floor(newestAt / DAY_MS) + 1) * DAY_MS
  const answers: (readonly [number, ReadonlyMap<string, number>])[] = []
  for (const within of asked) {
    const days = await attempt('ACTIVE_DAYS_UNREAD', () => client.readActiveDays({ fromAt: untilAt - within * DAY_MS, untilAt }, signal))
    if (days) answers.push([within, days])
  }
  if (answers.length === 0) return roster
  const activeDaysOf = (email: string): Readonly<Record<number, number>> =>
    Object.fromEntries(answers.flatMap(([within, days]) => (days.has(email) ? [[within, days.get(email) ?? 0]] : [])))
  return { ...roster, people: roster.people.map((person) => ({ ...person, activeDays: activeDaysOf(person.email) })) }
}

const DAY_MS = 86_400_000

/** The number of rows that were set aside is told, and not kept. */
function withoutCount({ malformedRows: _, ...roster }: Roster & SetAside): Roster {
  return roster
}

/** What made the roster doubtful, such as a key that sees one group only, empties the others as well: what was known of them serves. */
function knownFirst(fresh: readonly GroupMembers[], known: readonly GroupMembers[]): readonly GroupMembers[] {
  const byId = new Map(known.map((group) => [group.id, group]))
  return fresh.map((group) => byId.get(group.id) ?? group)
}

interface NamedGroup {
  readonly id: string
  readonly name: string
}

/** Declared groups, and those that are no longer but still carry a cap of ours. */
function groupsToRead({ set, known, owned }: UsageInputs): readonly NamedGroup[] {
  const declared = set.groups.map(({ scope, name }): NamedGroup => ({ id: scope.id, name }))
  const ids = new Set(declared.map(({ id }) => id))
  const ours = new Set(owned.flatMap(({ scope, cap }) => (scope.kind === 'group' && cap !== 'none' ? [scope.id] : [])))
  return [...declared, ...(known?.groups ?? []).filter(({ id }) => ours.has(id) && !ids.has(id))]
}

async function readGroups(inputs: UsageInputs, warnings: Warning[]) {
  const groups = groupsToRead(inputs)
  const members: GroupMembers[] = [...keepGroups(inputs.known?.groups ?? [], groups)]
  const unknown: string[] = []
  const read = new Set<string>()
  await Promise.all(
    groups.map(async ({ id, name }) => {
      try {
        const fresh = await inputs.client.readGroup({ id, name }, inputs.signal)
        const at = members.findIndex((one) => one.id === id)
        members.splice(at < 0 ? members.length : at, at < 0 ? 0 : 1, fresh)
        read.add(id)
      } catch (error) {
        inputs.signal?.throwIfAborted()
        const failure = failureOf(error)
        if (failure.kind === 'not_found') unknown.push(id)
        else if (inputs.unknownGroups.includes(id)) unknown.push(id)
        const code = failure.kind === 'not_found' ? 'GROUP_UNKNOWN' : 'GROUP_UNREAD'
        const about = scopeKey(groupScope(id))
        // One failure is told once, not once for every group that was not even asked for.
        warnings.push({ code, about, message: `${about} (${name}): ${failure.message}`, ...(failure.unsent && { quiet: true }) })
      }
    }),
  )
  const order = new Map(groups.map((one, index) => [one.id, index]))
  members.sort((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0))
  return {
    members: members.filter((one) => !unknown.includes(one.id)),
    unknown: unknown.sort(),
    read: inputs.set.groups.every(({ scope }) => read.has(scope.id)),
  }
}

function assemble(
  inputs: UsageInputs,
  roster: Roster | undefined,
  balance: Balance | 'unavailable' | undefined,
  groups: readonly GroupMembers[],
  warnings: Warning[],
): { facts?: UsageFacts } {
  const { known, clock } = inputs
  if (!roster && !known) return {}
  const judged = roster ? judgeRoster(roster, known, inputs.limitPercent, clock.now()) : undefined
  const current = judged?.roster ?? known?.roster
  if (!current) return {}
  if (roster?.statusesAbsent)
    warnings.push({ code: 'STATUSES_ABSENT', message: 'nobody on the roster has a status; all count as approved' })
  if (roster && roster.duplicates.length > 0) {
    warnings.push({
      code: 'ROSTER_DUPLICATES',
      message: `${roster.duplicates.length} people stand in the roster more than once; the first row counts`,
    })
  }
  const beyond = roster && beyondLimit('people', roster.people.length)
  if (beyond !== undefined) warnings.push({ code: 'BEYOND_LIMIT', message: beyond })
  if (balance === 'unavailable')
    warnings.push({ code: 'BALANCE_UNAVAILABLE', message: 'this plan has no credit balance; its metrics are off' })
  const doubted = judged ? judged.doubted : known?.doubted
  const rolled = known?.roster.cycle && current.cycle && known.roster.cycle.startAt !== current.cycle.startAt
  const previous = rolled && known.roster.cycle ? { cycle: known.roster.cycle, used: usedByEmail(known.roster) } : known?.previousCycle
  const kept = balance === undefined ? known?.balance : balance === 'unavailable' ? undefined : balance
  return {
    facts: {
      roster: current,
      groups: doubted ? knownFirst(groups, known?.groups ?? []) : groups,
      ...(kept && { balance: kept }),
      ...(doubted && { doubted }),
      ...(previous && { previousCycle: previous }),
    },
  }
}
