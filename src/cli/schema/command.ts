// `schema policy|config`: the JSON Schema with which editors complete and check policy and config files.
import { Argument, type Command } from 'commander'
import { examples } from '../shared/args.ts'
import { type Cli, EXIT } from '../shared/context.ts'

export function registerSchema(program: Command, cli: Cli): void {
  program
    .command('schema')
    .description(
      'Prints the JSON Schema (2020-12) of policy files or of the config file. An editor with a YAML language server completes and checks a ' +
        'file that names it in its first line: `# yaml-language-server: $schema=./cap-policy.schema.json`.',
    )
    .addArgument(new Argument('<kind>', 'which file it describes').choices(['policy', 'config']))
    .addHelpText('after', examples('capkeeper schema policy > cap-policy.schema.json'))
    .action(async (kind: 'policy' | 'config') => {
      const { schemaText } = await import('./text.ts')
      cli.stdout.write(schemaText(kind))
      cli.finish(EXIT.done)
    })
}
