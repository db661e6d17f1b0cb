// Plans in the format that was asked for, and the warnings of policies and config.
import type { Plan } from '../../core/model/change.ts'
import type { Problem } from '../../core/model/problem.ts'
import type { Scope } from '../../core/model/scope.ts'
import type { PeopleLabels } from '../../daemon/http/status/labels.ts'
import type { OutputFormat } from '../shared/args.ts'
import { type Cli, painter } from '../shared/context.ts'
import { scopeShown } from '../shared/people.ts'
import { problemsText } from '../shared/problems.ts'
import { renderPlanText, type TextOptions } from './render.ts'
import { renderPlanJson } from './render-json.ts'
import { renderPlanMarkdown } from './render-markdown.ts'
import { type PlanView, writeKey } from './view.ts'

interface ShowOptions extends TextOptions {
  /** How many workspaces were asked for: JSON is a list where there are several, also when one of them failed. */
  readonly asked?: number
  /** How people show in Markdown, which is for others. */
  readonly people: PeopleLabels
}

/** One text for all plans; JSON and Markdown are one document. */
export function showPlans(views: readonly PlanView[], output: OutputFormat, options: ShowOptions): string {
  switch (output) {
    case 'json':
      return renderPlanJson(views, options.asked)
    case 'markdown': {
      const shown = views.map((view) => viewShown(view, options.people))
      return renderPlanMarkdown(shown, options)
    }
    case 'text':
      return views.map((view) => renderPlanText(view, options)).join('\n')
  }
}

/** Warnings of policies and config, on stderr. */
export function showWarnings(warnings: readonly Problem[], cli: Cli): void {
  if (warnings.length > 0) cli.stderr.write(problemsText(warnings, painter(cli.stderr)))
}

// A plan with people by e-mail or as hashes, in scopes and in texts (see shared/people.ts). Nothing else in the plan changes.

/** The view with people as `labels` shows them. */
function viewShown(view: PlanView, labels: PeopleLabels): PlanView {
  if (labels.shown === 'email') return view
  const { plan, outcomes, news, unread } = view
  const keys = new Map(plan.changes.map((change) => [writeKey(change), writeKey({ ...change, scope: scopeShown(change.scope, labels) })]))
  const ended = outcomes && [...outcomes].map(([key, one]) => [keys.get(key) ?? key, withText(one, 'error', labels)] as const)
  return {
    plan: planShown(plan, labels),
    ...(ended && { outcomes: new Map(ended) }),
    ...(news && { news: news.map((one) => problemShown(one, labels)) }),
    ...(unread !== undefined && { unread: labels.text(unread) }),
  }
}

function planShown(plan: Plan, labels: PeopleLabels): Plan {
  const scoped = <T extends { readonly scope: Scope }>(one: T): T => ({ ...one, scope: scopeShown(one.scope, labels) })
  return {
    ...plan,
    changes: plan.changes.map((change) => ({
      ...withText(scoped(change), 'reason', labels),
      disposition: dispositionShown(change.disposition, labels),
    })),
    holds: plan.holds.map((hold) => ({ ...hold, changes: hold.changes.map(scoped), message: labels.text(hold.message) })),
    unknown: plan.unknown.map((one) => ({ ...scoped(one), message: labels.text(one.message) })),
    problems: plan.problems.map((one) => problemShown(one, labels)),
    approvals: plan.approvals.map((one) => ({ ...withText(one, 'note', labels), releases: one.releases.map(scoped) })),
  }
}

function dispositionShown(one: Plan['changes'][number]['disposition'], labels: PeopleLabels): typeof one {
  if (one.kind === 'deferred') {
    return { ...one, reason: labels.text(one.reason), ...(one.waitsFor && { waitsFor: scopeShown(one.waitsFor, labels) }) }
  }
  return one.kind === 'excluded' ? { ...one, reason: labels.text(one.reason) } : one
}

const problemShown = (one: Plan['problems'][number], labels: PeopleLabels): typeof one => ({
  ...one,
  message: labels.text(one.message),
  ...(one.scope && { scope: scopeShown(one.scope, labels) }),
})

/** The object with the people in one of its texts, if it has that text, as `labels` shows them. */
function withText<K extends string, T extends { readonly [key in K]?: string }>(one: T, key: K, labels: PeopleLabels): T {
  const text = one[key]
  return text === undefined ? one : { ...one, [key]: labels.text(text) }
}
