// Untrusted text made safe for Markdown on a code host: it must not break a table, become markup or a link, mention people (`@name`) or refer
// to issues (`#1`, `GH-1`). Characters of Markdown and HTML become character references. Hosts look for mentions after references are
// resolved; those are broken by an invisible character.
import { clipped } from './terminal.ts'

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
