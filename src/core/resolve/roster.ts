// What is believed of a new reading: of the roster, of its billing cycle, and of the people file; and why somebody whom policy names is not managed.
// A roster that suddenly shrinks looks just like a key that is limited to one group: it is doubted, and the last known good one serves, until two
// readings agree or a person approves the change. A figure and its cycle stay together: one answer that names another cycle changes nothing, and
// figures that still belong to the cycle before are unknown. It decides nothing about caps, and knows no file.
import { approvedIn, isApproved } from '../interpret/effective.ts'
import {
  areStillOld,
  CYCLE,
  ENDED_CYCLE,
  type EndedCycle,
  type GroupMembers,
  isAgreed,
  isSameCycle,
  LISTING,
  type Listing,
  type Person,
  ROSTER,
  type Roster,
} from '../model/observed.ts'
import { onceFor } from '../model/once.ts'
import type { PolicyRevision, PolicySet } from '../model/policy.ts'
import type { Problem } from '../model/problem.ts'
import { instant, list, number, type Of, optional, record, shape, text } from '../model/shape.ts'
import { DAY_MS, type Instant, MINUTE_MS, notAhead } from '../model/units.ts'
import type { DesiredInputs } from './chain.ts'

/** The rows of a roster by address. */
export const rowsOf = onceFor(({ people }: Roster) => new Map(people.map((person) => [person.email, person])))

// A file that held a policy and holds none now is broken, as one that does not parse: an emptied file must not remove what it declared. Deleting
// the file is how its policies are removed.

/** One problem for each file of which `kept`, the last known good set, has a part, and which is empty now. */
export function emptied({ set, delegated, empty = [] }: PolicyRevision, kept: PolicySet | undefined): readonly Problem[] {
  const whole = new Set([...filesOf(set), ...(delegated?.files.map(({ file }) => file) ?? [])])
  const lost = kept ? [...new Set(filesOf(kept)).difference(whole)].map(endOf) : []
  return empty
    .filter((file) => lost.some((one) => one.endsWith(endOf(file)) || endOf(file).endsWith(one)))
    .map((file) => ({
      severity: 'error',
      code: 'EMPTY_FILE',
      message: `${file} held policies and is empty now; they stay in force`,
      hint: 'restore the file, or delete it to remove what it declared',
      at: { file, line: 1, column: 1 },
    }))
}

/** A path is shown from the working directory, which may be another one by now: of one file, one path is the end of the other. */
const endOf = (path: string): string => `/${path.replace(/^(\.\.\/)+/, '')}`

const filesOf = ({ rules, grants, groups, protectedPeople, approvals, peopleRules, pools }: PolicySet): readonly string[] =>
  [rules, grants, groups, protectedPeople, approvals, peopleRules, pools].flatMap((all) => all.map(({ at }) => at.file))

/** Two short readings that agree, this far apart, are believed up to `DOUBT_CEILING_PERCENT`. */
const AGREEMENT_MS = 10 * MINUTE_MS
export const DOUBT_CEILING_PERCENT = 50

/** What is remembered beside the roster in use, whose figures belong to its cycle. */
export const REMEMBERED = {
  /** A roster with suddenly fewer people, which is not believed yet (`rosterShrink`). */
  doubted: optional(shape({ roster: ROSTER, since: instant })),
  /** Another cycle was named: it has not begun for us yet, or it has, and the figures still belong to the last one. */
  turn: optional(
    shape({
      cycle: CYCLE,
      /** When it was first named. */
      namedAt: instant,
      /** While it has not begun: when the figures in use were read. */
      figuresAt: optional(instant),
    }),
  ),
  /** Each person's use at the end of the previous cycle, kept for the first 6 h of a new one. */
  previousCycle: optional(ENDED_CYCLE),
}
const BELIEVED = shape({ roster: ROSTER, ...REMEMBERED })
type Believed = Of<typeof BELIEVED>

export const approvedCount = (roster: Roster): number => approvedIn(roster).length

/** The roster to use: the new reading, or the last good one while the new one is doubted. `limitPercent` is `guards.rosterShrink`. */
export function judgeRoster(
  fresh: Roster,
  known: Pick<Believed, 'roster' | 'doubted'> | undefined,
  limitPercent: number | 'off',
  now: Instant,
): Pick<Believed, 'roster' | 'doubted'> {
  if (!known || limitPercent === 'off') return { roster: fresh }
  const before = approvedCount(known.roster)
  const after = approvedCount(fresh)
  const fellPercent = before === 0 ? 0 : ((before - after) / before) * 100
  if (fellPercent <= limitPercent) return { roster: fresh }
  const doubt = known.doubted
  if (!doubt || !agree(approvedCount(doubt.roster), after)) return { roster: known.roster, doubted: { roster: fresh, since: now } }
  const since = notAhead(doubt.since, now)
  if (fellPercent <= DOUBT_CEILING_PERCENT && now - since >= AGREEMENT_MS) return { roster: fresh }
  return { roster: known.roster, doubted: { roster: fresh, since } }
}

/** Readings agree when their counts differ by at most 1 %, or by one person (choice). */
export const agree = (a: number, b: number): boolean => Math.abs(a - b) <= Math.max(1, Math.max(a, b) / 100)

/** The groups that still match a declared id and name, in the declared order. Under another name the members of a group are not known yet. */
export function keepGroups(
  groups: readonly GroupMembers[],
  declared: readonly Pick<GroupMembers, 'id' | 'name'>[],
): readonly GroupMembers[] {
  const byId = new Map(groups.map((group) => [group.id, group]))
  return declared.flatMap(({ id, name }) => {
    const known = byId.get(id)
    return known?.name === name ? [known] : []
  })
}

/** Addresses of one roster that are compared with all people: comparing many with many takes seconds. */
const MOST_COMPARED = 20

/** What was found for each address, while the roster is the same. */
const comparedIn = onceFor((_roster: Roster) => new Map<string, string>())

/** Why a person is neither read nor written; undefined where they are approved, or the roster is unknown. */
export function whyAway({ roster, nearest }: DesiredInputs, email: string): string | undefined {
  if (!roster) return undefined
  const people = rowsOf(roster)
  const person = people.get(email)
  if (person) return isApproved(person, roster) ? undefined : `${email} is ${person.status}, not approved`
  const found = comparedIn(roster)
  if (nearest && !found.has(email) && found.size < MOST_COMPARED) found.set(email, meant(nearest(email, [...people.keys()])))
  return `${email} is not on the roster${found.get(email) ?? ''}`
}

/** Why a group is neither read nor written. The service lists members by the name of a group, and does not list groups. */
export function whyUnknown({ set, unknownGroups, nearest }: DesiredInputs, id: string): string {
  const name = set.groups.find(({ scope }) => scope.id === id)?.name
  if (name === undefined) return `the service does not know group ${id}`
  const known = set.groups.filter(({ scope }) => !unknownGroups.includes(scope.id)).map((group) => group.name)
  return `the service does not know group ${id} by the name ${name}${meant(nearest?.(name, known))}`
}

const meant = (near: string | undefined): string => (near === undefined ? '' : `; did you mean ${near}?`)

// When a new billing cycle is believed to have begun, and since when the figures are its own.

type CycleFacts = Omit<Believed, 'doubted'>

/**
 * What is believed after a good reading of the roster. Another cycle has begun when two readings agree, or when the one before is over too.
 * `serviceNow`: the time by the service's clock.
 */
export function takeCycle(fresh: Roster, known: CycleFacts | undefined, now: Instant, serviceNow: Instant): CycleFacts {
  const ended = { previousCycle: known?.previousCycle }
  const [present, named] = [known?.roster.cycle, fresh.cycle]
  if (!known || !present || !named) return { roster: fresh, ...ended }
  const isPresent = isSameCycle(present, named)
  if (isPresent && known.roster.people.some(({ used }) => used !== undefined)) return { roster: fresh, ...ended }
  const namedAt = known.turn && isSameCycle(known.turn.cycle, named) ? notAhead(known.turn.namedAt, now) : fresh.readAt
  const isOver = named.startAt > present.startAt && Math.max(named.startAt, present.endAt) <= serviceNow
  const figuresAt = notAhead(known.turn?.figuresAt ?? known.roster.readAt, now)
  if (!isPresent && !isOver && !isAgreed(namedAt, fresh.readAt)) {
    return { roster: withUse(fresh, known.roster), turn: { cycle: named, namedAt, figuresAt }, ...ended }
  }
  const previousCycle = isPresent ? known.previousCycle : { cycle: present, used: usedByEmail(known.roster), readAt: figuresAt }
  // The two clocks may disagree: the greater age counts.
  const ageMs = Math.max(serviceNow - named.startAt, fresh.readAt - namedAt)
  const before = previousCycle && previousCycle.cycle.startAt < named.startAt ? Object.values(previousCycle.used) : []
  const isOld = areStillOld(sum(before), sum(fresh.people.map(({ used = 0 }) => used)), ageMs)
  return {
    roster: isOld ? withUse(fresh, undefined) : fresh,
    turn: isOld ? { cycle: named, namedAt } : undefined,
    previousCycle,
  }
}

/** The people of one reading with the figures and cycle of another, or without figures. */
function withUse(fresh: Roster, other: Roster | undefined): Roster {
  const figures = new Map(other?.people.map(({ email, used }) => [email, used]))
  return {
    ...fresh,
    ...(other?.cycle && { cycle: other.cycle }),
    people: fresh.people.map((person): Person => ({ ...person, used: figures.get(person.email) })),
  }
}

/** Groups with the figures that belong to the roster's. */
export function groupsOfTurn(turn: Believed['turn'], fresh: readonly GroupMembers[], known: readonly GroupMembers[]) {
  if (!turn) return fresh
  const figures = new Map(turn.figuresAt === undefined ? [] : known.map(({ id, used }) => [id, used]))
  return fresh.map((group): GroupMembers => ({ ...group, used: figures.get(group.id) }))
}

const usedByEmail = ({ people }: Roster): EndedCycle['used'] =>
  Object.fromEntries(people.flatMap(({ email, used }) => (used === undefined ? [] : [[email, used]])))

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0)

// What the people file says of each person. A person who vanishes from the file keeps the last values for a week. A changed file counts once it has
// stayed the same for ten minutes, and not while it lacks too many people.

/** A changed file counts after it has stayed the same for so long. */
export const UNCHANGED_MS = 10 * MINUTE_MS

/** Who vanishes from the file keeps the last values for so long. */
const GONE_LIFE_MS = 7 * DAY_MS

/** Values are kept as long as history is. */
const KEPT_MS = 400 * DAY_MS

/** So long a change is told of with the new value. */
const WAS_SHOWN_MS = 30 * DAY_MS

/** Changes of one person that are kept at most. */
const MOST_CHANGES = 50

/** A whole and valid people file, as it was read now. */
export interface DirectoryFile {
  /** Of its bytes. */
  readonly digest: string
  /** The values of people on the roster by e-mail; a column that the file does not have now is missing. */
  readonly people: ReadonlyMap<string, Readonly<Record<string, string>>>
}

/** A listing since an instant. */
const DATED_LISTING = shape({ at: instant, ...LISTING })
type DatedListing = Of<typeof DATED_LISTING>

/** Another file that does not count yet. */
const NEXT_FILE = shape({
  digest: text,
  since: instant,
  /** It lacks too many people: how many of those that had a value have one. It lasts until a file counts, also while it changes. */
  fell: optional(shape({ from: number, to: number })),
  doubtedAt: optional(instant),
})

/** What is remembered of the file between readings and processes. */
export const DIRECTORY_MEMORY = shape({
  /** Of the file that counts. */
  digest: text,
  /** Before it nothing is known of anybody. */
  sinceAt: instant,
  next: optional(NEXT_FILE),
  /** By e-mail, oldest first. */
  people: record(list(DATED_LISTING)),
  /** When those of them who are not on the roster were first missing. */
  left: optional(record(instant)),
})
export type DirectoryMemory = Of<typeof DIRECTORY_MEMORY>

/** The memory after a reading. `limitPercent` is `guards.directoryShrink`. */
export function takeDirectory(
  file: DirectoryFile,
  before: DirectoryMemory | undefined,
  roster: Roster,
  limitPercent: number | 'off',
  now: Instant,
): DirectoryMemory {
  if (before && before.digest !== file.digest) {
    const since = before.next?.digest === file.digest ? notAhead(before.next.since, now) : now
    const next = { ...before.next, digest: file.digest, since }
    if (now - since < UNCHANGED_MS) return { ...before, next }
    const fell = shrinkOf(file, before, roster)
    if (limitPercent !== 'off' && (fell.from - fell.to) * 100 > limitPercent * fell.from)
      return { ...before, next: { ...next, fell, doubtedAt: notAhead(before.next?.doubtedAt ?? now, now) } }
  }
  const people: Record<string, readonly DatedListing[]> = {}
  for (const { email } of roster.people) people[email] = listedNow(file.people.get(email), before?.people[email] ?? [], now)
  // People who left stay known, for reports on past cycles.
  const left: Record<string, Instant> = {}
  for (const [email, list] of Object.entries(before?.people ?? {})) {
    const leftAt = notAhead(before?.left?.[email] ?? now, now)
    if (Object.hasOwn(people, email) || now - leftAt >= KEPT_MS) continue
    people[email] = list
    left[email] = leftAt
  }
  return { digest: file.digest, sinceAt: before?.sinceAt ?? now, people, left }
}

/**
 * How many approved people have a value in the file that counts, and how many of them still have it in the new one: of all columns the one that
 * lost most. So an export that lost the values of a column is doubted like one that lost people. A column that is not asked for any more decides
 * nothing, so it is not missed; a file without one that is asked for is invalid.
 */
function shrinkOf(file: DirectoryFile, before: DirectoryMemory, roster: Roster): { readonly from: number; readonly to: number } {
  const asked = Object.keys(file.people.values().next().value ?? {})
  const counts = new Map<string, { from: number; to: number }>()
  const count = (name: string, has: boolean): void => {
    const one = counts.get(name) ?? { from: 0, to: 0 }
    counts.set(name, { from: one.from + 1, to: one.to + Number(has) })
  }
  for (const person of roster.people) {
    const last = before.people[person.email]?.at(-1)
    if (!last?.values || last.goneAt !== undefined || !isApproved(person, roster)) continue
    const now = file.people.get(person.email)
    count('', now !== undefined)
    for (const column of asked) if ((last.values[column] ?? '') !== '') count(`=${column}`, (now?.[column] ?? '') !== '')
  }
  const lost = ({ from, to }: { from: number; to: number }): number => (from === 0 ? 0 : (from - to) / from)
  return [...counts.values()].reduce((worst, one) => (lost(one) > lost(worst) ? one : worst), { from: 0, to: 0 })
}

function listedNow(values: Listing['values'], before: readonly DatedListing[], now: Instant): readonly DatedListing[] {
  const last = before.at(-1)
  const add = (listing: Listing): readonly DatedListing[] =>
    [...before.filter((_, index) => now - (before[index + 1]?.at ?? now) < KEPT_MS), { at: now, ...listing }].slice(-MOST_CHANGES)
  if (values) {
    const was = Object.entries(last?.values ?? {}).filter(([column, value]) => values[column] !== undefined && values[column] !== value)
    if (was.length > 0) return add({ values, was: { at: now, values: Object.fromEntries(was) } })
    if (last?.values && last.goneAt === undefined && isSame(last.values, values)) return before
    return add({ values, was: last?.was })
  }
  if (last?.values && last.goneAt === undefined) {
    return add({ values: last.values, was: last.was, goneAt: now })
  }
  if (last && (!last.values || now - notAhead(last.goneAt ?? now, now) < GONE_LIFE_MS)) return before
  return add({})
}

const isSame = (a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([key, value]) => b[key] === value)

/** The roster with what is known of each person from the people file. */
export function withListings(roster: Roster, memory: DirectoryMemory | undefined): Roster {
  if (!memory) return roster
  return {
    ...roster,
    people: roster.people.map((person) => {
      const last = Object.hasOwn(memory.people, person.email) ? memory.people[person.email]?.at(-1) : undefined
      if (!last) return person
      const { at: _, was, ...listing } = last
      return { ...person, listing: { ...listing, was: was && roster.readAt - was.at < WAS_SHOWN_MS ? was : undefined } }
    }),
  }
}

/** What was known of a person at an instant; undefined where nothing was. */
export function listingAt({ people, sinceAt }: DirectoryMemory, email: string, at: Instant): Listing | undefined {
  if (at < sinceAt) return undefined
  return Object.hasOwn(people, email) ? people[email]?.findLast((one) => one.at <= at) : undefined
}

export const LISTING_STATES = ['listed', 'unlisted', 'stale'] as const
type ListingState = (typeof LISTING_STATES)[number]

const listingState = ({ values, goneAt }: Listing): ListingState =>
  values === undefined ? 'unlisted' : goneAt === undefined ? 'listed' : 'stale'

/** How many approved people are in the file, are not, and have vanished from it; undefined while no file was read. */
export function countListings(roster: Roster): Readonly<Record<ListingState, number>> | undefined {
  const counts = { listed: 0, unlisted: 0, stale: 0 }
  let isKnown = false
  for (const person of roster.people) {
    if (!person.listing || !isApproved(person, roster)) continue
    isKnown = true
    counts[listingState(person.listing)] += 1
  }
  return isKnown ? counts : undefined
}
