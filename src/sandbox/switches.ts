// The ways in which deployments differ, as switches (docs/sandbox.md, Behaviour): one table with flags, values, defaults and help, and one
// reader that turns texts into settings or into problems of one line. The first value is the default. Also what makes two of them happen:
// the chance of faults, and the limit of the rate.
import { DAY_MS, HOUR_MS } from '../core/model/units.ts'
import { type CompanyOptions, DEFAULT_COMPANY, type Draw, stream } from './company/company.ts'

const FAULT_NAMES = ['5xx', 'timeout', 'reset-before', 'reset-after', 'truncated', 'html', 'stale-read', 'short-roster'] as const
export type FaultName = (typeof FAULT_NAMES)[number]

/** `limit` requests in each window of `windowMs`. */
interface RateLimit {
  readonly limit: number
  readonly windowMs: number
}

export interface Switches {
  /** `fan-out`: a team or group write is copied to each member's user cap. */
  readonly capSemantics: 'layered' | 'fan-out'
  /** `inherited`: a read of a user or group shows the cap that applies. */
  readonly capReads: 'explicit' | 'inherited'
  /** `omitted`: 0 reads back as unset; `rejected`: 0 is a 400. */
  readonly zeroCap: 'stored' | 'omitted' | 'rejected'
  readonly capSpelling: 'camel' | 'snake' | 'both'
  /** `empty`: zero bytes. */
  readonly writeBody: 'object' | 'empty'
  readonly names: 'spec' | 'live'
  readonly int64: 'number' | 'string'
  readonly zeros: 'kept' | 'omitted'
  readonly errors: 'error' | 'connect' | 'text' | 'ok'
  readonly rateLimit: RateLimit | 'off'
  readonly retryAfter: 'none' | 'seconds' | 'date'
  readonly latency: number
  readonly jitter: number
  /** Probability by fault. */
  readonly faults: Readonly<Partial<Record<FaultName, number>>>
  /** `no-caps`: the balance and both cap operations are refused whatever the key. */
  readonly plan: 'enterprise' | 'team' | 'quota' | 'no-caps'
  /** Whether Analytics serves the fifth data source, add-on use per person. */
  readonly addOnRows: 'refused' | 'served'
  /** `ignored`: an answer about some people has the runs of everybody. */
  readonly runsFilter: 'kept' | 'ignored'
  /** How runs come: as they were recorded, backwards, each answer twice, or with the days around the range. */
  readonly runsOrder: 'recorded' | 'reversed' | 'doubled' | 'around'
  /** Milliseconds that analytics, and so `promptCreditsUsed`, lag behind. */
  readonly analyticsDelay: number
}

export const DEFAULT_SWITCHES: Switches = {
  capSemantics: 'layered',
  capReads: 'explicit',
  zeroCap: 'stored',
  capSpelling: 'camel',
  writeBody: 'object',
  names: 'spec',
  int64: 'number',
  zeros: 'kept',
  errors: 'error',
  rateLimit: 'off',
  retryAfter: 'none',
  latency: 0,
  jitter: 0,
  faults: {},
  plan: 'enterprise',
  addOnRows: 'refused',
  runsFilter: 'kept',
  runsOrder: 'recorded',
  analyticsDelay: 0,
}

type SwitchName = keyof Switches

/** One flag of `capkeeper sandbox`; help shows `values`, and `read` returns undefined for an invalid text. */
interface SwitchSpec<Name extends SwitchName = SwitchName> {
  readonly name: Name
  readonly flag: string
  readonly values: string
  /** Where there are no others. */
  readonly choices?: readonly string[]
  readonly default: string
  readonly help: string
  readonly read: (text: string) => Switches[Name] | undefined
}

function oneOf<const Value extends string>(...values: readonly [Value, ...Value[]]) {
  return {
    values: values.join(' | '),
    choices: values,
    default: values[0],
    read: (text: string): Value | undefined => values.find((value) => value === text),
  }
}

const milliseconds = { values: 'milliseconds', default: '0', read: (text: string) => readWhole(text, 600_000) }
const delay = { values: 'a duration such as 3h', default: '0', read: readDuration }
const rate = { values: 'off | N/s | N/m | N/h', default: 'off', read: readRate }
const faults = { values: 'a list such as 5xx=0.1,timeout=0.05', default: 'none', read: readFaults }

/** Every switch, in the order of docs/sandbox.md, Behaviour. */
export const SWITCHES: { readonly [Name in SwitchName]: SwitchSpec<Name> } = {
  capSemantics: spec(
    'capSemantics',
    oneOf('layered', 'fan-out'),
    'how a team or group cap reaches its members; fan-out copies it to each one',
  ),
  capReads: spec('capReads', oneOf('explicit', 'inherited'), 'what a read of a user or group shows: what is set there, or what applies'),
  zeroCap: spec('zeroCap', oneOf('stored', 'omitted', 'rejected'), 'how a cap of 0 is treated: kept, read back as unset, or refused'),
  capSpelling: spec(
    'capSpelling',
    oneOf('camel', 'snake', 'both'),
    'the name of the cap in answers: addOnCreditCap, add_on_credit_cap or both',
  ),
  writeBody: spec('writeBody', oneOf('object', 'empty'), 'the answer to a write: {} or zero bytes'),
  names: spec('names', oneOf('spec', 'live'), 'field names of answers as the interface spells them or as live deployments do'),
  int64: spec('int64', oneOf('number', 'string'), 'how 64-bit figures arrive: credits used and the balance'),
  zeros: spec('zeros', oneOf('kept', 'omitted'), 'whether fields that are zero, false or empty are left out'),
  errors: spec('errors', oneOf('error', 'connect', 'text', 'ok'), 'the shape of errors; ok answers 200 with an error field'),
  rateLimit: spec('rateLimit', rate, 'requests per key and window before 429'),
  retryAfter: spec('retryAfter', oneOf('none', 'seconds', 'date'), 'the Retry-After header of a 429'),
  latency: spec('latency', milliseconds, 'how long every answer takes'),
  jitter: spec('jitter', milliseconds, 'up to how much longer, drawn per request'),
  faults: spec('faults', faults, `probabilities of ${FAULT_NAMES.join(', ')}; the same under the same seed`),
  plan: spec(
    'plan',
    oneOf('enterprise', 'team', 'quota', 'no-caps'),
    'team has no credit balance, quota no credit fields in analytics, no-caps neither balance nor caps, whatever the key',
  ),
  addOnRows: spec('addOnRows', oneOf('refused', 'served'), 'whether Analytics serves add-on use per person, its fifth data source'),
  runsFilter: spec(
    'runsFilter',
    oneOf('kept', 'ignored'),
    'whether runs of some people are only theirs; ignored answers with the runs of everybody',
  ),
  runsOrder: spec(
    'runsOrder',
    oneOf('recorded', 'reversed', 'doubled', 'around'),
    'how runs come: as recorded, backwards, each result twice, or with the days around the range',
  ),
  analyticsDelay: spec('analyticsDelay', delay, 'how far analytics and credits used lag behind'),
}

function spec<Name extends SwitchName>(
  name: Name,
  kind: {
    readonly values: string
    readonly choices?: readonly string[]
    readonly default: string
    readonly read: (text: string) => Switches[Name] | undefined
  },
  help: string,
): SwitchSpec<Name> {
  return { name, flag: `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`, help, ...kind }
}

/** Texts by switch name, as a command line gives them; `faults` may be given several times. */
type SwitchTexts = Readonly<Partial<Record<SwitchName, string | readonly string[]>>>

/** Reads the texts of switches; each problem is one line that names the flag, the given text and the valid values. */
export function parseSwitches(
  values: SwitchTexts,
): { readonly kind: 'switches'; readonly switches: Switches } | { readonly kind: 'problems'; readonly problems: readonly string[] } {
  const given: Record<string, unknown> = {}
  const problems: string[] = []
  for (const { name, flag, values: allowed, read } of Object.values(SWITCHES)) {
    const value = values[name]
    if (value === undefined) continue
    const text = typeof value === 'string' ? value : value.join(',')
    const parsed = read(text.trim())
    if (parsed === undefined) problems.push(`${flag} ${text}: not a value of this switch; write ${allowed}`)
    else given[name] = parsed
  }
  return problems.length > 0 ? { kind: 'problems', problems } : { kind: 'switches', switches: { ...DEFAULT_SWITCHES, ...given } }
}

/** A whole number from 0 to `max`; undefined for anything else. */
function readWhole(text: string, max: number): number | undefined {
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN
  return value <= max ? value : undefined
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: HOUR_MS, d: DAY_MS }

function readDuration(text: string): number | undefined {
  if (text === '0') return 0
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text)
  const unit = UNIT_MS[match?.[2] ?? '']
  return match && unit ? Number(match[1]) * unit : undefined
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

export interface Chance {
  /** The faults of the next request; there may be several. */
  readonly faults: () => ReadonlySet<FaultName>
  /** The delay of the next answer in milliseconds. */
  readonly delayMs: () => number
  /** Chooses between the forms of one fault. */
  readonly draw: Draw
}

export function createChance(seed: number, switches: Pick<Switches, 'faults' | 'latency' | 'jitter'>): Chance {
  const draws = FAULT_NAMES.map((name) => ({ name, probability: switches.faults[name] ?? 0, draw: stream(seed, `fault/${name}`) }))
  const jitter = stream(seed, 'jitter')
  return {
    faults: () => new Set(draws.filter(({ draw, probability }) => draw() < probability).map(({ name }) => name)),
    delayMs: () => switches.latency + Math.round(jitter() * switches.jitter),
    draw: stream(seed, 'fault-shape'),
  }
}

export interface RateLimiter {
  /** Milliseconds until the key may send again; 0: this request counts and may pass. */
  readonly waitMs: (key: string) => number
}

/**
 * A fixed window for each key: it opens with the first request and lets `limit` requests pass; refused requests do not count. Choice: the
 * interface names no limit. `now` is the monotonic clock.
 */
export function createRateLimiter(rate: RateLimit | 'off', now: () => number): RateLimiter {
  const windows = new Map<string, { openedAt: number; count: number }>()
  return {
    waitMs(key) {
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
    },
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

// The flags for the company and the speed of the sandbox (docs/sandbox.md): one table with values, defaults and help, and one reader.

/** The company, and how many times as fast as real time the sandbox's time runs. */
interface SandboxSettings extends CompanyOptions {
  readonly speed: number
}

interface SettingSpec {
  readonly name: keyof SandboxSettings
  readonly flag: string
  readonly values: string
  readonly default: string
  readonly help: string
  readonly low: number
  readonly high: number
}

export const SETTINGS: readonly SettingSpec[] = [
  setting('people', 1, 100_000, DEFAULT_COMPANY.people, 'how many people the company has'),
  setting('groups', 1, 1000, DEFAULT_COMPANY.groups, 'how many groups they are in'),
  setting('days', 0, 1000, DEFAULT_COMPANY.days, 'how many days of use the company has at the start'),
  setting('seed', 0, 2_147_483_647, DEFAULT_COMPANY.seed, 'the same seed gives the same company, use and faults'),
  setting('speed', 1, 1_000_000, 1, 'how many times as fast as real time its time runs'),
]

function setting(name: keyof SandboxSettings, low: number, high: number, byDefault: number, help: string): SettingSpec {
  return { name, flag: `--${name}`, values: `${low} to ${high}`, default: String(byDefault), help, low, high }
}

const DEFAULT_SETTINGS: SandboxSettings = { ...DEFAULT_COMPANY, speed: 1 }

/** Reads the texts of the settings; each problem is one line that names the flag, the given text and the valid values. */
export function parseSettings(
  values: Readonly<Partial<Record<keyof SandboxSettings, string>>>,
): { readonly kind: 'settings'; readonly settings: SandboxSettings } | { readonly kind: 'problems'; readonly problems: readonly string[] } {
  const problems: string[] = []
  const given: Partial<Record<keyof SandboxSettings, number>> = {}
  for (const { name, flag, low, high } of SETTINGS) {
    const text = values[name]
    if (text === undefined) continue
    const value = readWhole(text.trim(), high)
    if (value === undefined || value < low) problems.push(`${flag} ${text}: must be a whole number from ${low} to ${high}`)
    else given[name] = value
  }
  return problems.length > 0 ? { kind: 'problems', problems } : { kind: 'settings', settings: { ...DEFAULT_SETTINGS, ...given } }
}
