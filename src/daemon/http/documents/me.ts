// What is left for the person who asks, in each workspace where they may see themselves, and what a lead sees of theirs. It tells a person only of
// themselves: of a pool or the balance that they are what stops the person first, and when.

import type { HistoryEntry } from '../../../core/model/change.ts'
import type { Person, Roster } from '../../../core/model/observed.ts'
import { normaliseEmail } from '../../../core/model/scope.ts'
import { DAY_MS, type Instant } from '../../../core/model/units.ts'
import { requestLink } from '../../../core/notify/settings.ts'
import type { Candidate } from '../../../core/resolve/candidate.ts'
import { resolvePerson } from '../../../core/resolve/desired.ts'
import type { GrantStatus } from '../../../core/resolve/grants.ts'
import { rowsOf } from '../../../core/resolve/roster.ts'
import { bandRank, type FirstStop, STOPS } from '../../../core/use/first-stop.ts'
import { shownAt, stopOf } from '../../conditions/view.ts'
import { lifted, type PeopleLabels } from '../labels.ts'
import type { Seen } from './documents.ts'
import { write } from './explained.ts'
import { from, ifKnown, object, optional, record, type Shown } from './field.ts'
import { declaredReason, entryWord } from './part.ts'
import * as t from './parts.ts'
import { cents, scopeText } from './show.ts'
import type { Showing, WorkspaceFacts } from './types.ts'

const WEEK_MS = 7 * DAY_MS

/** Bound of each list. Choice. */
const MOST = 50

const person = record('A person at 85 % of their cap or more.')({
  person: t.plain('As `people` says, or as the reader may see them.'),
  cap: t.cap('The cap in force.'),
  used: t.amount('Add-on use.'),
  source: optional(t.addOnSource),
  band: t.band,
})

const grantEnding = object<GrantStatus & { readonly untilAt: Instant }>('A temporary cap that ends within a week.')({
  scope: from(t.scope('`group:ID`, or a person as shown.'), ({ grant }) => grant.scope),
  cap: ifKnown(t.figure('Whole credits.'), ({ grant: { amount } }) => (amount.kind === 'cap' ? amount.credits : undefined)),
  add: ifKnown(t.figure('Credits on top.'), ({ grant: { amount } }) => (amount.kind === 'add' ? amount.credits : undefined)),
  until: from(t.instant('Its end.'), ({ untilAt }) => untilAt),
  reason: from(t.text('As the policy gives it.'), ({ grant }) => grant.reason),
})

const { at, scope, from: before, to, cause } = write.fields
const change = object<HistoryEntry>('A cap that capkeeper wrote.')({ at, scope, from: before, to, cause })

export const LEAD = record('What a lead wants to know of the people they see.')({
  ...t.about('Lead'),
  ...t.bounded('near', MOST, person, 'The nearest first.'),
  ...t.bounded('grants', MOST, grantEnding, 'The earliest end first.'),
  ...t.bounded('changes', MOST, change, 'Of the last seven days, the newest first.'),
})

export async function leadDocument(seen: Seen) {
  const { view, grants, people: labels, now } = seen
  const writes = await seen.writes(now - WEEK_MS)
  const near = view.people.flatMap(({ email, cap, used, source, band }) =>
    typeof cap === 'number' && used !== undefined && band !== undefined && bandRank(band) >= bandRank('85_to_95')
      ? [{ person: labels.label(email), cap, used, source, band, share: cap === 0 ? 1 : used / cap }]
      : [],
  )
  near.sort((a, b) => b.share - a.share || (a.person < b.person ? -1 : 1))
  const ending = grants.flatMap(({ untilAt, ...one }) =>
    (one.state === 'active' || one.state === 'expiring') && untilAt !== undefined && untilAt - now <= WEEK_MS ? [{ ...one, untilAt }] : [],
  )
  ending.sort((a, b) => a.untilAt - b.untilAt || (scopeText(a.grant.scope, seen) < scopeText(b.grant.scope, seen) ? -1 : 1))
  return LEAD.show({ near, grants: ending, changes: writes.filter(({ result }) => result === 'applied') }, seen)
}

/** A workspace takes so much at most. Reasons are cut for it, to the first of these lengths that fits; a letter may take six bytes. */
const MOST_BYTES = 2_048
const LETTERS = [200, 100, 40]
const MOST_GRANTS = 4
const MOST_LINK_LETTERS = 700

const KIND = t.plain('Where a cap is declared: `user`, `group`, `team`, one of them with `grant`, `rule`, `pool`, or `conflict`.')
const REASON = t.text('As the policy gives it.')

/** What stops a person first, as documents show it. */
export const stop = object<FirstStop>('What stops the person first in this cycle.')({
  what: t.words(STOPS, 'Their own cap, the pool that deals it, the add-on credits of the workspace, or nothing.'),
  on: ifKnown(t.day('When it is expected, or has happened.'), ({ at }) => at),
})

const grant = object<Candidate>('A temporary cap.')({
  kind: from(KIND, entryWord),
  cap: t.cap(),
  until: from(t.instant('Its end.'), ({ untilAt }, { now }) => untilAt ?? now),
  reason: optional(REASON),
})

const entry = object<Candidate>('The declaration of the cap in force; where none fits it, the one that decides.')({
  kind: from(KIND, entryWord),
  reason: ifKnown(REASON, declaredReason),
})

const workspace = object<Own>('A workspace that lists the person.')({
  workspace: from(t.plain('The name of the workspace.'), ({ view }) => view.workspace),
  readAt: ifKnown(t.instant('When the use was read.'), ({ view }) => view.roster?.readAt),
  used: ifKnown(t.amount('All credits used in this cycle.'), ({ person }) => person.used),
  addOn: ifKnown(t.amount('Add-on use.'), ({ status }) => status?.used),
  addOnSource: ifKnown(t.addOnSource, ({ status }) => (status?.used === undefined ? undefined : status.source)),
  cap: ifKnown(t.cap('The cap in force: whole credits, or `none`.'), ({ status }) => status?.cap),
  // While a guard, a pause or the mode keeps a change back, the cap in force is still that of another entry.
  entry: ifKnown(entry, ({ chain, status }) => chain.find((one) => one.cap === status?.cap) ?? chain[0]),
  left: ifKnown(t.amount('Credits left of the cap.'), ({ status }) =>
    typeof status?.cap === 'number' && status.used !== undefined ? Math.max(0, status.cap - status.used) : undefined,
  ),
  stopsFirst: from(stop, (own, { now }) => stopOf(own, own.person, now)),
  grants: from(t.list(grant, 'Those that run.'), ({ chain }) => grantsReaching(chain).slice(0, MOST_GRANTS)),
  cycleEnd: ifKnown(t.instant('The first instant of the next cycle.'), ({ view }) => t.cycleOf(view)?.endAt),
  requestUrl: ifKnown(t.plain('Where to ask for more, as `requests` of the config says.'), linkOf),
})

/** The link to ask for more. It is left out where it would take most of what a workspace may take. */
function linkOf({ person: { email }, status }: Own, { requestUrl }: Showing): string | undefined {
  const link = requestUrl === undefined ? undefined : requestLink(requestUrl, { email, cap: status?.cap, used: cents(status?.used) })
  return link !== undefined && link.length <= MOST_LINK_LETTERS ? link : undefined
}

export const ME = object<{ readonly workspaces: readonly Shown<typeof workspace>[] }>('What is left for the person who asks.')({
  apiVersion: t.literal('capkeeper/v1'),
  kind: t.literal('Me'),
  workspaces: t.list(t.made(workspace), 'One for each workspace that lists the person.'),
})

/** What is known of the person who asks in one workspace. */
type Own = NonNullable<ReturnType<typeof ownOf>>

function ownOf({ view, desiredState }: WorkspaceFacts, email: string) {
  const person = view.roster && onlyOne(view.roster, email)
  const chain = (person && desiredState && resolvePerson(person.email, desiredState.inputs)?.chain) ?? []
  return person && { view, desiredState, person, chain, status: shownAt(view.people).get(person.email) }
}

/** `hashed`: an address in a reason may be another person's. */
export function meDocument(facts: readonly WorkspaceFacts[], email: string, hashed: PeopleLabels, showing: Showing) {
  const workspaces = facts.flatMap((one) => {
    const own = ownOf(one, email)
    if (!own) return []
    const made = (letters: number) => {
      const text = lifted((reason: string) => hashed.text(reason).slice(0, letters))
      return workspace.show(own, { ...showing, people: { ...hashed, text } })
    }
    const fitting = LETTERS.values()
      .map(made)
      .find((entry) => Buffer.byteLength(JSON.stringify(entry)) <= MOST_BYTES)
    return [fitting ?? made(0)]
  })
  return ME.show({ workspaces }, showing)
}

/** The row of an address; undefined when no row fits, or more than one. */
function onlyOne(roster: Roster, email: string): Person | undefined {
  const address = normaliseEmail(email)
  return roster.duplicates.includes(address) ? undefined : rowsOf(roster).get(address)
}

/** Temporary caps of the person. Those of groups and the team do not reach who has a narrower cap. */
function grantsReaching(chain: readonly Candidate[]): readonly Candidate[] {
  const lasting = chain.findIndex(({ kind, cap }) => kind !== 'grant' && kind !== 'conflict' && cap !== 'none')
  const reaches = ({ scope }: Candidate, at: number): boolean => scope.kind === 'user' || lasting === -1 || at < lasting
  return chain.filter((one, at) => one.kind === 'grant' && one.untilAt !== undefined && reaches(one, at))
}
