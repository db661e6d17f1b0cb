// `apply` in each workspace: plan, show, ask, write, read back, show the result. Workspaces go one after another, so that there is one
// question at a time; one that fails does not stop the next. One of the two commands that write caps; it holds the ledger's write lock meanwhile.

import { createInterface } from 'node:readline/promises'
import { type Change, EFFECTS, holdOf, type Plan, READY } from '../../core/model/change.ts'
import { kindOf, type Transition } from '../../core/model/condition.ts'
import { type Cap, keptRevision } from '../../core/model/policy.ts'
import { messageOf } from '../../core/model/problem.ts'
import { byScope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import type { Planned } from '../../core/plan/plan.ts'
import { partOfRate } from '../../core/replicas/lease.ts'
import type { Config } from '../../daemon/config/settings.ts'
import type { Agreement } from '../../daemon/cycle/options.ts'
import { learnedKeeper } from '../../daemon/cycle/read.ts'
import { type CycleReport, reconcile } from '../../daemon/cycle/run.ts'
import { recall } from '../../daemon/cycle/state.ts'
import type { WriteResult } from '../../daemon/cycle/write/outcome.ts'
import { readPeopleFile } from '../../daemon/directory/read.ts'
import { EMAIL_LABELS } from '../../daemon/http/labels.ts'
import { leaseOf } from '../../daemon/replicas/leases.ts'
import { sha256, systemRandom } from '../../daemon/schedule/system.ts'
import { createWorkspace } from '../../daemon/workspace.ts'
import { connectWriter, readSetup, type Setup, type WorkspaceSetup } from '../compose.ts'
import { type Outcome, type PlanView, releaseBy, renderResultText, writeKey } from '../plan/render.ts'
import { showPlans } from '../plan/run.ts'
import { action, COMMANDS, type FlagsOf, ledgerArgs } from '../shared/command.ts'
import { type Cli, CommandError, EXIT, type ExitCode, type Output, painter, UsageError, worstExit } from '../shared/context.ts'
import { interruptible } from '../shared/each.ts'
import { openForCommand, sharersIn, type WritingStore } from '../shared/ledger/replica.ts'
import { ledgerOf } from '../shared/ledger/store.ts'
import { labelsFor } from '../shared/problems.ts'
import { sweepProgress } from '../shared/progress.ts'
import { withReader } from '../shared/reader.ts'
import { count, tellLine } from '../shared/text.ts'
import { admit, readPlans, type Saved } from './saved-plan.ts'

type ApplyFlags = FlagsOf<typeof COMMANDS.apply>

export const register = action(COMMANDS.apply, applyCommand)

/** The result of one workspace: the report of its cycle, or why there is none. */
export type Done = { readonly report: CycleReport; readonly salt?: string } | { readonly failure: unknown }

/** Applies all workspaces and sets the exit code. */
async function applyCommand(flags: ApplyFlags, cli: Cli): Promise<void> {
  if (!flags.yes && cli.stdin.isTTY !== true) throw new UsageError('there is no terminal to ask on: give --yes to apply without asking')
  const setup = await readSetup(cli, flags)
  const saved = flags.plan === undefined ? undefined : matching(readPlans(flags.plan), setup, flags.plan)
  await using opened = new AsyncDisposableStack()
  const store = opened.adopt(await openForCommand(cli, setup.config, 'apply'), (one) => one.close())
  const done = await interruptible(cli, (signal, cut) => applyAll(setup, saved, { store, signal, cut, flags, cli }))
  const reports = reportsOf(done)
  const salt = done.flatMap((one) => ('report' in one ? (one.salt ?? []) : []))[0]
  const people = labelsFor(setup.config.people, salt)
  if (flags.output !== 'text') {
    const options = { ...showing(setup.config, flags, cli.stdout), people, asked: done.length }
    cli.stdout.write(showPlans(reports.map(viewOf), flags.output, options))
  }
  cli.finish(exitOfAll(done))
}

/** The reports. Throws the first failure when there are none. */
export function reportsOf(done: readonly Done[]): readonly CycleReport[] {
  const reports = done.flatMap((one) => ('report' in one ? [one.report] : []))
  const [failure] = done.flatMap((one) => ('failure' in one ? [one.failure] : []))
  if (reports.length === 0 && failure !== undefined) throw failure
  return reports
}

async function applyAll(setup: Setup, saved: ReadonlyMap<string, Saved> | undefined, shared: Shared): Promise<readonly Done[]> {
  const done: Done[] = []
  if (saved) await admitAll(saved, setup, shared)
  for (const one of setup.workspaces) {
    const plan = saved?.get(one.config.name)
    if (shared.signal.aborted || (saved && !plan)) continue
    if (shared.flags.output === 'text' && done.some((before) => 'report' in before)) shared.cli.stdout.write('\n')
    try {
      done.push(await applyOne({ ...one, ...shared, plan, whole: setup.config }))
    } catch (failure) {
      if (setup.workspaces.length > 1) say(shared.cli, one.config.name, messageOf(failure))
      done.push({ failure })
    }
  }
  return done
}

function matching(plans: readonly Saved[], setup: Setup, file: string): ReadonlyMap<string, Saved> {
  const names = setup.workspaces.map((one) => one.config.name)
  for (const { workspace } of plans) {
    if (!names.includes(workspace))
      throw new CommandError(`${file} is a plan for ${workspace}, and this is ${names.join(', ')}; nothing was written`)
  }
  return new Map(plans.map((plan) => [plan.workspace, plan]))
}

interface Shared {
  readonly store: WritingStore
  readonly signal: AbortSignal
  readonly cut: AbortSignal
  readonly flags: ApplyFlags
  readonly cli: Cli
}

/**
 * Reads every workspace of a file of several plans before the first of them is written. Throws a `CommandError` that says why none is written.
 * One plan alone is admitted when it is shown.
 */
async function admitAll(saved: ReadonlyMap<string, Saved>, setup: Setup, { store, flags, cli, signal }: Shared): Promise<void> {
  if (saved.size < 2) return
  using progress = await sweepProgress('reading caps', cli.stderr, signal)
  const session = { cli, signal, progress, ledgerOf: (one: WorkspaceSetup) => ledgerOf(store, one.config, flags.rebind) }
  for (const one of setup.workspaces) {
    const plan = saved.get(one.config.name)
    if (!plan) continue
    try {
      await withReader(one, session, async ({ preview }) => admit(plan, (await preview()).planned.plan, cli.clock.now()))
    } catch (error) {
      throw error instanceof CommandError ? new CommandError(`${one.config.name}: ${error.message}`) : error
    }
  }
}

interface Job extends WorkspaceSetup, Shared {
  readonly plan: Saved | undefined
  /** With all workspaces, also those that are not applied. */
  readonly whole: Config
}

async function applyOne(job: Job): Promise<Done> {
  const { config, policy, cli, flags, signal } = job
  const ledger = await ledgerOf(job.store, config, flags.rebind)
  // Without the signal, so that a write is still read back after an interrupt.
  const learning = learnedKeeper(ledger, cli.clock)
  const { held } = job.store
  const lease = leaseOf(held, config.name)
  // Other workspaces that replicas hold use the same key, each within its part of the rate.
  const rate = lease ? partOfRate(config.rate, sharersIn(cli, () => job.whole).count(config.name)) : config.rate
  using connection = connectWriter(cli, { ...config, rate }, { leases: held, ...learning.reports })
  using progress = await sweepProgress('reading caps', cli.stderr, signal)
  using writing = await sweepProgress('writing caps', cli.stderr, signal)
  const workspace = createWorkspace({
    ...{ config, client: connection.client, ledger, clock: cli.clock, random: systemRandom, digest: sha256, readPeopleFile, lease },
    emit: (event) => {
      if (event.kind === 'condition' && isWarning(event)) say(cli, config.name, event.condition.message)
      if (event.kind === 'change-finished') writing.one()
      if (event.kind === 'cycle-finished') learning.note()
    },
  })
  const state = recall(policy, ledger)
  workspace.state = state
  const report = await reconcile(workspace, state, {
    alone: true,
    stop: signal,
    cut: job.cut,
    approve: flags.approve,
    onSweep: progress.expect,
    onReading: progress.one,
    async confirm(planned) {
      progress.stop()
      const go = await confirm(planned, job)
      if (!go) return undefined
      ledger.saveFact('policy', keptRevision(state.policy))
      writing.expect(pendingIn(planned))
      return go
    },
  })
  writing.stop()
  await ledger.commit()
  if (flags.output === 'text') cli.stdout.write(resultText(report, job))
  tell(report, job)
  return { report, salt: ledger.fact('peopleSalt') }
}

/** Shows the plan and asks. Undefined when the user declined: nothing is written. */
async function confirm(planned: Planned, job: Job): Promise<Agreement | undefined> {
  const { cli, flags, plan: saved, config } = job
  const admitted = saved && admit(saved, planned.plan, cli.clock.now())
  const pending = pendingIn(planned)
  const show = (stream: Output): unknown => stream.write(showPlans([{ plan: planned.plan }], 'text', showing(job.whole, flags, stream)))
  if (flags.output === 'text') show(cli.stdout)
  // With --yes all passes may write whatever they plan, but a saved plan allows only its own changes.
  if (pending.length === 0 || flags.yes) return admitted ? asShown(planned, admitted) : {}
  // When stdout is a document or a file, the plan is shown beside the question on stderr.
  const isOnScreen = flags.output === 'text' && cli.stdout.isTTY === true
  if (!isOnScreen) show(cli.stderr)
  using questions = createInterface({ input: cli.stdin, output: cli.stderr })
  const question = `Write ${count(pending.length, 'change')} to ${config.name}? Only 'yes' is taken: `
  const answer = await questions.question(question, { signal: job.signal })
  return answer.trim() === 'yes' ? asShown(planned, admitted) : undefined
}

/**
 * Only changes that were shown may be written, and the caps from before may be restored: if the service does not keep a 0, the scope is left
 * without a cap.
 */
function asShown({ plan }: Planned, admitted: ReadonlyMap<ScopeKey, Cap> | undefined): Agreement {
  const shown = new Map(plan.changes.map(({ scope, from, to }) => [scopeKey(scope), { from, to }]))
  return {
    mayWrite({ key, to }) {
      const one = shown.get(key)
      if (admitted && !admitted.has(key)) return false
      return one !== undefined && (one.to === to || one.from === to)
    },
  }
}

/** The changes to be written, now or in a later pass. */
const pendingIn = ({ plan }: Planned): readonly Change[] =>
  plan.changes.filter(({ disposition }) => disposition.kind === 'ready' || disposition.kind === 'deferred')

/** The outcome of the plan that was shown before. The whole plan where it was not shown, or where new holds came up. */
function resultText(report: CycleReport, { whole, flags, cli }: Job): string {
  const options = showing(whole, flags, cli.stdout)
  const view = viewOf(report)
  if (report.withheld !== undefined && report.withheld !== 'declined') return showPlans([view], 'text', options)
  if (!report.applied || report.applied.results.size === 0) return ''
  const isHeldSince = report.after.plan.holds.some((hold) => !report.planned.plan.holds.some((one) => one.id === hold.id))
  return `\n${isHeldSince ? showPlans([view], 'text', options) : renderResultText(view, options)}`
}

/** How plans show on a stream, for the person who runs the command. */
const showing = ({ ledger }: Config, flags: ApplyFlags, stream: Output) => ({
  releaseCommand: releaseBy(ledgerArgs(flags), ledger === ':memory:'),
  paint: painter(stream),
  people: EMAIL_LABELS,
})

/** Some errors name their workspace themselves, because other commands tell them alone. */
const say = (cli: Cli, workspace: string, text: string): void =>
  void tellLine(cli, text.startsWith(`${workspace}: `) ? text : `${workspace}: ${text}`)

/** A condition that neither the plan nor its outcome shows. */
function isWarning({ change, condition }: Transition): boolean {
  const { hasOwnPlace, explains } = kindOf(condition.type)
  return change !== 'ended' && !hasOwnPlace && !explains?.includes('CycleFailed')
}

/** Prints on stderr what the plan and its outcome do not say. */
function tell(report: CycleReport, { cli, config }: Job): void {
  const interrupted = report.applied?.interrupted
  if (isWithheld(report)) say(cli, config.name, `nothing was written: ${report.withheld}`)
  else if (interrupted === 'stopped' || interrupted === 'paused') say(cli, config.name, `${interrupted} on the way; the rest was not tried`)
  else if (report.result === 'error' || report.result === 'partial') say(cli, config.name, report.message ?? 'some changes failed')
}

/** There were changes to write, and nothing was written. */
const isWithheld = (report: CycleReport): boolean =>
  report.withheld !== undefined && report.planned.plan.changes.some((change) => holdOf(change) === undefined)

const EXIT_OF: Readonly<Record<CycleReport['result'], ExitCode>> = {
  error: EXIT.failed,
  partial: EXIT.partial,
  held: EXIT.held,
  success: EXIT.done,
  noop: EXIT.done,
}

/** It was interrupted before anything was written. */
const isUntouched = ({ applied }: CycleReport): boolean =>
  applied?.interrupted !== undefined && ![...applied.results.values()].some((one) => one.result === 'applied')

/** What an error is about is left alone, so the service is not as declared: done in part. */
const exitOf = ({ result, after }: CycleReport): ExitCode =>
  result !== 'error' && after.plan.problems.some(({ severity }) => severity === 'error') ? EXIT.partial : EXIT_OF[result]

/** The first that fits over all workspaces. */
export const exitOfAll = (done: readonly Done[]): ExitCode =>
  worstExit(done.map((one) => ('failure' in one || isWithheld(one.report) || isUntouched(one.report) ? EXIT.failed : exitOf(one.report))))

// A plan with the outcome of its changes: every write of every pass, and the changes that still wait. It decides nothing.

/** The plan with the outcome of each change, with the changes that a later pass added, and with what the last pass held and could not read. */
export function viewOf({ planned, after, applied }: CycleReport): PlanView {
  if (!applied) return { plan: planned.plan }
  const now = byScope(after.plan.changes)
  const writes = [
    ...applied.earlier,
    ...[...applied.tried].flatMap(([key, change]) => {
      const result = applied.results.get(key)
      return result ? [{ change, result }] : []
    }),
  ]
  const outcomes = new Map([
    ...satisfiedBy(planned.plan, after.plan),
    ...writes.map(({ change, result }): [string, Outcome] => [writeKey(change), outcomeFor(result)]),
  ])
  const written = new Set(writes.map(({ change }) => scopeKey(change.scope)))
  // A deferred change whose scope is now wanted at another value, for example since a grant ended, is dropped.
  const isMoot = ({ scope, to }: Change): boolean => written.has(scopeKey(scope)) || (now.get(scopeKey(scope))?.to ?? to) !== to
  const asked = planned.plan.changes.filter((change) => outcomes.has(writeKey(change)) || !isMoot(change))
  const first = asked.map((change) => {
    const disposition = outcomes.has(writeKey(change)) ? READY : (now.get(scopeKey(change.scope))?.disposition ?? change.disposition)
    return { ...change, disposition }
  })
  const known = new Set(first.map(writeKey))
  const open = [...now.values()].filter(({ scope }) => !written.has(scopeKey(scope)))
  const later = [...writes.map(({ change }) => change), ...open].filter(
    (change) => !known.has(writeKey(change)) && known.add(writeKey(change)),
  )
  const changes = [...first, ...later]
  const told = new Set(planned.plan.problems.map(({ code, message }) => `${code} ${message}`))
  const news = after.plan.problems.filter(({ code, message }) => !told.has(`${code} ${message}`))
  const going = changes.filter((change) => holdOf(change) === undefined)
  const byEffect = Object.fromEntries(EFFECTS.map((effect) => [effect, going.filter((change) => change.effect === effect).length]))
  const { holds, problems, unknown } = after.plan
  const counts = { ...planned.plan.counts, ...byEffect, held: changes.length - going.length, unknown: unknown.length }
  const approvals = approvalsOf(planned.plan.approvals, after.plan.approvals)
  const plan = { ...planned.plan, changes, holds, counts, problems, unknown, approvals }
  return { plan, outcomes, news }
}

/** Planned changes that are no longer needed, because another write had the same effect, such as the team's where caps are copied. */
function satisfiedBy(planned: Plan, { changes, unknown, problems }: Plan): readonly (readonly [string, Outcome])[] {
  const open = new Set([...changes, ...unknown, ...problems].flatMap(({ scope }) => (scope ? [scopeKey(scope)] : [])))
  const satisfied = planned.changes.filter((change) => !open.has(scopeKey(change.scope)))
  return satisfied.map((change) => [writeKey(change), { result: 'satisfied' }])
}

/** The approvals of the run with their last state. One that released changes and that the last pass no longer has is spent. */
function approvalsOf(first: Plan['approvals'], last: Plan['approvals']): Plan['approvals'] {
  const now = new Map(last.map((one) => [one.id, one]))
  const released = first.filter(({ releases }) => releases.length > 0)
  const told = new Set(released.map(({ id }) => id))
  return [
    ...released.map((one): Plan['approvals'][number] => ({ ...one, state: now.get(one.id)?.state ?? 'spent' })),
    ...last.filter(({ id }) => !told.has(id)),
  ]
}

/** A write that was skipped with an error, because its scope had changed since it was planned, counts as failed. */
function outcomeFor({ result, error }: WriteResult): Outcome {
  if (result !== 'skipped') return { result, error }
  return error === undefined ? { result: 'satisfied' } : { result: 'failed', error }
}
