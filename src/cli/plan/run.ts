// `plan`: previews all workspaces side by side, prints and saves the plans, and sets the exit code.

import { shellWord } from '../../core/escape/shell.ts'
import type { Plan } from '../../core/model/change.ts'
import { hasErrors } from '../../core/model/problem.ts'
import { pauseFindings } from '../../daemon/conditions/findings.ts'
import { readSetup } from '../compose.ts'
import { ledgerArgs } from '../shared/args.ts'
import { type Cli, CommandError, columnsOf, painter } from '../shared/context.ts'
import { EXIT, type ExitCode, worstExit } from '../shared/exit.ts'
import { openLedgers } from '../shared/ledger/ledgers.ts'
import { labelsFor } from '../shared/people.ts'
import { readEach, withReader } from '../shared/reader.ts'
import { isLedgerUrl } from '../shared/remote.ts'
import { saveWhole } from '../shared/save.ts'
import { tellLine } from '../shared/tell.ts'
import { messageOf } from '../shared/text.ts'
import type { PlanFlags } from './command.ts'
import { showPlans, showWarnings } from './output.ts'
import { renderPlanJson } from './render-json.ts'
import { tellReading, unreadBecause } from './unread.ts'
import { type PlanView, releaseBy } from './view.ts'

/** Plans every workspace that can be planned, and leaves the exit code. */
export async function planCommand(flags: PlanFlags, cli: Cli): Promise<void> {
  const setup = await readSetup(cli, flags)
  showWarnings(setup.warnings, cli)
  let salt: string | undefined
  const open = (signal: AbortSignal) => openLedgers(cli, setup, signal, flags)
  const read = await readEach(cli, setup, open, (workspace, session) =>
    withReader(workspace, session, async ({ config, ledger, preview }) => {
      salt ??= ledger.fact('peopleSalt')
      const one = await preview()
      tellReading(cli, config.name, one)
      for (const { message } of pauseFindings(await ledger.pause(cli.clock.now()), config.name)) tellLine(cli, `${config.name}: ${message}`)
      const unread = unreadBecause(one)
      return { plan: one.planned.plan, ...(unread !== undefined && { unread }) }
    }),
  )
  const plans = read.done.map(({ plan }) => plan)
  const asked = setup.workspaces.length
  cli.stdout.write(
    showPlans(read.done, flags.output, {
      releaseCommand: releaseCommand(plans, read.known, flags, setup.config.ledger),
      paint: painter(cli.stdout),
      width: columnsOf(cli.stdout),
      asked,
      people: labelsFor(setup.config.people, salt),
    }),
  )
  if (flags.out !== undefined) save(flags.out, read.done, asked)
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

function save(file: string, views: readonly PlanView[], asked: number): void {
  try {
    // Only its owner may read it.
    saveWhole(file, [renderPlanJson(views, asked)], 0o600)
  } catch (error) {
    throw new CommandError(`the plan could not be saved in ${file}: ${messageOf(error)}`)
  }
}
