// The commander program: every command registers itself here, from a file of its own under commands/. What a command needs beyond its
// flags it imports inside its action, so that `--help` and `validate` start without the network packages.
import { Command } from 'commander'
import { registerApply } from './apply/command.ts'
import { registerApprove } from './approve/command.ts'
import { registerAudit } from './audit/command.ts'
import { registerCompletion } from './completion/command.ts'
import { registerDoctor } from './doctor/command.ts'
import { registerExplain } from './explain/command.ts'
import { registerHistory } from './history/command.ts'
import { registerImport } from './import/command.ts'
import { registerInit } from './init/command.ts'
import { registerLedger } from './ledger/command.ts'
import { registerNotify } from './notify/command.ts'
import { registerPause } from './pause/command.ts'
import { registerResume } from './pause/resume.ts'
import { registerPlan } from './plan/command.ts'
import { registerRecommend } from './recommend/command.ts'
import { registerReport } from './report/command.ts'
import { registerRun } from './run/command.ts'
import { registerSandbox } from './sandbox/command.ts'
import { registerSchema } from './schema/command.ts'
import { EXIT_HELP, refuseKeyFlags } from './shared/args.ts'
import type { Cli, World } from './shared/context.ts'
import { EXIT, type ExitCode } from './shared/exit.ts'
import { helpPointer, reportFailure, withoutFlagValues } from './shared/failure.ts'
import { VERSION } from './shared/version.ts'
import { registerSimulate } from './simulate/command.ts'
import { registerStatus } from './status/command.ts'
import { registerValidate } from './validate/command.ts'

/** Adds one command to the program. Its action leaves an exit code with `cli.finish`, or throws. */
export type Register = (program: Command, cli: Cli) => void

/** In the order of `--help`. */
const COMMANDS: readonly Register[] = [
  registerRun,
  registerPlan,
  registerApply,
  registerApprove,
  registerPause,
  registerResume,
  registerValidate,
  registerExplain,
  registerInit,
  registerImport,
  registerSimulate,
  registerRecommend,
  registerAudit,
  registerReport,
  registerNotify,
  registerHistory,
  registerStatus,
  registerDoctor,
  registerSchema,
  registerLedger,
  registerSandbox,
  registerCompletion,
]

/** Runs one command line (without node and the script); resolves with its exit code and never rejects. */
export async function runCli(argv: readonly string[], world: World): Promise<ExitCode> {
  let code: ExitCode = EXIT.done
  let asked = 'capkeeper'
  const cli: Cli = {
    ...world,
    finish: (ending) => {
      code = ending
    },
  }
  try {
    refuseKeyFlags(argv)
    const program = buildProgram(cli)
    program.hook('preAction', (_program, command) => {
      asked = fullName(command)
    })
    await program.parseAsync([...argv], { from: 'user' })
    return code
  } catch (error) {
    return await reportFailure(error, cli, asked)
  }
}

/** The whole program with its commands; nothing has run yet. */
export function buildProgram(cli: Cli): Command {
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
  for (const register of COMMANDS) register(program, cli)
  pointToHelp(program)
  return program
}

function pointToHelp(command: Command): void {
  command.showHelpAfterError(helpPointer(fullName(command)))
  for (const child of command.commands) pointToHelp(child)
}

/** `capkeeper ledger backup`. */
const fullName = (command: Command): string => (command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name())
