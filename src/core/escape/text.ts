// Untrusted text made safe for where it is shown. All text from policies, the service and the ledger must pass through here before it is printed:
// as a line, as JSON, as a word of a command to paste, as a problem with an excerpt of its file, as a label of a metric, as CSV, Markdown or HTML. It can neither
// move the cursor, nor change the order in which a reviewer reads, nor hide in characters without a width.
import type { GrantState } from '../model/events.ts'
import { formatPosition, type Problem } from '../model/problem.ts'
import { comparePositions, compareText } from '../model/scope.ts'

/** A word, quoted where a shell needs it. An address with an apostrophe stays whole, so that it can be told to be one. */
export function shellWord(text: string): string {
  if (/^[\w./:@%+=,-]+$/.test(text)) return text
  return text.includes("'") && !/[$`"\\!]/.test(text) ? `"${text}"` : `'${text.replaceAll("'", "'\\''")}'`
}

/** The line that makes an edit of the policies, such as `capkeeper edit approve ID`. */
export const editLine = (...words: readonly string[]): string => ['capkeeper', 'edit', ...words.map(shellWord)].join(' ')

/** What changes the cap that applies at a scope, and the line for it: beneath a grant in force another cap would change nothing, so it ends. */
export function capEdit(scope: string, cap: string, grants: readonly GrantHere[]): { readonly what: string; readonly line: string } {
  const running = grants.find(({ state }) => state === 'active' || state === 'expiring')
  // `edit` takes a 0 only where it is meant.
  if (!running) return { what: 'change it', line: editLine('cap', scope, cap, ...(cap === '0' ? ['--allow-zero'] : [])) }
  return { what: 'end its grant', line: removeGrantLine(scope, running.from, grants.length === 1) }
}

/** `from` in RFC 3339; it tells several grants of a scope apart. */
export const removeGrantLine = (scope: string, from: string | undefined, isAlone: boolean): string =>
  editLine('remove', `grant:${scope}`, ...(isAlone ? [] : ['--from', from ?? 'none']))

/** A grant of a scope; `from` in RFC 3339. */
interface GrantHere {
  readonly state: GrantState | undefined
  readonly from: string | undefined
}

/**
 * Controls, format characters (bidi, joiners, zero width, byte order mark, tags), lone surrogates, and letters that are drawn as nothing become a
 * visible \uFFFD; line breaks and tabs stay, and joiners and signs of form where emoji and scripts need them: anywhere else these only hide text.
 * Almost every text is plain ASCII, and the pattern is slow to compile.
 */
export function printable(text: string): string {
  if (!UNUSUAL.test(text)) return text
  return text.replace(
    /((?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})|(?<=[[\p{L}\p{M}]--[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Default_Ignorable_Code_Point}]])[\u200c\u200d](?=[[\p{L}\p{M}]--[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Default_Ignorable_Code_Point}]])|(?<=\p{Extended_Pictographic})\ufe0f)|[[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]--[\n\t]]/gv,
    (_hidden, joiner?: string) => joiner ?? '\uFFFD',
  )
}

const UNUSUAL = /[^\n\t\x20-\x7e]/

/** One line of printable text: line breaks and tabs become spaces. */
export const plain = (text: string): string => printable(text.replace(/[\r\n\t\u2028\u2029]+/g, ' '))

/** The same of at most `most` characters; a cut text ends with an ellipsis. `show`: `printable` keeps several lines. */
export function clipped(text: string, most: number, show: (text: string) => string = plain): string {
  // Cut before the expensive work: the text may be of any length.
  const head = text.slice(0, 2 * most + 2)
  const signs = [...show(head)]
  return signs.length <= most && head === text ? signs.join('') : `${signs.slice(0, most - 1).join('')}…`
}

/** JSON for a screen or a file, ending with a line break: invisible characters are written as escapes, and parse back the same. */
export function jsonText(value: unknown, replacer?: (key: string, value: unknown) => unknown): string {
  const text = JSON.stringify(value, replacer, 2)
  return `${text.replace(/[\x7f-\x9f\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu, unicodeEscape)}\n`
}

const unicodeEscape = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')

const EXCERPT_WIDTH = 120

/** `column` from 1; `length` of the part in question. */
interface Excerpt extends Pick<Problem, 'sourceColumn' | 'length'> {
  readonly sourceLine: string
  readonly column: number
}

/** The text, cut around the column where it is long, and the carets. */
export function excerptLines({ sourceLine, sourceColumn = 1, column, length = 1 }: Excerpt): readonly [line: string, carets: string] {
  const at = column - sourceColumn
  const from = sourceLine.length > EXCERPT_WIDTH ? Math.max(0, at - EXCERPT_WIDTH / 2) : 0
  const line = printable(sourceLine.slice(from, from + EXCERPT_WIDTH))
  const padding = line.slice(0, at - from).replace(/[^\t]/g, ' ')
  const carets = Math.max(1, Math.min(length, line.length - padding.length))
  return [line, `${padding}${'^'.repeat(carets)}`]
}

/** Files by name, then lines, then columns; problems without a place come first. */
export function compareProblems(a: Problem, b: Problem): number {
  const [left, right] = [a.at, b.at]
  if (!left || !right) return (left ? 1 : 0) - (right ? 1 : 0) || compareText(a.message, b.message)
  return comparePositions(left, right) || compareText(a.message, b.message)
}

/**
 * Prints problems like a compiler: `file:line:column: error: message`, the source line with a caret, the way out, and the other
 * place. Sorted by file and line, plain text, no line end after the last; '' when there are none.
 */
export const formatProblems = (problems: readonly Problem[]): string => problems.toSorted(compareProblems).map(formatProblem).join('\n')

function formatProblem({ severity, message, at, sourceLine, sourceColumn, length, hint, other }: Problem): string {
  const excerpt = sourceLine === undefined || !at ? [] : excerptLines({ sourceLine, sourceColumn, column: at.column, length })
  return [
    plain(`${at ? `${formatPosition(at)}: ` : ''}${severity}: ${message}`),
    ...excerpt.map((line) => `  ${line}`),
    ...(hint ? [plain(`  hint: ${hint}`)] : []),
    ...(other ? [plain(`  see: ${formatPosition(other)}`)] : []),
  ].join('\n')
}

/** Longer values make every scrape expensive and fit on no dashboard. Choice. */
const MAX_LABEL = 200

/** One line of printable text, cut after `MAX_LABEL` characters. */
export const labelText = (text: string): string => clipped(text, MAX_LABEL)

/** The same labels with safe values. */
export const labelsText = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, labelText(value)]))

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

/** Text in which the lines that make an edit are code: escapes would change what is copied. */
export const withCommands = (text: string, most?: number): string =>
  text
    .split(/( ?capkeeper edit [^();]+)/)
    .map((part, index) => (index % 2 === 0 ? escaped(part, most) : `${part.startsWith(' ') ? ' ' : ''}${code(part)}`))
    .join('')

/** A row of a table; cells are already escaped. */
export const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** A table of such rows; '' without any. */
export const tableText = (head: readonly string[], rows: readonly string[]): string =>
  rows.length === 0 ? '' : [row(head), row(head.map(() => '---')), ...rows].join('\n')

/** A collapsed block, '' without content; GitHub and GitLab need the empty lines around it. */
export const folded = (summary: string, content: string): string =>
  content === '' ? '' : `<details>\n<summary>${summary}</summary>\n\n${content}\n\n</details>`

/** Blocks of Markdown, an empty line between them; empty blocks are left out. */
export const markdownText = (blocks: readonly string[]): string => `${blocks.filter((block) => block !== '').join('\n\n')}\n`

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

// HTML without injection: the template escapes every value that it did not make itself. Pages have no other way to put a value into markup.

/** Markup that is safe to send. */
export interface Html {
  readonly markup: string
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
