// CSV (RFC 4180) out of text that nobody vetted: no cell can end early, and none is a formula to a spreadsheet, whichever separator the
// spreadsheet's country has. Numbers stay numbers.
import { plain } from './terminal.ts'

/** Rows as CSV, each ending with CR LF. */
export const csvText = (rows: readonly (readonly (string | number)[])[]): string =>
  rows.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('')

/** One cell: a single line of printable text; what a spreadsheet would calculate gets an apostrophe before it. */
function csvCell(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const line = plain(value)
  const safe = line === '-' ? line : line.replace(FORMULA, "$<before>'$<start>")
  return /[",;]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** At the start of a cell, also behind spaces and signs that do not show, and where a semicolon separates cells. */
const FORMULA = /(?<before>(?:^|;)[\s\uFFFD"']*)(?<start>[=+\-@\uff1d\uff0b\uff0d\uff20\u2212])/g
