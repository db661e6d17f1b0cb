// `notify preview`: reads everything that a plan reads, and shows the messages that the daemon would send. It has no channel to send them.
import { plain, printable } from '../../core/escape/terminal.ts'
import type { Instant } from '../../core/model/units.ts'
import type { Due, Message } from '../../core/notify/due.ts'
import type { NotifySettings } from '../../core/notify/settings.ts'
import type { PeopleShown } from '../../daemon/http/status/labels.ts'
import { endedUse } from '../../daemon/notify/ended.ts'
import { happened } from '../../daemon/notify/happened.ts'
import { dueNow } from '../../daemon/notify/outbox.ts'
import { readSetup } from '../compose.ts'
import { showWarnings } from '../plan/output.ts'
import { type Cli, CommandError, type Paint, painter } from '../shared/context.ts'
import { documentText } from '../shared/document.ts'
import { EXIT, worstExit } from '../shared/exit.ts'
import { openLedgers, type PlanLedger } from '../shared/ledger/ledgers.ts'
import { labelsFor } from '../shared/people.ts'
import { readEach, type WorkspaceReader, withReader } from '../shared/reader.ts'
import { tellLine } from '../shared/tell.ts'
import { count } from '../shared/text.ts'
import { NOTHING_ASKED, type NotifyFlags } from './command.ts'

/** Prints the messages. Exits 1 when the config asks for none, or no roster could be read; 4 when some workspaces failed. */
export async function previewCommand(flags: NotifyFlags, cli: Cli): Promise<void> {
  const setup = await readSetup(cli, flags)
  showWarnings(setup.warnings, cli)
  if (!setup.workspaces.some(({ config }) => config.notify)) throw new CommandError(NOTHING_ASKED)
  const { people } = setup.config
  const open = (signal: AbortSignal) => openLedgers(cli, setup, signal, flags)
  const { done: previewed, codes } = await readEach<PlanLedger, PreviewedWorkspace>(cli, setup, open, (workspace, session) => {
    const { name, notify } = workspace.config
    if (!notify) return { workspace: name, notes: [] }
    return withReader(workspace, session, (reader) => previewOne(reader, notify.settings, people, cli))
  })
  const shown = flags.output === 'json' ? renderPreviewJson(previewed, cli.clock.now()) : renderPreviewText(previewed, painter(cli.stdout))
  cli.stdout.write(shown)
  cli.finish(worstExit([previewed.some(({ due }) => due) ? EXIT.done : EXIT.failed, ...codes]))
}

async function previewOne(
  reader: WorkspaceReader<PlanLedger>,
  settings: NotifySettings,
  people: PeopleShown,
  cli: Cli,
): Promise<PreviewedWorkspace> {
  const { config, policy, ledger, clock } = reader
  const { state, desiredState, planned, warnings } = await reader.preview()
  for (const { message } of warnings) tellLine(cli, `${config.name}: ${message}`)
  if (!state.usage) return { workspace: config.name, notes: ['nobody could be read'] }
  const labels = labelsFor(people, ledger.fact('peopleSalt'))
  const ended = await endedUse({ state, clock, ledger }, settings)
  const shown = { desiredState, planned }
  const lately = await happened({ state, shown, pause: await ledger.pause(clock.now()), clock, ledger }, settings)
  const due = dueNow({ config, state, shown, clock, ledger }, { settings, label: labels.label }, { ended, happened: lately })
  const known = new Set(policy.set.groups.map(({ scope }) => scope.id))
  const pools = new Set(policy.set.pools.map(({ name }) => name))
  const notes = settings.owners.flatMap(({ of }) => {
    if (of.kind === 'group') return known.has(of.id) ? [] : [`notify.owners: no policy declares the group ${of.id}`]
    return pools.has(of.name) ? [] : [`notify.owners: no policy declares the pool ${of.name}`]
  })
  return { workspace: config.name, due, notes }
}

// Messages that would be sent, as text and as JSON.

interface PreviewedWorkspace {
  readonly workspace: string
  /** Absent when the config asks for no messages, or the roster could not be read. */
  readonly due?: Due
  readonly notes: readonly string[]
}

/** `{apiVersion, kind: "Notifications", createdAt, workspaces: [{workspace, quiet, messages: [{to, about, level, subject, text}], notes}]}` (choice). */
const renderPreviewJson = (previewed: readonly PreviewedWorkspace[], now: Instant): string =>
  documentText('Notifications', {
    createdAt: now,
    workspaces: previewed.map(({ workspace, due, notes }) => ({
      workspace,
      quiet: due?.quiet ?? false,
      messages: (due?.messages ?? []).map(({ to, kind, level, subject, text }) => ({ to, about: kind, level, subject, text })),
      notes,
    })),
  })

const renderPreviewText = (previewed: readonly PreviewedWorkspace[], paint: Paint): string =>
  previewed.map((one) => `${workspaceLines(one, paint).join('\n')}\n`).join('\n')

function workspaceLines({ workspace, due, notes }: PreviewedWorkspace, paint: Paint): readonly string[] {
  const name = paint('bold', plain(workspace))
  const noted = notes.map((note) => paint('yellow', plain(note)))
  if (!due) return [`${name}: no messages can be told`, ...noted]
  const { messages, quiet } = due
  const none = due.told ? 'nothing would go out now' : 'nothing would go out now, because no billing cycle is known'
  const when = quiet ? 'would go out after the quiet hours' : 'would go out now'
  const head = messages.length === 0 ? none : `${count(messages.length, 'message')} ${when}`
  return [`${name}: ${head}`, ...noted, ...messages.flatMap((message) => ['', ...messageLines(message, paint)])]
}

const messageLines = ({ to, subject, text }: Message, paint: Paint): readonly string[] => [
  `${paint('dim', 'to')}       ${to.kind === 'email' ? plain(to.address) : `webhook ${plain(to.name)}`}`,
  `${paint('dim', 'subject')}  ${plain(subject)}`,
  ...text.split('\n').map((line) => (line === '' ? '' : `  ${printable(line)}`)),
]
