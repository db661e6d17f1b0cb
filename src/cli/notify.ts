// `notify`: `preview` reads everything that a plan reads, and shows the messages that the daemon would send; it has no channel to send them.
// `test` sends one message through a channel.

import { createPoster } from '../api/transport/http.ts'
import { authoritiesIn } from '../api/way.ts'
import { plain, printable } from '../core/escape/text.ts'
import { InputError } from '../core/model/problem.ts'
import type { Instant } from '../core/model/units.ts'
import type { Due, Message } from '../core/notify/due.ts'
import type { Target } from '../core/notify/settings.ts'
import type { Delivery } from '../core/notify/told.ts'
import { loadConfigAside } from '../daemon/config/config.ts'
import type { WorkspaceConfig } from '../daemon/config/settings.ts'
import type { PeopleShown } from '../daemon/http/labels.ts'
import { type Channels, createMailer, openChannels } from '../daemon/notify/channels.ts'
import { endedUse, happened } from '../daemon/notify/happened.ts'
import { dueNow } from '../daemon/notify/outbox.ts'
import { readSetup, USER_AGENT, type WorkspaceSetup } from './compose.ts'
import { action, COMMANDS, type FlagsOf, group } from './shared/command.ts'
import { type Cli, CommandError, EXIT, type Paint, painter, UsageError, worstExit } from './shared/context.ts'
import { interruptible } from './shared/each.ts'
import { openLedgers, type PlanLedger } from './shared/ledger/ledgers.ts'
import { labelsFor } from './shared/problems.ts'
import { readEach, type WorkspaceReader } from './shared/reader.ts'
import { blocksText, count, documentText, tellLine } from './shared/text.ts'

const { preview, test } = COMMANDS.notify.commands

type NotifyTestFlags = FlagsOf<typeof test>

/** Why no message can be shown or sent. */
const NOTHING_ASKED = 'the config asks for no messages: write notify: into it, as docs/notify.md says'

export const register = group(COMMANDS.notify, { preview: action(preview, previewCommand), test: action(test, testCommand) })

/** Sends one message. Exits 1 when it did not arrive, or may not have arrived. */
async function testCommand(flags: NotifyTestFlags, cli: Cli): Promise<void> {
  const to = targetOf(flags)
  const { config, problems } = await loadConfigAside({ env: cli.env, flags }, cli.clock)
  if (!config) throw new InputError(problems)
  const workspace = config.workspaces.find(({ notify }) => notify)
  if (!workspace?.notify) throw new CommandError(NOTHING_ASKED)
  const way = channelText(to, workspace.notify)
  const shown = `${to.kind === 'email' ? `mail to ${plain(to.address)}` : `webhook ${plain(to.name)}`} ${way}`
  tellLine(cli, `sending one test message: ${shown}`)
  const delivery = await interruptible(cli, (signal) => sendTo(to, workspace, cli, signal))
  cli.stdout.write(`${shown}: ${WORDS[delivery.kind]}${'reason' in delivery ? `: ${plain(delivery.reason)}` : ''}\n`)
  cli.finish(delivery.kind === 'sent' ? EXIT.done : EXIT.failed)
}

const WORDS: Readonly<Record<Delivery['kind'], string>> = {
  sent: 'taken',
  refused: 'not sent',
  rejected: 'refused',
  unknown: 'may have arrived',
}

function targetOf({ email, webhook }: NotifyTestFlags): Target {
  if (email !== undefined && webhook === undefined) return { kind: 'email', address: email }
  if (webhook !== undefined && email === undefined) return { kind: 'webhook', name: webhook }
  throw new UsageError('name who gets the message: --email ADDRESS, or --webhook NAME of the config')
}

/** The channel in words, without its secrets. Throws when the config has no such channel. */
function channelText(to: Target, { mail, webhooks }: NonNullable<WorkspaceConfig['notify']>): string {
  if (to.kind === 'email') {
    if (!mail) throw new CommandError('no mail server is configured: write notify.email into the config')
    const login = mail.user === undefined ? 'without a login' : `as ${plain(mail.user)}`
    return `by ${plain(mail.host)}:${mail.port} (${mail.tls}, ${login})`
  }
  const found = webhooks.find(({ name }) => name === to.name)
  if (found) return `in the format ${found.format}`
  const names = webhooks.map(({ name }) => plain(name)).join(', ')
  throw new UsageError(`the config has no webhook ${plain(to.name)}; ${names === '' ? 'it has none' : `it has ${names}`}`)
}

async function sendTo(to: Target, workspace: WorkspaceConfig, cli: Cli, signal: AbortSignal): Promise<Delivery> {
  const channels = openNotify(cli, workspace)
  if (!channels) throw new CommandError(NOTHING_ASKED)
  using opened = new DisposableStack()
  opened.defer(channels.close)
  return await channels.send(messageTo(to, workspace.name), signal)
}

const messageTo = (to: Target, workspace: string): Message => ({
  key: 'test',
  level: 0,
  to,
  kind: 'test',
  workspace,
  subject: 'Test message from capkeeper',
  text:
    `This is a test of the messages that capkeeper sends for the workspace ${workspace}: somebody ran \`capkeeper notify test\`.\n\n` +
    'Nothing has to be done.',
  values: {},
})

/** Prints the messages. Exits 1 when the config asks for none, or no roster could be read; 4 when some workspaces failed. */
async function previewCommand(flags: FlagsOf<typeof preview>, cli: Cli): Promise<void> {
  const setup = await readSetup(cli, flags)
  if (!setup.workspaces.some(({ config }) => config.notify)) throw new CommandError(NOTHING_ASKED)
  const { people } = setup.config
  const open = openLedgers(cli, setup)
  const unasked = ({ config: { name, notify } }: WorkspaceSetup) => (notify ? undefined : { workspace: name, notes: [] })
  const preview = (reader: WorkspaceReader<PlanLedger>) => previewOne(reader, people, cli)
  const { done: previewed, codes } = await readEach<PlanLedger, PreviewedWorkspace>(cli, setup, open, preview, unasked)
  const shown =
    flags.output === 'json'
      ? renderPreviewJson(previewed, cli.clock.now())
      : blocksText(previewed.map((one) => workspaceLines(one, painter(cli.stdout))))
  cli.stdout.write(shown)
  const ends = previewed.flatMap(({ due, isUnread }) => (due ? EXIT.done : isUnread ? EXIT.failed : []))
  cli.finish(worstExit([...ends, ...codes]))
}

async function previewOne(reader: WorkspaceReader<PlanLedger>, people: PeopleShown, cli: Cli): Promise<PreviewedWorkspace> {
  const { config, policy, ledger, clock } = reader
  const { state, desiredState, planned, warnings } = await reader.preview()
  for (const { message } of warnings) tellLine(cli, `${config.name}: ${message}`)
  if (!state.usage || !config.notify) return { workspace: config.name, isUnread: true, notes: ['nobody could be read'] }
  const { settings } = config.notify
  const labels = labelsFor(people, ledger.fact('peopleSalt'))
  const shown = { desiredState, planned }
  const lately = await happened({ state, shown, pause: await ledger.pause(clock.now()), clock, ledger }, settings)
  const ended = await endedUse({ state, clock, ledger }, settings)
  const due = dueNow({ config, state, shown, clock, ledger }, { settings, ...labels }, lately, ended)
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
  /** The roster could not be read. */
  readonly isUnread?: true
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

/** The channels for messages to people; undefined where the config has none. */
export function openNotify(cli: Cli, { notify }: WorkspaceConfig): Channels | undefined {
  if (!notify) return undefined
  const caFile = notify.mail?.caFile
  const authorities = caFile === undefined ? undefined : authoritiesIn(caFile, cli.files)
  return openChannels({
    config: notify,
    mailer: notify.mail && createMailer(notify.mail, cli.clock, authorities),
    authorities,
    poster: createPoster({ userAgent: USER_AGENT, proxyEnv: cli.env }),
    env: cli.env,
    onSecret: (secret) => cli.secrets.add(secret),
    files: cli.files,
  })
}
