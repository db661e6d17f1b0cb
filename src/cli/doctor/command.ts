// `doctor`: checks everything that capkeeper needs, and what each key may do. It fixes nothing.
import type { Command } from 'commander'
import { addNetworkFlags, examples, type NetworkFlags, outputOption } from '../shared/args.ts'
import type { Cli } from '../shared/context.ts'

export interface DoctorFlags extends NetworkFlags {
  readonly output: 'text' | 'json'
}

export function registerDoctor(program: Command, cli: Cli): void {
  const command = program
    .command('doctor')
    .summary('check config, files, keys and service')
    .description(
      'Checks the configuration, the policies, files and the ledger, whether the service is reached, which permission each key holds, what the ' +
        'plan offers, and how the deployment was seen to behave. It fixes nothing, and writes nothing to the service or the ledger: ' +
        'to learn whether a key may write, it sends a request without a cap, for a person who cannot exist, which the service has to refuse. ' +
        'Exits 1 when a check failed, 65 when the configuration or a policy is invalid.',
    )
    .addOption(outputOption(['text', 'json']))
  addNetworkFlags(command)
    .addHelpText(
      'after',
      examples(
        'capkeeper doctor --config capkeeper.yaml',
        'capkeeper doctor --base-url https://service.example --service-key-file key --output json',
      ),
    )
    .action(async (flags: DoctorFlags) => (await import('./run.ts')).doctorCommand(flags, cli))
}
