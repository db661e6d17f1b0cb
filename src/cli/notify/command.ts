// `notify preview` shows the messages that would be sent now; `notify test` sends one message to the address or webhook that is named.
import type { Command } from 'commander'
import { addFlags, addNetworkFlags, examples, type NetworkFlags, outputOption } from '../shared/args.ts'
import type { Cli } from '../shared/context.ts'

export interface NotifyFlags extends NetworkFlags {
  readonly output: 'text' | 'json'
}

export interface NotifyTestFlags extends Pick<NetworkFlags, 'config' | 'workspace'> {
  readonly email?: string
  readonly webhook?: string
}

/** Why no message can be shown or sent. */
export const NOTHING_ASKED = 'the config asks for no messages: write notify: into it, as docs/notify.md says'

export function registerNotify(program: Command, cli: Cli): void {
  const group = program
    .command('notify')
    .summary('messages to people and owners')
    .description('Works on messages to people and owners, which notify in the config asks for. The daemon sends them.')
    .usage('<command> [flags]')
    .addHelpText('after', examples('capkeeper notify preview', 'capkeeper notify test --email me@example.com'))
  const preview = group
    .command('preview')
    .summary('print the messages that would go out now')
    .description(
      'Reads people, use and caps, and prints each message that would go out now, with its recipient. Nothing is sent or recorded. ' +
        'Messages that the daemon has sent already in this billing cycle are left out.',
    )
    .addOption(outputOption(['text', 'json']))
  addNetworkFlags(preview)
    .addHelpText('after', examples('capkeeper notify preview', 'capkeeper notify preview --workspace acme --output json'))
    .action(async (flags: NotifyFlags) => (await import('./run.ts')).previewCommand(flags, cli))
  const test = group
    .command('test')
    .summary('send one test message to an address or a webhook')
    .description(
      'Sends one test message by the mail server or a webhook of the config, to the one that is named, and says whether it arrived. ' +
        'The service is not asked, nothing is recorded, and nobody else gets a message.',
    )
    .option('--email <address>', 'send a mail to this address')
    .option('--webhook <name>', 'post to this webhook of the config')
  addFlags(test, ['config'])
    .addHelpText(
      'after',
      examples('capkeeper notify test --config capkeeper.yaml --email me@example.com', 'capkeeper notify test --webhook research-chat'),
    )
    .action(async (flags: NotifyTestFlags) => (await import('./run.ts')).testCommand(flags, cli))
}
