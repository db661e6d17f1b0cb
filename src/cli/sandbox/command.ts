// `sandbox`: the embedded service on its own port. Its flags come from the service's tables of settings and switches.
import { type Command, Option } from 'commander'
import { SETTINGS, SWITCHES } from '../../sandbox/switches.ts'
import { examples, readInteger } from '../shared/args.ts'
import type { Cli } from '../shared/context.ts'

/** Also all settings and switches as texts, by their names. */
export interface SandboxFlags extends Readonly<Record<string, unknown>> {
  readonly port: number
  readonly host: string
  readonly data: string
  readonly fixture?: string
  readonly export?: string
  readonly somebodyElse?: number
}

export function registerSandbox(program: Command, cli: Cli): void {
  const command = program
    .command('sandbox')
    .description(
      'Serves the interface of the real service on this machine, with a seeded company and its use, and prints its address and keys. ' +
        'The same seed gives the same company. The switches make it behave as live deployments are known to.',
    )
    .option('--port <port>', 'port to listen on; 0 takes a free one', readInteger(0, 65_535), 8787)
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--data <file>', 'where its data is kept', ':memory:')
    .option('--fixture <file>', 'people, groups, caps, balance and rows of use from a JSON file, in place of the seeded company')
    .option('--export <file>', 'write the present state as such a file (- for stdout), and exit')
    .option('--somebody-else <seconds>', 'another client edits a cap once in so many seconds', readInteger(1, 86_400))
  for (const { flag, values, default: preset, help } of SETTINGS) {
    command.addOption(new Option(`${flag} <n>`, `${help}; ${values}`).default(undefined, preset))
  }
  for (const { flag, values, choices, default: preset, help } of SWITCHES) {
    const option = new Option(`${flag} <value>`, choices ? help : `${help} (${values})`).default(undefined, preset)
    // For the help and completion alone: the sandbox reads the text itself, and tells of all wrong ones at once.
    option.argChoices = choices && [...choices]
    command.addOption(option)
  }
  command
    .addHelpText(
      'after',
      examples(
        'capkeeper sandbox',
        'capkeeper sandbox --cap-semantics fan-out --rate-limit 10/s --faults 5xx=0.1',
        'capkeeper sandbox --people 20 --export company.json',
        'capkeeper sandbox --fixture company.json',
      ),
    )
    .action(async (flags: SandboxFlags) => (await import('./run.ts')).sandboxCommand(flags, cli))
}
