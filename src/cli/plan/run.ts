// What `plan` does: previews every workspace side by side, prints the plans, saves them when asked, and says by its exit code what is
// pending.
import type { Plan } from '../../core/model/change.ts'
import { pauseFindings } from '../../daemon/conditions/findings.ts'
import { type Preview, preview } from '../../daemon/cycle/preview.ts'
import { sha256 } from '../../daemon/schedule/system.ts'
import { connectReader, readSetup, type Setup, type WorkspaceSetup } from '../compose.ts'
import { ledgerArgs, shellWord } from '../shared/args.ts'
import { type Cli, CommandError, columnsOf, painter } from '../shared/context.ts'
import { type Answers, inEach } from '../shared/each.ts'
import { EXIT, type ExitCode, worstExit } from '../shared/exit.ts'
import { interruptible } from '../shared/interrupt.ts'
import { type LedgerFlags, openLedgers } from '../shared/ledger/ledgers.ts'
import { labelsFor } from '../shared/people.ts'
import { sweepProgress } from '../shared/progress.ts'
import { isLedgerUrl } from '../shared/remote.ts'
import { saveWhole } from '../shared/save.ts'
import { tellLine } from '../shared/tell.ts'
import type { PlanFlags } from './command.ts'
import { showPlans, showWarnings } from './output.ts'
import { renderPlanJson } from './render-json.ts'
import { tellReading, unreadBecause } from './unread.ts'
import { releaseBy } from './view.ts'

/** Plans every workspace that can be, and leaves the exit code. */
export async function planCommand(flags: PlanFlags, cli: Cli): Promise<void> {
  const setup = await readSetup(cli, flags)
  showWarnings(setup.warnings, cli)
  const { done: previews, codes, known, salt } = await interruptible(cli, (signal) => previewAll(setup, cli, signal, flags))
  const plans = previews.map((one) => one.planned.plan)
  const asked = setup.workspaces.length
  const release = releaseCommand(plans, known, flags, setup.config.ledger)
  cli.stdout.write(
    showPlans(
      previews.map((one) => {
        const unread = unreadBecause(one)
        return { plan: one.planned.plan, ...(unread !== undefined && { unread }) }
      }),
      flags.output,
      {
        ...{ releaseCommand: release, paint: painter(cli.stdout), width: columnsOf(cli.stdout), asked },
        people: labelsFor(setup.config.people, salt),
      },
    ),
  )
  if (flags.out !== undefined) save(flags.out, plans, asked)
  cli.finish(worstExit([...previews.map((one) => exitOf(one, flags.detailedExitcode === true)), ...codes]))
}

/**
 * `approve` finds the workspace by itself only when it is the one that the ledger knows. For the ledger of a running daemon it is to be typed
 * beside that daemon, where the flags of here mean nothing.
 */
function releaseCommand(plans: readonly Plan[], known: readonly string[], flags: PlanFlags, ledger: string): (holdId: string) => string {
  const where = isLedgerUrl(ledger) ? [] : ledgerArgs(flags)
  return (holdId) => {
    const name = plans.find((plan) => plan.holds.some((hold) => hold.id === holdId))?.workspace
    const isKnown = name === undefined || (known.length === 1 && known[0] === name)
    return releaseBy([...where, ...(isKnown ? [] : ['--workspace', shellWord(name)])], ledger === ':memory:')(holdId)
  }
}

interface Previews extends Answers<Preview> {
  /** The workspaces that the ledger knows. */
  readonly known: readonly string[]
  /** What the ledger hashes people with. */
  readonly salt?: string
}

async function previewAll(setup: Setup, cli: Cli, signal: AbortSignal, flags: LedgerFlags): Promise<Previews> {
  const ledgers = await openLedgers(cli, setup, signal, flags)
  const progress = await sweepProgress('reading caps', cli.stderr, signal)
  let salt: string | undefined
  try {
    const answers = await inEach(
      cli,
      setup.workspaces,
      async (one: WorkspaceSetup) => {
        const { config, policy } = one
        const { client, close } = connectReader(cli, config, { signal })
        try {
          const ledger = await ledgers.of(one, client, signal)
          salt ??= ledger.fact('peopleSalt')
          const parts = { client, settings: config, ledger, clock: cli.clock, digest: sha256 }
          const done = await preview(parts, policy, { signal, onSweep: progress.expect, onReading: progress.one })
          tellReading(cli, config.name, done)
          for (const { message } of pauseFindings(await ledger.pause(cli.clock.now()), config.name))
            tellLine(cli, `${config.name}: ${message}`)
          return done
        } finally {
          close()
        }
      },
      signal,
    )
    return { ...answers, known: ledgers.known, ...(salt !== undefined && { salt }) }
  } finally {
    progress.stop()
    await ledgers.close()
  }
}

/** Nothing could be read: failed. Else, when asked, the first that fits: a part could not be read, something is held, is pending. */
function exitOf(one: Preview, detailed: boolean): ExitCode {
  const { plan } = one.planned
  if (unreadBecause(one) !== undefined) return EXIT.failed
  if (!detailed) return EXIT.done
  if (plan.unknown.length > 0) return EXIT.partial
  if (plan.holds.length > 0) return EXIT.held
  return plan.changes.length > 0 ? EXIT.pending : EXIT.done
}

function save(file: string, plans: readonly Plan[], asked: number): void {
  try {
    // Only its owner may read it.
    const views = plans.map((plan) => ({ plan }))
    saveWhole(file, [renderPlanJson(views, asked)], 0o600)
  } catch (error) {
    throw new CommandError(`the plan could not be saved in ${file}: ${error instanceof Error ? error.message : String(error)}`)
  }
}
