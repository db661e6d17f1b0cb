// The ways in which deployments differ, as switches (docs/sandbox.md, Behaviour), and the settings of company and speed: tables with flags,
// values, defaults and help, and one reader that turns texts into values or into problems of one line. The first value is the default. Also
// what makes two of them happen: the chance of faults, and the limit of the rate.
import { lengthMs, UNIT_MS } from '../core/model/units.ts'
import { type CompanyOptions, DEFAULT_COMPANY, stream } from './company/company.ts'

const FAULT_NAMES = ['5xx', 'timeout', 'reset-before', 'reset-after', 'truncated', 'html', 'stale-read', 'short-roster'] as const
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

const oneOf = <const Value extends string>(...values: readonly [Value, ...Value[]]): Reading<Value> => ({
  values: values.join(' | '),
  choices: values,
  default: values[0],
  read: (text) => values.find((value) => value === text),
})

const milliseconds: Reading<number> = { values: 'milliseconds', default: '0', read: (text) => readWhole(text, 600_000) }
const delay: Reading<number> = { values: 'a duration such as 3h', default: '0', read: readDuration }
const rate: Reading<RateLimit | 'off'> = { values: 'off | N/s | N/m | N/h', default: 'off', read: readRate }
const faults: Reading<Readonly<Partial<Record<FaultName, number>>>> = {
  values: 'a list such as 5xx=0.1,timeout=0.05',
  default: 'none',
  read: readFaults,
}

/** Every switch, in the order of docs/sandbox.md, Behaviour, with its help. */
const TABLE = {
  capSemantics: {
    ...oneOf('layered', 'fan-out'),
    help: 'how a team or group cap reaches its members; fan-out copies it to each one',
  },
  capReads: {
    ...oneOf('explicit', 'inherited'),
    help: 'what a read of a user or group shows: what is set there, or what applies',
  },
  zeroCap: { ...oneOf('stored', 'omitted', 'rejected'), help: 'how a cap of 0 is treated: kept, read back as unset, or refused' },
  capSpelling: {
    ...oneOf('camel', 'snake', 'both'),
    help: 'the name of the cap in answers: addOnCreditCap, add_on_credit_cap or both',
  },
  writeBody: { ...oneOf('object', 'empty'), help: 'the answer to a write: {} or zero bytes' },
  names: { ...oneOf('spec', 'live'), help: 'field names of answers as the interface spells them or as live deployments do' },
  int64: { ...oneOf('number', 'string'), help: 'how 64-bit figures arrive: credits used and the balance' },
  zeros: { ...oneOf('kept', 'omitted'), help: 'whether fields that are zero, false or empty are left out' },
  errors: { ...oneOf('error', 'connect', 'text', 'ok'), help: 'the shape of errors; ok answers 200 with an error field' },
  rateLimit: { ...rate, help: 'requests per key and window before 429' },
  retryAfter: { ...oneOf('none', 'seconds', 'date'), help: 'the Retry-After header of a 429' },
  latency: { ...milliseconds, help: 'how long every answer takes' },
  jitter: { ...milliseconds, help: 'up to how much longer, drawn per request' },
  faults: { ...faults, help: `probabilities of ${FAULT_NAMES.join(', ')}; the same under the same seed` },
  plan: {
    ...oneOf('enterprise', 'team', 'quota', 'no-caps'),
    help: 'team has no credit balance, quota no credit fields in analytics, no-caps neither balance nor caps, whatever the key',
  },
  addOnRows: { ...oneOf('refused', 'served'), help: 'whether Analytics serves add-on use per person, its fifth data source' },
  runsFilter: {
    ...oneOf('kept', 'ignored'),
    help: 'whether runs of some people are only theirs; ignored answers with the runs of everybody',
  },
  runsOrder: {
    ...oneOf('recorded', 'reversed', 'doubled', 'around'),
    help: 'how runs come: as recorded, backwards, each result twice, or with the days around the range',
  },
  /** In milliseconds. */
  analyticsDelay: { ...delay, help: 'how far analytics and credits used lag behind' },
}

type Value<Kind> = Kind extends Reading<infer Read> ? Read : never
export type Switches = { readonly [Name in keyof typeof TABLE]: Value<(typeof TABLE)[Name]> }

/** A flag of `capkeeper sandbox`; `wrong` follows a text that `read` refused. */
interface Flag<Name extends string> extends Reading<unknown> {
  readonly name: Name
  readonly flag: string
  readonly help: string
  readonly wrong: string
}

export const SWITCHES: readonly Flag<keyof Switches>[] = Object.entries(TABLE).map(([name, one]) => ({
  ...one,
  name: name as keyof Switches,
  flag: `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
  wrong: `not a value of this switch; write ${one.values}`,
}))

/** The company, and how many times as fast as real time the sandbox's time runs. */
interface Settings extends CompanyOptions {
  readonly speed: number
}

export const SETTINGS: readonly Flag<keyof Settings>[] = [
  setting('people', 1, 100_000, DEFAULT_COMPANY.people, 'how many people the company has'),
  setting('groups', 1, 1000, DEFAULT_COMPANY.groups, 'how many groups they are in'),
  setting('days', 0, 1000, DEFAULT_COMPANY.days, 'how many days of use the company has at the start'),
  setting('seed', 0, 2_147_483_647, DEFAULT_COMPANY.seed, 'the same seed gives the same company, use and faults'),
  setting('speed', 1, 1_000_000, 1, 'how many times as fast as real time its time runs'),
]

function setting(name: keyof Settings, low: number, high: number, byDefault: number, help: string): Flag<keyof Settings> {
  const read = (text: string): number | undefined => {
    const value = readWhole(text, high)
    return value === undefined || value < low ? undefined : value
  }
  const wrong = `must be a whole number from ${low} to ${high}`
  return { name, flag: `--${name}`, values: `${low} to ${high}`, default: String(byDefault), help, read, wrong }
}

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
