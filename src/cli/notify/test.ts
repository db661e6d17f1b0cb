// `notify test`: sends one message to the named address or webhook, by the channels of the config, and prints the result. It uses neither the
// service nor the ledger, and never sends to anybody else.
import { plain } from '../../core/escape/terminal.ts'
import { InputError } from '../../core/model/problem.ts'
import type { Message } from '../../core/notify/due.ts'
import type { Target } from '../../core/notify/settings.ts'
import type { Delivery } from '../../core/notify/told.ts'
import { loadConfigAside } from '../../daemon/config/load-aside.ts'
import type { WorkspaceConfig } from '../../daemon/config/settings.ts'
import { openNotify } from '../compose.ts'
import { type Cli, CommandError, UsageError } from '../shared/context.ts'
import { EXIT } from '../shared/exit.ts'
import { interruptible } from '../shared/interrupt.ts'
import { tellLine } from '../shared/tell.ts'
import { NOTHING_ASKED, type NotifyTestFlags } from './command.ts'

/** Sends one message. Exits 1 when it did not arrive, or may not have arrived. */
export async function testCommand(flags: NotifyTestFlags, cli: Cli): Promise<void> {
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

/** The channel in words, without its secrets. Throws a `CommandError` when the config has no such channel. */
function channelText(to: Target, { mail, webhooks }: NonNullable<WorkspaceConfig['notify']>): string {
  if (to.kind === 'email') {
    if (!mail) throw new CommandError('no mail server is configured: write notify.email into the config')
    const login = mail.user === undefined ? 'without a login' : `as ${plain(mail.user)}`
    return `by ${plain(mail.host)}:${mail.port} (${mail.tls}, ${login})`
  }
  const found = webhooks.find(({ name }) => name === to.name)
  if (found) return `in the format ${found.format}`
  const names = webhooks.map(({ name }) => plain(name)).join(', ')
  throw new CommandError(`the config has no webhook ${plain(to.name)}; ${names === '' ? 'it has none' : `it has ${names}`}`)
}

async function sendTo(to: Target, workspace: WorkspaceConfig, cli: Cli, signal: AbortSignal): Promise<Delivery> {
  const channels = openNotify(cli, workspace)
  if (!channels) throw new CommandError(NOTHING_ASKED)
  try {
    return await channels.send(messageTo(to, workspace.name), signal)
  } finally {
    channels.close()
  }
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
