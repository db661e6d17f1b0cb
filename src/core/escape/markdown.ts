// Text that nobody vetted, made fit for Markdown on a code host: it must neither break a table, nor become markup or a link, nor call
// people (`@name`), nor refer to issues (`#1`, `GH-1`). What means something to Markdown or HTML becomes a character reference; what a
// host looks for in the finished page, after references are resolved, is broken by a character that does not show.
import { clipped } from './terminal.ts'

const JOINER = '\u2060'

/** Sentences and names for anywhere in a line or a table cell, cut after `most` characters. */
export function escaped(text: string, most = 300): string {
  return clipped(text, most)
    .trim()
    .replace(MEANINGFUL, (sign) => `&#${sign.codePointAt(0)};`)
    .replace(LEADING, (start) => `${start.slice(0, -1)}&#${start.codePointAt(start.length - 1)};`)
    .replace(BECKONING, (sign) => sign + JOINER)
}

/** An underscore between letters or digits, as in a code such as `RULE_UNKNOWN`, means nothing and stays. */
const MEANINGFUL = /[\\`*{}[\]<>()#!|&~^$'"]|_(?![a-z\d])|(?<![a-z\d])_/gi

/** A list, a heading's underline or a rule, at the start of a line; a figure such as 17.5 is none of them. */
const LEADING = /^(?:[-+=]|\d+[.)](?=\s|$))/

/** What begins a mention, a reference, an address or an emoji, as hosts find them in text: `@a`, `&#35;1` for `#1`, `GH-1`, `www.`, `://`, `:a:`. */
const BECKONING = /@(?=\S)|&#(?:33|35|36|38|94|126);(?=\S)|%(?=\S)|\bgh-(?=\d)|\bwww(?=\.)|:(?=\/\/)|:(?=[a-z+][\w+-]*:)/gi

/** The same in code type, where hosts look for nothing; it can be copied as it stands. */
export function code(text: string, most = 300): string {
  const line = clipped(text, most).trim()
  return SPANNABLE.test(line) ? `\`${line}\`` : `<code>${escaped(text, most)}</code>`
}

/** Inside backticks nothing means anything but backticks, and in a table the pipe. */
const SPANNABLE = /^(?! )[^`|\\]+(?<! )$/

/** A row of a table; cells are already escaped. */
export const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** The two lines that a table begins with. */
export const tableHead = (cells: readonly string[]): readonly string[] => [row(cells), row(cells.map(() => '---'))]

/** A folded block; GitHub and GitLab need the empty lines around its content. */
export const folded = (summary: string, lines: readonly string[]): string =>
  ['<details>', `<summary>${summary}</summary>`, '', ...lines, '', '</details>'].join('\n')

/** Takes lines while they fit into `room` characters; tells how many were left out. */
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
