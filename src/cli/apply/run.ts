// What `apply` does in each workspace: plan, show, ask, write, read back, show what became of it. Workspaces go one after another, so that
// nobody is asked two things at once; one that fails does not stop the next.
import { createInterface } from 'node:readline/promises'
import { type Change, EFFECTS, type Plan } from '../../core/model/change.ts'
import { scopeKey } from '../../core/model/scope.ts'
import type { Planned } from '../../core/plan/plan.ts'
import type { WriteResult } from '../../daemon/cycle/apply.ts'
import { type CycleReport, type Go, reconcile } from '../../daemon/cycle/run.ts'
import { seenKeeper } from '../../daemon/cycle/seen.ts'
import { recall } from '../../daemon/cycle/state.ts'
import type { LedgerStore } from '../../daemon/ledger/ledger.ts'
import { sha256, systemRandom } from '../../daemon/schedule/system.ts'
import { createWorkspace, type Workspace } from '../../daemon/workspace.ts'
import { connectWriter, ledgerOf, openStore, readSetup, type Setup, type WorkspaceSetup } from '../compose.ts'
import { showPlans, showWarnings } from '../plan/output.ts'
import { renderResultText } from '../plan/render.ts'
import { type Outcome, type PlanView, releaseBy } from '../plan/view.ts'
import { ledgerArgs } from '../shared/args.ts'
import { type Cli, CommandError, columnsOf, painter } from '../shared/context.ts'
import { EXIT, type ExitCode, worstExit } from '../shared/exit.ts'
import { interruptible } from '../shared/interrupt.ts'
import { sweepProgress } from '../shared/progress.ts'
import { count } from '../shared/text.ts'
import type { ApplyFlags } from './command.ts'
import { admit, readPlans } from './saved-plan.ts'

/** One workspace's end: what its cycle reports, or why there was none. */
export type Done = { readonly report: CycleReport } | { readonly failure: unknown }

/** Applies every workspace and leaves the exit code. */
export async function applyCommand(flags: ApplyFlags, cli: Cli): Promise<void> {
  const setup = await readSetup(cli, flags)
  showWarnings(setup.warnings, cli)
  const saved = flags.plan === undefined ? undefined : matching(readPlans(flags.plan), setup, flags.plan)
  const store = openStore(cli, setup.config, 'write')
  try {
    const done = await interruptible(cli, (signal, cut) => applyAll(setup, saved, { store, signal, cut, flags, cli }))
    const reports = done.flatMap((one) => ('report' in one ? [one.report] : []))
    const [failure] = done.flatMap((one) => ('failure' in one ? [one.failure] : []))
    if (reports.length === 0 && failure !== undefined) throw failure
    if (flags.output !== 'text') cli.stdout.write(shown(reports.map(viewOf), flags, cli))
    cli.finish(exitOfAll(done))
  } finally {
    store.close()
  }
}

async function applyAll(setup: Setup, saved: ReadonlyMap<string, Plan> | undefined, shared: Shared): Promise<readonly Done[]> {
  const done: Done[] = []
  for (const one of setup.workspaces) {
    const plan = saved?.get(one.config.name)
    if (shared.signal.aborted || (saved && !plan)) continue
    try {
      done.push({ report: await applyOne({ ...one, ...shared, plan, inMemory: setup.config.ledger === ':memory:' }) })
    } catch (failure) {
      if (setup.workspaces.length > 1) say(shared.cli, one.config.name, failure instanceof Error ? failure.message : String(failure))
      done.push({ failure })
    }
  }
  return done
}

function matching(plans: readonly Plan[], setup: Setup, file: string): ReadonlyMap<string, Plan> {
  const names = setup.workspaces.map((one) => one.config.name)
  for (const { workspace } of plans) {
    if (!names.includes(workspace))
      throw new CommandError(`${file} is a plan for ${workspace}, and this is ${names.join(', ')}; nothing was written`)
  }
  return new Map(plans.map((plan) => [plan.workspace, plan]))
}

interface Shared {
  readonly store: LedgerStore
  readonly signal: AbortSignal
  readonly cut: AbortSignal
  readonly flags: ApplyFlags
  readonly cli: Cli
}

interface Job extends WorkspaceSetup, Shared {
  readonly plan: Plan | undefined
  readonly inMemory: boolean
}

async function applyOne(job: Job): Promise<CycleReport> {
  const { config, policy, cli, flags, signal } = job
  const ledger = ledgerOf(job.store, config, flags.rebind)
  const learned = ledger.fact('pace')
  // Without the signal: what was written is still read back after an interrupt.
  const seen = seenKeeper(ledger, cli.clock)
  const connection = connectWriter(cli, config, {
    onSeen: seen.onSeen,
    ...(learned && { learned }),
    onLearned: (key, rate) => ledger.saveFact('pace', { ...ledger.fact('pace'), [key]: rate }),
  })
  const progress = await sweepProgress('reading caps', cli.stderr, signal)
  const writing = await sweepProgress('writing caps', cli.stderr, signal)
  const workspace = createWorkspace({
    config,
    client: connection.client,
    ledger,
    clock: cli.clock,
    random: systemRandom,
    digest: sha256,
    emit: (event) => {
      if (event.kind === 'warning') say(cli, config.name, event.message)
      if (event.kind === 'change-finished') writing.one()
      if (event.kind === 'cycle-finished') seen.keep()
    },
  })
  try {
    ledger.saveFact('policy', policy)
    const knowledge = recall(policy, ledger)
    workspace.knowledge = knowledge
    const first = await reconcile(workspace, knowledge, {
      usage: true,
      stop: signal,
      cut: job.cut,
      ...(flags.approve && { approve: flags.approve }),
      onSweep: progress.expect,
      onReading: progress.one,
      async confirm(planned) {
        progress.stop()
        const go = await confirm(planned, job)
        if (go) writing.expect(going(planned, go))
        return go
      },
    })
    const report = first.applied?.copyingSeen === undefined ? first : await putRight(workspace, first, job)
    writing.stop()
    if (flags.output === 'text') cli.stdout.write(resultText(report, flags, cli, job.inMemory))
    tell(report, job)
    return report
  } finally {
    progress.stop()
    writing.stop()
    connection.close()
  }
}

/** Copying was seen on the way: what it took from people is put back before the command ends, as the daemon does in its next cycle. */
async function putRight(workspace: Workspace, first: CycleReport, job: Job): Promise<CycleReport> {
  const knowledge = workspace.knowledge
  say(job.cli, job.config.name, `${first.applied?.copyingSeen}; team and group caps are held until capSemantics is copied`)
  if (!knowledge || job.signal.aborted) return first
  const second = await reconcile(workspace, knowledge, { usage: false, stop: job.signal, cut: job.cut })
  const results = new Map([...(second.applied?.results ?? []), ...(first.applied?.results ?? [])])
  return { ...second, planned: first.planned, ...(first.applied && { applied: { ...first.applied, ...second.applied, results } }) }
}

/** Shows the plan and asks. Undefined: declined, nothing is written. */
async function confirm(planned: Planned, job: Job): Promise<Go | undefined> {
  const { cli, flags, plan: saved, config } = job
  const only = saved && { only: admit(saved, planned.plan, cli.clock.now()) }
  const pending = planned.plan.changes.filter((change) => change.hold === undefined)
  if (flags.output === 'text') cli.stdout.write(shown([{ plan: planned.plan }], flags, cli, job.inMemory))
  if (pending.length === 0 || flags.yes) return only ?? {}
  const questions = createInterface({ input: cli.stdin, output: cli.stderr })
  try {
    const answer = await questions.question(`Write ${count(pending.length, 'change')} to ${config.name}? Only 'yes' is taken: `, {
      signal: job.signal,
    })
    return answer.trim() === 'yes' ? (only ?? {}) : undefined
  } finally {
    questions.close()
  }
}

/** The changes that are about to be written. */
const going = (planned: Planned, { only }: Go): readonly Change[] =>
  planned.plan.changes.filter((change) => change.hold === undefined && only?.has(scopeKey(change.scope)) !== false)

/** What the plan that was shown before became: what did not go well, and the counts. The plan itself where it was not shown. */
function resultText(report: CycleReport, flags: ApplyFlags, cli: Cli, inMemory: boolean): string {
  if (report.withheld !== undefined && report.withheld !== 'declined') return shown([viewOf(report)], flags, cli, inMemory)
  if (!report.applied || report.applied.results.size === 0) return ''
  const isHeldSince = report.after.plan.holds.some((hold) => !report.planned.plan.holds.some((one) => one.id === hold.id))
  if (isHeldSince) return `\n${shown([viewOf(report)], flags, cli, inMemory)}`
  const width = columnsOf(cli.stdout)
  return `\n${renderResultText(viewOf(report), { paint: painter(cli.stdout), ...(width !== undefined && { width }) })}`
}

/** The plan with what became of each change, and with the holds that only came up while it was applied. */
function viewOf({ planned, after, applied }: CycleReport): PlanView {
  if (!applied) return { plan: planned.plan }
  const outcomes = new Map([...applied.results].map(([key, one]) => [key, outcomeFor(one)]))
  const later = new Map(after.plan.changes.map((change) => [scopeKey(change.scope), change.hold]))
  const changes = planned.plan.changes.map((change) => {
    const hold = applied.results.has(scopeKey(change.scope)) ? change.hold : (change.hold ?? later.get(scopeKey(change.scope)))
    return hold === undefined ? change : { ...change, hold }
  })
  const going = changes.filter((change) => change.hold === undefined)
  const byEffect = Object.fromEntries(EFFECTS.map((effect) => [effect, going.filter((change) => change.effect === effect).length]))
  const counts = { ...planned.plan.counts, ...byEffect, held: changes.length - going.length }
  return { plan: { ...planned.plan, changes, holds: after.plan.holds, counts }, outcomes }
}

/** A scope that had changed since it was planned has failed. */
function outcomeFor({ result, error }: WriteResult): Outcome {
  const told = error === undefined ? {} : { error }
  if (result !== 'skipped') return { result, ...told }
  return error === undefined ? { result: 'satisfied' } : { result: 'failed', ...told }
}

const shown = (views: readonly PlanView[], flags: ApplyFlags, cli: Cli, inMemory = false): string =>
  showPlans(views, flags.output, {
    releaseCommand: releaseBy(ledgerArgs(flags), inMemory),
    paint: painter(cli.stdout),
    width: columnsOf(cli.stdout),
  })

const say = (cli: Cli, workspace: string, text: string): void => void cli.stderr.write(cli.secrets.redact(`${workspace}: ${text}\n`))

/** Says on stderr what the plan with its results does not. */
function tell(report: CycleReport, { cli, config }: Job): void {
  const interrupted = report.applied?.interrupted
  if (isWithheld(report)) say(cli, config.name, `nothing was written: ${report.withheld}`)
  else if (interrupted === 'stopped' || interrupted === 'paused') say(cli, config.name, `${interrupted} on the way; the rest was not tried`)
  else if (report.result === 'error' || report.result === 'partial') say(cli, config.name, report.message ?? 'some changes failed')
}

/** There was something to write, and it was not to be. */
const isWithheld = (report: CycleReport): boolean =>
  report.withheld !== undefined && report.planned.plan.changes.some((change) => change.hold === undefined)

const EXIT_OF: Readonly<Record<CycleReport['result'], ExitCode>> = {
  error: EXIT.failed,
  partial: EXIT.partial,
  held: EXIT.held,
  success: EXIT.done,
  noop: EXIT.done,
}

/** Stopped before anything was written. */
const isUntouched = ({ applied }: CycleReport): boolean =>
  applied?.interrupted !== undefined && ![...applied.results.values()].some((one) => one.result === 'applied')

/** The first that fits over all workspaces. */
export const exitOfAll = (done: readonly Done[]): ExitCode =>
  worstExit(
    done.map((one) => ('failure' in one || isWithheld(one.report) || isUntouched(one.report) ? EXIT.failed : EXIT_OF[one.report.result])),
  )
