// The log: one line per event. As JSON it has a static message and the data in fields; for eyes it is a sentence, with the fields only at
// debug. The only importer of pino. Whatever a line says passes the redactor last of all, so that no service key leaves, wherever in a
// message or an error text it stands.
import { pino } from 'pino'
import { plain, printable } from '../../core/escape/terminal.ts'
import type { Clock } from '../../ports.ts'

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** Plain values only: an error object could carry a request and its key. What is undefined is left out. */
export type LogFields = Readonly<
  Record<string, string | number | boolean | readonly string[] | Readonly<Record<string, number>> | undefined>
>

/** `sentence` says it to a person; without one it is made of the message and the fields. */
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
  /** Takes the service keys out of a text. */
  readonly redact: (text: string) => string
  /** Colours in `pretty`. Default: on a terminal. */
  readonly colour?: boolean
}

/** Makes a logger. Lines are `{"level":"info","time":"2026-11-20T12:00:00.000Z",…fields,"msg":"…"}`. Choice. */
export async function createLogger(options: LoggerOptions): Promise<Logger> {
  const { level, clock, destination, redact } = options
  const forEyes = options.format === 'pretty'
  const hidesFields = level !== 'debug' && level !== 'trace'
  const render = forEyes ? await prettyLine(options.colour ?? destination.isTTY === true, hidesFields) : asItIs
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
      // Before the line as well: JSON spells some characters of a key in another way.
      lines[name](redactFields(fields, redact), redact(said))
    }
  return { error: log('error'), warn: log('warn'), info: log('info'), debug: log('debug'), forEyes }
}

/** The message with its error, its problems on lines of their own and, when they do not show otherwise, its other fields. */
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

const asItIs = (line: string): string => line

/** Loaded only when asked for: in production it would cost start-up time for nothing. */
async function prettyLine(colorize: boolean, hideObject: boolean): Promise<(line: string) => string> {
  const { default: pretty } = await import('pino-pretty')
  return pretty.prettyFactory({
    colorize,
    translateTime: 'SYS:HH:MM:ss',
    // With nothing to put on it, a single line would have no end.
    singleLine: !hideObject,
    hideObject,
    errorLikeObjectKeys: [],
    // Without brackets: 80 columns are few.
    customPrettifiers: { time: (time) => String(time) },
  })
}
