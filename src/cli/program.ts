// The commander program. Each command registers itself from its own file. A command line loads only the command that it names, so that `--help`
// and `validate` start without the network packages.
import { Command } from 'commander'
import { DIRECT_FILES } from '../files.ts'
import { EXIT_HELP, refuseEmpty, refuseKeyFlags } from './shared/args.ts'
import { COMMANDS, type Declared, type Register } from './shared/command.ts'
import { type Cli, EXIT, type ExitCode, type World } from './shared/context.ts'
import { helpPointer, reportFailure, withoutFlagValues } from './shared/each.ts'
import { VERSION } from './shared/text.ts'

const LOADS: Readonly<Record<keyof typeof COMMANDS, () => Promise<{ readonly register: Register }>>> = {
  run: () => import('./run/command.ts'),
  plan: () => import('./plan/run.ts'),
  apply: () => import('./apply/run.ts'),
  approve: () => import('./approve.ts'),
  pause: () => import('./pause.ts'),
  resume: async () => ({ register: (await import('./pause.ts')).registerResume }),
  validate: () => import('./validate.ts'),
  explain: () => import('./explain.ts'),
  edit: () => import('./edit/command.ts'),
  init: () => import('./init/run.ts'),
  import: () => import('./import.ts'),
  simulate: () => import('./simulate/run.ts'),
  collect: () => import('./collect/run.ts'),
  recommend: () => import('./recommend.ts'),
  audit: () => import('./audit.ts'),
  report: () => import('./report/run.ts'),
  notify: () => import('./notify.ts'),
  history: () => import('./history.ts'),
  me: () => import('./me.ts'),
  status: () => import('./status.ts'),
  doctor: () => import('./doctor/run.ts'),
  schema: () => import('./schema.ts'),
  ledger: () => import('./ledger.ts'),
  sandbox: () => import('./sandbox/run.ts'),
  completion: () => import('./completion/run.ts'),
}

/** As the help needs them, also of commands that are not loaded. */
const DECLARED: Readonly<Record<string, Declared>> = COMMANDS

type Added = (program: Command, cli: Cli) => void

/** The command that a command line names, with only the names of the others, for the help; all of them for `completion`, which lists their flags. */
export function commandsFor(argv: readonly string[]): Promise<readonly Added[]> {
  const called = argv.find((word) => !word.startsWith('-') && word !== 'help')
  return Promise.all(
    Object.entries(LOADS).map(async ([name, load]): Promise<Added> => {
      const whole = called === 'completion' || called === name ? await load() : undefined
      return (program, cli) => {
        const command = program.command(name).summary(DECLARED[name]?.summary ?? '')
        whole?.register(command, cli)
      }
    }),
  )
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
