// Why a scope has its cap, as documents show it: the declarations, the readings, the planned change, the writes so far, and what would change the cap.
// It shows what core/plan/explain.ts found, and decides nothing.

import type { HistoryEntry } from '../../../core/model/change.ts'
import { type Scope, scopeKey } from '../../../core/model/scope.ts'
import { formatInstant } from '../../../core/model/units.ts'
import { rhythmOf, rhythmText } from '../../../core/pace/rhythm.ts'
import { type ExplainedCandidate, type Explanation, explain } from '../../../core/plan/explain.ts'
import { declaredIn } from '../../schedule/slice.ts'
import type { Seen } from './documents.ts'
import { keyText, placeOf, rfc3339, scopeText } from './show.ts'
import type { CandidateEntry, PersonDocument, Showing, WorkspaceFacts, WriteEntry } from './types.ts'

/** Choice. */
export const MOST_WRITES = 100

/** Undefined until policies, people and caps were read. */
export function explanationOf(facts: WorkspaceFacts, scope: Scope, history: readonly HistoryEntry[]): Explanation | undefined {
  const { desiredState, planned, readings, view } = facts
  if (!desiredState || !readings) return undefined
  const { inputs, resolution } = desiredState
  return explain(
    {
      ...inputs,
      readings,
      history,
      holds: view.holds,
      plan: planned?.plan,
      balance: view.balance,
      known: { inputs, resolution },
    },
    scope,
  )
}

/** The part that the documents of a group and of a person have in common. */
export function explained(
  seen: Seen,
  explanation: Explanation | undefined,
  { scope, history }: { readonly scope: Scope; readonly history: readonly HistoryEntry[] },
) {
  const { view, people } = seen
  const writes = history.map((entry) => writeEntry(entry, seen))
  const [lastWrite] = writes
  const status = view.scopes.find((one) => scopeKey(one.scope) === scopeKey(scope))
  const why = status?.why ?? explanation?.rejected?.message ?? explanation?.skipped?.why
  return {
    chain: (explanation?.chain ?? []).map((one) => candidateEntry(one, seen, view.policy?.revision)),
    desired: explanation?.cap,
    state: status?.state,
    readings: (explanation?.observed ?? []).map(({ scope: read, reading }) => ({
      scope: scopeText(read, seen),
      observed: reading?.observed,
      readAt: rfc3339(reading?.readAt),
      failure: people.text(reading?.failure?.message),
    })),
    ...nextReading(seen, scope),
    change: explanation?.change && changeEntry(explanation.change, seen),
    lastWrite,
    history: writes,
    why: people.text(why),
    conditions: explanation ? wouldChange(explanation, seen) : [],
  }
}

/** When the scope whose cap applies is read next, and why then. */
function nextReading(seen: Seen, scope: Scope) {
  const { nextSweepAt, settings, desiredState, readings, slicing } = seen
  if (!settings || !desiredState) return {}
  const { toRead, people } = desiredState
  const rhythm = rhythmOf({ scope, toRead, people, declared: declaredIn(desiredState), intervalMs: settings.intervalMs, slicing })
  if (!rhythm) return {}
  const readAt = readings?.get(rhythm.key)?.readAt
  const dueAt = rhythm.sliced && readAt !== undefined ? Math.max(readAt + rhythm.everyMs, nextSweepAt ?? 0) : nextSweepAt
  return {
    nextReadingAt: dueAt === undefined ? undefined : rfc3339(Math.max(Math.round(dueAt), seen.now)),
    reading: {
      scope: keyText(rhythm.key, seen),
      everySeconds: Math.round(rhythm.everyMs / 1000),
      atLeastEverySeconds: rhythm.sliced && Math.round(rhythm.sliced.atLeastEveryMs / 1000),
      why: rhythmText(rhythm),
    },
  }
}

function changeEntry(
  { disposition, effect, from, to, cause }: NonNullable<Explanation['change']>,
  { people }: Showing,
): NonNullable<PersonDocument['change']> {
  return {
    effect,
    from,
    to,
    cause,
    disposition: disposition.kind,
    why: 'reason' in disposition ? people.text(disposition.reason) : undefined,
    hold: disposition.kind === 'held' ? disposition.hold : undefined,
  }
}

function candidateEntry({ candidate, wins, why, state }: ExplainedCandidate, showing: Showing, revision = ''): CandidateEntry {
  const { kind, scope, cap, at, reason, ticket, fromAt, untilAt, add, rule } = candidate
  const { people } = showing
  return {
    kind,
    scope: scopeText(scope, showing),
    cap,
    wins,
    why: people.text(why),
    state,
    from: rfc3339(fromAt),
    until: rfc3339(untilAt),
    add,
    name: people.text(rule),
    reason: people.text(reason),
    ticket: people.text(ticket),
    source: at && placeOf(at, showing, revision),
  }
}

export function writeEntry(entry: HistoryEntry, showing: Showing): WriteEntry {
  const { at, scope, effect, from, to, cause, result, reason, error, source, planId, revision } = entry
  const { people } = showing
  return {
    at: rfc3339(at),
    scope: scopeText(scope, showing),
    effect,
    from,
    to,
    cause,
    result,
    reason: people.text(reason),
    error: people.text(error),
    source: source && placeOf(source, showing, revision),
    planId,
    revision,
  }
}

/** What would change the cap, the soonest first. */
function wouldChange(explanation: Explanation, seen: Seen): readonly string[] {
  const { view, settings } = seen
  const { chain, change, groups, scope, desired, inherits } = explanation
  const said: string[] = []
  const winner = chain.find(({ wins }) => wins)
  for (const one of [explanation, ...(inherits ? [inherits] : [])]) {
    if (!one.hold) continue
    const from = one === inherits ? `${keyText(scopeKey(one.scope), seen)}: ` : ''
    said.push(
      `the release of hold ${one.hold.id}, which keeps ${one.change ? `${from}${one.change.from} → ${one.change.to}` : 'a change'} back`,
    )
  }
  const isChanging = change !== undefined || inherits !== undefined
  if (view.pause && isChanging) said.push(`the end of the pause at ${formatInstant(view.pause.untilAt)}`)
  if (settings?.mode === 'audit' && isChanging) said.push('mode: enforce in the config; in audit mode nothing is written')
  if (desired?.waits !== undefined) said.push(`newer figures of use: ${desired.waits}`)
  if (winner?.candidate.untilAt !== undefined) said.push(`the end of the grant at ${formatInstant(winner.candidate.untilAt)}`)
  for (const { candidate, state } of chain) {
    if (state === 'pending' && candidate.fromAt !== undefined)
      said.push(`the start of a grant of ${candidate.cap} at ${formatInstant(candidate.fromAt)}`)
  }
  if (winner?.candidate.at) said.push(`an edit of ${winner.candidate.at.file}:${winner.candidate.at.line}`)
  if (scope.kind === 'user' && winner?.candidate.scope.kind !== 'user') {
    said.push('a cap or a grant for this person in the policies')
    if (groups.length > 0) said.push('leaving or joining a declared group')
    else said.push('joining a declared group')
  }
  if (!winner) said.push('a cap in the policies')
  return said.map((text) => seen.people.text(text))
}
