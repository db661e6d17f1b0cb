// Plans in the format that was asked for, and the warnings of policies and config.
import type { Problem } from '../../core/model/problem.ts'
import type { PeopleLabels } from '../../daemon/http/status/labels.ts'
import type { OutputFormat } from '../shared/args.ts'
import { type Cli, painter } from '../shared/context.ts'
import { problemsText } from '../shared/problems.ts'
import { viewShown } from './people.ts'
import { renderPlanText, type TextOptions } from './render.ts'
import { renderPlanJson } from './render-json.ts'
import { renderPlanMarkdown } from './render-markdown.ts'
import type { PlanView } from './view.ts'

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
