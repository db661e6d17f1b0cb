// What is left for the person who asks, in each workspace where they may see themselves, and what a lead sees of theirs. It tells a person only of
// themselves: of a pool or the balance that they are what stops the person first, and when.

import type { Person, Roster } from '../../../core/model/observed.ts'
import { normaliseEmail } from '../../../core/model/scope.ts'
import { DAY_MS, type Instant } from '../../../core/model/units.ts'
import { requestLink } from '../../../core/notify/settings.ts'
import type { Candidate } from '../../../core/resolve/candidate.ts'
import { resolvePerson } from '../../../core/resolve/desired.ts'
import { rowsOf } from '../../../core/resolve/roster.ts'
import type { FirstStop } from '../../../core/use/first-stop.ts'
import { shownAt, stopOf } from '../../conditions/view.ts'
import { lifted, type PeopleLabels } from '../status/labels.ts'
import type { Seen } from './documents.ts'
import { declaredReason, entryWord } from './part.ts'
import { bounded, cents, dayText, headAbout, rfc3339, scopeText } from './show.ts'
import type { LeadDocument, MeDocument, Showing, WorkspaceFacts } from './types.ts'

const WEEK_MS = 7 * DAY_MS

/** Bound of each list. Choice. */
const MOST = 50

export async function leadDocument(seen: Seen): Promise<LeadDocument> {
  const { view, grants, people: labels, now } = seen
  const writes = await seen.writes(now - WEEK_MS)
  const near = view.people.flatMap(({ email, cap, used, source, band }) =>
    typeof cap === 'number' && used !== undefined && band !== undefined && NEAR.has(band)
      ? [{ person: labels.label(email), cap, used: cents(used), source, band, share: cap === 0 ? 1 : used / cap }]
      : [],
  )
  near.sort((a, b) => b.share - a.share || (a.person < b.person ? -1 : 1))
  const ending = grants.flatMap(({ grant: { scope, amount, reason }, state, untilAt }) =>
    (state === 'active' || state === 'expiring') && untilAt !== undefined && untilAt - now <= WEEK_MS
      ? [
          {
            scope: scopeText(scope, seen),
            ...(amount.kind === 'cap' ? { cap: amount.credits } : { add: amount.credits }),
            until: rfc3339(untilAt),
            reason: labels.text(reason),
          },
        ]
      : [],
  )
  ending.sort((a, b) => (a.until === b.until ? (a.scope < b.scope ? -1 : 1) : a.until < b.until ? -1 : 1))
  const changes = writes.flatMap(({ at, scope, from, to, effect, cause, result }) =>
    result === 'applied' ? [{ at: rfc3339(at), scope: scopeText(scope, seen), from, to, effect, cause }] : [],
  )
  return {
    ...headAbout('Lead', seen),
    ...bounded('near', near, MOST, ({ share: _, ...one }) => one),
    ...bounded('grants', ending, MOST, (one) => one),
    ...bounded('changes', changes, MOST, (one) => one),
  }
}

const NEAR: ReadonlySet<string> = new Set(['85_to_95', '95_to_100', 'at_cap'])

/** A workspace takes so much at most. Reasons are cut for it, to the first of these lengths that fits; a letter may take six bytes. */
const MOST_BYTES = 2_048
const LETTERS = [200, 100, 40]
const MOST_GRANTS = 4
const MOST_LINK_LETTERS = 700

type MeEntry = MeDocument['workspaces'][number]

/** `hashed`: an address in a reason may be another person's. */
export function meDocument(
  facts: readonly WorkspaceFacts[],
  email: string,
  hashed: PeopleLabels,
  { now, requestUrl }: Showing,
): MeDocument {
  const workspaces = facts.flatMap((one) => {
    const person = one.view.roster && onlyOne(one.view.roster, email)
    if (!person) return []
    const made = (letters: number): MeEntry => {
      const shown = lifted((reason: string) => hashed.text(reason).slice(0, letters))
      const entry = entryOf(one, person, shown, now)
      return { ...entry, requestUrl: linkOf(entry, person, requestUrl) }
    }
    const fitting = LETTERS.values()
      .map(made)
      .find((entry) => Buffer.byteLength(JSON.stringify(entry)) <= MOST_BYTES)
    return [fitting ?? made(0)]
  })
  return { apiVersion: 'capkeeper/v1', kind: 'Me', workspaces }
}

/** The link to ask for more. It is left out where it would take most of what a workspace may take. */
function linkOf({ cap, addOn }: MeEntry, { email }: Person, url: string | undefined): string | undefined {
  const link = url === undefined ? undefined : requestLink(url, { email, cap, used: addOn })
  return link !== undefined && link.length <= MOST_LINK_LETTERS ? link : undefined
}

/** The row of an address; undefined when no row fits, or more than one. */
function onlyOne(roster: Roster, email: string): Person | undefined {
  const address = normaliseEmail(email)
  return roster.duplicates.includes(address) ? undefined : rowsOf(roster).get(address)
}

function entryOf({ view, desiredState }: WorkspaceFacts, person: Person, shown: PeopleLabels['text'], now: Instant): MeEntry {
  const status = shownAt(view.people).get(person.email)
  const chain = (desiredState && resolvePerson(person.email, desiredState.inputs)?.chain) ?? []
  const cap = status?.cap
  // While a guard, a pause or the mode keeps a change back, the cap in force is still that of another entry.
  const entry = chain.find((one) => one.cap === cap) ?? chain[0]
  const left = typeof cap === 'number' && status?.used !== undefined ? cap - status.used : undefined
  const cycle = view.roster?.cycle ?? view.balance?.cycle
  return {
    workspace: view.workspace,
    readAt: rfc3339(view.roster?.readAt),
    used: cents(person.used),
    ...(status?.used !== undefined && { addOn: cents(status.used), addOnSource: status.source }),
    cap,
    entry: entry && { kind: entryWord(entry), reason: shown(declaredReason(entry)) },
    left: left === undefined ? undefined : cents(Math.max(0, left)),
    stopsFirst: stopEntry(stopOf({ view, desiredState }, person, now)),
    grants: grantsReaching(chain)
      .slice(0, MOST_GRANTS)
      .map(({ scope, kind, cap: granted, untilAt = now, reason }) => ({
        kind: entryWord({ kind, scope }),
        cap: granted,
        until: rfc3339(untilAt),
        reason: shown(reason),
      })),
    cycleEnd: rfc3339(cycle?.endAt),
  }
}

/** Temporary caps of the person. Those of groups and the team do not reach who has a narrower cap. */
function grantsReaching(chain: readonly Candidate[]): readonly Candidate[] {
  const lasting = chain.findIndex(({ kind, cap }) => kind !== 'grant' && kind !== 'conflict' && cap !== 'none')
  const reaches = ({ scope }: Candidate, at: number): boolean => scope.kind === 'user' || lasting === -1 || at < lasting
  return chain.filter((one, at) => one.kind === 'grant' && one.untilAt !== undefined && reaches(one, at))
}

/** As documents show it. */
export const stopEntry = ({ what, at }: FirstStop): MeEntry['stopsFirst'] => ({
  what,
  on: dayText(at),
})
