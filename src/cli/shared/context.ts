// What a command is given of the world: streams, environment, clock, and a place to leave its exit code. Tests hand in their own.
// Commands never touch `process` themselves.
import { styleText } from 'node:util'
import type { Clock } from '../../ports.ts'
import type { ExitCode } from './exit.ts'

/** stdout carries the answer, stderr the talk. */
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
  /** Hides service keys in whatever is about to be shown. */
  readonly secrets: Secrets
  readonly signals: Signals
}

/** What others ask of the process: `interrupt` is Ctrl-C and SIGTERM, `hangup` is SIGHUP. */
export interface Signals {
  /** Returns how to stop listening. */
  on(kind: 'interrupt' | 'hangup', handler: () => void): () => void
  /** Ends the process at once. */
  exit(code: ExitCode): void
}

export const NO_SIGNALS: Signals = { on: () => () => undefined, exit: () => undefined }

export interface Cli extends World {
  /** Leaves the code that the process ends with. */
  finish(code: ExitCode): void
}

/** Knows the service keys of this process, and takes them out of texts. */
export interface Secrets {
  add(secret: string): void
  /** Adds somebody who knows more keys, such as a key ring. */
  alsoRedact(redact: (text: string) => string): void
  redact(text: string): string
}

/** The address of a database may hold a password of any length. */
const withoutPasswords = (text: string): string =>
  text.includes('://')
    ? text
        .replace(/(postgres(?:ql)?:\/\/[^\s:@/]*:)[^\s@]*@/gi, '$1***@')
        .replace(/(postgres(?:ql)?:\/\/[^\s]*[?&]password=)[^\s&]*/gi, '$1***')
    : text

/** Anything shorter would turn ordinary words into stars, and is no key. */
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

/** Columns of the terminal, or undefined when the text goes elsewhere and need not be narrow. */
export const columnsOf = (stream: Output): number | undefined => (stream.isTTY === true && stream.columns ? stream.columns : undefined)

/** Wrong usage: one line that says what is wrong and the way out; exit code 64. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command understood, and could not: one line; exit code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}
