// What a person sees when a command fails, and the exit code: one clear line, or the problems with their places. Never a stack, except with
// CAPKEEPER_DEBUG, and never a key.
import { CommanderError } from 'commander'
import { plain } from '../../core/escape/terminal.ts'
import { InputError, messageOf } from '../../core/model/problem.ts'
import { CommandError, EXIT, type ExitCode, inputExit, painter, UsageError, type World } from './context.ts'

/** Prints a failure on stderr and returns its exit code. `command` is the one whose `--help` is suggested. */
export async function reportFailure(error: unknown, cli: World, command = 'capkeeper'): Promise<ExitCode> {
  // commander has printed its message already.
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
  const isNameless = error instanceof Error && error.message === '' && !(error instanceof CommandError)
  return `${mark} ${plain(isNameless ? error.name : messageOf(error))}\n${stack}`
}

export const helpPointer = (command: string): string => `Run \`${command} --help\` for its flags and an example.`

/** An unknown flag may have a key behind its `=`: the message repeats only the name. */
export const withoutFlagValues = (message: string): string => message.replace(/'(--?[\w-]+)=[^\n]*?'(?=\n|$)/g, "'$1'")
