// One person and one group: why the cap is what it is, and use by day beside the cap in force on that day. A day without records has no figures;
// memberships of groups are those of today.
import { effectiveCap } from '../../../../core/interpret/effective.ts'
import { capShown, type Observed, type Person } from '../../../../core/model/observed.ts'
import { type GroupScope, groupScope, type ScopeKey, scopeKey, TEAM, userScope } from '../../../../core/model/scope.ts'
import { DAY_MS, type Instant, midnight, sumOfKnown } from '../../../../core/model/units.ts'
import { requestLink } from '../../../../core/notify/settings.ts'
import { ADD_ON_SOURCES, worstSource } from '../../../../core/use/add-on.ts'
import { usedInCycle } from '../../../../core/use/burn.ts'
import { bandRank, countBands } from '../../../../core/use/first-stop.ts'
import { DAY_GRADES } from '../../../../core/use/history.ts'
import { type CapChange, capChanges } from '../../../../core/use/replay/in-force.ts'
import type { DayRange } from '../../../../ports.ts'
import { stopOf } from '../../../conditions/view.ts'
import { cyclesBetween } from '../../../replay/gather.ts'
import { asked, DocumentError, limitOf, PAGE, pageOf, type Query, type Seen, text, word } from '../documents.ts'
import { EXPLAINED, type ExplainedScope, explainedScope } from '../explained.ts'
import { fields, from, ifKnown, object, optional, record, type Shown, type SourceOf } from '../field.ts'
import { stop } from '../me.ts'
import * as t from '../parts.ts'
import { cents, daysFrom } from '../show.ts'
import type { Records } from '../types.ts'
import { groupNames, type NamedRow, ORDERS, PERSON_ENTRY } from './people.ts'
import { countNear, groupIdsOf, membersByGroup, type PeopleIndex, type PersonRow, personShown, shareOf } from './roster.ts'

// The declared groups: their cap, their use and how near their members are to it.

const GROUP_SORTS = ['near', 'name', 'use', 'members', 'cap'] as const

export const GROUPS_QUERY = [
  text('search', 'Part of the name or id.'),
  word('sort', GROUP_SORTS, '`near`: most people near their cap.', 'near'),
  word('order', ORDERS, 'Default: descending, by name ascending.'),
  PAGE,
  limitOf(100, 500),
]

const GROUP_ENTRY = fields<GroupKnown>()({
  id: t.text('`group_id` of the service.'),
  name: t.text('`group_name` of the service.'),
  known: t.flag('The service knows it and its members were read.'),
  members: from(t.count('People in it.'), ({ group }) => group?.emails.length ?? 0),
  cap: ifKnown(t.cap('The desired cap.'), ({ status }) => status?.desired),
  observed: ifKnown(t.observed(), ({ status, reading }) => status?.observed ?? reading?.observed),
  state: ifKnown(t.scopeState, ({ status }) => status?.state),
  used: ifKnown(t.amount('Credits its members used in this cycle.'), ({ group }) => group?.used),
  share: ifKnown(t.share("Of the team's use, 0 to 1."), ({ group, total = 0 }) =>
    group?.used !== undefined && total > 0 ? group.used / total : undefined,
  ),
  addOn: ifKnown(t.amount('Their add-on use.'), ({ people }) => sumOfKnown(people.map((row) => row.addOn))),
  addOnSource: ifKnown(
    t.words(ADD_ON_SOURCES, 'Where the figure of add-on use comes from; the least certain source of its members.'),
    ({ people }) => worstSource(people.map((row) => row.source)),
  ),
  bands: ifKnown(t.bandCounts('Members by how near they are to their cap; absent while none is known.'), ({ people }) =>
    countBands(people),
  ),
  near: ifKnown(t.count('Members at 85 % of their cap or more.'), ({ people }) => (countBands(people) ? countNear(people) : undefined)),
  source: ifKnown(t.place, ({ at, status }) => at ?? status?.source),
  readAt: ifKnown(t.instant('When its members were read.'), ({ group }) => group?.readAt),
})

const group = object<GroupKnown>('One group.')(GROUP_ENTRY)
type GroupEntry = Shown<typeof group>

export const GROUPS = record('The groups that the policies declare.')({
  ...t.about('GroupList'),
  ...t.paged(t.made(group), 'As `sort` says.'),
  inNoGroup: optional(t.bandCounts('People in no declared group by how near they are to their cap; absent while none is known.')),
})

export async function groupsDocument(seen: Seen, query: Query = {}) {
  const question = asked(query, GROUPS_QUERY)
  const search = question.text('search')?.toLowerCase() ?? ''
  const sort = question.word('sort', GROUP_SORTS) ?? 'near'
  const order = question.word('order', ORDERS) ?? (sort === 'name' ? 'asc' : 'desc')
  const sign = order === 'desc' ? -1 : 1
  const index = await seen.index()
  const entries = groupsKnown(seen, index).map((one) => group.show(one, seen))
  const all = entries.filter(({ id, name }) => `${id}\n${name}`.toLowerCase().includes(search))
  const by = SORTS[sort]
  all.sort((a, b) => {
    const [left, right] = [by(a), by(b)]
    return left === right ? (a.id < b.id ? -1 : 1) : sign * (left < right ? -1 : 1)
  })
  const inNoGroup = countBands(index.rows.filter(({ groups }) => groups.length === 0))
  return GROUPS.show({ ...pageOf(all, question), inNoGroup }, seen)
}

const SORTS: Readonly<Record<(typeof GROUP_SORTS)[number], (entry: GroupEntry) => string | number>> = {
  near: ({ near = 0, members }) => near + members / 1_000_000,
  name: ({ name }) => name.toLowerCase(),
  use: ({ used }) => used ?? -1,
  members: ({ members }) => members,
  cap: ({ cap }) => (typeof cap === 'number' ? cap : -1),
}

type GroupKnown = ReturnType<typeof groupsKnown>[number]

/** Every declared group, and those that were read before their declaration was removed. */
function groupsKnown({ view, policy, readings, unknownGroups, isPart }: Seen, index: PeopleIndex) {
  const members = membersByGroup(index.rows)
  const declared = new Map((policy?.set.groups ?? []).map(({ scope, name, at }) => [scope.id, { name, at }]))
  const listed = new Map(view.groups.map((one) => [one.id, one]))
  const states = new Map(view.scopes.flatMap((status) => (status.scope.kind === 'group' ? [[status.scope.id, status] as const] : [])))
  // Of readers of some people the roster is cut: its sum is not the team's.
  const total = isPart || !view.roster ? undefined : usedInCycle(view.roster)
  return [...new Set([...declared.keys(), ...listed.keys()])].map((id) => ({
    id,
    name: declared.get(id)?.name ?? listed.get(id)?.name ?? id,
    known: listed.has(id) && unknownGroups?.includes(id) !== true,
    at: declared.get(id)?.at,
    group: listed.get(id),
    people: members.get(id) ?? [],
    status: states.get(id),
    reading: readings?.get(scopeKey(groupScope(id))),
    total,
  }))
}

/** Days of a chart. Choice. */
const MOST_DAYS = 90
/** Members on the page of a group; the list of people has all. Choice. */
const MOST_MEMBERS = 50
/** Writes of each scope that are read to find the cap of a day. */
const MOST_LOOKED_BACK = 500

const personDay = record('One day of a person.')({
  day: t.day('Which.'),
  used: optional(t.amount('Credits used since the start of the cycle, at its end.')),
  addOn: optional(t.amount('Add-on use since the start of the cycle, at its end; the last day may be incomplete.')),
  grade: optional(t.words(DAY_GRADES, 'What is known of it; absent for the present day.')),
  starts: optional(t.flag('A billing cycle starts on it; that of past cycles is assumed.')),
  cap: optional(t.observed('The cap in force at its end, as far as recorded.')),
  changed: optional(t.flag('The cap in force changed on it.')),
})

const personUse = record('Use by day against the cap.')({
  days: t.list(personDay, 'The last 90 days, in order.'),
  addOnSource: optional(t.words(['measured', 'estimated'], 'Where the add-on use of the days comes from; absent without any.')),
})

type PersonKnown = NamedRow &
  ExplainedScope &
  Pick<Seen, 'view'> & { readonly isProtected: boolean; readonly person: Person | undefined; readonly use: SourceOf<typeof personUse> }

export const PERSON = object<PersonKnown>('One person.')({
  ...t.about('Person'),
  ...PERSON_ENTRY,
  ...EXPLAINED,
  protected: ifKnown(t.flag('Never lowered, blocked or cleared.'), ({ isProtected }) => isProtected || undefined),
  guards: from(t.list(t.guard, 'Guards that hold a change for this person.'), ({ view, explanation }) =>
    view.holds.filter(({ id }) => id === explanation?.hold?.id).flatMap((hold) => hold.guards),
  ),
  // Readers of some people are not told: a pool and the balance are of others too.
  stopsFirst: ifKnown(stop, ({ seen, person }) => (seen.isPart || !person ? undefined : stopOf(seen, person, seen.now))),
  // The link has the name by which the person is shown, so that a hash stays a hash.
  requestUrl: ifKnown(t.plain('Where to ask for more, where the config has `requests`.'), ({ label, cap, addOn }, { requestUrl }) =>
    requestUrl === undefined
      ? undefined
      : requestLink(requestUrl, { email: label, cap: cap === 'unknown' ? undefined : cap, used: cents(addOn) }),
  ),
  use: personUse,
})

export async function personDocument(seen: Seen, person: string) {
  const { view, policy, records, now } = seen
  const row = personShown(await seen.index(), person)
  if (!row) throw new DocumentError(404, 'this workspace has no such person')
  const { email } = row
  const cycle = t.cycleOf(view)
  const shown = daysShown(now)
  const told = (await records.fact('usage'))?.previousCycle?.cycle
  const starts = cycle ? cyclesBetween(cycle, shown.fromAt, shown.untilAt, told).map(({ startAt }) => midnight(startAt)) : []
  // Sums run from the start of a cycle, also of the one that holds the first day.
  const days = { ...shown, fromAt: Math.min(shown.fromAt, ...starts) }
  const known: PersonUse = {
    ...{ days, shown, starts },
    burned: await records.useOfPerson(email, days),
    measured: await records.addOnOfPerson(email, days),
    measuredFrom: row.source === 'measured' ? (await records.fact('addOnAsked'))?.fromAt : undefined,
    grades: await records.gradesOfPerson(email, days),
    caps: await capsByDay(seen, row, shown),
  }
  const one: PersonKnown = {
    ...{ ...row, names: groupNames(seen), view },
    ...(await explainedScope(seen, userScope(email))),
    isProtected: policy?.set.protectedPeople.some(({ scope }) => scope.email === email) === true,
    person: view.roster?.people.find((other) => other.email === email),
    use: useByDay(seen, row, known),
  }
  return PERSON.show(one, seen)
}

/** Today is the last. */
function daysShown(now: Instant): DayRange {
  const untilAt = midnight(now) + DAY_MS
  return { fromAt: untilAt - MOST_DAYS * DAY_MS, untilAt }
}

/** The cap in force at an instant, from the writes and foreign changes of each scope and the present reading. */
async function capsByDay(
  { journal, readings, records }: Seen,
  row: PersonRow,
  days: DayRange,
): Promise<(at: Instant) => Observed | undefined> {
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
  const person = { key: scopeKey(scope), groups: groups.map(scopeKey) }
  return (at) => effectiveCap(person, (key) => capAt(key, at)).cap
}

interface PersonUse {
  readonly days: DayRange
  readonly shown: DayRange
  /** The days that hold the start of a cycle, in order. */
  readonly starts: readonly Instant[]
  readonly burned: Awaited<ReturnType<Records['useOfPerson']>>
  readonly measured: Awaited<ReturnType<Records['addOnOfPerson']>>
  /** The first day of which measured add-on use was read; absent where it is not measured now. */
  readonly measuredFrom: Instant | undefined
  readonly grades: Awaited<ReturnType<Records['gradesOfPerson']>>
  readonly caps: Awaited<ReturnType<typeof capsByDay>>
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

function useByDay({ view, creditsPerSeat: perSeat, now, isPart }: Seen, row: PersonRow, known: PersonUse): SourceOf<typeof personUse> {
  const { shown, starts, measuredFrom, caps } = known
  const addOnByDay = new Map(known.measured.map(({ dayAt, addOn }) => [dayAt, addOn]))
  const cycle = t.cycleOf(view)
  const presentFrom = cycle && midnight(cycle.startAt)
  const listed: SourceOf<typeof personDay>[] = []
  // Where the first days of a cycle were not read, sums since its start are not known, and all its days are estimated.
  let isMeasured = false
  let used: number | undefined
  let paid = 0
  let before: Observed | undefined
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
    if (at < shown.fromAt) continue
    // The writes that tell of earlier days are not for readers of some people.
    const isCapKnown = !isPart || isToday
    const cap = isCapKnown ? caps(Math.min(at + DAY_MS, now + 1)) : undefined
    const estimate = used === undefined || perSeat === undefined ? undefined : Math.max(0, used - perSeat)
    listed.push({
      day: at,
      used,
      addOn: isMeasured ? paid : estimate,
      grade: isToday ? undefined : grade,
      starts: starts.includes(at) || undefined,
      cap,
      changed: listed.length > 0 && !isPart && before !== cap ? true : undefined,
    })
    before = cap
  }
  return { days: listed, addOnSource: listed.at(-1)?.addOn === undefined ? undefined : isMeasured ? 'measured' : 'estimated' }
}

const useDay = record('One day.')({
  day: t.day('Which.'),
  used: optional(t.amount('Credits burned; absent where not known.')),
})

const member = object<PersonRow>('A member.')({
  person: from(t.plain(), ({ label }) => label),
  cap: ifKnown(t.cap(), ({ cap }) => (cap === 'unknown' ? undefined : cap)),
  addOn: optional(t.amount('Add-on use.')),
  band: optional(t.band),
})

const groupUse = record('Credits its members burned.')({ days: t.list(useDay, 'The last days in order.') })

type GroupSource = GroupKnown & ExplainedScope & Pick<Seen, 'view'> & { readonly use: SourceOf<typeof groupUse> }

export const GROUP = object<GroupSource>('One group.')({
  ...t.about('Group'),
  ...GROUP_ENTRY,
  ...EXPLAINED,
  use: groupUse,
  ...t.bounded('top', MOST_MEMBERS, member, 'Those nearest to their cap first.', ({ people }: GroupSource) =>
    people.toSorted((a, b) => bandRank(b.band) - bandRank(a.band) || (shareOf(b) ?? 0) - (shareOf(a) ?? 0)),
  ),
})

export async function groupDocument(seen: Seen, id: string) {
  const known = groupsKnown(seen, await seen.index()).find((one) => seen.people.text(one.id) === id)
  if (!known) throw new DocumentError(404, 'no declared group has this id')
  const scope = groupScope(known.id)
  return GROUP.show(
    { ...known, ...(await explainedScope(seen, scope)), view: seen.view, use: { days: await groupDays(seen, scope) } },
    seen,
  )
}

async function groupDays({ records, now }: Seen, scope: GroupScope): Promise<readonly SourceOf<typeof useDay>[]> {
  const asked = (await records.fact('runsAsked'))?.[scopeKey(scope)]
  const days = daysShown(now)
  if (!asked) return []
  const rows = await records.runs(scope, days)
  const byDay = Map.groupBy(
    rows.filter(({ used }) => used !== undefined),
    ({ dayAt }) => dayAt,
  )
  return daysFrom(days.fromAt, days.untilAt).map((day) => {
    const isKnown = day >= asked.fromAt && day <= asked.throughAt
    const used = (byDay.get(day) ?? []).reduce((sum, row) => sum + (row.used ?? 0), 0)
    return { day, used: isKnown ? used : undefined }
  })
}
