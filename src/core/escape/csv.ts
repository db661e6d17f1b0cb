// CSV (RFC 4180) of untrusted text: no cell can end early, and a spreadsheet takes none for a formula, whichever separator its locale uses.
// Numbers stay numbers.
import { plain } from './terminal.ts'

/** Rows as CSV, each ending with CR LF. */
export const csvText = (rows: readonly (readonly (string | number)[])[]): string =>
  rows.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('')

/** One line of printable text; an apostrophe precedes what a spreadsheet would calculate. */
function csvCell(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const line = plain(value)
  const safe = line === '-' ? line : line.replace(FORMULA, "$<before>'$<start>")
  return /[",;]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** The first character of a formula: at the start of a cell or after a semicolon, behind spaces and invisible characters too. */
const FORMULA = /(?<before>(?:^|;)[\s\uFFFD"']*)(?<start>[=+\-@\uff1d\uff0b\uff0d\uff20\u2212])/g
