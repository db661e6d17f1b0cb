// `plan`: previews all workspaces side by side, prints and saves the plans, and sets the exit code. People show as the config says.

import { shellWord } from '../../core/escape/text.ts'
import type { Plan } from '../../core/model/change.ts'
import { hasErrors } from '../../core/model/problem.ts'
import { pauseFindings } from '../../daemon/conditions/findings.ts'
import type { PeopleLabels } from '../../daemon/http/labels.ts'
import { readSetup } from '../compose.ts'
import { action, COMMANDS, type FlagsOf, ledgerArgs } from '../shared/command.ts'
import { type Cli, EXIT, type ExitCode, painter, worstExit } from '../shared/context.ts'
import { openLedgers } from '../shared/ledger/ledgers.ts'
import { labelsFor } from '../shared/problems.ts'
import { readEach, saveWhole } from '../shared/reader.ts'
import { isLedgerUrl } from '../shared/remote.ts'
import { tellLine } from '../shared/text.ts'
import {
  outcomeOf,
  type PlanView,
  releaseBy,
  renderPlanJson,
  renderPlanText,
  type ShowOptions,
  tellReading,
  unreadBecause,
  writeKey,
} from './render.ts'
import { renderPlanMarkdown } from './render-markdown.ts'

type PlanFlags = FlagsOf<typeof COMMANDS.plan>

export const register = action(COMMANDS.plan, planCommand)

/** One text for all plans; JSON and Markdown are one document. */
export function showPlans(views: readonly PlanView[], output: PlanFlags['output'], options: ShowOptions): string {
  switch (output) {
    case 'json':
      return renderPlanJson(views, options.asked)
    case 'markdown':
      return renderPlanMarkdown(
        views.map((view) => viewShown(view, options.people)),
        options,
      )
    case 'text':
      return views.map((view) => renderPlanText(view, options)).join('\n')
  }
}

/** The view with people as `labels` shows them, wherever they are named. */
function viewShown(view: PlanView, labels: PeopleLabels): PlanView {
  const shown = labels.all({ ...view, outcomes: undefined })
  const ended = shown.plan.changes.map((change, at) => {
    const before = view.plan.changes[at]
    const outcome = before && outcomeOf(view, before)
    return outcome && ([writeKey(change), labels.all(outcome)] as const)
  })
  return { ...shown, outcomes: view.outcomes && new Map(ended.flatMap((one) => (one ? [one] : []))) }
}

/** Plans every workspace that can be planned, and leaves the exit code. */
async function planCommand(flags: PlanFlags, cli: Cli): Promise<void> {
  const setup = await readSetup(cli, flags)
  const read = await readEach(cli, setup, openLedgers(cli, setup, flags), async ({ config, ledger, preview }) => {
    const one = await preview()
    tellReading(cli, config.name, one)
    for (const { message } of pauseFindings(await ledger.pause(cli.clock.now()), config.name)) tellLine(cli, `${config.name}: ${message}`)
    return { plan: one.planned.plan, unread: unreadBecause(one) }
  })
  const plans = read.done.map(({ plan }) => plan)
  const asked = setup.workspaces.length
  cli.stdout.write(
    showPlans(read.done, flags.output, {
      releaseCommand: releaseCommand(plans, read.known, flags, setup.config.ledger),
      paint: painter(cli.stdout),
      asked,
      people: labelsFor(setup.config.people, read.salt),
    }),
  )
  // Only its owner may read it.
  if (flags.out !== undefined) saveWhole(flags.out, renderPlanJson(read.done, asked), 0o600)
  cli.finish(worstExit([...read.done.map((one) => exitOf(one, flags.detailedExitcode === true)), ...read.codes]))
}

/**
 * The command that releases a hold. `approve` needs --workspace unless the ledger has records of this workspace alone. With the ledger of a
 * running daemon it must be typed beside that daemon, where the flags of this command mean nothing.
 */
function releaseCommand(plans: readonly Plan[], known: readonly string[], flags: PlanFlags, ledger: string): (holdId: string) => string {
  const where = isLedgerUrl(ledger) ? [] : ledgerArgs(flags)
  return (holdId) => {
    const name = plans.find((plan) => plan.holds.some((hold) => hold.id === holdId))?.workspace
    const isKnown = name === undefined || (known.length === 1 && known[0] === name)
    return releaseBy([...where, ...(isKnown ? [] : ['--workspace', shellWord(name)])], ledger === ':memory:')(holdId)
  }
}

/** 1 when nothing could be read. With --detailed-exitcode, as `apply`: 4 where a scope is rejected or unread, 3 for a hold, 2 for changes. */
function exitOf({ plan, unread }: PlanView, detailed: boolean): ExitCode {
  if (unread !== undefined) return EXIT.failed
  if (!detailed) return EXIT.done
  if (plan.unknown.length > 0 || hasErrors(plan.problems)) return EXIT.partial
  if (plan.holds.length > 0) return EXIT.held
  return plan.changes.length > 0 ? EXIT.pending : EXIT.done
}
