// Credits and cents: the two units of the service, branded so that they cannot be mixed by accident. Caps and balances are whole
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

export const MAX_CAP = 2_147_483_647

export const credits = (amount: number): Credits => amount as Credits

export const cents = (amount: number): Cents => amount as Cents

export const creditsOf = (amount: Cents): Credits => credits(amount / 100)

/** Rounds to whole cents, without the rounding errors of summed fractions. */
export const wholeCents = (amount: number): Credits => credits(Math.round(amount * 100) / 100)

/** The start of the day in UTC. */
export const midnight = (at: Instant): Instant => Math.floor(at / DAY_MS) * DAY_MS

/** `2026-12-16 00:00 UTC`. */
export function formatInstant(at: Instant): string {
  const format = new Intl.DateTimeFormat('en', { ...DIGITS, year: 'numeric', hourCycle: 'h23', timeZone: 'UTC' })
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
  return `${part['year']}-${part['month']}-${part['day']} ${part['hour']}:${part['minute']} UTC`
}

const DIGITS = { month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const
