// What a command gets from outside: streams, environment, clock, and a place to leave its exit code. Tests pass their own. Commands never use
// `process` themselves.
import { styleText } from 'node:util'
import type { Files } from '../../files.ts'
import type { Clock } from '../../ports.ts'
import type { ExitCode } from './exit.ts'

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

export const NO_SIGNALS: Signals = { on: () => () => undefined, exit: () => undefined }

export interface Cli extends World {
  /** Keys, tokens and certificates. */
  readonly files: Files
  /** Sets the exit code of the process. */
  finish(code: ExitCode): void
}

/** Knows the service keys of this process, and removes them from texts. */
interface Secrets {
  add(secret: string): void
  /** Adds a redactor that knows more keys, such as a key ring's. */
  alsoRedact(redact: (text: string) => string): void
  redact(text: string): string
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

export function createSecrets(): Secrets {
  const known = new Set<string>()
  const others: ((text: string) => string)[] = []
  return {
    add(secret) {
      for (const form of [secret.trim(), encodeURIComponent(secret.trim()), JSON.stringify(secret.trim()).slice(1, -1)]) {
        if (form.length >= SHORTEST_SECRET) known.add(form)
      }
    },
    alsoRedact: (redact) => void others.push(redact),
    redact(text) {
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

/** The columns of the terminal; undefined when the text goes elsewhere. */
export const columnsOf = (stream: Output): number | undefined => (stream.isTTY === true && stream.columns ? stream.columns : undefined)

/** Wrong usage, told in one line with the way out; exit code 64. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command line is right, and the command failed; told in one line, exit code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}
