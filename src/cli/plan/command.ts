// `plan`: shows what would be written, and why. Its client has no write method, and the ledger is opened for reading.
import type { Command } from 'commander'
import { addFlags, addNetworkFlags, examples, type NetworkFlags, type OutputFormat, outputOption } from '../shared/args.ts'
import type { Cli } from '../shared/context.ts'

export interface PlanFlags extends NetworkFlags {
  readonly output: OutputFormat
  readonly detailedExitcode?: boolean
  readonly out?: string
  readonly rebind?: boolean
}

export function registerPlan(program: Command, cli: Cli): void {
  const command = program
    .command('plan')
    .summary('show what would be written, and why')
    .description(
      'Reads the policies, the roster and the caps in force, and prints every change that would be made with its reason, its policy line ' +
        'and how many people it reaches, and what the guards would hold back. Nothing is ever written to the service.',
    )
    .addOption(outputOption(['text', 'json', 'markdown']))
    .option(
      '--detailed-exitcode',
      'exit 4 when some scopes could not be read, else 3 when a guard holds changes, 2 when changes are pending, 0 when there is nothing to do',
    )
    .option('--rebind', 'plan as if the ledger were bound to this base URL')
    .option('--out <file>', 'save the plan as JSON, for `capkeeper apply --plan`')
  addFlags(addNetworkFlags(command), ['ledgerTokenFile'])
    .addHelpText(
      'after',
      examples(
        'capkeeper plan --policies policies/ --base-url https://service.example --service-key-file key',
        'capkeeper plan --output markdown > comment.md',
        'capkeeper plan --out plan.json && capkeeper apply --plan plan.json',
      ),
    )
    .action(async (flags: PlanFlags) => (await import('./run.ts')).planCommand(flags, cli))
}
