// Values of a config file as the daemon needs them: durations, addresses, guards, references to keys. The schema has validated them. A service key is
// never read here.
import { type BreakerLimit, DEFAULT_GUARDS, type GuardSettings, type ShareLimit } from '../../core/model/change.ts'
import type { GuardsText, Percent, Switch } from './schema-source.ts'

/** Where a key is found. */
export type KeyRef = { readonly file: string } | { readonly env: string }

/** The keys of a workspace; a permission without its own key uses `default`. */
export interface Keys {
  readonly default?: KeyRef
  readonly analyticsRead?: KeyRef
  readonly teamsRead?: KeyRef
  readonly billingRead?: KeyRef
  readonly billingWrite?: KeyRef
}

export interface Listen {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
}

export interface Rate {
  readonly start: number
  readonly max: number
  readonly concurrency: number
}

/** How old figures of use can be (docs/policies.md). */
export const DEFAULT_USAGE_LAG_MS = 3.5 * 3_600_000
export const DEFAULT_RATE: Rate = { start: 5, max: 10, concurrency: 8 }

/** A workspace where the file sets nothing. */
export const WORKSPACE_DEFAULTS = {
  mode: 'enforce',
  capSemantics: 'layered',
  capReads: 'auto',
  intervalMs: 5 * 60_000,
  usageIntervalMs: 15 * 60_000,
  usageLagMs: DEFAULT_USAGE_LAG_MS,
  historyDays: 180,
  onDrift: 'heal',
  prune: true,
  undeclaredUsers: 'ignore',
  guards: DEFAULT_GUARDS,
  rate: DEFAULT_RATE,
} as const

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `90s`, `5m`, `2h`, `1d`, or several joined (`1h30m`), in milliseconds; undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d{1,9}(ms|s|m|h|d))+$/.test(text)) return undefined
  return [...text.matchAll(/(\d+)(ms|[smhd])/g)].reduce((sum, [, amount, unit]) => sum + Number(amount) * (UNIT_MS[unit ?? ''] ?? 0), 0)
}

/** `host:port`, `[::1]:port`, or `:port` for all addresses; undefined for any other text. */
export function parseListen(text: string): Listen | undefined {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/[\]]*)):(\d{1,5})$/.exec(text.trim())
  const port = Number(match?.[3])
  if (!match || port > 65_535) return undefined
  return { host: match[1] ?? (match[2] || '0.0.0.0'), port }
}

/** `guards`, on top of the defaults. */
export const guardsOf = (given: GuardsText): GuardSettings => ({
  emptyPolicy: isOn(given.emptyPolicy, DEFAULT_GUARDS.emptyPolicy),
  rosterShrink: percentOr(given.rosterShrink, DEFAULT_GUARDS.rosterShrink),
  directoryShrink: percentOr(given.directoryShrink, DEFAULT_GUARDS.directoryShrink),
  maxAffected: shareOf(given.maxAffected, DEFAULT_GUARDS.maxAffected),
  maxLowered: shareOf(given.maxLowered, DEFAULT_GUARDS.maxLowered),
  maxBlocked: shareOf(given.maxBlocked, DEFAULT_GUARDS.maxBlocked),
  maxCleared: shareOf(given.maxCleared, DEFAULT_GUARDS.maxCleared),
  maxRaise: percentOr(given.maxRaise, DEFAULT_GUARDS.maxRaise),
  protected: isOn(given.protected, DEFAULT_GUARDS.protected),
  readQuality: shareOf(given.readQuality, DEFAULT_GUARDS.readQuality),
  breaker: breakerOf(given.breaker, DEFAULT_GUARDS.breaker),
  semantics: isOn(given.semantics, DEFAULT_GUARDS.semantics),
  envelope: isOn(given.envelope, DEFAULT_GUARDS.envelope),
  contested: contestedOf(given.contested, DEFAULT_GUARDS.contested),
})

/** `off` and `false` switch a guard off, `on` and `true` leave it at its default; anything else is no switch. */
function wordOf(given: unknown): 'off' | 'on' | undefined {
  const text = typeof given === 'boolean' ? String(given) : given
  return text === 'off' || text === 'false' ? 'off' : text === 'on' || text === 'true' ? 'on' : undefined
}

const isOn = (given: Switch | undefined, usual: boolean): boolean => (given === undefined ? usual : wordOf(given) === 'on')

/** `15%`, `15 %` or 15. */
const percentOf = (given: Percent): number => (typeof given === 'number' ? given : Number(given.replace('%', '')))

function percentOr(given: Switch | Percent | undefined, usual: number | 'off'): number | 'off' {
  const word = wordOf(given)
  if (given === undefined || word === 'on' || typeof given === 'boolean') return word === 'off' ? 'off' : usual
  return word === 'off' ? 'off' : percentOf(given)
}

function shareOf(given: GuardsText['maxAffected'], fallback: ShareLimit | 'off'): ShareLimit | 'off' {
  const usual = fallback === 'off' ? { percent: 100, floor: 0 } : fallback
  if (typeof given === 'object') return { percent: percentOf(given.percent ?? usual.percent), floor: given.floor ?? usual.floor }
  if (given === undefined || wordOf(given) === 'on') return fallback
  const percent = percentOr(given, 'off')
  return percent === 'off' ? 'off' : { ...usual, percent }
}

/** `10%`, `{inARow: 3, percent: 10}`, or off. */
function breakerOf(given: GuardsText['breaker'], fallback: BreakerLimit | 'off'): BreakerLimit | 'off' {
  const usual = fallback === 'off' ? { inARow: 1, percent: 0 } : fallback
  if (typeof given === 'object') return { inARow: given.inARow ?? usual.inARow, percent: percentOf(given.percent ?? usual.percent) }
  if (given === undefined || wordOf(given) === 'on') return fallback
  const percent = percentOr(given, 'off')
  return percent === 'off' ? 'off' : { ...usual, percent }
}

/** `3`, `{times: 3}`, or off. */
function contestedOf(given: GuardsText['contested'], usual: number | 'off'): number | 'off' {
  if (typeof given === 'number') return given
  if (typeof given === 'object') return given.times ?? usual
  return wordOf(given) === 'off' ? 'off' : usual
}
