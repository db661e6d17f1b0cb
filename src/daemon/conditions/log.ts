// The log: one line per event, as JSON with a static message and fields, or as a sentence for a person, with fields only at debug. It is the only
// importer of pino. Every line passes the redactor last, so that no service key leaves in any message or error text.
import { pino } from 'pino'
import { plain, printable } from '../../core/escape/terminal.ts'
import type { Clock } from '../../ports.ts'

type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** Plain values only: an error object could carry a request and its key. Undefined fields are left out. */
export type LogFields = Readonly<
  Record<string, string | number | boolean | readonly string[] | Readonly<Record<string, number>> | undefined>
>

/** `sentence`: the line for a person; without it one is made from the message and the fields. */
type Log = (fields: LogFields, message: string, sentence?: () => string) => void

/** error: a person must act; warn: held, or a foreign change; info: something was written or changed state; debug: the rest. */
export interface Logger {
  readonly error: Log
  readonly warn: Log
  readonly info: Log
  readonly debug: Log
  /** Lines are sentences for a person at a terminal. */
  readonly forEyes?: boolean
}

export interface LoggerOptions {
  readonly level: LogLevel
  readonly format: 'json' | 'pretty'
  readonly clock: Clock
  /** Where lines go, one call a line; stderr of the process. */
  readonly destination: { write(text: string): unknown; readonly isTTY?: boolean }
  /** Removes the service keys from a text. */
  readonly redact: (text: string) => string
  /** Colours in `pretty`. Default: on a terminal. */
  readonly colour?: boolean
}

/** Makes a logger. Lines are `{"level":"info","time":"2026-11-20T12:00:00.000Z",…fields,"msg":"…"}`. Choice. */
export async function createLogger(options: LoggerOptions): Promise<Logger> {
  const { level, clock, destination, redact } = options
  const forEyes = options.format === 'pretty'
  const hidesFields = level !== 'debug' && level !== 'trace'
  const render = forEyes ? await prettyLine(options.colour ?? destination.isTTY === true, hidesFields) : (line: string) => line
  const lines = pino(
    {
      level,
      base: null,
      formatters: { level: (label) => ({ level: label }) },
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
    },
    { write: (line) => void destination.write(redact(render(line))) },
  )
  const log =
    (name: 'error' | 'warn' | 'info' | 'debug'): Log =>
    (fields, message, sentence) => {
      if (!lines.isLevelEnabled(name)) return
      const said = forEyes ? (sentence?.() ?? sentenceFrom(fields, message, hidesFields)) : message
      // Redacted before the line is made as well, because JSON escapes some characters of a key.
      lines[name](redactFields(fields, redact), redact(said))
    }
  return { error: log('error'), warn: log('warn'), info: log('info'), debug: log('debug'), forEyes }
}

/** The message with its error, its problems on lines of their own and, where fields are hidden, its other fields. */
function sentenceFrom({ error, problems, ...others }: LogFields, message: string, showsOthers: boolean): string {
  const because = error === undefined ? '' : `: ${plain(String(error))}`
  const rest = Object.entries(others).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${plain(textOf(value))}`]))
  const named = showsOthers && rest.length > 0 ? ` (${rest.join(', ')})` : ''
  const lines = Array.isArray(problems) ? problems.map((line) => `\n  ${printable(String(line))}`) : []
  return `${plain(message)}${because}${named}${lines.join('')}`
}

const textOf = (value: NonNullable<LogFields[string]>): string => (typeof value === 'object' ? JSON.stringify(value) : String(value))

function redactFields(fields: LogFields, redact: (text: string) => string): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (typeof value === 'string') return [redact(name), redact(value)]
      return [redact(name), Array.isArray(value) ? value.map((one) => redact(String(one))) : value]
    }),
  )
}

/** Loaded only when needed: in production it would only cost start-up time. */
async function prettyLine(colorize: boolean, hideObject: boolean): Promise<(line: string) => string> {
  const { default: pretty } = await import('pino-pretty')
  return pretty.prettyFactory({
    colorize,
    translateTime: 'SYS:HH:MM:ss',
    // With hidden objects, `singleLine` would leave out the end of the line.
    singleLine: !hideObject,
    hideObject,
    errorLikeObjectKeys: [],
    // Without brackets, to save columns.
    customPrettifiers: { time: (time) => String(time) },
  })
}
