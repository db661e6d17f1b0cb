// Values of a config file as the daemon needs them: durations, addresses, guards. The schema has validated them.
import { isIP } from 'node:net'
import { DEFAULT_GUARDS, GUARD_CODES, type GuardCode, type GuardDefault, type GuardSettings } from '../../core/model/change.ts'
import { lengthMs } from '../../core/model/units.ts'
import type { GuardsText, Listen, Rate } from './settings.ts'

type Percent = string | number

/** How old figures of use can be (docs/policies.md). */
export const DEFAULT_USAGE_LAG_MS = 3.5 * 3_600_000
export const DEFAULT_RATE: Rate = { start: 5, max: 10, concurrency: 8 }

/** A workspace where the file sets nothing. */
export const WORKSPACE_DEFAULTS = {
  keys: {},
  policies: [],
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

/** `90s`, `5m`, `2h`, `1d`, or several joined (`1h30m`), in milliseconds; undefined for any other text. */
export const parseDuration = (text: string): number | undefined => (/^(\d{1,9}(ms|s|m|h|d))+$/.test(text) ? lengthMs(text) : undefined)

/** `host:port`, `[::1]:port`, or `:port` for all addresses; undefined for any other text. */
export function parseListen(text: string): Listen | undefined {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/[\]]*)):(\d{1,5})$/.exec(text.trim())
  const port = Number(match?.[3])
  if (!match || port > 65_535) return undefined
  return { host: match[1] ?? (match[2] || '0.0.0.0'), port }
}

/** `guards`, on top of the defaults. */
export const guardsOf = (given: GuardsText): GuardSettings => ({
  ...DEFAULT_GUARDS,
  ...Object.fromEntries(GUARD_CODES.map((code) => [code, settingOf(given[code], DEFAULT_GUARDS[code])])),
})

/** What is not given is as by default. */
function settingOf(given: GuardsText[GuardCode], usual: GuardDefault): GuardSettings[GuardCode] {
  if (given === undefined) return usual
  const word = wordOf(given)
  if (typeof usual === 'boolean') return word === 'on'
  if (word !== undefined || typeof given === 'boolean') return word === 'off' ? 'off' : usual
  const asked: { percent?: Percent; floor?: number; inARow?: number; times?: Percent } =
    typeof given === 'object' ? given : { percent: given, times: given }
  if (typeof usual === 'number') return percentOf(asked.times ?? usual)
  const percent = percentOf(asked.percent ?? usual.percent)
  return 'floor' in usual ? { percent, floor: asked.floor ?? usual.floor } : { inARow: asked.inARow ?? usual.inARow, percent }
}

/** `off` and `false` switch a guard off, `on` and `true` leave it at its default; anything else is no switch. */
function wordOf(given: unknown): 'off' | 'on' | undefined {
  const text = typeof given === 'boolean' ? String(given) : given
  return text === 'off' || text === 'false' ? 'off' : text === 'on' || text === 'true' ? 'on' : undefined
}

/** `15%`, `15 %` or 15. */
const percentOf = (given: Percent): number => (typeof given === 'number' ? given : Number(given.replace('%', '')))

/** Whether a text is an address, or a network with a valid number of bits. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32))
}
