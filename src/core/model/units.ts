// Credits, cents and instants, whether an instant is young enough, and the sizes for which capkeeper was measured, with the warnings beyond them.
// Credits and cents are the two units of the service, branded so that they cannot be mixed by accident. Caps and balances are whole
// credits; what a person used arrives in cents (100 cents = 1 credit, docs/service.md, Limits) and is converted exactly once.

declare const unit: unique symbol

/** An amount in credits; caps are whole, use may carry a fraction. */
export type Credits = number & { readonly [unit]: 'credits' }

/** An amount in hundredths of a credit, as the service counts use. */
export type Cents = number & { readonly [unit]: 'cents' }

/** Milliseconds since the epoch, on the wall clock. */
export type Instant = number

export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

/** The units in which lengths of time are written. */
export const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS }

/** A length of time whose form was checked, such as `1h30m`, in milliseconds. */
export const lengthMs = (text: string): number =>
  [...text.matchAll(/(\d+)([a-z]+)/g)].reduce((sum, [, amount, unit = '']) => sum + Number(amount) * (UNIT_MS[unit] ?? 0), 0)

const SPANS = [
  ['d', DAY_MS],
  ['h', HOUR_MS],
  ['min', MINUTE_MS],
] as const

/** A length of time in its largest whole unit: `3 d`, `5 h`, `12 min`, `40 s`. */
export function span(ms: number): string {
  const [unit, size] = SPANS.find(([, unitMs]) => ms >= unitMs) ?? ['s', 1_000]
  return `${Math.floor(Math.max(0, ms) / size)} ${unit}`
}

export const MAX_CAP = 2_147_483_647

export const credits = (amount: number): Credits => amount as Credits

export const cents = (amount: number): Cents => amount as Cents

export const creditsOf = (amount: Cents): Credits => credits(amount / 100)

/** Rounds to whole cents, without the rounding errors of summed fractions. */
export const wholeCents = (amount: number): Credits => credits(Math.round(amount * 100) / 100)

/** The sum of the known amounts; undefined where none is known. */
export function sumOfKnown(amounts: Iterable<number | undefined>): Credits | undefined {
  let sum: number | undefined
  for (const amount of amounts) if (amount !== undefined) sum = (sum ?? 0) + amount
  return sum === undefined ? undefined : wholeCents(sum)
}

/** The start of the day in UTC. */
export const midnight = (at: Instant): Instant => Math.floor(at / DAY_MS) * DAY_MS

/** Made when it is first needed: it takes longer than all else here, and a start must not wait for it. */
let utc: Intl.DateTimeFormat | undefined

/** `2026-12-16 00:00 UTC`. */
export function formatInstant(at: Instant): string {
  utc ??= new Intl.DateTimeFormat('en', { ...DIGITS, year: 'numeric', hourCycle: 'h23', timeZone: 'UTC' })
  const part = Object.fromEntries(utc.formatToParts(at).map(({ type, value }) => [type, value]))
  return `${part['year']}-${part['month']}-${part['day']} ${part['hour']}:${part['minute']} UTC`
}

const DIGITS = { month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const

/** The clocks of two machines may differ by so much. */
export const CLOCKS_APART_MS = 5 * 60_000

/** How long the last good roster serves for counting. */
export const ROSTER_LIFE_MS = DAY_MS

/**
 * Whether a time is surely younger than `lifeMs`; false for a time ahead of now. Use it for trust, releases and exceptions that must end:
 * with a wrong clock they end early, and never last for ever. `apartMs`: how far another machine's clock may be ahead.
 */
export const isYounger = (at: Instant, now: Instant, lifeMs: number, apartMs = 0): boolean => at - apartMs <= now && now - at < lifeMs

/** `isYounger` for a reading, which another replica may have made with its own clock. */
export const isReadWithin = ({ readAt }: { readonly readAt: Instant }, now: Instant, lifeMs: number): boolean =>
  isYounger(readAt, now, lifeMs, CLOCKS_APART_MS)

/** Whether a time surely comes from a clock that was ahead: work that was recorded as done then is done again. */
export const isAhead = (at: Instant, now: Instant): boolean => at - CLOCKS_APART_MS > now

/** A time ahead of now becomes now. Use it for waits that must not be cut short, and save the result. */
export const notAhead = (at: Instant, now: Instant): Instant => Math.min(at, now)

/** Per workspace, except `workspaces`, which is per process. The figures are in deploy/README.md. Choice. */
const MEASURED = {
  people: [50_000, 'people on the roster'],
  groups: [500, 'declared groups'],
  scopes: [20_000, 'declared scopes'],
  workspaces: [100, 'configured workspaces'],
} as const

/** The warning for a number above the measured one; undefined below it. */
export function beyondLimit(what: keyof typeof MEASURED, count: number): string | undefined {
  const [limit, words] = MEASURED[what]
  if (count <= limit) return undefined
  const wayOut = what === 'workspaces' ? 'spread them over several daemons' : 'watch memory and the length of cycles, and give more memory'
  return `${count} ${words}, and capkeeper is measured with up to ${limit}; ${wayOut}`
}

/** `1 person`, `12 people`. */
export const count = (amount: number, one: string, many = `${one}s`): string => `${amount} ${amount === 1 ? one : many}`

/** The most passes of a cycle; what remains after them is reported (docs/operations.md). */
export const MOST_PASSES = 8

/** At least 0, also of nothing. */
export const greatest = (values: readonly number[]): number => values.reduce((most, value) => Math.max(most, value), 0)
