// The commander program. Each command registers itself from its own file. A command line loads only the command that it names, so that `--help`
// and `validate` start without the network packages.
import { Command, Help } from 'commander'
import { DIRECT_FILES } from '../files.ts'
import { EXIT_HELP, refuseEmpty, refuseKeyFlags } from './shared/args.ts'
import { type Cli, EXIT, type ExitCode, type World } from './shared/context.ts'
import { helpPointer, reportFailure, withoutFlagValues } from './shared/each.ts'
import { VERSION } from './shared/text.ts'

/** Adds to a command what it is and takes. Its action leaves an exit code with `cli.finish`, or throws. */
type Register = (command: Command, cli: Cli) => void

/** As `--help` lists them: usage, summary, and the command itself. */
const COMMANDS: readonly (readonly [usage: string, summary: string, load: () => Promise<{ readonly register: Register }>])[] = [
  ['run [options]', 'the daemon: keep caps equal to the policies, for ever', () => import('./run/command.ts')],
  ['plan [options]', 'show what would be written, and why', () => import('./plan/run.ts')],
  ['apply [options]', 'plan, ask, write, read back', () => import('./apply/run.ts')],
  ['approve [options] <id>', 'release a hold', () => import('./approve.ts')],
  ['pause [options]', 'stop writing for a while', () => import('./pause.ts')],
  ['resume [options]', 'end a pause', async () => ({ register: (await import('./pause.ts')).registerResume })],
  ['validate [options] [path...]', 'check policies and config', () => import('./validate.ts')],
  ['explain [options] <scope>', 'why somebody has the cap they have', () => import('./explain.ts')],
  ['edit', 'change policy files', () => import('./edit/command.ts')],
  ['init [options] [dir]', 'write the first files, from the caps in force', () => import('./init/run.ts')],
  ['import [options]', 'live caps as policy YAML', () => import('./import.ts')],
  ['simulate [options] [path...]', 'what past cycles would have been under these policies', () => import('./simulate/run.ts')],
  ['collect [options]', 'read the past use of people into the ledger', () => import('./collect/run.ts')],
  ['recommend [options] [path...]', 'caps for groups and the team from recorded use', () => import('./recommend.ts')],
  ['audit [options]', 'caps that no policy declares, people without a cap, people near theirs', () => import('./audit.ts')],
  ['report [options]', 'use, caps, head-room, projection and changes of a cycle', () => import('./report/run.ts')],
  ['notify', 'messages to people and owners', () => import('./notify.ts')],
  ['history [options] [scope]', 'what capkeeper wrote', () => import('./history.ts')],
  ['me [options]', 'what is left for you', () => import('./me.ts')],
  ['status [options]', 'state of a running daemon', () => import('./status.ts')],
  ['doctor [options]', 'check config, files, keys and service', () => import('./doctor/run.ts')],
  ['schema <kind>', 'JSON Schema for editors', () => import('./schema.ts')],
  ['ledger', 'copy, move or check the ledger', () => import('./ledger.ts')],
  ['sandbox [options]', 'the embedded service, to rehearse policies on', () => import('./sandbox/run.ts')],
  ['completion <shell>', 'shell completion', () => import('./completion.ts')],
]

type Listed = (typeof COMMANDS)[number]

const nameOf = ([usage]: Listed): string => usage.split(' ')[0] ?? usage

type Added = (program: Command, cli: Cli) => void

/** The command that a command line names, with only the names of the others, for the help; all of them for `completion`, which lists their flags. */
export function commandsFor(argv: readonly string[]): Promise<readonly Added[]> {
  const called = argv.find((word) => !word.startsWith('-') && word !== 'help')
  return Promise.all(
    COMMANDS.map(async (listed): Promise<Added> => {
      const [name, [, summary, load]] = [nameOf(listed), listed]
      const whole = called === 'completion' || called === name ? await load() : undefined
      return (program, cli) => {
        const command = program.command(name).summary(summary)
        whole?.register(command, cli)
      }
    }),
  )
}

function termOf(command: Command): string {
  const listed = command.parent?.parent ? undefined : COMMANDS.find((one) => nameOf(one) === command.name())
  return listed?.[0] ?? new Help().subcommandTerm(command)
}

/** Runs one command line (without node and the script); resolves with its exit code and never rejects. */
export async function runCli(argv: readonly string[], world: World): Promise<ExitCode> {
  let code: ExitCode = EXIT.done
  let name = 'capkeeper'
  const cli: Cli = {
    ...world,
    files: DIRECT_FILES,
    finish: (ending) => {
      code = ending
    },
  }
  try {
    refuseKeyFlags(argv)
    const program = buildProgram(cli, await commandsFor(argv))
    program.hook('preAction', (_program, command) => {
      name = fullName(command)
      refuseEmpty(command)
    })
    await program.parseAsync([...argv], { from: 'user' })
    return code
  } catch (error) {
    return await reportFailure(error, cli, name)
  }
}

/** The program with these commands. */
export function buildProgram(cli: Cli, commands: readonly Added[]): Command {
  const program = new Command('capkeeper')
    .description("Keeps the add-on credit caps of an AI coding assistant's workspaces equal to what policy files in git say.")
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .usage('<command> [flags]')
    .configureHelp({ subcommandTerm: termOf })
    .addHelpText('after', EXIT_HELP)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => cli.stdout.write(text),
      writeErr: (text) => cli.stderr.write(text),
      outputError: (text, write) => write(cli.secrets.redact(withoutFlagValues(text))),
      getOutHelpWidth: () => cli.stdout.columns ?? 100,
      getErrHelpWidth: () => cli.stderr.columns ?? 100,
    })
  for (const register of commands) register(program, cli)
  pointToHelp(program)
  return program
}

function pointToHelp(command: Command): void {
  command.showHelpAfterError(helpPointer(fullName(command)))
  for (const child of command.commands) pointToHelp(child)
}

/** `capkeeper ledger backup`. */
const fullName = (command: Command): string => (command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name())
