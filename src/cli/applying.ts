// What `apply` does in each workspace: plan, show, ask, write, read back, show what became of it. Workspaces go one after another, so that
// nobody is asked two things at once; one that fails does not stop the next.
import { createInterface } from 'node:readline/promises'
import type { Plan } from '../core/change.ts'
import type { Planned } from '../core/plan.ts'
import type { LedgerStore } from '../daemon/ledger.ts'
import { type CycleReport, type Go, reconcile } from '../daemon/reconcile.ts'
import { recall } from '../daemon/state.ts'
import { sha256, systemRandom } from '../daemon/system.ts'
import { createWorkspace } from '../daemon/workspace.ts'
import { ledgerArgs } from './args.ts'
import type { ApplyFlags } from './commands/apply.ts'
import { connectWriter, ledgerOf, openStore, readSetup, type Setup, type WorkspaceSetup } from './compose.ts'
import { type Cli, CommandError, columnsOf, painter } from './context.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { interruptible } from './interrupt.ts'
import { showPlans, showWarnings } from './plan-output.ts'
import { type PlanView, releaseBy } from './plan-view.ts'
import { type SweepProgress, sweepProgress } from './progress.ts'
import { admit, readPlans } from './saved-plan.ts'

/** One workspace's end: its plan with what became of it, or why there is none. */
interface Applied {
  readonly report: CycleReport
  readonly code: ExitCode
}

/** Applies every workspace and leaves the exit code. */
export async function applyCommand(flags: ApplyFlags, cli: Cli): Promise<void> {
  const setup = readSetup(cli, flags)
  showWarnings(setup.warnings, cli)
  const saved = flags.plan === undefined ? undefined : matching(readPlans(flags.plan), setup, flags.plan)
  const store = openStore(cli, setup.config, 'write')
  try {
    const applied: Applied[] = []
    const failures: unknown[] = []
    await interruptible(cli, async (signal) => {
      for (const one of setup.workspaces) {
        if (signal.aborted) break
        const plan = saved?.get(one.config.name)
        if (saved && !plan) continue
        await applyOne({ ...one, store, signal, flags, cli, plan, inMemory: setup.config.ledger === ':memory:' }).then(
          (done) => applied.push(done),
          (error: unknown) => failures.push(error),
        )
      }
    })
    if (flags.output !== 'text' && applied.length > 0)
      cli.stdout.write(
        shown(
          applied.map(({ report }) => viewOf(report)),
          flags,
          cli,
        ),
      )
    finish(applied, failures, cli)
  } finally {
    store.close()
  }
}

function matching(plans: readonly Plan[], setup: Setup, file: string): ReadonlyMap<string, Plan> {
  const names = setup.workspaces.map((one) => one.config.name)
  for (const { workspace } of plans) {
    if (!names.includes(workspace))
      throw new CommandError(`${file} is a plan for ${workspace}, and this is ${names.join(', ')}; nothing was written`)
  }
  return new Map(plans.map((plan) => [plan.workspace, plan]))
}

interface Job extends WorkspaceSetup {
  readonly store: LedgerStore
  readonly signal: AbortSignal
  readonly flags: ApplyFlags
  readonly cli: Cli
  readonly plan: Plan | undefined
  readonly inMemory: boolean
}

async function applyOne(job: Job): Promise<Applied> {
  const { config, policy, cli, flags, signal } = job
  const ledger = ledgerOf(job.store, config, flags.rebind)
  const learned = ledger.fact('pace')
  const connection = connectWriter(cli, config, {
    signal,
    ...(learned && { learned }),
    onLearned: (key, rate) => ledger.saveFact('pace', { ...ledger.fact('pace'), [key]: rate }),
  })
  const progress = await sweepProgress('reading caps', cli.stderr, signal)
  const workspace = createWorkspace({
    config,
    client: connection.client,
    ledger,
    clock: cli.clock,
    random: systemRandom,
    digest: sha256,
    emit: (event) => {
      if (event.kind === 'warning') cli.stderr.write(cli.secrets.redact(`${config.name}: ${event.message}\n`))
    },
  })
  try {
    ledger.saveFact('policy', policy)
    const report = await reconcile(workspace, recall(policy, ledger), {
      usage: true,
      stop: signal,
      ...(flags.approve && { approve: flags.approve }),
      onSweep: progress.expect,
      onReading: progress.one,
      confirm: (planned) => confirm(planned, job, progress),
    })
    const isNews = report.withheld !== undefined && report.withheld !== 'declined'
    if (flags.output === 'text' && (isNews || (report.applied && report.applied.results.size > 0))) {
      cli.stdout.write(shown([viewOf(report)], flags, cli, job.inMemory))
    }
    return { report, code: codeOf(report, job) }
  } finally {
    progress.stop()
    connection.close()
  }
}

/** Shows the plan and asks. Undefined: declined, nothing is written. */
async function confirm(planned: Planned, job: Job, progress: SweepProgress): Promise<Go | undefined> {
  const { cli, flags, plan: saved, config } = job
  progress.stop()
  const only = saved && { only: admit(saved, planned.plan, cli.clock.now()) }
  const pending = planned.plan.changes.filter((change) => change.hold === undefined)
  if (flags.output === 'text') cli.stdout.write(shown([{ plan: planned.plan }], flags, cli, job.inMemory))
  if (pending.length === 0 || flags.yes) return only ?? {}
  const questions = createInterface({ input: cli.stdin, output: cli.stderr })
  try {
    const answer = await questions.question(`Write ${pending.length} changes to ${config.name}? Only 'yes' is taken: `, {
      signal: job.signal,
    })
    return answer.trim() === 'yes' ? (only ?? {}) : undefined
  } finally {
    questions.close()
  }
}

/** The plan with what became of each change. */
const viewOf = ({ planned, applied }: CycleReport): PlanView => {
  const outcomes = new Map(
    [...(applied?.results ?? [])].flatMap(([key, one]) => {
      const told = one.error === undefined ? {} : { error: one.error }
      return one.result === 'skipped'
        ? one.error === undefined
          ? []
          : [[key, { result: 'failed' as const, ...told }] as const]
        : [[key, { result: one.result, ...told }] as const]
    }),
  )
  return applied ? { plan: planned.plan, outcomes } : { plan: planned.plan }
}

const shown = (views: readonly PlanView[], flags: ApplyFlags, cli: Cli, inMemory = false): string =>
  showPlans(views, flags.output, {
    releaseCommand: releaseBy(ledgerArgs(flags), inMemory),
    paint: painter(cli.stdout),
    width: columnsOf(cli.stdout),
  })

function codeOf(report: CycleReport, { cli, config }: Job): ExitCode {
  const say = (text: string): void => void cli.stderr.write(cli.secrets.redact(`${config.name}: ${text}\n`))
  if (report.withheld !== undefined && report.planned.plan.changes.some((change) => change.hold === undefined)) {
    say(`nothing was written: ${report.withheld}`)
    return EXIT.failed
  }
  if (report.result === 'error' || report.result === 'partial') say(report.message ?? 'some changes failed')
  switch (report.result) {
    case 'error':
      return EXIT.failed
    case 'partial':
      return EXIT.partial
    case 'held':
      return EXIT.held
    case 'success':
    case 'noop':
      return EXIT.done
  }
}

/** Several workspaces: something done and something failed is "in part". */
function finish(applied: readonly Applied[], failures: readonly unknown[], cli: Cli): void {
  const codes = applied.map((one) => one.code)
  const failed = codes.filter((code) => code === EXIT.failed).length + failures.length
  const [first] = failures
  if (applied.length === 0 && first !== undefined) throw first
  for (const failure of failures)
    cli.stderr.write(cli.secrets.redact(`error: ${failure instanceof Error ? failure.message : String(failure)}\n`))
  if (failed > 0) cli.finish(failed === applied.length + failures.length ? EXIT.failed : EXIT.partial)
  else cli.finish(codes.includes(EXIT.partial) ? EXIT.partial : codes.includes(EXIT.held) ? EXIT.held : EXIT.done)
}
