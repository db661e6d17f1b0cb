// How figures, instants and states read on the page. Ages count to the instant of the document, never to a clock of the page's own.

const NUMBER = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 })

export const number = (amount: number): string => NUMBER.format(amount)

/** "1 scope", "2,000 scopes". */
export const plural = (amount: number, noun: string, many = `${noun}s`): string => `${number(amount)} ${amount === 1 ? noun : many}`

/** A cap or a reading of one; nothing set and not known are said in words. */
export function capText(cap: number | 'none' | 'unknown' | undefined): string {
  if (cap === undefined) return 'not declared'
  return typeof cap === 'number' ? number(cap) : cap
}

/** `2026-11-20 12:00 UTC`. */
export const instant = (rfc3339: string): string => `${rfc3339.slice(0, 10)} ${rfc3339.slice(11, 16)} UTC`

/** `20 Nov 2026`, in UTC. */
export const day = (rfc3339: string): string => DAY.format(Date.parse(rfc3339))

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })

const UNITS: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
]

/** The distance between two instants in its largest one or two units: `4 h 5 min`, `12 s`. */
export function span(from: string, to: string): string {
  const seconds = Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000))
  const first = UNITS.findIndex(([size]) => seconds >= size)
  if (first < 0) return '0 s'
  const parts: string[] = []
  let rest = seconds
  for (const [size, unit] of UNITS.slice(first, first + 2)) {
    const count = Math.floor(rest / size)
    if (count > 0) parts.push(`${count} ${unit}`)
    rest -= count * size
  }
  return parts.join(' ')
}

export const ago = (at: string, now: string): string => `${span(at, now)} ago`

/** `in_sync` as `in sync`. */
export const words = (name: string): string => name.replaceAll('_', ' ')

export const BAND_TEXT = {
  uncapped: 'no cap',
  under_50: 'under 50 %',
  '50_to_85': '50 to 85 %',
  '85_to_95': '85 to 95 %',
  '95_to_100': '95 to 100 %',
  at_cap: 'at the cap',
} as const
