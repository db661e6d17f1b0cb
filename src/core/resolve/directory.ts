// What the people file says of each person on the roster, and whether a condition on it holds. A person who vanishes from the file keeps the last
// values for a week. A changed file counts once it has stayed the same for ten minutes, and not while it lacks too many people. It decides
// nothing about caps, and knows no file.

import { isApproved } from '../interpret/effective.ts'
import type { Listing, Person, Roster } from '../model/observed.ts'
import type { Attributes, When } from '../model/policy.ts'
import { DAY_MS, type Instant, MINUTE_MS, notAhead } from '../model/units.ts'

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
export interface DatedListing extends Listing {
  readonly at: Instant
}

/** What is remembered of the file between readings and processes. */
export interface DirectoryMemory {
  /** Of the file that counts. */
  readonly digest: string
  /** Before it nothing is known of anybody. */
  readonly sinceAt: Instant
  /** Another file that does not count yet. `fell`: how many of the people that had a value have none in it. */
  readonly next?: { readonly digest: string; readonly since: Instant; readonly fell?: { readonly from: number; readonly to: number } }
  /** By e-mail, oldest first. */
  readonly people: Readonly<Record<string, readonly DatedListing[]>>
}

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
    const { next: _, ...rest } = before
    if (now - since < UNCHANGED_MS) return { ...rest, next: { digest: file.digest, since } }
    const fell = shrinkOf(file, before, roster)
    if (limitPercent !== 'off' && (fell.from - fell.to) * 100 > limitPercent * fell.from) {
      return { ...rest, next: { digest: file.digest, since, fell } }
    }
  }
  const people: Record<string, readonly DatedListing[]> = {}
  const here = new Set<string>()
  for (const { email } of roster.people) {
    here.add(email)
    people[email] = listedNow(file.people.get(email), before?.people[email] ?? [], now)
  }
  // People who left stay known, for reports on past cycles.
  for (const [email, list] of Object.entries(before?.people ?? {})) {
    const last = list.at(-1)
    if (!here.has(email) && last && now - last.at < KEPT_MS) people[email] = list
  }
  return { digest: file.digest, sinceAt: before?.sinceAt ?? now, people }
}

/**
 * How many approved people have a value in the file that counts, and how many of them still have it in the new one: of all columns the one that
 * lost most. So an export that lost a column is doubted like one that lost people.
 */
function shrinkOf(file: DirectoryFile, before: DirectoryMemory, roster: Roster): { readonly from: number; readonly to: number } {
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
    for (const [column, value] of Object.entries(last.values)) if (value !== '') count(`=${column}`, (now?.[column] ?? '') !== '')
  }
  const lost = ({ from, to }: { from: number; to: number }): number => (from === 0 ? 0 : (from - to) / from)
  return [...counts.values()].reduce((worst, one) => (lost(one) > lost(worst) ? one : worst), { from: 0, to: 0 })
}

function listedNow(
  values: Readonly<Record<string, string>> | undefined,
  before: readonly DatedListing[],
  now: Instant,
): readonly DatedListing[] {
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

/** Whether a condition on the people file holds. Who is not listed has no known value, and an empty cell is a known empty text. */
export function attributesHold({ listed, columns = {} }: Attributes, listing: Listing | undefined): boolean | 'unknown' {
  if (!listing) return 'unknown'
  const { values } = listing
  if (listed !== undefined && listed !== (values !== undefined)) return false
  let truth: boolean | 'unknown' = true
  for (const [column, text] of Object.entries(columns)) {
    const value = values?.[column]
    if (value === undefined) truth = 'unknown'
    else if (value !== text) return false
  }
  return truth
}

/** `costCenter is CC-12, was CC-7`. */
export function attributesText({ listed, columns = {} }: Attributes, listing: Listing | undefined): string {
  const { values, was, goneAt } = listing ?? {}
  const parts = Object.keys(columns).map((column) => {
    const before = was?.values[column]
    return `${column} is ${cellText(values?.[column] ?? '')}${before === undefined ? '' : `, was ${cellText(before)}`}`
  })
  if (listed !== undefined && values === undefined) parts.unshift('not in the people file')
  if (listed !== undefined && values !== undefined && goneAt === undefined) parts.unshift('in the people file')
  if (goneAt !== undefined) parts.push('no longer in the people file, the last values count for 7 days')
  return parts.join(', ')
}

/** The last change of a person in the file: `costCenter is CC-12, was CC-7`. */
export interface AttributeChange {
  readonly at: Instant
  readonly text: string
}

/** Changes in the file by e-mail, of the columns that conditions name. */
export function attributeChanges(whens: readonly When[], people: readonly Person[]): ReadonlyMap<string, AttributeChange> {
  const named = new Set(whens.flatMap(({ attributes }) => Object.keys(attributes?.columns ?? {})))
  if (named.size === 0) return new Map()
  return new Map(
    people.flatMap(({ email, listing }) => {
      const columns = Object.entries(listing?.was?.values ?? {}).filter(([column]) => named.has(column))
      if (!listing?.was || columns.length === 0) return []
      return [[email, { at: listing.was.at, text: attributesText({ columns: Object.fromEntries(columns) }, listing) }] as const]
    }),
  )
}

const cellText = (text: string): string => (text === '' ? 'empty' : text)

/** Why it is not known whether the condition holds. */
export function attributesMissing({ columns = {} }: Attributes, listing: Listing | undefined): string {
  if (!listing) return 'no people file was read yet'
  if (!listing.values) return 'not in the people file'
  const missing = Object.keys(columns).filter((column) => listing.values?.[column] === undefined)
  return `the people file that was read last has no column ${missing.join(', ')}`
}

/** Why nobody meets the condition, with the nearest value there is. */
export function nobodyHas(
  { listed, columns = {} }: Attributes,
  people: readonly Person[],
  nearest: (word: string, known: readonly string[]) => string | undefined,
): string {
  for (const [column, text] of Object.entries(columns)) {
    const values = [...new Set(people.flatMap(({ listing }) => listing?.values?.[column] ?? []))].sort()
    if (values.includes(text)) continue
    const near = nearest(text, values)
    return `nobody has the ${column} ${cellText(text)}${near === undefined ? '' : `; did you mean ${cellText(near)}?`}`
  }
  return listed === false ? 'everybody is in the people file' : 'nobody in the people file meets all of it'
}
