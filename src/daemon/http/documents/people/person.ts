// One person and one group: why the cap is what it is, and use by day beside the cap in force on that day. A day without records has no figures;
// memberships of groups are those of today.
import { sharedCap } from '../../../../core/interpret/effective.ts'
import { capShown, type Observed } from '../../../../core/model/observed.ts'
import { groupScope, type ScopeKey, scopeKey, TEAM, userScope } from '../../../../core/model/scope.ts'
import { DAY_MS, type Instant, midnight, sumOfKnown } from '../../../../core/model/units.ts'
import { requestLink } from '../../../../core/notify/settings.ts'
import { worstSource } from '../../../../core/use/add-on.ts'
import { usedInCycle } from '../../../../core/use/burn.ts'
import { bandRank, countBands } from '../../../../core/use/first-stop.ts'
import { type CapChange, capChanges } from '../../../../core/use/replay/in-force.ts'
import type { DayRange } from '../../../../ports.ts'
import { stopOf } from '../../../conditions/view.ts'
import { cyclesBetween } from '../../../replay/gather.ts'
import { asked, DocumentError, limitOf, PAGE, pageOf, type Query, type Seen, text, word } from '../documents.ts'
import { explained, explanationOf, MOST_WRITES } from '../explained.ts'
import { stopEntry } from '../me.ts'
import { bounded, cents, daysFrom, dayText, headAbout, keyText, placeOf, ratio, rfc3339 } from '../show.ts'
import type { GroupDocument, GroupEntry, GroupListDocument, PersonDocument, Records, Showing } from '../types.ts'
import { groupNames, ORDERS, personEntry } from './people.ts'
import { countNear, groupIdsOf, headRoomOf, membersByGroup, type PeopleIndex, type PersonRow, personShown, shareOf } from './roster.ts'

// The declared groups: their cap, their use and how near their members are to it.

const GROUP_SORTS = ['near', 'name', 'use', 'members', 'cap'] as const

export const GROUPS_QUERY = [
  text('search', 'Part of the name or id.'),
  word('sort', GROUP_SORTS, '`near`: most people near their cap.', 'near'),
  word('order', ORDERS, 'Default: descending, by name ascending.'),
  PAGE,
  limitOf(100, 500),
]

export async function groupsDocument(seen: Seen, query: Query = {}): Promise<GroupListDocument> {
  const question = asked(query, GROUPS_QUERY)
  const search = question.text('search')?.toLowerCase() ?? ''
  const sort = question.word('sort', GROUP_SORTS) ?? 'near'
  const order = question.word('order', ORDERS) ?? (sort === 'name' ? 'asc' : 'desc')
  const sign = order === 'desc' ? -1 : 1
  const entries = groupEntries(seen, await seen.index())
  const all = entries.filter(({ id, name }) => `${id}\n${name}`.toLowerCase().includes(search))
  const by = SORTS[sort]
  all.sort((a, b) => {
    const [left, right] = [by(a), by(b)]
    return left === right ? (a.id < b.id ? -1 : 1) : sign * (left < right ? -1 : 1)
  })
  return { ...headAbout('GroupList', seen), ...pageOf(all, question) }
}

const SORTS: Readonly<Record<(typeof GROUP_SORTS)[number], (entry: GroupEntry) => string | number>> = {
  near: ({ near = 0, members }) => near + members / 1_000_000,
  name: ({ name }) => name.toLowerCase(),
  use: ({ used }) => used ?? -1,
  members: ({ members }) => members,
  cap: ({ cap }) => (typeof cap === 'number' ? cap : -1),
}

/** Every declared group, and those that were read before their declaration was removed. */
function groupEntries(seen: Seen, index: PeopleIndex): GroupEntry[] {
  const { view, policy, readings, unknownGroups } = seen
  const members = membersByGroup(index.rows)
  const declared = new Map((policy?.set.groups ?? []).map(({ scope, name, at }) => [scope.id, { name, at }]))
  const listed = new Map(view.groups.map((group) => [group.id, group]))
  const states = new Map(view.scopes.flatMap((status) => (status.scope.kind === 'group' ? [[status.scope.id, status] as const] : [])))
  // Of readers of some people the roster is cut: its sum is not the team's.
  const total = seen.isPart || !view.roster ? undefined : usedInCycle(view.roster)
  return [...new Set([...declared.keys(), ...listed.keys()])].map((id): GroupEntry => {
    const [group, people] = [listed.get(id), members.get(id) ?? []]
    const status = states.get(id)
    const reading = readings?.get(scopeKey(groupScope(id)))
    const addOn = sumOfKnown(people.map((row) => row.addOn))
    const bands = countBands(people)
    const source = worstSource(people.map((row) => row.source))
    const at = declared.get(id)?.at ?? status?.source
    return {
      id: seen.people.text(id),
      name: seen.people.text(declared.get(id)?.name ?? group?.name ?? id),
      known: group !== undefined && unknownGroups?.includes(id) !== true,
      members: group?.emails.length ?? 0,
      cap: status?.desired,
      observed: status?.observed ?? reading?.observed,
      state: status?.state,
      ...(group?.used !== undefined && {
        used: cents(group.used),
        share: total !== undefined && total > 0 ? ratio(group.used / total) : undefined,
      }),
      ...(addOn !== undefined && { addOn: cents(addOn), addOnSource: source }),
      ...(bands && { bands, near: countNear(people) }),
      source: at && placeOf(at, seen, view.policy?.revision),
      readAt: rfc3339(group?.readAt),
    }
  })
}

/** Days of a chart. Choice. */
const FEWEST_DAYS = 90
const MOST_DAYS = 120
/** Members on the page of a group; the list of people has all. Choice. */
const MOST_MEMBERS = 50
/** Writes of each scope that are read to find the cap of a day. */
const MOST_LOOKED_BACK = 500
/** Days of the pace by which a cap is expected to be used up. */
const PACE_DAYS = 7

export async function personDocument(seen: Seen, person: string): Promise<PersonDocument> {
  const { view, policy, records, now } = seen
  const row = personShown(await seen.index(), person)
  if (!row) throw new DocumentError(404, 'this workspace has no such person')
  const scope = userScope(row.email)
  const history = await records.history({ scope, limit: MOST_WRITES })
  const explanation = explanationOf(seen, scope, history)
  const days = daysShown(view.roster?.cycle?.startAt ?? view.balance?.cycle?.startAt, now)
  const burned = await records.useOfPerson(row.email, days)
  const measured = await records.addOnOfPerson(row.email, days)
  const measuredFrom = row.source === 'measured' ? (await records.fact('addOnAsked'))?.fromAt : undefined
  const caps = await capsByDay(seen, row, days)
  const cycle = view.roster?.cycle ?? view.balance?.cycle
  const told = (await records.fact('usage'))?.previousCycle?.cycle
  const starts = cycle ? cyclesBetween(cycle, days.fromAt, days.untilAt, told).map(({ startAt }) => midnight(startAt)) : []
  const isProtected = policy?.set.protectedPeople.some((one) => one.scope.email === row.email) === true
  const guards = view.holds.filter(({ id }) => id === explanation?.hold?.id).flatMap((hold) => hold.guards)
  const entry = personEntry(row, seen, groupNames(seen))
  return {
    ...headAbout('Person', seen),
    ...entry,
    ...explained(seen, explanation, { scope, history }),
    protected: isProtected ? true : undefined,
    guards,
    ...stopsFirst(seen, row.email),
    ...requestOf(entry, seen),
    use: useByDay(seen, row, { days, starts, burned, measured, measuredFrom, grades: await records.gradesOfPerson(row.email, days), caps }),
  }
}

/** Readers of some people are not told: a pool and the balance are of others too. */
function stopsFirst(seen: Seen, email: string): Pick<PersonDocument, 'stopsFirst'> {
  const person = seen.view.roster?.people.find((one) => one.email === email)
  return seen.isPart || !person ? {} : { stopsFirst: stopEntry(stopOf(seen, person, seen.now)) }
}

/** The link has the name by which the person is shown, so that a hash stays a hash. */
function requestOf({ person, cap, addOn }: ReturnType<typeof personEntry>, { requestUrl }: Showing): { readonly requestUrl?: string } {
  const known = cap === 'unknown' ? undefined : cap
  return requestUrl === undefined ? {} : { requestUrl: requestLink(requestUrl, { email: person, cap: known, used: addOn }) }
}

/** The last 90 days, or all since the start of the cycle. */
function daysShown(cycleStartAt: Instant | undefined, now: Instant): DayRange {
  const untilAt = midnight(now) + DAY_MS
  const back = untilAt - FEWEST_DAYS * DAY_MS
  const fromAt = Math.max(Math.min(midnight(cycleStartAt ?? back), back), untilAt - MOST_DAYS * DAY_MS)
  return { fromAt, untilAt }
}

interface DayCap {
  readonly cap: Observed | undefined
  readonly from: ScopeKey | undefined
}

/** The cap in force at an instant, from the writes and foreign changes of each scope and the present reading. */
async function capsByDay({ journal, readings, records }: Seen, row: PersonRow, days: DayRange): Promise<(at: Instant) => DayCap> {
  const scope = userScope(row.email)
  const groups = groupIdsOf(row).map(groupScope)
  const found = Map.groupBy(journal?.entries ?? [], (entry) => ('scope' in entry ? scopeKey(entry.scope) : undefined))
  const changes = new Map<ScopeKey, readonly CapChange[]>()
  for (const one of [scope, ...groups, TEAM]) {
    const history = await records.history({ scope: one, sinceAt: days.fromAt, limit: MOST_LOOKED_BACK })
    changes.set(scopeKey(one), capChanges(history, found.get(scopeKey(one)) ?? []))
  }
  const capAt = (key: ScopeKey, at: Instant): Observed | undefined => {
    const known = changes.get(key) ?? []
    // The last change before then, else the value before the first change after it.
    return known.findLast((change) => change.at < at)?.to ?? known[0]?.from ?? capShown(readings?.get(key))
  }
  const groupKeys = groups.map(scopeKey)
  return (at) => {
    const own = capAt(scopeKey(scope), at)
    if (own !== undefined && own !== 'none') return { cap: own, from: scopeKey(scope) }
    return sharedCap(groupKeys, (key) => capAt(key, at))
  }
}

const UNKNOWN_CAP: DayCap = { cap: undefined, from: undefined }

interface PersonUse {
  readonly days: DayRange
  /** The days that hold the start of a cycle, in order. */
  readonly starts: readonly Instant[]
  readonly burned: Awaited<ReturnType<Records['useOfPerson']>>
  readonly measured: Awaited<ReturnType<Records['addOnOfPerson']>>
  /** The first day of which measured add-on use was read; absent where it is not measured now. */
  readonly measuredFrom: Instant | undefined
  readonly grades: Awaited<ReturnType<Records['gradesOfPerson']>>
  readonly caps: (at: Instant) => DayCap
}

/** What was burned on each day, from its best source; absent where that is not known. */
function burnedByDay({ days, burned, measured, grades }: PersonUse) {
  const recorded = new Map(burned.map(({ dayAt, used }) => [dayAt, used]))
  const told = new Map(measured.map(({ dayAt, used }) => [dayAt, used]))
  return daysFrom(days.fromAt, days.untilAt).map((at) => {
    const grade = grades.find(({ fromAt, untilAt }) => at >= fromAt && at < untilAt)?.grade
    const isKnown = grade !== undefined && grade !== 'missing'
    return { at, grade, onDay: (grade === 'measured' ? told : recorded).get(at) ?? (isKnown ? 0 : undefined) }
  })
}

/** The sum of some days; undefined where one of them is not known. */
const sumOfAll = (days: readonly { readonly onDay: number | undefined }[]): number | undefined =>
  days.reduce<number | undefined>((sum, { onDay }) => (sum === undefined || onDay === undefined ? undefined : sum + onDay), 0)

function useByDay(seen: Seen, row: PersonRow, known: PersonUse): PersonDocument['use'] {
  const { view, settings, now, isPart } = seen
  const { starts, measuredFrom, caps } = known
  const perSeat = view.balance?.creditsPerSeat ?? settings?.creditsPerSeat
  const addOnByDay = new Map(known.measured.map(({ dayAt, addOn }) => [dayAt, addOn]))
  const cycle = view.roster?.cycle ?? view.balance?.cycle
  const presentFrom = cycle && midnight(cycle.startAt)
  const listed: PersonDocument['use']['days'][number][] = []
  // Where the first days of a cycle were not read, sums since its start are not known, and all its days are estimated.
  let isMeasured = false
  let used: number | undefined
  let paid = 0
  let before: DayCap | undefined
  const burned = burnedByDay(known)
  for (const [index, { at, grade, onDay }] of burned.entries()) {
    const isToday = at >= midnight(now)
    if (starts.includes(at)) {
      used = 0
      paid = 0
      isMeasured = at === presentFrom ? measuredFrom !== undefined && measuredFrom <= at : grade === 'measured'
    }
    // After days that are not known the figure of the present cycle tells where the others begin.
    if (used === undefined && presentFrom !== undefined && at >= presentFrom && row.used !== undefined) {
      const later = sumOfAll(burned.slice(index))
      used = later === undefined ? undefined : Math.max(0, row.used - later)
    }
    // A reading after days without a daemon brings the use of all of them, of which the service may have told since.
    const most = !isToday || row.used === undefined || used === undefined ? Number.POSITIVE_INFINITY : Math.max(0, row.used - used)
    const amount = onDay === undefined ? undefined : Math.min(onDay, most)
    used = used === undefined || amount === undefined ? (isToday ? row.used : undefined) : used + amount
    paid += addOnByDay.get(at) ?? 0
    // The writes that tell of earlier days are not for readers of some people.
    const isCapKnown = !isPart || isToday
    const { cap, from } = isCapKnown ? caps(Math.min(at + DAY_MS, now + 1)) : UNKNOWN_CAP
    const estimate = used === undefined || perSeat === undefined ? undefined : Math.max(0, used - perSeat)
    listed.push({
      day: dayText(at),
      burned: cents(amount),
      used: cents(used),
      addOn: cents(isMeasured ? paid : estimate),
      grade: isToday ? undefined : grade,
      starts: starts.includes(at) ? true : undefined,
      cap,
      from: from === undefined ? undefined : keyText(from, seen),
      changed: before && !isPart && before.cap !== cap ? true : undefined,
    })
    before = { cap, from }
  }
  const recent = burned.filter(({ at }) => at >= midnight(now) - PACE_DAYS * DAY_MS && at < midnight(now))
  return {
    days: listed,
    addOnSource: listed.at(-1)?.addOn === undefined ? undefined : isMeasured ? 'measured' : 'estimated',
    ...runsOut(recent, leftOf(row, perSeat), view.roster?.cycle?.endAt, now),
  }
}

/** What is left of the cap, and of the seat before it. */
function leftOf(row: PersonRow, perSeat = 0): number | undefined {
  const [headRoom, { addOn = 0, used = perSeat }] = [headRoomOf(row), row]
  return headRoom === undefined || addOn > 0 ? headRoom : headRoom + Math.max(0, perSeat - used)
}

/** At the pace of the days that are known. */
function runsOut(
  recent: readonly { readonly onDay: number | undefined }[],
  left: number | undefined,
  cycleEndAt: Instant | undefined,
  now: Instant,
) {
  const known = recent.flatMap(({ onDay }) => onDay ?? [])
  const paceADay = known.reduce((sum, used) => sum + used, 0) / Math.max(1, known.length)
  if (paceADay <= 0) return {}
  const endAt = left === undefined ? undefined : now + (Math.max(0, left) / paceADay) * DAY_MS
  const isSoon = endAt !== undefined && endAt < (cycleEndAt ?? now)
  return { paceADay: cents(paceADay), runsOutOn: isSoon ? dayText(endAt) : undefined }
}

export async function groupDocument(seen: Seen, id: string): Promise<GroupDocument> {
  const index = await seen.index()
  const entry = groupEntries(seen, index).find((one) => one.id === id)
  if (!entry) throw new DocumentError(404, 'no declared group has this id')
  const scope = groupScope(id)
  const history = await seen.records.history({ scope, limit: MOST_WRITES })
  const members = (membersByGroup(index.rows).get(id) ?? []).toSorted(
    (a, b) => bandRank(b.band) - bandRank(a.band) || (shareOf(b) ?? 0) - (shareOf(a) ?? 0),
  )
  return {
    ...headAbout('Group', seen),
    ...entry,
    ...explained(seen, explanationOf(seen, scope, history), { scope, history }),
    use: await groupUse(seen, id),
    ...bounded('top', members, MOST_MEMBERS, ({ label, cap, addOn, band }) => ({
      person: label,
      cap: cap !== undefined && cap !== 'unknown' ? cap : undefined,
      addOn: cents(addOn),
      band,
    })),
  }
}

async function groupUse({ view, records, now }: Seen, id: string): Promise<GroupDocument['use']> {
  const scope = groupScope(id)
  const asked = (await records.fact('runsAsked'))?.[scopeKey(scope)]
  const days = daysShown(view.roster?.cycle?.startAt, now)
  if (!asked) return { days: [] }
  const rows = await records.runs(scope, days)
  const known = rows.filter(({ used }) => used !== undefined)
  const byDay = Map.groupBy(known, ({ dayAt }) => dayAt)
  const listed = daysFrom(days.fromAt, days.untilAt).map((at) => {
    const isKnown = at >= asked.fromAt && at <= asked.throughAt
    const used = (byDay.get(at) ?? []).reduce((sum, row) => sum + (row.used ?? 0), 0)
    return { day: dayText(at), used: isKnown ? cents(used) : undefined }
  })
  return { days: listed }
}
