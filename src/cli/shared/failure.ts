// What a person sees when a command fails, and the exit code that goes with it: one clear line, or the positioned problems; never a
// stack (but with CAPKEEPER_DEBUG), never a key.
import { CommanderError } from 'commander'
import { plain } from '../../core/escape/terminal.ts'
import { InputError } from '../../core/model/problem.ts'
import { CommandError, painter, UsageError, type World } from './context.ts'
import { EXIT, type ExitCode, inputExit } from './exit.ts'

/** Shows a failure on stderr and names its exit code. `command` is what to ask `--help` of. */
export async function reportFailure(error: unknown, cli: World, command = 'capkeeper'): Promise<ExitCode> {
  // commander has already spoken.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
  cli.stderr.write(cli.secrets.redact(await describe(error, cli, command)))
  if (error instanceof UsageError) return EXIT.usage
  return error instanceof InputError ? inputExit(error.problems) : EXIT.failed
}

async function describe(error: unknown, cli: World, command: string): Promise<string> {
  const mark = painter(cli.stderr)('red', 'error:')
  if (error instanceof InputError) {
    const { problemsText } = await import('./problems.ts')
    return problemsText(error.problems, painter(cli.stderr))
  }
  if (error instanceof UsageError) return `${mark} ${plain(error.message)}\n${helpPointer(command)}\n`
  const stack = cli.env['CAPKEEPER_DEBUG'] && error instanceof Error && error.stack ? `${error.stack}\n` : ''
  return `${mark} ${plain(messageOf(error))}\n${stack}`
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof CommandError || error.message !== '') return error.message
  return error.name
}

export const helpPointer = (command: string): string => `Run \`${command} --help\` for its flags and an example.`

/** An unknown flag may carry a key behind its `=`: names it without the value. */
export const withoutFlagValues = (message: string): string => message.replace(/'(--?[\w-]+)=[^\n]*?'(?=\n|$)/g, "'$1'")
