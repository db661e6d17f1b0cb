// HTML without injection: the template escapes every value that it did not make itself. Pages have no other way to put a value into markup.
import { clipped, plain, printable } from './terminal.ts'

// CSV (RFC 4180) of untrusted text: no cell can end early, and a spreadsheet takes none for a formula, whichever separator its locale uses.
// Numbers stay numbers.

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

// Untrusted text made safe for Markdown on a code host: it must not break a table, become markup or a link, mention people (`@name`) or refer
// to issues (`#1`, `GH-1`). Characters of Markdown and HTML become character references. Hosts look for mentions after references are
// resolved; those are broken by an invisible character.

const JOINER = '\u2060'

/** Text for anywhere in a line or a table cell, cut after `most` characters. */
export function escaped(text: string, most = 300): string {
  return clipped(text, most)
    .trim()
    .replace(MEANINGFUL, (sign) => `&#${sign.codePointAt(0)};`)
    .replace(LEADING, (start) => `${start.slice(0, -1)}&#${start.codePointAt(start.length - 1)};`)
    .replace(BECKONING, (sign) => sign + JOINER)
}

/** Characters of Markdown and HTML. An underscore between letters or digits, as in `RULE_UNKNOWN`, has no meaning and stays. */
const MEANINGFUL = /[\\`*{}[\]<>()#!|&~^$'"]|_(?![a-z\d])|(?<![a-z\d])_/gi

/** A list, a heading's underline or a rule, at the start of a line. A figure such as 17.5 is none of them. */
const LEADING = /^(?:[-+=]|\d+[.)](?=\s|$))/

/** The start of a mention, a reference, an address or an emoji: `@a`, `&#35;1` for `#1`, `GH-1`, `www.`, `://`, `:a:`. */
const BECKONING = /@(?=\S)|&#(?:33|35|36|38|94|126);(?=\S)|%(?=\S)|\bgh-(?=\d)|\bwww(?=\.)|:(?=\/\/)|:(?=[a-z+][\w+-]*:)/gi

/** The same as code, where hosts look for nothing; it can be copied literally. */
export function code(text: string, most = 300): string {
  const line = clipped(text, most).trim()
  return SPANNABLE.test(line) ? `\`${line}\`` : `<code>${escaped(text, most)}</code>`
}

/** Between backticks only backticks have a meaning, and in a table the pipe. */
const SPANNABLE = /^(?! )[^`|\\]+(?<! )$/

/** A row of a table; cells are already escaped. */
export const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** The first two lines of a table. */
export const tableHead = (cells: readonly string[]): readonly string[] => [row(cells), row(cells.map(() => '---'))]

/** A collapsed block; GitHub and GitLab need the empty lines around its content. */
export const folded = (summary: string, lines: readonly string[]): string =>
  ['<details>', `<summary>${summary}</summary>`, '', ...lines, '', '</details>'].join('\n')

/** The first lines that fit into `room` characters, and how many are left out. */
export function fitting(lines: readonly string[], room: number): { readonly lines: readonly string[]; readonly left: number } {
  let used = 0
  let taken = 0
  for (const line of lines) {
    if (used + line.length + 1 > room) break
    used += line.length + 1
    taken += 1
  }
  return { lines: lines.slice(0, taken), left: lines.length - taken }
}

declare const brand: unique symbol

/** Markup that is safe to send. */
export interface Html {
  readonly markup: string
  readonly [brand]?: never
}

/** A value in a template; `undefined` and `false` render nothing. */
export type Value = Html | string | number | undefined | false | readonly Value[]

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Text for an element or a double-quoted attribute, where the template cannot be used. */
export const htmlText = (text: string): string => printable(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')

function render(value: Value): string {
  if (value === undefined || value === false) return ''
  if (typeof value === 'string') return htmlText(value)
  if (typeof value === 'number') return String(value)
  return 'markup' in value ? value.markup : value.map(render).join('')
}

/** The template. Attributes must be in double quotes. */
export const html = (parts: TemplateStringsArray, ...values: readonly Value[]): Html => ({
  markup: parts.reduce((markup, part, index) => markup + render(values[index - 1]) + part),
})
