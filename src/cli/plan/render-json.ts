// A plan as the JSON document of product.md, section 3: what `--output json` and `plan --out` write. `plan-file.ts` reads it back.
import { jsonText } from '../../core/escape/terminal.ts'
import type { Change, PlanApproval, Release } from '../../core/model/change.ts'
import { formatPosition } from '../../core/model/problem.ts'
import { rfc3339 } from '../shared/text.ts'
import { outcomeOf, type PlanView } from './view.ts'

/**
 * One plan as the object `{apiVersion, kind: "Plan", …}`; where several workspaces were asked for `{apiVersion, kind: "PlanList", items: […]}`,
 * however many could be planned (choice).
 */
export function renderPlanJson(views: readonly PlanView[], asked = views.length): string {
  const [first] = views
  const document =
    first && asked === 1 ? planDocument(first) : { apiVersion: 'capkeeper/v1', kind: 'PlanList', items: views.map(planDocument) }
  return jsonText(document)
}

/** The document of one plan: caps are numbers or `"none"`, instants RFC 3339; a change without a policy line or a reason has null there (choice). */
function planDocument(view: PlanView): Record<string, unknown> {
  const { plan } = view
  return {
    apiVersion: plan.apiVersion,
    kind: plan.kind,
    id: plan.id,
    workspace: plan.workspace,
    createdAt: rfc3339(plan.createdAt),
    policyDigest: plan.policyDigest,
    revision: plan.revision,
    counts: plan.counts,
    changes: plan.changes.map((change) => changeDocument(change, view)),
    holds: plan.holds,
    unknown: plan.unknown,
    problems: plan.problems,
    approvals: plan.approvals.map(approvalDocument),
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

/** Why a change does not go out now, or who released it. */
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

/** `by`: the place in the policy, or that it was a command. */
const releaseDocument = ({ id, via, at }: Release): Record<string, unknown> => ({ id, by: at ? formatPosition(at) : via })

const approvalDocument = ({ id, via, at, state, releases, note }: PlanApproval): Record<string, unknown> => ({
  ...releaseDocument({ id, via, ...(at && { at }) }),
  state,
  releases,
  ...(note !== undefined && { note }),
})
