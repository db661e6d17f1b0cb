// The problems that a plan shows beside its changes: weakened rules, rejected and skipped scopes, guards without a change to hold, approvals
// that can be removed.
import { editLine } from '../escape/shell.ts'
import { isGone, type PlanProblem, type Quarantined } from '../model/change.ts'
import type { PolicyRevision } from '../model/policy.ts'
import type { ScopeKey } from '../model/scope.ts'
import type { PoolNote } from '../pools/notes.ts'
import type { Resolution } from '../resolve/resolution.ts'
import type { Judged } from './judgement.ts'
import type { Weakening } from './reviewed.ts'

export interface ProblemInputs {
  readonly resolution: Resolution
  readonly quarantined: ReadonlyMap<ScopeKey, Quarantined>
  readonly policy: PolicyRevision
  readonly weakenings: readonly Weakening[]
  readonly poolNotes?: readonly PoolNote[]
}

/** Weakened rules come first: a reviewer must not miss them. */
export function planProblems(inputs: ProblemInputs, judged: Judged): readonly PlanProblem[] {
  const problems: PlanProblem[] = inputs.weakenings.map(({ rule, from, to }) => ({
    severity: 'warning',
    code: 'RULES_WEAKENED',
    message: `policy weakens ${rule}: ${from} → ${to}`,
  }))
  const { refusals = [], notes = [] } = inputs.policy.settled ?? {}
  for (const { code, message, at } of refusals)
    problems.push({ severity: 'error', code, message: `${message}; what was accepted last stays`, at })
  for (const { message, at } of notes) problems.push({ severity: 'warning', code: 'ENVELOPE_JOINED', message, at })
  for (const { scope, code, message, at } of inputs.resolution.rejected) {
    problems.push({ severity: 'error', code, message, scope, ...(at && { at }) })
  }
  for (const one of inputs.quarantined.values()) {
    const kind = isGone(one) ? ({ severity: 'warning', code: 'SCOPE_SKIPPED' } as const) : ({ severity: 'error', code: one.code } as const)
    problems.push({ ...kind, message: one.message, scope: one.scope })
  }
  for (const { scope, why, at } of inputs.resolution.skipped) {
    problems.push({ severity: 'warning', code: 'SCOPE_SKIPPED', message: why, scope, ...(at && { at }) })
  }
  for (const { code, message, at } of inputs.resolution.ruleNotes) problems.push({ severity: 'warning', code, message, at })
  for (const { code, message, at } of inputs.poolNotes ?? [])
    problems.push({ severity: code === 'POOL_BOUNDS' ? 'error' : 'warning', code, message, at })
  for (const { guard, message } of judged.judgement.warnings) {
    problems.push({ severity: 'warning', code: `GUARD_${guard.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`, message })
  }
  return [...problems, ...judged.shown.flatMap(approvalProblem)]
}

function approvalProblem({ id, state, at, note, releases }: Judged['shown'][number]): readonly PlanProblem[] {
  if (releases.length > 0 || note === undefined) return []
  const code = state === 'pending' ? 'APPROVAL_UNMATCHED' : `APPROVAL_${state.toUpperCase()}`
  const way = state === 'pending' || !at ? '' : `; remove it from spec.approvals: ${editLine('remove', `approval:${id}`)}`
  return at || state === 'pending' ? [{ severity: 'warning', code, message: `approval ${id}: ${note}${way}`, ...(at && { at }) }] : []
}
