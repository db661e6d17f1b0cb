// Carries a plan out and, on a service that copies, puts back what our own wide writes overwrote, all within one cycle. It keeps in the
// ledger where the plan began, so that an interrupted one is counted from there. It decides nothing about caps.

import { layeringSighting, type Sighting } from '../../core/interpret/seen.ts'
import type { CapReading } from '../../core/model/observed.ts'
import { type Scope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import type { Planned } from '../../core/plan/plan.ts'
import { showPlan, showResult } from '../conditions/show.ts'
import type { Workspace } from '../workspace.ts'
import { type ApplyReport, applyPlan } from './apply.ts'
import { sweep } from './read.ts'
import { beginPlan, endPlan } from './record.ts'
import type { CycleOptions } from './run.ts'
import { noteSeen } from './seen.ts'
import { copyingEvidence } from './semantics.ts'
import { type Knowledge, type Outlook, outlook, type Planner, planFrom } from './state.ts'

/** What may be written: all that no guard holds, or only these scopes. */
export interface Go {
  readonly only?: ReadonlySet<ScopeKey>
}

export interface Execution {
  readonly workspace: Workspace
  readonly knowledge: Knowledge
  readonly planner: Planner
  readonly planned: Planned
  readonly view: Outlook
  readonly go: Go
  readonly options: CycleOptions
}

/** Writes what may be written. Rejects only when `stop` aborts between the wide writes and what they overwrote, or with a `LedgerError`. */
export async function execute(execution: Execution): Promise<ApplyReport> {
  const { ledger } = execution.workspace
  // A look at a few scopes must not end a plan that was interrupted before.
  const endsHere = !execution.options.focus || ledger.fact('planBaseline') === undefined
  const first = await write(execution)
  const applied = first.overwrote.length > 0 ? await restore(execution, first) : first
  // What is held or unread is still to come: until then the plan counts from where it began.
  const { holds, unknown } = execution.planned.plan
  if (!applied.interrupted && endsHere && holds.length === 0 && unknown.length === 0) endPlan(ledger)
  return applied
}

async function write({ workspace, knowledge, planned, view, go, options }: Execution): Promise<ApplyReport> {
  const { config, ledger, clock } = workspace
  const pending = planned.plan.changes.filter((change) => change.hold === undefined && go.only?.has(scopeKey(change.scope)) !== false)
  const wide = config.capSemantics === 'copied' ? pending.filter((change) => change.scope.kind !== 'user') : []
  const beneath = beneathIn(view, knowledge)
  const reached = wide.flatMap((change) => beneath(change.scope))
  if (pending.length > 0) beginPlan(pending, readingsOf(reached, knowledge), planned, ledger)
  const applied = await applyPlan({
    ...go,
    workspace: config.name,
    planned,
    client: workspace.client,
    ledger,
    clock,
    concurrency: config.rate.concurrency,
    capSemantics: config.capSemantics,
    readings: knowledge.readings,
    beneath,
    wider: view.wider,
    people: view.people,
    breaker: config.guards.breaker,
    isWatched: ({ cause }) => config.onDrift === 'alert' && !options.confirm && cause === 'external',
    ...(options.stop && { stop: options.stop }),
    ...(options.cut && { cut: options.cut }),
    ...(options.leaving && { leaving: options.leaving }),
    onResult: (change, result) => showResult(workspace, change, result),
  })
  if (applied.copyingSeen !== undefined) ledger.saveFact('copyingSeen', { at: clock.now(), evidence: applied.copyingSeen })
  return applied
}

/** Our wide writes were copied over people's own caps: those are read again, and put right in the same cycle. */
async function restore(execution: Execution, first: ApplyReport): Promise<ApplyReport> {
  const { workspace, knowledge, planner, go, options } = execution
  const { client, config } = workspace
  const view = outlook(knowledge, planner)
  const scopes = new Map(first.overwrote.flatMap(beneathIn(view, knowledge)).map((scope) => [scopeKey(scope), scope]))
  const before = new Map([...knowledge.readings].filter(([key]) => scopes.has(key)))
  // Should a stop come first, whoever goes on must not believe what was read before.
  for (const key of scopes.keys()) knowledge.readings.delete(key)
  if (first.interrupted) return first
  const signal = options.stop ? { signal: options.stop } : {}
  const { concurrency } = config.rate
  await sweep({ client, scopes: [...scopes.values()], concurrency, readings: knowledge.readings, urgent: true, ...signal })
  noteCopies(execution, first, before)
  const users = view.toRead.filter(({ kind }) => kind === 'user').map(scopeKey)
  const only = new Set(users.filter((key) => scopes.has(key) || go.only?.has(key) !== false))
  const planned = planFrom(knowledge, view, planner, { overwritten: new Set(scopes.keys()), only })
  showPlan(workspace, planned, view)
  const second = await write({ ...execution, planned, view, go: { only } })
  return { ...second, results: new Map([...first.results, ...second.results]) }
}

/** What the scopes beneath show after our wide writes tells whether they were copied there at all. */
function noteCopies({ workspace, knowledge, planned }: Execution, first: ApplyReport, before: ReadonlyMap<ScopeKey, CapReading>): void {
  const wide = planned.plan.changes.filter(({ scope }) => scope.kind !== 'user' && first.results.get(scopeKey(scope))?.result === 'applied')
  // With several wide writes nobody can tell which one a person's cap comes from.
  const [only, ...others] = wide
  if (!only || others.length > 0) return
  const sightings = [...before].flatMap(([key, was]): Sighting[] => {
    const is = knowledge.readings.get(key)
    if (!is || is === was) return []
    const evidence = copyingEvidence(only, was, is)
    const layered = layeringSighting(only, was, is)
    return evidence !== undefined ? [{ aspect: 'caps', value: 'copied', evidence }] : layered ? [layered] : []
  })
  const copied = sightings.find(({ value }) => value === 'copied')
  noteSeen(
    workspace.ledger,
    [copied ?? sightings[0]].filter((one) => one !== undefined),
    workspace.clock,
  )
}

const readingsOf = (scopes: readonly Scope[], { readings }: Knowledge): readonly CapReading[] =>
  scopes.flatMap((scope) => readings.get(scopeKey(scope)) ?? [])

/** Finds the scopes of ours under a team or group, narrower kinds only; for a group, its declared members. */
function beneathIn({ toRead }: Outlook, { usage }: Knowledge): (scope: Scope) => readonly Scope[] {
  const people = new Map(toRead.flatMap((one) => (one.kind === 'user' ? [[one.email, one] as const] : [])))
  const members = new Map(usage?.groups.map(({ id, emails }) => [id, emails]))
  return (scope) => {
    if (scope.kind === 'user') return []
    if (scope.kind === 'team') return toRead.filter((one) => one.kind !== 'team')
    return [...new Set(members.get(scope.id))].flatMap((email) => people.get(email) ?? [])
  }
}
