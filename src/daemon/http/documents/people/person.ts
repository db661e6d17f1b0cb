// One person and one group: why the cap is what it is, and use by day beside the cap in force on that day. A day without records has no figures;
// memberships of groups are those of today.
import { sharedCap } from '../../../../core/interpret/effective.ts'
import type { Observed } from '../../../../core/model/observed.ts'
import { groupScope, type ScopeKey, scopeKey, TEAM, userScope } from '../../../../core/model/scope.ts'
import { DAY_MS, type Instant, midnight } from '../../../../core/model/units.ts'
import { requestLink } from '../../../../core/notify/settings.ts'
import { worstSource } from '../../../../core/use/add-on.ts'
import { bandRank, countBands } from '../../../../core/use/first-stop.ts'
import { type CapChange, capChanges } from '../../../../core/use/replay/in-force.ts'
import { stopOf } from '../../../conditions/view.ts'
import { cyclesBetween } from '../../../replay/gather.ts'
import { asked, DocumentError, limitOf, PAGE, pageOf, type Query, type Seen, text, word } from '../documents.ts'
import { explained, explanationOf, MOST_WRITES } from '../explained.ts'
import { stopEntry } from '../me.ts'
import { bounded, cents, daysFrom, dayText, headAbout, keyText, placeOf, ratio, rfc3339 } from '../show.ts'
import { sumKnown, usedIn } from '../summary.ts'
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
  const total = seen.isPart || !view.roster ? undefined : usedIn(view.roster)
  return [...new Set([...declared.keys(), ...listed.keys()])].map((id): GroupEntry => {
    const [group, people] = [listed.get(id), members.get(id) ?? []]
    const status = states.get(id)
    const reading = readings?.get(scopeKey(groupScope(id)))
    const addOn = sumKnown(people.map((row) => row.addOn))
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
  const measured = row.source === 'measured' ? await measuredDays(row.email, days, records) : undefined
  const caps = await capsByDay(seen, row, days)
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
    use: useByDay(seen, row, { days, burned, measured, grades: await records.gradesOfPerson(row.email, days), caps }),
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

interface Days {
  readonly fromAt: Instant
  readonly untilAt: Instant
}

/** The last 90 days, or all since the start of the cycle. */
function daysShown(cycleStartAt: Instant | undefined, now: Instant): Days {
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
async function capsByDay({ journal, readings, records }: Seen, row: PersonRow, days: Days): Promise<(at: Instant) => DayCap> {
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
    return known.findLast((change) => change.at < at)?.to ?? known[0]?.from ?? readings?.get(key)?.observed
  }
  const groupKeys = groups.map(scopeKey)
  return (at) => {
    const own = capAt(scopeKey(scope), at)
    if (own !== undefined && own !== 'none') return { cap: own, from: scopeKey(scope) }
    return sharedCap(groupKeys, (key) => capAt(key, at))
  }
}

const UNKNOWN_CAP: DayCap = { cap: undefined, from: undefined }

type DayUse = Awaited<ReturnType<Records['useOfPerson']>>[number]

interface PersonUse {
  readonly days: Days
  readonly burned: readonly DayUse[]
  readonly measured: Awaited<ReturnType<typeof measuredDays>>
  readonly grades: Awaited<ReturnType<Records['gradesOfPerson']>>
  readonly caps: (at: Instant) => DayCap
}

/** Add-on credits by day, and the first day that was read. */
async function measuredDays(email: string, days: Days, records: Records) {
  const asked = await records.fact('addOnAsked')
  if (!asked) return undefined
  const known = await records.addOnOfPerson(email, days)
  return { fromAt: asked.fromAt, byDay: new Map(known.map(({ dayAt, addOn }) => [dayAt, addOn])) }
}

function useByDay(seen: Seen, row: PersonRow, { days, burned, measured, grades, caps }: PersonUse): PersonDocument['use'] {
  const { view, settings, now, isPart } = seen
  const perSeat = view.balance?.creditsPerSeat ?? settings?.creditsPerSeat
  const byDay = new Map(burned.map(({ dayAt, used }) => [dayAt, used]))
  const cycle = view.roster?.cycle ?? view.balance?.cycle
  const listed: PersonDocument['use']['days'][number][] = []
  const starts = new Set(cycle ? cyclesBetween(cycle, days.fromAt, days.untilAt).map(({ startAt }) => midnight(startAt)) : [])
  // Where the first days of a cycle were not read, sums since its start are not known, and all its days are estimated.
  let isMeasured = false
  let used: number | undefined
  let paid = 0
  let before: DayCap | undefined
  for (const at of daysFrom(days.fromAt, days.untilAt)) {
    if (starts.has(at)) {
      used = 0
      paid = 0
      isMeasured = measured !== undefined && measured.fromAt <= at
    }
    // A reading after days without a daemon brings the use of all of them, of which the service may have told since.
    const most =
      at < midnight(now) || row.used === undefined || used === undefined ? Number.POSITIVE_INFINITY : Math.max(0, row.used - used)
    const onDay = Math.min(byDay.get(at) ?? 0, most)
    const grade = at < midnight(now) ? grades.find(({ fromAt, untilAt }) => at >= fromAt && at < untilAt)?.grade : undefined
    if (used !== undefined) {
      used += onDay
      paid += measured?.byDay.get(at) ?? 0
    }
    // The writes that tell of earlier days are not for readers of some people.
    const isCapKnown = !isPart || at >= midnight(now)
    const { cap, from } = isCapKnown ? caps(Math.min(at + DAY_MS, now + 1)) : UNKNOWN_CAP
    const estimate = used === undefined || perSeat === undefined ? undefined : Math.max(0, used - perSeat)
    const addOn = isMeasured ? (used === undefined ? undefined : paid) : estimate
    listed.push({
      day: dayText(at),
      burned: cents(onDay),
      used: cents(used),
      addOn: cents(addOn),
      grade,
      starts: starts.has(at) ? true : undefined,
      cap,
      from: from === undefined ? undefined : keyText(from, seen),
      changed: before && !isPart && before.cap !== cap ? true : undefined,
    })
    before = { cap, from }
  }
  return {
    days: listed,
    addOnSource: used === undefined ? undefined : isMeasured ? 'measured' : 'estimated',
    ...runsOut(burned, headRoomOf(row), view.roster?.cycle?.endAt, now),
  }
}

function runsOut(burned: readonly DayUse[], headRoom: number | undefined, cycleEndAt: Instant | undefined, now: Instant) {
  const since = midnight(now) - PACE_DAYS * DAY_MS
  const recent = burned.filter(({ dayAt }) => dayAt >= since && dayAt < midnight(now)).reduce((sum, { used }) => sum + used, 0)
  const paceADay = recent / PACE_DAYS
  if (paceADay <= 0) return {}
  const endAt = headRoom === undefined ? undefined : now + (Math.max(0, headRoom) / paceADay) * DAY_MS
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
