// What a command gets from outside: streams, environment, clock, secrets to hide, colours, and a place to leave its exit code. Tests pass their
// own. Commands never use `process` themselves.
import { styleText } from 'node:util'
import type { Problem } from '../../core/model/problem.ts'
import type { Files } from '../../files.ts'
import type { Clock } from '../../ports.ts'

/** docs/commands.md. */
export const EXIT = {
  /** Done, nothing left. */
  done: 0,
  /** Failed, nothing could be done; or the prompt was declined. */
  failed: 1,
  /** Changes pending (`plan --detailed-exitcode`). */
  pending: 2,
  /** Held by a guard. */
  held: 3,
  /** Applied in part: something succeeded, something failed. */
  partial: 4,
  /** Wrong usage; also no terminal to ask on and no `--yes`. */
  usage: 64,
  /** Invalid policy or config. */
  input: 65,
} as const

/** The code for invalid input. An unknown workspace that only `--workspace` names is wrong usage, not a fault of a file. */
export const inputExit = (problems: readonly Problem[]): ExitCode =>
  problems.some(({ code, at }) => code === 'WORKSPACE_UNKNOWN' && !at) ? EXIT.usage : EXIT.input

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

const FIRST_THAT_FITS: readonly ExitCode[] = [EXIT.usage, EXIT.input, EXIT.failed, EXIT.partial, EXIT.held, EXIT.pending]

/**
 * The code of a command that ended in several ways, such as one per workspace: the first that fits of 64, 65, 1, 4, 3, 2, 0. Where some failed
 * and others did not, it was done in part (4).
 */
export function worstExit(codes: Iterable<ExitCode>): ExitCode {
  const seen = new Set(codes)
  const first = FIRST_THAT_FITS.find((code) => seen.has(code)) ?? EXIT.done
  return first === EXIT.failed && seen.size > 1 ? EXIT.partial : first
}

/** stdout carries the answer; notes, warnings and errors go to stderr. */
export interface Output extends NodeJS.WritableStream {
  readonly isTTY?: boolean
  readonly columns?: number
}

export interface World {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly secrets: Secrets
  readonly signals: Signals
}

/** Signals to the process: `interrupt` is Ctrl-C or SIGTERM, `hangup` is SIGHUP. */
export interface Signals {
  /** Returns a function that stops listening. */
  on(kind: 'interrupt' | 'hangup', handler: () => void): () => void
  /** Ends the process at once. */
  exit(code: ExitCode): void
}

export interface Cli extends World {
  /** Keys, tokens and certificates. */
  readonly files: Files
  /** Sets the exit code of the process. */
  finish(code: ExitCode): void
}

/** The address of a database may contain a password of any length. */
const withoutPasswords = (text: string): string =>
  text.includes('://')
    ? text
        .replace(/(postgres(?:ql)?:\/\/[^\s:@/]*:)[^\s@]*@/gi, '$1***@')
        .replace(/(postgres(?:ql)?:\/\/[^\s]*[?&]password=)[^\s&]*/gi, '$1***')
    : text

/** A shorter text is no key, and redacting it would turn ordinary words into stars. */
const SHORTEST_SECRET = 6

type Secrets = ReturnType<typeof createSecrets>

/** Knows the service keys of this process, and removes them from texts. */
export function createSecrets() {
  const known = new Set<string>()
  const others: ((text: string) => string)[] = []
  return {
    add(secret: string): void {
      for (const form of [secret.trim(), encodeURIComponent(secret.trim()), JSON.stringify(secret.trim()).slice(1, -1)]) {
        if (form.length >= SHORTEST_SECRET) known.add(form)
      }
    },
    /** Adds a redactor that knows more keys, such as a key ring's. */
    alsoRedact: (redact: (text: string) => string): void => void others.push(redact),
    redact(text: string): string {
      const own = [...known]
        .sort((a, b) => b.length - a.length)
        .reduce((shown, secret) => shown.replaceAll(secret, '***'), withoutPasswords(text))
      return others.reduce((shown, redact) => redact(shown), own)
    },
  }
}

export type Style = 'bold' | 'dim' | 'green' | 'cyan' | 'yellow' | 'red'

/** Colours a text, or leaves it alone. */
export type Paint = (style: Style, text: string) => string

export const unpainted: Paint = (_style, text) => text

/** Colours only on a terminal that shows them; none with NO_COLOR or TERM=dumb. */
export const painter =
  (stream: Output): Paint =>
  (style, text) =>
    stream.isTTY === true ? styleText(style, text, { stream, validateStream: true }) : text

/** Whether `painter` colours what goes to a stream. */
export const hasColours = (stream: Output): boolean => painter(stream)('red', 'x') !== 'x'

/** Wrong usage, told in one line with the way out; exit code 64. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command line is right, and the command failed; told in one line, exit code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}
