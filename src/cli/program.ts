// The commander program. Each command registers itself from its own file. A command line that names a command loads only that one, and a
// command imports its work inside its action, so that `--help` and `validate` start without the network packages.
import { Command } from 'commander'
import { DIRECT_FILES } from '../files.ts'
import { EXIT_HELP, refuseEmpty, refuseKeyFlags } from './shared/args.ts'
import type { Cli, World } from './shared/context.ts'
import { EXIT, type ExitCode } from './shared/exit.ts'
import { helpPointer, reportFailure, withoutFlagValues } from './shared/failure.ts'
import { VERSION } from './shared/text.ts'

/** Adds one command to the program. Its action leaves an exit code with `cli.finish`, or throws. */
type Register = (program: Command, cli: Cli) => void

/** In the order of `--help`. */
const COMMANDS: Readonly<Record<string, () => Promise<Register>>> = {
  run: async () => (await import('./run/command.ts')).registerRun,
  plan: async () => (await import('./plan/command.ts')).registerPlan,
  apply: async () => (await import('./apply/command.ts')).registerApply,
  approve: async () => (await import('./approve/command.ts')).registerApprove,
  pause: async () => (await import('./pause/command.ts')).registerPause,
  resume: async () => (await import('./pause/command.ts')).registerResume,
  validate: async () => (await import('./validate/command.ts')).registerValidate,
  explain: async () => (await import('./explain/command.ts')).registerExplain,
  edit: async () => (await import('./edit/command.ts')).registerEdit,
  init: async () => (await import('./init/command.ts')).registerInit,
  import: async () => (await import('./import/command.ts')).registerImport,
  simulate: async () => (await import('./simulate/command.ts')).registerSimulate,
  collect: async () => (await import('./collect/command.ts')).registerCollect,
  recommend: async () => (await import('./recommend/command.ts')).registerRecommend,
  audit: async () => (await import('./audit/command.ts')).registerAudit,
  report: async () => (await import('./report/command.ts')).registerReport,
  notify: async () => (await import('./notify/command.ts')).registerNotify,
  history: async () => (await import('./history/command.ts')).registerHistory,
  me: async () => (await import('./me/command.ts')).registerMe,
  status: async () => (await import('./status/command.ts')).registerStatus,
  doctor: async () => (await import('./doctor/command.ts')).registerDoctor,
  schema: async () => (await import('./schema/command.ts')).registerSchema,
  ledger: async () => (await import('./ledger/command.ts')).registerLedger,
  sandbox: async () => (await import('./sandbox/command.ts')).registerSandbox,
  completion: async () => (await import('./completion/command.ts')).registerCompletion,
}

/** The command that a command line names; all of them for the help, for an unknown word, and for `completion`, which lists all. */
export function commandsFor([name = '']: readonly string[]): Promise<readonly Register[]> {
  const load = name !== 'completion' && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  return Promise.all(load ? [load()] : Object.values(COMMANDS).map((one) => one()))
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
export function buildProgram(cli: Cli, commands: readonly Register[]): Command {
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
