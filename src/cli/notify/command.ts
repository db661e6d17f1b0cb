// `notify preview`: what would go out to people and owners now. It sends nothing and records nothing.
import type { Command } from 'commander'
import { addNetworkFlags, examples, type NetworkFlags, outputOption } from '../shared/args.ts'
import type { Cli } from '../shared/context.ts'

export interface NotifyFlags extends NetworkFlags {
  readonly output: 'text' | 'json'
}

export function registerNotify(program: Command, cli: Cli): void {
  const group = program
    .command('notify')
    .summary('what people and owners would be told now')
    .description('Works on messages to people and owners, which notify in the config asks for. The daemon sends them.')
    .usage('<command> [flags]')
    .addHelpText('after', examples('capkeeper notify preview'))
  const preview = group
    .command('preview')
    .summary('print the messages that would go out now')
    .description(
      'Reads people, use and caps, and prints each message that would go out now, to whom and in which words. Nothing is sent or recorded: ' +
        'what the daemon has sent already in this billing cycle is left out.',
    )
    .addOption(outputOption(['text', 'json']))
  addNetworkFlags(preview)
    .addHelpText('after', examples('capkeeper notify preview', 'capkeeper notify preview --workspace acme --output json'))
    .action(async (flags: NotifyFlags) => (await import('./run.ts')).previewCommand(flags, cli))
}
