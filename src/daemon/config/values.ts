// The values of the config file: durations, addresses, numbers, guards, keys. Each reader gives a value or reports where it is wrong and
// what to write. A service key is never read here, only the reference to it.
import { type BreakerLimit, DEFAULT_GUARDS, type GuardSettings, type ShareLimit } from '../../core/model/change.ts'
import {
  type Field,
  type Fields,
  isNothing,
  isPlain,
  type Reader,
  readMap,
  readScalar,
  readText,
  report,
  textOf,
  written,
} from '../../policy/nodes.ts'
import { CONFIG_KEYS } from '../../policy/schema.ts'

/** Where a key is found. */
export type KeyRef = { readonly file: string } | { readonly env: string }

/** The keys of a workspace; each permission without its own falls back to `default`. */
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

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `90s`, `5m`, `2h`, `1d`, or several joined (`1h30m`), in milliseconds; undefined when it is none. */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d{1,9}(ms|s|m|h|d))+$/.test(text)) return undefined
  return [...text.matchAll(/(\d+)(ms|[smhd])/g)].reduce((sum, [, amount, unit]) => sum + Number(amount) * (UNIT_MS[unit ?? ''] ?? 0), 0)
}

/** Longest interval: what one timer can wait is 24 days. */
const MAX_INTERVAL_MS = 20 * 86_400_000
const MIN_INTERVAL_MS = 100

/** A duration key, in milliseconds. */
export function readInterval(reader: Reader, field: Field): number | undefined {
  const read = readScalar(reader, field, 'DURATION', 'not a duration')
  if (!read) return undefined
  const ms = parseDuration(textOf(read.value).trim())
  if (ms !== undefined && ms >= MIN_INTERVAL_MS && ms <= MAX_INTERVAL_MS) return ms
  const what = ms === undefined ? 'not a duration' : 'not from 100ms to 20d'
  return report(reader, read.node, 'DURATION', `${field.name} is ${written(read.value)}, ${what}`, {
    hint: 'write a duration such as 90s, 5m, 2h or 1d',
  })
}

export interface Bounds {
  readonly least: number
  readonly most: number
  readonly whole?: boolean
}

const DECIMAL = /^(0|[1-9][0-9]*)(\.[0-9]+)?$/

/** A number within bounds, written plainly. */
export function readNumber(reader: Reader, field: Field, { least, most, whole = false }: Bounds): number | undefined {
  const what = `not a ${whole ? 'whole ' : ''}number from ${least} to ${most}`
  const read = readScalar(reader, field, 'NUMBER', what)
  if (!read) return undefined
  const text = textOf(read.value)
  const value = isPlain(read.value) && DECIMAL.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most && (!whole || Number.isInteger(value))) return value
  return report(reader, read.node, 'NUMBER', `${field.name} is ${written(read.value)}, ${what}`)
}

/** `host:port`, `[::1]:port`, or `:port` for all addresses; undefined when it is none. */
export function parseListen(text: string): Listen | undefined {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/[\]]*)):(\d{1,5})$/.exec(text.trim())
  const port = Number(match?.[3])
  if (!match || port > 65_535) return undefined
  return { host: match[1] ?? (match[2] || '0.0.0.0'), port }
}

const KEY_NAMES = ['default', 'analyticsRead', 'teamsRead', 'billingRead', 'billingWrite'] as const

/** `keys`; `locate` turns a path in the file into one that can be opened. */
export function readKeys(reader: Reader, field: Field | undefined, locate: (path: string) => string): Keys {
  if (!field || isNothing(field.value)) return {}
  if (field.value === null || !('items' in field.value)) {
    const hint = 'write keys: {default: {file: PATH}} or keys: {default: {env: NAME}}'
    return report(reader, field.keyNode, 'KEY_REFERENCE', `${field.name} is not a mapping of references to keys`, { hint }) ?? {}
  }
  const fields = readMap(reader, field.value, field.name, CONFIG_KEYS.keys)
  const keys: Partial<Record<keyof Keys, KeyRef>> = {}
  for (const name of KEY_NAMES) {
    const one = fields?.get(name)
    const known = reader.problems.length
    const reference = one && readKeyReference(reader, one, locate)
    hideLines(reader, known)
    if (reference) keys[name] = reference
  }
  return keys
}

/** A line beneath `keys` may hold a key that somebody wrote there. */
function hideLines(reader: Reader, known: number): void {
  const found = reader.problems.splice(known)
  reader.problems.push(...found.map(({ sourceLine: _hidden, ...problem }) => problem))
}

/** `ledgerToken`: a reference like those of keys. */
export function readToken(reader: Reader, field: Field, locate: (path: string) => string): KeyRef | undefined {
  const known = reader.problems.length
  const reference = readKeyReference(reader, field, locate)
  hideLines(reader, known)
  return reference
}

function readKeyReference(reader: Reader, field: Field, locate: (path: string) => string): KeyRef | undefined {
  const hint = `write ${field.key}: {file: PATH} or ${field.key}: {env: NAME}`
  const node = field.value ?? field.keyNode
  if (!('items' in node)) return report(reader, field.keyNode, 'KEY_REFERENCE', `${field.name} is not a reference to a key`, { hint })
  const fields = readMap(reader, node, field.name, CONFIG_KEYS.keyReference)
  const [file, env] = [fields?.get('file'), fields?.get('env')]
  if (!fields) return undefined
  if ((file === undefined) === (env === undefined)) {
    return report(reader, field.keyNode, 'KEY_REFERENCE', `${field.name} needs exactly one of file and env`, { hint })
  }
  const text = file ? readText(reader, file) : env && readText(reader, env)
  return text && (file ? { file: locate(text.value) } : { env: text.value })
}

/** `guards`, on top of the defaults. */
export function readGuards(reader: Reader, field: Field | undefined): GuardSettings {
  const fields = field && !isNothing(field.value) ? readMap(reader, field.value, field.name, CONFIG_KEYS.guards) : undefined
  if (!fields) return DEFAULT_GUARDS
  const shares = Object.fromEntries(SHARES.flatMap((name) => present(fields, name, (one) => readShare(reader, one, DEFAULT_GUARDS[name]))))
  const switches = Object.fromEntries(SWITCHES.flatMap((name) => present(fields, name, (one) => readSwitch(reader, one))))
  const [shrink] = present(fields, 'rosterShrink', (one) => readPercent(reader, one, DEFAULT_GUARDS.rosterShrink, 100))
  const [raise] = present(fields, 'maxRaise', (one) => readPercent(reader, one, DEFAULT_GUARDS.maxRaise, MOST_RAISE))
  const [breaker] = present(fields, 'breaker', (one) => readBreaker(reader, one))
  const [contested] = present(fields, 'contested', (one) => readContested(reader, one))
  return {
    ...DEFAULT_GUARDS,
    ...shares,
    ...switches,
    ...(shrink && { rosterShrink: shrink[1] }),
    ...(raise && { maxRaise: raise[1] }),
    ...(breaker && { breaker: breaker[1] }),
    ...(contested && { contested: contested[1] }),
  }
}

const SHARES = ['maxAffected', 'maxLowered', 'maxBlocked', 'maxCleared', 'readQuality'] as const
const SWITCHES = ['emptyPolicy', 'protected', 'semantics'] as const
/** A raise may be allowed to go beyond what is left, within reason. */
const MOST_RAISE = 10_000

function present<T>(fields: Fields, name: string, read: (field: Field) => T | undefined): readonly (readonly [string, T])[] {
  const field = fields.get(name)
  const value = field && read(field)
  return value === undefined ? [] : [[name, value]]
}

/** `off` and `false` switch something off, `on` and `true` leave it at its default. */
export function wordOf(field: Field): 'off' | 'on' | undefined {
  const node = field.value
  const text = node !== null && 'value' in node && typeof node.value === 'string' ? node.value : undefined
  return text === 'off' || text === 'false' ? 'off' : text === 'on' || text === 'true' ? 'on' : undefined
}

function readSwitch(reader: Reader, field: Field): boolean | undefined {
  const word = wordOf(field)
  if (word) return word === 'on'
  return report(reader, field.value ?? field.keyNode, 'NOT_BOOLEAN', `${field.name} is not on or off`, { hint: 'write on or off' })
}

const PERCENT = /^(\d+(?:\.\d+)?)\s*%$/
const SHARE_HINT = 'write 15%, {percent: 15, floor: 3}, or off'

function readShare(reader: Reader, field: Field, fallback: ShareLimit | 'off'): ShareLimit | 'off' | undefined {
  const word = wordOf(field)
  const usual = fallback === 'off' ? { percent: 100, floor: 0 } : fallback
  if (word) return word === 'off' ? 'off' : fallback
  if (field.value !== null && 'items' in field.value) return readShareMap(reader, field, usual)
  const read = readScalar(reader, field, 'NUMBER', 'not a share')
  const percent = read && Number(PERCENT.exec(textOf(read.value).trim())?.[1])
  if (!read || percent === undefined) return undefined
  if (percent >= 0 && percent <= 100) return { ...usual, percent }
  return report(reader, read.node, 'NUMBER', `${field.name} is ${written(read.value)}, not a share of the people`, { hint: SHARE_HINT })
}

function readShareMap(reader: Reader, field: Field, usual: ShareLimit): ShareLimit | undefined {
  const fields = readMap(reader, field.value, field.name, ['percent', 'floor'])
  if (!fields) return undefined
  const [percent] = present(fields, 'percent', (one) => readNumber(reader, one, { least: 0, most: 100 }))
  const [floor] = present(fields, 'floor', (one) => readNumber(reader, one, { least: 0, most: 1_000_000, whole: true }))
  return { percent: percent?.[1] ?? usual.percent, floor: floor?.[1] ?? usual.floor }
}

function readPercent(reader: Reader, field: Field, usual: number | 'off', most: number): number | 'off' | undefined {
  const word = wordOf(field)
  if (word) return word === 'off' ? 'off' : usual
  const read = readScalar(reader, field, 'NUMBER', 'not a percentage')
  if (!read) return undefined
  const text = textOf(read.value).trim()
  const percent = Number(PERCENT.exec(text)?.[1] ?? (isPlain(read.value) && DECIMAL.test(text) ? text : Number.NaN))
  if (percent >= 0 && percent <= most) return percent
  return report(reader, read.node, 'NUMBER', `${field.name} is ${written(read.value)}, not a percentage from 0 to ${most}`, {
    hint: 'write 20%, or off',
  })
}

/** `10%`, `{inARow: 3, percent: 10}`, or off. */
function readBreaker(reader: Reader, field: Field): BreakerLimit | 'off' | undefined {
  const { breaker: usual } = DEFAULT_GUARDS
  if (usual === 'off') return undefined
  if (field.value === null || !('items' in field.value)) {
    const percent = readPercent(reader, field, usual.percent, 100)
    return percent === undefined || percent === 'off' ? percent : { ...usual, percent }
  }
  const fields = readMap(reader, field.value, field.name, CONFIG_KEYS.breaker)
  if (!fields) return undefined
  const [inARow] = present(fields, 'inARow', (one) => readNumber(reader, one, { least: 1, most: 1000, whole: true }))
  const [percent] = present(fields, 'percent', (one) => readNumber(reader, one, { least: 0, most: 100 }))
  return { inARow: inARow?.[1] ?? usual.inARow, percent: percent?.[1] ?? usual.percent }
}

/** `3`, `{times: 3}`, or off. */
function readContested(reader: Reader, field: Field): number | 'off' | undefined {
  const word = wordOf(field)
  if (word) return word === 'off' ? 'off' : DEFAULT_GUARDS.contested
  const times = (one: Field) => readNumber(reader, one, { least: 1, most: 1000, whole: true })
  if (field.value === null || !('items' in field.value)) return times(field)
  const fields = readMap(reader, field.value, field.name, CONFIG_KEYS.contested)
  return fields && present(fields, 'times', times)[0]?.[1]
}
