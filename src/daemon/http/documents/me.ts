// What is left for the person who asks, in each workspace where they may see themselves. It tells a person only of themselves: of a pool or the balance
// that they are what stops the person first, and when.

import type { Person, Roster } from '../../../core/model/observed.ts'
import { normaliseEmail } from '../../../core/model/scope.ts'
import type { Instant } from '../../../core/model/units.ts'
import { requestLink } from '../../../core/notify/request-link.ts'
import { resolvePerson } from '../../../core/resolve/desired.ts'
import type { FirstStop } from '../../../core/use/first-stop.ts'
import { shownAt, stopOf } from '../../conditions/stop.ts'
import type { PeopleLabels } from '../status/labels.ts'
import type { Showing, WorkspaceFacts } from './facts.ts'
import { declaredReason, entryWord } from './part.ts'
import { cents, rfc3339 } from './show.ts'
import type { MeDocument } from './types.ts'

/** Letters of a reason, and grants, so that a workspace takes at most 2 KiB. */
const MOST_LETTERS = 200
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
    const entry = entryOf(one, person, hashed, now)
    return [{ ...entry, ...linkOf(entry, person, requestUrl) }]
  })
  return { apiVersion: 'capkeeper/v1', kind: 'Me', workspaces }
}

/** The link to ask for more. It is left out where it would take most of what a workspace may take. */
function linkOf({ cap, addOn }: MeEntry, { email }: Person, url: string | undefined): { readonly requestUrl?: string } {
  if (url === undefined) return {}
  const requestUrl = requestLink(url, { email, cap, used: addOn })
  return requestUrl.length > MOST_LINK_LETTERS ? {} : { requestUrl }
}

const rows = new WeakMap<Roster, ReadonlyMap<string, Person | 'several'>>()

/** The row of an address; undefined when no row fits, or more than one. */
export function onlyOne(roster: Roster, email: string): Person | undefined {
  let known = rows.get(roster)
  if (!known) {
    const made = new Map<string, Person | 'several'>()
    for (const person of roster.people) {
      const key = normaliseEmail(person.email)
      made.set(key, made.has(key) ? 'several' : person)
    }
    known = made
    rows.set(roster, made)
  }
  const found = known.get(normaliseEmail(email))
  return found === 'several' ? undefined : found
}

function entryOf({ view, desiredState }: WorkspaceFacts, person: Person, hashed: PeopleLabels, now: Instant): MeEntry {
  const shown = shownAt(view.people).get(person.email)
  const chain = (desiredState && resolvePerson(person.email, desiredState.inputs)?.chain) ?? []
  const [winner] = chain
  const cap = shown?.cap
  const left = typeof cap === 'number' && shown?.used !== undefined ? cap - shown.used : undefined
  const cycle = view.roster?.cycle ?? view.balance?.cycle
  return {
    workspace: view.workspace,
    ...(view.roster && { readAt: rfc3339(view.roster.readAt) }),
    ...(person.used !== undefined && { used: cents(person.used) }),
    ...(shown?.used !== undefined && { addOn: cents(shown.used), ...(shown.source && { addOnSource: shown.source }) }),
    ...(cap !== undefined && { cap }),
    ...(winner && { entry: { kind: entryWord(winner), ...reasonOf(declaredReason(winner), hashed) } }),
    ...(left !== undefined && { left: cents(Math.max(0, left)) }),
    stopsFirst: stopEntry(stopOf({ view, desiredState }, person, now)),
    grants: chain
      .filter(({ kind, untilAt }) => kind === 'grant' && untilAt !== undefined)
      .slice(0, MOST_GRANTS)
      .map(({ scope, kind, cap: granted, untilAt = now, reason }) => ({
        kind: entryWord({ kind, scope }),
        cap: granted,
        until: rfc3339(untilAt),
        ...reasonOf(reason, hashed),
      })),
    ...(cycle && { cycleEnd: rfc3339(cycle.endAt) }),
  }
}

/** As documents show it. */
export const stopEntry = ({ what, at }: FirstStop): MeEntry['stopsFirst'] => ({
  what,
  ...(at !== undefined && { on: rfc3339(at).slice(0, 10) }),
})

const reasonOf = (reason: string | undefined, { text }: PeopleLabels) =>
  reason === undefined ? {} : { reason: text(reason).slice(0, MOST_LETTERS) }
