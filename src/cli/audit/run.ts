// `audit`: reads everything that a plan reads, and the cap of every other approved person.

import { scopeKey, TEAM, userScope } from '../../core/model/scope.ts'
import { audit } from '../../core/plan/audit.ts'
import { isReached } from '../../core/resolve/desired.ts'
import { addOnFigures } from '../../core/use/add-on.ts'
import { sweep } from '../../daemon/cycle/read.ts'
import { cycleOf, desiredInputs } from '../../daemon/cycle/state.ts'
import type { SharedLedger } from '../../daemon/ledger/share.ts'
import { readSetup } from '../compose.ts'
import { showWarnings } from '../plan/output.ts'
import { type Cli, painter } from '../shared/context.ts'
import { EXIT, type ExitCode, worstExit } from '../shared/exit.ts'
import { openLedgers } from '../shared/ledger/ledgers.ts'
import { labelsFor } from '../shared/people.ts'
import { readEach, type WorkspaceReader, withReader } from '../shared/reader.ts'
import { tellLine } from '../shared/tell.ts'
import type { AuditFlags } from './command.ts'
import { type AuditedWorkspace, renderAuditJson, renderAuditMarkdown, renderAuditText } from './render.ts'

/** Audits all workspaces. Exits 4 when a workspace or some caps could not be read, and 1 when none could. */
export async function auditCommand(flags: AuditFlags, cli: Cli): Promise<void> {
  const setup = await readSetup(cli, flags)
  showWarnings(setup.warnings, cli)
  const open = (signal: AbortSignal) => openLedgers(cli, setup, signal, flags)
  const { done: audited, codes } = await readEach(cli, setup, open, (workspace, session) =>
    withReader(workspace, session, (reader) => auditOne(reader, cli)),
  )
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

async function auditOne(reader: WorkspaceReader<SharedLedger>, cli: Cli): Promise<AuditedWorkspace> {
  const { config, client, ledger, signal, progress } = reader
  const { state, desiredState, warnings } = await reader.preview()
  for (const { message } of warnings) tellLine(cli, `${config.name}: ${message}`)
  const { usage, readings, measured } = state
  const { approved } = desiredState.people
  // A workspace without the feature has no caps to ask for.
  const isCapless = readings.get(scopeKey(TEAM))?.failure?.lacksFeature === true
  const all = isCapless ? [] : [TEAM, ...approved.map(({ email }) => userScope(email))]
  const scopes = all.filter((scope) => !readings.has(scopeKey(scope)))
  progress.expect(scopes)
  await sweep({ client, scopes, concurrency: config.rate.concurrency, readings, onReading: progress.one, signal })
  const usedBy = new Map(usage?.roster.people.map(({ email, used }) => [email, used]))
  const inputs = desiredInputs(state, reader)
  const figures = addOnFigures({ now: cli.clock.now(), cycle: cycleOf(usage), measured, balance: usage?.balance })
  const useOf = (email: string) => figures.of(email, usedBy.get(email))
  const found = audit({
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
}
