// `doctor`: is everything there that capkeeper needs, and what may each key do? It looks and fixes nothing.
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
        'plan offers, and what was seen of how the deployment works. It fixes nothing, and nothing is written to the service or the ledger: ' +
        'whether a key may write is told by a request without a cap, for a person who cannot exist, which the service has to refuse. ' +
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
