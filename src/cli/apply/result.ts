// A plan with the outcome of its changes: every write of every pass, and the changes that still wait. It decides nothing.
import { type Change, EFFECTS, holdOf, type Plan, READY } from '../../core/model/change.ts'
import { byScope, scopeKey } from '../../core/model/scope.ts'
import type { CycleReport } from '../../daemon/cycle/run.ts'
import type { WriteResult } from '../../daemon/cycle/write/outcome.ts'
import { type Outcome, type PlanView, writeKey } from '../plan/view.ts'

/** The plan with the outcome of each change, with the changes that a later pass added, and with the holds of the last pass. */
export function viewOf({ planned, after, applied }: CycleReport): PlanView {
  if (!applied) return { plan: planned.plan }
  const now = byScope(after.plan.changes)
  const writes = [
    ...applied.earlier,
    ...[...applied.tried].flatMap(([key, change]) => {
      const result = applied.results.get(key)
      return result ? [{ change, result }] : []
    }),
  ]
  const outcomes = new Map([
    ...satisfiedBy(planned.plan, after.plan),
    ...writes.map(({ change, result }): [string, Outcome] => [writeKey(change), outcomeFor(result)]),
  ])
  const written = new Set(writes.map(({ change }) => scopeKey(change.scope)))
  // A deferred change whose scope is now wanted at another value, for example since a grant ended, is dropped.
  const isMoot = ({ scope, to }: Change): boolean => written.has(scopeKey(scope)) || (now.get(scopeKey(scope))?.to ?? to) !== to
  const asked = planned.plan.changes.filter((change) => outcomes.has(writeKey(change)) || !isMoot(change))
  const first = asked.map((change) => {
    const disposition = outcomes.has(writeKey(change)) ? READY : (now.get(scopeKey(change.scope))?.disposition ?? change.disposition)
    return { ...change, disposition }
  })
  const known = new Set(first.map(writeKey))
  const open = [...now.values()].filter(({ scope }) => !written.has(scopeKey(scope)))
  const later = [...writes.map(({ change }) => change), ...open].filter(
    (change) => !known.has(writeKey(change)) && known.add(writeKey(change)),
  )
  const changes = [...first, ...later]
  const told = new Set(planned.plan.problems.map(({ code, message }) => `${code} ${message}`))
  const news = after.plan.problems.filter(({ code, message }) => !told.has(`${code} ${message}`))
  const going = changes.filter((change) => holdOf(change) === undefined)
  const byEffect = Object.fromEntries(EFFECTS.map((effect) => [effect, going.filter((change) => change.effect === effect).length]))
  const counts = { ...planned.plan.counts, ...byEffect, held: changes.length - going.length }
  const approvals = approvalsOf(planned.plan.approvals, after.plan.approvals)
  return {
    plan: { ...planned.plan, changes, holds: after.plan.holds, counts, problems: after.plan.problems, approvals },
    outcomes,
    news,
  }
}

/** Planned changes that are no longer needed, because another write had the same effect, such as the team's where caps are copied. */
function satisfiedBy(planned: Plan, { changes, unknown, problems }: Plan): readonly (readonly [string, Outcome])[] {
  const open = new Set([...changes, ...unknown, ...problems].flatMap(({ scope }) => (scope ? [scopeKey(scope)] : [])))
  const satisfied = planned.changes.filter((change) => !open.has(scopeKey(change.scope)))
  return satisfied.map((change) => [writeKey(change), { result: 'satisfied' }])
}

/** The approvals of the run with their last state. One that released changes and that the last pass no longer has is spent. */
function approvalsOf(first: Plan['approvals'], last: Plan['approvals']): Plan['approvals'] {
  const now = new Map(last.map((one) => [one.id, one]))
  const released = first.filter(({ releases }) => releases.length > 0)
  const told = new Set(released.map(({ id }) => id))
  return [
    ...released.map((one): Plan['approvals'][number] => ({ ...one, state: now.get(one.id)?.state ?? 'spent' })),
    ...last.filter(({ id }) => !told.has(id)),
  ]
}

/** A write that was skipped with an error, because its scope had changed since it was planned, counts as failed. */
function outcomeFor({ result, error }: WriteResult): Outcome {
  const told = error === undefined ? {} : { error }
  if (result !== 'skipped') return { result, ...told }
  return error === undefined ? { result: 'satisfied' } : { result: 'failed', ...told }
}
