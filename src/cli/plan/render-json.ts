// A plan as the JSON document of docs/commands.md: what `--output json` and `plan --out` write. `file.ts` reads it back.
import type { Change, PlanApproval, Release } from '../../core/model/change.ts'
import { formatPosition } from '../../core/model/problem.ts'
import { documentOrList } from '../shared/document.ts'
import { outcomeOf, type PlanView } from './view.ts'

/** One plan as the object `{apiVersion, kind: "Plan", …}`; a `PlanList` where several workspaces were asked for. */
export const renderPlanJson = (views: readonly PlanView[], asked = views.length): string =>
  documentOrList('Plan', views.map(planDocument), asked)

/** Caps are numbers or `"none"`; a change without a policy line or a reason has null there (choice). */
function planDocument(view: PlanView) {
  const { id, workspace, createdAt, policyDigest, revision, counts, changes, holds, unknown, problems, approvals } = view.plan
  return {
    ...{ id, workspace, createdAt, policyDigest, revision, counts },
    changes: changes.map((change) => changeDocument(change, view)),
    ...{ holds, unknown, problems },
    approvals: approvals.map(approvalDocument),
  }
}

function changeDocument(change: Change, view: PlanView): Record<string, unknown> {
  const { healing, grantEnd, disposition, released, ...shown } = change
  const outcome = outcomeOf(view, change)
  return {
    ...shown,
    source: change.source ?? null,
    reason: change.reason ?? null,
    ...dispositionFields(change, view.outcomes !== undefined && !outcome),
    ...(healing && { healing }),
    ...(grantEnd && { grantEnd }),
    ...(outcome && { result: outcome.result === 'satisfied' ? 'applied' : outcome.result }),
    ...(outcome?.error !== undefined && { error: outcome.error }),
  }
}

/** Why a change is not written now, and the approval that released it. */
function dispositionFields({ scope, disposition, released }: Change, isUntried: boolean): Record<string, unknown> {
  const by = released && { released: releaseDocument(released) }
  switch (disposition.kind) {
    case 'ready':
      return { ...by, ...(isUntried && { waitsFor: { scope, why: 'not tried: writing stopped before it was its turn' } }) }
    case 'held':
      return { hold: disposition.hold }
    case 'deferred':
      return { ...by, waitsFor: { scope: disposition.waitsFor ?? scope, why: disposition.reason } }
    case 'excluded':
      return { ...by, excluded: { code: disposition.code, why: disposition.reason } }
  }
}

/** `by` is the place in the policy, or `command`. */
const releaseDocument = ({ id, via, at }: Release): Record<string, unknown> => ({ id, by: at ? formatPosition(at) : via })

const approvalDocument = ({ id, via, at, state, releases, note }: PlanApproval): Record<string, unknown> => ({
  ...releaseDocument({ id, via, ...(at && { at }) }),
  state,
  releases,
  ...(note !== undefined && { note }),
})
