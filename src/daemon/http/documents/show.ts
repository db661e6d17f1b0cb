// How documents write values: instants, days, scopes, places, and the head of every document. A text that may hold an e-mail must go through the labels.

import type { ScopeStatus } from '../../../core/model/events.ts'
import type { Position, Problem } from '../../../core/model/problem.ts'
import { isEmail, type Scope, scopeKey } from '../../../core/model/scope.ts'
import { DAY_MS, type Instant, wholeCents } from '../../../core/model/units.ts'
import type { GrantStatus } from '../../../core/resolve/candidate.ts'
import { lifted } from '../status/labels.ts'
import type { PlaceEntry, Showing, WorkspaceFacts } from './types.ts'

export const rfc3339 = lifted((at: Instant) => new Date(at).toISOString())

/** The day of an instant, in UTC. */
export const dayText = lifted((at: Instant) => rfc3339(at).slice(0, 10))

/** The days from the first of these midnights until the second instant. */
export const daysFrom = (fromAt: Instant, untilAt: Instant): readonly Instant[] =>
  Array.from({ length: Math.max(0, Math.ceil((untilAt - fromAt) / DAY_MS)) }, (_, index) => fromAt + index * DAY_MS)

/** Whole cents. */
export const cents = lifted((amount: number): number => wholeCents(amount))

/** Four decimals. */
export const ratio = lifted((value: number) => Math.round(value * 10_000) / 10_000)

export const headOf = <const K extends string>(kind: K, { people, now }: Showing) =>
  ({ apiVersion: 'capkeeper/v1', kind, at: rfc3339(now), peopleShown: people.shown }) as const

/** The same of a document about one workspace. */
export const headAbout = <const K extends string>(kind: K, seen: Pick<WorkspaceFacts, 'view'> & Showing) => ({
  ...headOf(kind, seen),
  workspace: seen.view.workspace,
})

/** The first `most` of a list, and how many more there are. */
export const bounded = <const K extends string, T, R>(name: K, items: readonly T[], most: number, map: (item: T) => R) =>
  ({ [name]: items.slice(0, most).map(map), [`${name}Omitted`]: Math.max(0, items.length - most) }) as Record<K, readonly R[]> &
    Record<`${K}Omitted`, number>

/** `team`, `group:ID`, or the label of a person. */
export const scopeText = (scope: Scope, { people }: Pick<Showing, 'people'>): string =>
  scope.kind === 'user' ? people.label(scope.email) : people.text(scopeKey(scope))

/** The same from the key of a scope. */
export const keyText = (key: string, { people }: Showing): string => (isEmail(key) ? people.label(key) : people.text(key))

/** A scope and its state. `source`: the line that declares it, as the document shows lines. */
export function scopeEntryOf<P>(status: ScopeStatus, showing: Pick<Showing, 'people'>, source: P | undefined) {
  const { scope, state, desired, observed, readAt, cause, driftSince, reason, why } = status
  const { people } = showing
  return {
    kind: scope.kind,
    scope: scopeText(scope, showing),
    state,
    desired,
    observed,
    readAt: rfc3339(readAt),
    cause,
    driftSince: rfc3339(driftSince),
    source,
    reason: people.text(reason),
    why: people.text(why),
  }
}

export const grantEntryOf = ({ grant, state, fromAt, untilAt }: GrantStatus, { people }: Showing) => ({
  ...(grant.amount.kind === 'cap' ? { cap: grant.amount.credits } : { add: grant.amount.credits }),
  state,
  from: rfc3339(fromAt),
  until: rfc3339(untilAt),
  reason: people.text(grant.reason),
  ticket: people.text(grant.ticket),
})

/** A policy line, with its address where the config has `sourceUrl` and the commit is known. */
export function placeOf({ file, line, column }: Position, showing: Showing, revision = ''): PlaceEntry {
  const shown = showing.people.text(file)
  const url = sourceUrl(showing.sourceUrl, shown, line, revision)
  return { file: shown, line, column, url }
}

/** Undefined for a revision that is no commit: uncommitted lines have no address. */
function sourceUrl(template: string | undefined, file: string, line: number, revision: string): string | undefined {
  const [commit] = /^[0-9a-f]{7,64}$/.exec(revision) ?? []
  if (template === undefined || commit === undefined) return undefined
  const path = file.split('/').map(encodeURIComponent).join('/')
  return template.replaceAll('{revision}', commit).replaceAll('{file}', path).replaceAll('{line}', String(line))
}

/** Choice. */
const MOST_PROBLEMS = 50

export function problemsOf(seen: Pick<WorkspaceFacts, 'view'> & Showing) {
  const { policy } = seen.view
  return bounded('problems', policy?.problems ?? [], MOST_PROBLEMS, (one) =>
    problemOf(one, seen, one.at && placeOf(one.at, seen, policy?.revision)),
  )
}

/** `at`: the line, as the document shows lines. */
export function problemOf<P>(
  { severity, code, message, sourceLine, sourceColumn, length, hint }: Problem,
  { people }: Pick<Showing, 'people'>,
  at: P,
) {
  return {
    severity,
    code,
    message: people.text(message),
    at,
    sourceLine: people.text(sourceLine),
    sourceColumn,
    length,
    hint: people.text(hint),
  }
}

/** How long a list is mapped without a pause for other work. */
const STRETCH_MS = 8
/** Items mapped between two reads of the clock. */
const AT_A_TIME = 100

/** Maps a long list while other work goes on. */
export async function mapYielding<A, B>(items: readonly A[], { clock }: Showing, map: (item: A) => B): Promise<B[]> {
  const mapped: B[] = []
  let beganMs = clock.monotonic()
  for (let start = 0; start < items.length; start += AT_A_TIME) {
    for (const item of items.slice(start, start + AT_A_TIME)) mapped.push(map(item))
    if (clock.monotonic() - beganMs < STRETCH_MS) continue
    await clock.sleep(1)
    beganMs = clock.monotonic()
  }
  return mapped
}
