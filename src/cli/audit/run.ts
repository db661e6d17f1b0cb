// What `audit` does: everything that a plan reads, and the cap of every other approved person beside it.

import { scopeKey, TEAM, userScope } from '../../core/model/scope.ts'
import { type Audit, audit } from '../../core/plan/audit.ts'
import { isReached } from '../../core/resolve/desired.ts'
import { addOnFigures } from '../../core/use/add-on.ts'
import { preview } from '../../daemon/cycle/preview.ts'
import { sweep } from '../../daemon/cycle/read.ts'
import { cycleOf, desiredInputs } from '../../daemon/cycle/state.ts'
import { sha256 } from '../../daemon/schedule/system.ts'
import { connectReader, readSetup, type Setup, type WorkspaceSetup } from '../compose.ts'
import { showWarnings } from '../plan/output.ts'
import { type Cli, painter } from '../shared/context.ts'
import { type Answers, inEach } from '../shared/each.ts'
import { EXIT, type ExitCode, worstExit } from '../shared/exit.ts'
import { interruptible } from '../shared/interrupt.ts'
import { type Ledgers, openLedgers } from '../shared/ledger/ledgers.ts'
import { labelsFor } from '../shared/people.ts'
import { type SweepProgress, sweepProgress } from '../shared/progress.ts'
import { tellLine } from '../shared/tell.ts'
import type { AuditFlags } from './command.ts'
import { type AuditedWorkspace, renderAuditJson, renderAuditMarkdown, renderAuditText } from './render.ts'

/** Audits every workspace that can be; ends with 4 when another cannot or some caps could not be read, with 1 when none or nobody could. */
export async function auditCommand(flags: AuditFlags, cli: Cli): Promise<void> {
  const setup = await readSetup(cli, flags)
  showWarnings(setup.warnings, cli)
  const { done: audited, codes } = await interruptible(cli, (signal) => auditAll(setup, cli, signal, flags))
  const renderers = {
    text: () => renderAuditText(audited, painter(cli.stdout)),
    json: () => renderAuditJson(audited, cli.clock.now()),
    markdown: () => renderAuditMarkdown(audited, labelsFor(setup.config.people, audited.find(({ salt }) => salt)?.salt)),
  }
  cli.stdout.write(renderers[flags.output]())
  cli.finish(worstExit([...audited.map(exitOf), ...codes]))
}

function exitOf({ audit: { people, unread }, read }: AuditedWorkspace): ExitCode {
  if (people === 0 || unread.length === read) return EXIT.failed
  return unread.length > 0 ? EXIT.partial : EXIT.done
}

async function auditAll(setup: Setup, cli: Cli, signal: AbortSignal, flags: AuditFlags): Promise<Answers<AuditedWorkspace>> {
  const ledgers = await openLedgers(cli, setup, signal, flags)
  const progress = await sweepProgress('reading caps', cli.stderr, signal)
  try {
    return await inEach(cli, setup.workspaces, (one) => auditOne(one, { cli, signal, ledgers, progress }), signal)
  } finally {
    progress.stop()
    await ledgers.close()
  }
}

interface Parts {
  readonly cli: Cli
  readonly signal: AbortSignal
  readonly ledgers: Ledgers
  readonly progress: SweepProgress
}

async function auditOne(one: WorkspaceSetup, { cli, signal, ledgers, progress }: Parts): Promise<AuditedWorkspace> {
  const { config, policy } = one
  const { client, close } = connectReader(cli, config, { signal })
  try {
    const ledger = await ledgers.of(one, client, signal)
    const parts = { client, settings: config, ledger, clock: cli.clock, digest: sha256 }
    const { state, desiredState, warnings } = await preview(parts, policy, { signal, onSweep: progress.expect, onReading: progress.one })
    for (const { message } of warnings) tellLine(cli, `${config.name}: ${message}`)
    const { usage, readings } = state
    const { approved } = desiredState.people
    // Where the workspace has no caps there is no sense in asking for each of them.
    const isCapless = readings.get(scopeKey(TEAM))?.failure?.lacksFeature === true
    const scopes = isCapless
      ? []
      : [TEAM, ...approved.map(({ email }) => userScope(email))].filter((scope) => !readings.has(scopeKey(scope)))
    progress.expect(scopes)
    await sweep({ client, scopes, concurrency: config.rate.concurrency, readings, onReading: progress.one, signal })
    const usedBy = new Map(usage?.roster.people.map(({ email, used }) => [email, used]))
    const inputs = desiredInputs(state, { ...parts, settings: config })
    const { measured } = state
    const figures = addOnFigures({ now: cli.clock.now(), cycle: cycleOf(usage), measured, balance: usage?.balance })
    const useOf = (email: string) => figures.of(email, usedBy.get(email))
    const found: Audit = audit({
      people: approved,
      readings,
      groups: usage?.groups ?? [],
      declared: new Set(desiredState.resolution.desired.map(({ scope }) => scopeKey(scope))),
      owned: desiredState.owned,
      reaches: (email) => isReached(email, inputs),
      useOf,
    })
    const salt = ledger.fact('peopleSalt')
    const useUnknown = approved.filter(({ email }) => useOf(email) === undefined).length
    const seen = { audit: found, read: readings.size, addOnUse: figures.source, useUnknown }
    return { workspace: config.name, ...seen, ...(salt !== undefined && { salt }) }
  } finally {
    close()
  }
}
