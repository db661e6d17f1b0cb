// The work of a command in each workspace: a workspace that fails does not stop the others, and Ctrl-C stops them all. Says when the work waits
// for the service's rate, and ends a wait that is in vain.

import { CommanderError } from 'commander'
import type { RequestEvent } from '../../api/send.ts'
import { plain } from '../../core/escape/text.ts'
import { InputError, messageOf } from '../../core/model/problem.ts'
import { timer } from '../../daemon/schedule/system.ts'
import { type Cli, CommandError, EXIT, type ExitCode, inputExit, painter, UsageError, type World } from './context.ts'
import { span, tellLine } from './text.ts'

// What a person sees when a command fails, and the exit code: one clear line, or the problems with their places. Never a stack, except with
// CAPKEEPER_DEBUG, and never a key.

/** Prints a failure on stderr and returns its exit code. `command` is the one whose `--help` is suggested. */
export async function reportFailure(failure: unknown, cli: World, command = 'capkeeper'): Promise<ExitCode> {
  const error = firstOf(failure)
  // commander has printed its message already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
  cli.stderr.write(cli.secrets.redact(await describe(error, cli, command)))
  if (error instanceof UsageError) return EXIT.usage
  return error instanceof InputError ? inputExit(error.problems) : EXIT.failed
}

/** What failed first, where closing what was open has failed as well. */
const firstOf = (error: unknown): unknown => (error instanceof SuppressedError ? firstOf(error.suppressed) : error)

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

/** How long a write in flight and the read after it may take after the first interrupt; as long as in the daemon. */
const GRACE_MS = 8_000

/** Runs work with two signals: the first interrupt aborts `stop`, and `cut` when the time for a write in flight is over. */
export async function interruptible<T>(cli: Cli, work: (stop: AbortSignal, cut: AbortSignal) => Promise<T>): Promise<T> {
  const [stop, cut] = [new AbortController(), new AbortController()]
  using ended = new DisposableStack()
  const stopListening = cli.signals.on('interrupt', () => {
    if (stop.signal.aborted) cli.signals.exit(EXIT.failed)
    stop.abort(new Error('interrupted'))
    ended.use(timer(cli.clock, GRACE_MS, () => cut.abort(new Error('interrupted'))))
  })
  ended.defer(stopListening)
  return await work(stop.signal, cut.signal)
}

/** For how long all answers were refusals. Choice. */
const LONG_MS = 10_000
/** So long a person waits while every answer is a refusal for the rate: several windows of a minute, and none of an hour. Choice. */
const PATIENCE_MS = 300_000

/** Says on stderr, once, that the service refuses all requests for the rate, and when that is no longer waited for. */
export function waitForRate(cli: Pick<Cli, 'stderr' | 'secrets' | 'clock'>, workspace: string) {
  let refused: { readonly sinceMs: number; readonly note: Disposable } | undefined
  let isTold = false
  let givenUp: string | undefined
  const stop = (): void => {
    refused?.note[Symbol.dispose]()
    refused = undefined
  }
  const tell = (): void => {
    if (!isTold) tellLine(cli, `note: ${workspace}: ${REFUSED}; waiting until it takes them, for ${span(PATIENCE_MS)} at most`)
    isTold = true
  }
  return {
    onRequest({ outcome, retryAfterMs = 0 }: Pick<RequestEvent, 'outcome' | 'retryAfterMs'>) {
      if (outcome !== 'rate_limited') return stop()
      const nowMs = cli.clock.monotonic()
      refused ??= { sinceMs: nowMs, note: timer(cli.clock, LONG_MS, tell) }
      if (nowMs - refused.sinceMs + retryAfterMs <= PATIENCE_MS) return
      givenUp = `given up: ${REFUSED}, and a command waits for ${span(PATIENCE_MS)} at most`
      stop()
    },
    /** Why nothing is to be sent any more. */
    givenUp: () => givenUp,
    stop,
  }
}

const REFUSED = 'the service refuses requests, because its rate limit is reached'

/**
 * Waits for all workspaces, so that shared parts can be closed afterwards, and prints each failure once. Throws the first failure where all
 * failed, and throws when it was interrupted. `codes`: `failed` where some workspaces failed, for `worstExit` with the codes of the others.
 */
export async function inEach<W, T>(
  cli: Cli,
  workspaces: readonly W[],
  work: (one: W) => T | Promise<T>,
  signal?: AbortSignal,
): Promise<{ readonly done: readonly T[]; readonly codes: readonly ExitCode[] }> {
  const ended = await Promise.allSettled(workspaces.map(async (one) => work(one)))
  const done = ended.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const failures: readonly unknown[] = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  if (failures.length === 0) return { done, codes: [] }
  signal?.throwIfAborted()
  const [first, ...others] = [...new Map(failures.map((failure) => [messageOf(failure), failure]))]
  for (const [message] of done.length > 0 && first ? [first, ...others] : others) tellLine(cli, `error: ${message}`)
  if (done.length === 0) throw first?.[1]
  return { done, codes: [EXIT.failed] }
}
