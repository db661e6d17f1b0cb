// Markdown for pull requests out of text that nobody vetted: a policy's reason must neither break a table, nor inject markup, nor call
// people by `@`. Everything that means something to Markdown or HTML becomes a character reference, which is only ever text.
import { plain } from './text.ts'

const MEANINGFUL = /[\\`*_{}[\]<>()#!|&~^$'"]/g

/** Text for anywhere in a line or a table cell, cut after `most` characters. */
export function escaped(text: string, most = 300): string {
  // Cut before the dear work: a text may be as long as whoever wrote it liked.
  const line = clipped(plain(text.slice(0, most * 2)), most)
  // A word joiner keeps `@name` from notifying somebody; the @ of an e-mail stays as it is.
  return line.replace(MEANINGFUL, (sign) => `&#${sign.codePointAt(0)};`).replace(/(?<![\w.+-])@(?=\w)/g, '@\u2060')
}

/** The same in code type. */
export const code = (text: string, most = 300): string => `<code>${escaped(text, most)}</code>`

function clipped(text: string, most: number): string {
  const signs = [...text]
  return signs.length <= most ? text : `${signs.slice(0, most - 1).join('')}…`
}

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

/** A folded block; GitHub and GitLab need the empty lines around its content. */
export const folded = (summary: string, lines: readonly string[]): string =>
  ['<details>', `<summary>${summary}</summary>`, '', ...lines, '', '</details>'].join('\n')

/** A table; cells are already escaped. */
export const tableHead = (cells: readonly string[]): readonly string[] => [row(cells), row(cells.map(() => '---'))]

export const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
