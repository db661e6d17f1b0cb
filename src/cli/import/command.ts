// `import`: prints the caps in force as a policy, to start from. It only reads.
import { type Command, InvalidArgumentError, Option } from 'commander'
import { addNetworkFlags, examples, type NetworkFlags } from '../shared/args.ts'
import type { Cli } from '../shared/context.ts'

export interface NamedGroup {
  readonly id: string
  readonly name: string
}

export interface ImportFlags extends NetworkFlags {
  readonly group?: readonly NamedGroup[]
  readonly journal: string
}

export function registerImport(program: Command, cli: Cli): void {
  const command = program
    .command('import')
    .summary('live caps as policy YAML')
    .description(
      'Reads the team cap, the caps of the groups named with --group, and the cap of every approved person, and prints a policy that asks ' +
        'for exactly that: planning it at once changes nothing. The service lists no groups, so name each one. Nothing is written to the ' +
        'service. The same command continues an interrupted run within an hour.',
    )
    .addOption(groupOption())
    .option('--journal <file>', 'where readings are kept until the import is through', 'capkeeper-import.journal')
  addNetworkFlags(command)
    .addHelpText(
      'after',
      examples(
        'capkeeper import --group grp_platform=Platform --group grp_data=Data > policies/acme.yaml',
        'capkeeper plan --policies policies/acme.yaml --detailed-exitcode',
      ),
    )
    .action(async (flags: ImportFlags) => (await import('./run.ts')).importCommand(flags, cli))
}

/** `--group`, as `import` and `init` take it. */
export const groupOption = (): Option =>
  new Option(
    '--group <id=name>',
    'a group: its id, which caps use, and its name, which lists its members; may be given several times',
  ).argParser(readGroup)

/** Said where no group is named. */
export const NO_GROUPS = 'note: the service lists no groups; name each one with --group ID=NAME, or it is left out\n'

/** Parses `ID=NAME` and adds it to the groups before it. */
export function readGroup(text: string, before: readonly NamedGroup[] = []): readonly NamedGroup[] {
  const at = text.indexOf('=')
  const [id, name] = [text.slice(0, at).trim(), text.slice(at + 1).trim()]
  if (at < 0 || id === '' || name === '') throw new InvalidArgumentError('Write ID=NAME, such as grp_platform=Platform.')
  if (/\s|:\/\//.test(id))
    throw new InvalidArgumentError('A group id has no blanks in it and is no address; write ID=NAME, such as grp_platform=Platform.')
  if (before.some((one) => one.id === id)) throw new InvalidArgumentError(`The group ${id} is given twice.`)
  return [...before, { id, name }]
}
