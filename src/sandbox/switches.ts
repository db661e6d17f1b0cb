// The ways in which deployments differ, as switches (docs/sandbox.md, Behaviour), and the settings of company and speed: the flags of switches.yaml,
// and one reader that turns texts into values or into problems of one line. Also what makes two of them happen: the chance of faults, and the
// limit of the rate.
import { lengthMs, UNIT_MS } from '../core/model/units.ts'
import { stream } from './company/company.ts'
import { FLAGS } from './switches.generated.ts'

const { switches: ROWS, settings: SETTING_ROWS } = FLAGS

const FAULT_NAMES = ROWS.faults.of
export type FaultName = (typeof FAULT_NAMES)[number]

/** `limit` requests in each window of `windowMs`. */
interface RateLimit {
  readonly limit: number
  readonly windowMs: number
}

/** How the text of a flag is read: help shows `values`, and `read` returns undefined for an invalid text. */
interface Reading<Value> {
  readonly values: string
  /** Where there are no others. */
  readonly choices?: readonly string[]
  readonly default: string
  readonly read: (text: string) => Value | undefined
}

const oneOf = <Value extends string>(choices: readonly Value[]): Reading<Value> => ({
  values: choices.join(' | '),
  choices,
  default: choices[0] ?? '',
  read: (text) => choices.find((choice) => choice === text),
})

const milliseconds: Reading<number> = { values: 'milliseconds', default: '0', read: (text) => readWhole(text, 600_000) }
const duration: Reading<number> = { values: 'a duration such as 3h', default: '0', read: readDuration }
const rate: Reading<RateLimit | 'off'> = { values: 'off | N/s | N/m | N/h', default: 'off', read: readRate }
const faults: Reading<Readonly<Partial<Record<FaultName, number>>>> = {
  values: 'a list such as 5xx=0.1,timeout=0.05',
  default: 'none',
  read: readFaults,
}
const READINGS = { milliseconds, duration, rate, faults }

type Value<Row> = Row extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : Row extends { readonly reads: infer Name extends keyof typeof READINGS }
    ? Exclude<ReturnType<(typeof READINGS)[Name]['read']>, undefined>
    : never
/** Durations are in milliseconds. */
export type Switches = { readonly [Name in keyof typeof ROWS]: Value<(typeof ROWS)[Name]> }

/** A flag of `capkeeper sandbox`; `wrong` follows a text that `read` refused. */
interface Flag<Name extends string> extends Reading<unknown> {
  readonly name: Name
  readonly flag: string
  readonly help: string
  readonly wrong: string
}

const flagOf = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

export const SWITCHES: readonly Flag<keyof Switches>[] = Object.entries(ROWS).map(([name, row]) => {
  const reading: Reading<unknown> = 'choices' in row ? oneOf(row.choices) : READINGS[row.reads]
  const of = 'of' in row ? ` of ${row.of.join(', ')}` : ''
  const help = of ? `probabilities${of}; ${row.help}` : row.help
  return {
    ...reading,
    name: name as keyof Switches,
    flag: flagOf(name),
    help,
    wrong: `not a value of this switch; write ${reading.values}${of && `: probabilities${of}`}`,
  }
})

/** The company, and how many times as fast as real time the sandbox's time runs. */
type Settings = Readonly<Record<keyof typeof SETTING_ROWS, number>>

export const SETTINGS: readonly Flag<keyof Settings>[] = Object.entries(SETTING_ROWS).map(
  ([name, { low, high, default: preset, help }]) => ({
    ...{ name: name as keyof Settings, flag: flagOf(name), values: `${low} to ${high}`, default: String(preset), help },
    read(text) {
      const value = readWhole(text, high)
      return value === undefined || value < low ? undefined : value
    },
    wrong: `must be a whole number from ${low} to ${high}`,
  }),
)

type Texts = Readonly<Partial<Record<string, string>>>
type Parsed<Values> =
  | { readonly kind: 'values'; readonly values: Values }
  | { readonly kind: 'problems'; readonly problems: readonly string[] }

/** Reads the texts of switches by name; each problem is one line that names the flag, the given text and the valid values. */
export const parseSwitches = (texts: Texts): Parsed<Switches> => parsed(SWITCHES, texts)

/** The same for settings. */
export const parseSettings = (texts: Texts): Parsed<Settings> => parsed(SETTINGS, texts)

function parsed<Values>(flags: readonly Flag<keyof Values & string>[], texts: Texts): Parsed<Values> {
  const problems = flags.flatMap(({ name, flag, read, wrong }) => {
    const text = texts[name]
    return text !== undefined && read(text.trim()) === undefined ? [`${flag} ${text}: ${wrong}`] : []
  })
  return problems.length > 0 ? { kind: 'problems', problems } : { kind: 'values', values: valuesOf(flags, texts) }
}

/** Valid texts as values; the default where there is none. */
const valuesOf = <Values>(flags: readonly Flag<keyof Values & string>[], texts: Texts): Values =>
  Object.fromEntries(flags.map(({ name, read, default: preset }) => [name, read((texts[name] ?? preset).trim())])) as Values

export const DEFAULT_SWITCHES: Switches = valuesOf(SWITCHES, {})
export const DEFAULT_SETTINGS: Settings = valuesOf(SETTINGS, {})

/** A whole number from 0 to `max`; undefined for anything else. */
function readWhole(text: string, max: number): number | undefined {
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN
  return value <= max ? value : undefined
}

function readDuration(text: string): number | undefined {
  return text === '0' || /^\d{1,9}(ms|s|m|h|d)$/.test(text) ? lengthMs(text) : undefined
}

function readRate(text: string): RateLimit | 'off' | undefined {
  if (text === 'off') return 'off'
  const match = /^([1-9]\d{0,8})\/([smh])$/.exec(text)
  const windowMs = UNIT_MS[match?.[2] ?? '']
  return match && windowMs ? { limit: Number(match[1]), windowMs } : undefined
}

function readFaults(text: string): Switches['faults'] | undefined {
  const faults: Partial<Record<FaultName, number>> = {}
  if (text === '' || text === 'none') return faults
  for (const part of text.split(',')) {
    const match = /^\s*([a-z0-9-]+)=(0|1|0?\.\d{1,9}|[01]\.0+)\s*$/.exec(part)
    const name = FAULT_NAMES.find((one) => one === match?.[1])
    if (!name) return undefined
    faults[name] = Number(match?.[2])
  }
  return faults
}

export function createChance(seed: number, switches: Pick<Switches, 'faults' | 'latency' | 'jitter'>) {
  const draws = FAULT_NAMES.map((name) => ({ name, probability: switches.faults[name] ?? 0, draw: stream(seed, `fault/${name}`) }))
  const jitter = stream(seed, 'jitter')
  return {
    /** The faults of the next request; there may be several. */
    faults: (): ReadonlySet<FaultName> => new Set(draws.filter(({ draw, probability }) => draw() < probability).map(({ name }) => name)),
    /** The delay of the next answer in milliseconds. */
    delayMs: (): number => switches.latency + Math.round(jitter() * switches.jitter),
    /** Chooses between the forms of one fault. */
    draw: stream(seed, 'fault-shape'),
  }
}

/**
 * A fixed window for each key: it opens with the first request and lets `limit` requests pass; refused requests do not count. Choice: the
 * interface names no limit. `now` is the monotonic clock.
 */
export function createRateLimiter(rate: RateLimit | 'off', now: () => number): (key: string) => number {
  const windows = new Map<string, { openedAt: number; count: number }>()
  return (key) => {
    if (rate === 'off') return 0
    const at = now()
    const open = windows.get(key)
    if (!open || at - open.openedAt >= rate.windowMs) {
      windows.set(key, { openedAt: at, count: 1 })
      return 0
    }
    if (open.count >= rate.limit) return open.openedAt + rate.windowMs - at
    open.count += 1
    return 0
  }
}

/** `Retry-After` as configured: whole seconds, or a date of whole seconds, never too early. `now` is the wall clock. */
export function retryAfterHeader(style: Switches['retryAfter'], waitMs: number, now: number): string | undefined {
  switch (style) {
    case 'none':
      return undefined
    case 'seconds':
      return String(Math.ceil(waitMs / 1000))
    case 'date':
      return new Date(Math.ceil((now + waitMs) / 1000) * 1000).toUTCString()
  }
}

/** Pages that a proxy in front of a service answers with. */
export const HTML_PAGE =
  '<!DOCTYPE html>\n<html><head><title>Service unavailable</title></head><body><h1>Please try again later</h1></body></html>\n'
