// Why a scope has its cap, as documents show it: the declarations, the readings, the planned change, the writes so far, and what would change the cap.
// It shows what core/plan/explain.ts found, and decides nothing.

import type { Change, HistoryEntry } from '../../../core/model/change.ts'
import { GRANT_STATES, type ScopeStatus } from '../../../core/model/events.ts'
import { ORIGIN_KINDS } from '../../../core/model/policy.ts'
import { type Scope, scopeKey } from '../../../core/model/scope.ts'
import { formatInstant, type Instant } from '../../../core/model/units.ts'
import { type Rhythm, rhythmOf } from '../../../core/pace/rhythm.ts'
import { type ExplainedCandidate, type Explanation, explain } from '../../../core/plan/explain.ts'
import type { Origin } from '../../../core/resolve/candidate.ts'
import { declaredIn } from '../../schedule/slice.ts'
import type { Seen } from './documents.ts'
import { fields, from, ifKnown, object, optional } from './field.ts'
import * as t from './parts.ts'
import { keyText } from './show.ts'
import type { WorkspaceFacts } from './types.ts'

/** Choice. */
const MOST_WRITES = 100

/** Undefined until policies, people and caps were read. */
function explanationOf(facts: WorkspaceFacts, scope: Scope, history: readonly HistoryEntry[]): Explanation | undefined {
  const { desiredState, planned, readings, view } = facts
  if (!desiredState || !readings) return undefined
  const { holds, balance } = view
  return explain({ asked: desiredState.inputs, readings, history, holds, plan: planned?.plan, balance }, scope)
}

export const write = object<HistoryEntry>('One write of capkeeper.')({
  at: t.instant('When it ended.'),
  scope: t.scopeName,
  effect: t.effect,
  from: t.cap('The cap before.'),
  to: t.cap('The cap written.'),
  cause: t.cause,
  result: t.changeResult,
  reason: optional(t.text()),
  error: optional(t.text('Why it failed.')),
  source: ifKnown(t.place, ({ source, revision }) => source && { ...source, revision }),
})

export const candidate = object<Origin & Omit<ExplainedCandidate, 'candidate'>>('A declaration that applies to a scope.')({
  kind: t.words(ORIGIN_KINDS, '`cap`: a cap declared for the scope; `rule`: a cap for everybody who matches a condition.'),
  scope: t.scopeName,
  cap: t.cap(),
  wins: t.flag('It decides the cap.'),
  why: t.text('Why it won or lost.'),
  state: optional(t.words(GRANT_STATES, 'Of a grant.')),
  from: ifKnown(t.instant('When a grant starts.'), ({ fromAt }) => fromAt),
  until: ifKnown(t.instant('When a grant ends.'), ({ untilAt }) => untilAt),
  add: optional(t.count('What a grant adds.')),
  name: ifKnown(t.text('Of a rule or pool.'), ({ rule }) => rule),
  reason: optional(t.text()),
  ticket: optional(t.text()),
  source: ifKnown(t.place, ({ at }) => at),
})

const reading = object<Explanation['observed'][number]>('The last reading of one scope of the chain.')({
  scope: t.scopeName,
  observed: ifKnown(t.observed(), (one) => one.reading?.observed),
  readAt: ifKnown(t.instant('When.'), (one) => one.reading?.readAt),
  failure: ifKnown(t.text('Why it could not be read.'), (one) => one.reading?.failure?.message),
})

/** Of a change: what is done with it, why it is not written now, and the hold it is part of. */
const pending = object<Pick<Change, 'effect' | 'from' | 'to' | 'disposition'>>('The change of the present plan.')({
  effect: t.effect,
  from: t.cap('The cap now.'),
  to: t.cap('The cap to be written.'),
  disposition: from(t.disposition, ({ disposition }) => disposition.kind),
  why: ifKnown(t.text('Why it is not written now.'), ({ disposition }) => ('reason' in disposition ? disposition.reason : undefined)),
  hold: ifKnown(t.plain('The hold it is part of.'), ({ disposition }) => (disposition.kind === 'held' ? disposition.hold : undefined)),
})

/** What is known of a scope, for the documents of a group and of a person. */
export interface ExplainedScope {
  readonly seen: Seen
  readonly explanation: Explanation | undefined
  /** The newest first. */
  readonly history: readonly HistoryEntry[]
  /** How it is managed. */
  readonly scopeStatus: ScopeStatus | undefined
  readonly rhythm: Rhythm | undefined
}

export const EXPLAINED = fields<ExplainedScope>()({
  chain: from(t.list(candidate, 'All declarations that apply, the winner first.'), ({ explanation }) =>
    (explanation?.chain ?? []).map(({ candidate: one, ...how }) => ({ ...one, ...how })),
  ),
  desired: ifKnown(t.cap('The desired cap.'), ({ explanation }) => explanation?.cap),
  state: ifKnown(t.scopeState, ({ scopeStatus }) => scopeStatus?.state),
  readings: from(t.list(reading, 'This scope, then its ancestors.'), ({ explanation }) => explanation?.observed ?? []),
  nextReadingAt: ifKnown(t.instant('When it is expected to be read again.'), nextReadingAt),
  change: ifKnown(pending, ({ explanation }) => explanation?.change),
  history: t.list(write, 'Writes at this scope, the newest first.'),
  why: ifKnown(
    t.text('Why it is held, rejected or skipped, or why a raise by a pool is deferred.'),
    ({ scopeStatus, explanation }) => scopeStatus?.why ?? explanation?.rejected?.message ?? explanation?.skipped?.why,
  ),
  conditions: from(t.list(t.text(), 'What would change the cap, in words.'), ({ explanation, seen }) =>
    explanation ? wouldChange(explanation, seen) : [],
  ),
})

export async function explainedScope(seen: Seen, scope: Scope): Promise<ExplainedScope> {
  const { view, settings, desiredState, slicing } = seen
  const history = await seen.records.history({ scope, limit: MOST_WRITES })
  return {
    ...{ seen, history, explanation: explanationOf(seen, scope, history) },
    scopeStatus: view.scopes.find((one) => scopeKey(one.scope) === scopeKey(scope)),
    rhythm:
      settings &&
      desiredState &&
      rhythmOf({
        ...{ scope, toRead: desiredState.toRead, people: desiredState.people, declared: declaredIn(desiredState) },
        ...{ intervalMs: settings.intervalMs, slicing },
      }),
  }
}

/** When the scope whose cap applies is read next. */
function nextReadingAt({ seen: { nextSweepAt, readings, now }, rhythm }: ExplainedScope): Instant | undefined {
  if (!rhythm) return undefined
  const readAt = readings?.get(rhythm.key)?.readAt
  const dueAt = rhythm.sliced && readAt !== undefined ? Math.max(readAt + rhythm.everyMs, nextSweepAt ?? 0) : nextSweepAt
  return dueAt === undefined ? undefined : Math.max(Math.round(dueAt), now)
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
  return said
}
