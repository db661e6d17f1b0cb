// The commander program. Each command registers itself from its own file. A command line loads only the command that it names, so that `--help`
// and `validate` start without the network packages.
import { Command, Help } from 'commander'
import { DIRECT_FILES } from '../files.ts'
import { EXIT_HELP, refuseEmpty, refuseKeyFlags } from './shared/args.ts'
import { type Cli, EXIT, type ExitCode, type World } from './shared/context.ts'
import { helpPointer, reportFailure, withoutFlagValues } from './shared/each.ts'
import { VERSION } from './shared/text.ts'

/** Adds one command to the program. Its action leaves an exit code with `cli.finish`, or throws. */
type Register = (program: Command, cli: Cli) => void

/** As `--help` lists them: usage, summary, and the command itself. */
const COMMANDS: readonly (readonly [usage: string, summary: string, load: () => Promise<Register>])[] = [
  ['run [options]', 'the daemon: keep caps equal to the policies, for ever', async () => (await import('./run/command.ts')).registerRun],
  ['plan [options]', 'show what would be written, and why', async () => (await import('./plan/run.ts')).registerPlan],
  ['apply [options]', 'plan, ask, write, read back', async () => (await import('./apply/command.ts')).registerApply],
  ['approve [options] <id>', 'release a hold', async () => (await import('./approve.ts')).registerApprove],
  ['pause [options]', 'stop writing for a while', async () => (await import('./pause.ts')).registerPause],
  ['resume [options]', 'end a pause', async () => (await import('./pause.ts')).registerResume],
  ['validate [options] [path...]', 'check policies and config', async () => (await import('./validate.ts')).registerValidate],
  ['explain [options] <scope>', 'why somebody has the cap they have', async () => (await import('./explain.ts')).registerExplain],
  ['edit', 'change policy files', async () => (await import('./edit/command.ts')).registerEdit],
  ['init [options] [dir]', 'write the first files, from the caps in force', async () => (await import('./init/run.ts')).registerInit],
  ['import [options]', 'live caps as policy YAML', async () => (await import('./import.ts')).registerImport],
  [
    'simulate [options] [path...]',
    'what past cycles would have been under these policies',
    async () => (await import('./simulate/run.ts')).registerSimulate,
  ],
  ['collect [options]', 'read the past use of people into the ledger', async () => (await import('./collect/command.ts')).registerCollect],
  [
    'recommend [options] [path...]',
    'caps for groups and the team from recorded use',
    async () => (await import('./recommend.ts')).registerRecommend,
  ],
  [
    'audit [options]',
    'caps that no policy declares, people without a cap, people near theirs',
    async () => (await import('./audit.ts')).registerAudit,
  ],
  [
    'report [options]',
    'use, caps, head-room, projection and changes of a cycle',
    async () => (await import('./report/command.ts')).registerReport,
  ],
  ['notify', 'messages to people and owners', async () => (await import('./notify.ts')).registerNotify],
  ['history [options] [scope]', 'what capkeeper wrote', async () => (await import('./history.ts')).registerHistory],
  ['me [options]', 'what is left for you', async () => (await import('./me.ts')).registerMe],
  ['status [options]', 'state of a running daemon', async () => (await import('./status.ts')).registerStatus],
  ['doctor [options]', 'check config, files, keys and service', async () => (await import('./doctor/run.ts')).registerDoctor],
  ['schema <kind>', 'JSON Schema for editors', async () => (await import('./schema.ts')).registerSchema],
  ['ledger', 'copy, move or check the ledger', async () => (await import('./ledger.ts')).registerLedger],
  [
    'sandbox [options]',
    'the embedded service, to rehearse policies on',
    async () => (await import('./sandbox/command.ts')).registerSandbox,
  ],
  ['completion <shell>', 'shell completion', async () => (await import('./completion.ts')).registerCompletion],
]

type Listed = (typeof COMMANDS)[number]

const nameOf = ([usage]: Listed): string => usage.split(' ')[0] ?? usage

async function whole(listed: Listed): Promise<Register> {
  const register = await listed[2]()
  return (program, cli) => {
    register(program, cli)
    program.commands.find((one) => one.name() === nameOf(listed))?.summary(listed[1])
  }
}

const nameOnly =
  (listed: Listed): Register =>
  (program) =>
    void program.command(nameOf(listed)).summary(listed[1])

/** The command that a command line names, with only the names of the others, for the help; all of them for `completion`, which lists their flags. */
export function commandsFor(argv: readonly string[]): Promise<readonly Register[]> {
  const name = argv.find((word) => !word.startsWith('-') && word !== 'help')
  return Promise.all(COMMANDS.map((one) => (name === 'completion' || name === nameOf(one) ? whole(one) : nameOnly(one))))
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
export function buildProgram(cli: Cli, commands: readonly Register[]): Command {
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
