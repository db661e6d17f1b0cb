// Small pieces of plain text that every rendering shares: counts, caps, instants, padding and wrapping. Text from policies and from
// the service passes `plain` before it reaches a terminal, so that it can never move the cursor or reorder what a reviewer reads.
import type { Cap } from '../../core/model/policy.ts'
import type { Instant } from '../../core/model/units.ts'

// C0 and C1 controls, and the marks that change the direction of text.
const UNSAFE = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** One line of printable text: line breaks and tabs become spaces, every other control character a visible �. */
export const plain = (text: string): string => text.replace(/[\r\n\t\u2028\u2029]+/g, ' ').replace(UNSAFE, '�')

/** `1 person`, `12 people`. */
export const count = (amount: number, one: string, many = `${one}s`): string => `${amount} ${amount === 1 ? one : many}`

export const people = (amount: number): string => count(amount, 'person', 'people')

export const capText = (cap: Cap | 'unknown'): string => String(cap)

/** An amount of credits, to a hundredth. */
export const amountText = (credits: number): string => String(Number(credits.toFixed(2)))

/** Columns a text takes, one per code point. */
export const widthOf = (text: string): number => [...text].length

export const padEnd = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)))

export const padStart = (text: string, width: number): string => ' '.repeat(Math.max(0, width - widthOf(text))) + text

/** Lines of at most `width` columns, broken at spaces; a word longer than that stays whole. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ').filter((one) => one !== '')) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return line === '' ? lines : [...lines, line]
}

/** RFC 3339 in UTC, to the millisecond, for documents that machines read. */
export const rfc3339 = (at: Instant): string => new Date(at).toISOString()

/** `2026-11-20 12:00:05Z`, for people. */
export const shortTime = (at: Instant): string => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}Z`

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
]

/** A length of time in its largest whole unit: `3 d`, `5 h`, `12 min`, `40 s`. */
export function span(ms: number): string {
  const length = Math.max(0, ms)
  const [unit, size] = UNITS.find(([, unitMs]) => length >= unitMs) ?? ['s', 1_000]
  return `${Math.floor(length / size)} ${unit}`
}

/** Rows as left-aligned columns two spaces apart; the last column is not padded. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = []
  for (const row of rows) for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, widthOf(cell))
  return rows.map((row) =>
    row
      .map((cell, index) => padEnd(cell, widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
