// Where the entries of a list or mapping lie in its text, which lines and comments belong to each, and how one is put in or taken out. It reads tokens
// and blanks only, and never says what an entry means. What an insertion writes, the removal of the same entry takes out again, byte for byte; no
// other entry or comment is touched.
import { type CST, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from 'yaml'
import type { Branch } from '../tree.ts'
import type { YamlNode } from '../yaml.ts'

/** `start`: its dash, its key, or itself in brackets; `end`: where its content ends, before blanks and comments. */
export interface Entry {
  readonly start: number
  readonly end: number
}

/** The part of a text from `start` to `end` becomes `text`. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/**
 * A list or mapping. `open`: where its first entry may begin at the earliest; `close`: the closing bracket, in flow style. Offsets are into `text`.
 */
export type Layout = ReturnType<typeof layoutOf>

/** The layout of a list or mapping. */
export function layoutOf({ reader, parent, keyNode, node: given }: Branch) {
  const { text } = reader.source
  const node = given as YAMLMap | YAMLSeq
  const isFlow = node.flow === true
  const open = isFlow ? (node.range?.[0] ?? 0) + 1 : parent ? (keyNode.range?.[1] ?? 0) : 0
  const entries = isSeq(node) ? itemsOf(node, isFlow) : node.items.map((pair) => entryOfPair(pair as Pair<Node, YamlNode>))
  return { text, isFlow, open, entries, close: (node.range?.[1] ?? 0) - 1 }
}

function itemsOf(node: YAMLSeq, isFlow: boolean): readonly Entry[] {
  const tokens = node.srcToken && 'items' in node.srcToken ? node.srcToken.items : []
  return node.items.map((item, index) => {
    const [before, { start, end }] = [tokens[index]?.start ?? [], spanOf(item as Node)]
    const first = isFlow ? firstProperty(before) : before.find(({ type }) => type === 'seq-item-ind')?.offset
    return { start: first ?? start, end }
  })
}

function entryOfPair(pair: Pair<Node, YamlNode>): Entry {
  const { start = [], sep = [] } = pair.srcToken ?? {}
  const key = spanOf(pair.key)
  const colon = sep.find(({ type }) => type === 'map-value-ind')
  const end = pair.value ? Math.max(spanOf(pair.value).end, colon ? colon.offset + 1 : 0) : key.end
  return { start: firstProperty(start) ?? key.start, end }
}

/** An anchor, a tag or a question mark before an entry belongs to it. */
const firstProperty = (tokens: readonly CST.SourceToken[]): number | undefined =>
  tokens.find(({ type }) => type === 'anchor' || type === 'tag' || type === 'explicit-key-ind')?.offset

/** Behind the colon of a key, and behind an anchor and a tag of its value. */
export function endOfProperties({ parent, keyNode }: Branch): number {
  const pair = (parent?.node as YAMLMap | undefined)?.items.find(({ key }) => key === keyNode)
  const last = pair?.srcToken?.sep?.findLast(({ type }) => type === 'map-value-ind' || type === 'anchor' || type === 'tag')
  return last ? last.offset + last.source.length : 0
}

/** From the first to the last character of a node's content, without the blanks and comments that follow. */
function spanOf(node: Node): Entry {
  const [start, end] = [node.range?.[0] ?? 0, node.range?.[1] ?? 0]
  if (!('items' in node) || !Array.isArray(node.items) || ('flow' in node && node.flow === true)) return { start, end }
  const last: unknown = node.items.at(-1)
  if (last === undefined) return { start, end }
  return { start, end: isSeq(node) ? spanOf(last as Node).end : entryOfPair(last as Pair<Node, YamlNode>).end }
}

export const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1

/** The start of the next line, or the end of the text. */
export function nextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end + 1
}

export const columnOf = (text: string, at: number): number => at - lineStart(text, at)

const isBlank = (line: string): boolean => /^[ \t]*\r?\n?$/.test(line)

/** Whether nothing but blanks is before an offset on its line. */
export const beginsLine = (text: string, at: number): boolean => isBlank(text.slice(lineStart(text, at), at))

/** The column of the comment that is alone on a line. */
const commentColumn = (line: string): number | undefined => /^([ \t]*)#/.exec(line)?.[1]?.length

/** The line end that is used around an offset. */
export function lineEndAt(text: string, at: number): string {
  const before = text.lastIndexOf('\n', at - 1)
  const near = before < 0 ? text.indexOf('\n') : before
  return near > 0 && text[near - 1] === '\r' ? '\r\n' : '\n'
}

/** The first line below `end` that belongs to no entry; comments that are indented deeper than `column` belong to the entry above. */
export function tailEnd(text: string, end: number, column: number): number {
  // A block scalar ends with its line.
  let found = end > 0 && text[end - 1] === '\n' ? end : nextLine(text, end)
  for (let at = found; at < text.length; ) {
    const next = nextLine(text, at)
    const line = text.slice(at, next)
    const deep = commentColumn(line)
    if (deep !== undefined && deep > column) found = next
    else if (!isBlank(line)) break
    at = next
  }
  return found
}

/** The start of the lines of a kind directly above a line, not above `floor`. */
function linesAbove(text: string, line: number, floor: number, isOfKind: (line: string) => boolean): number {
  let found = line
  while (found > floor) {
    const above = lineStart(text, found - 1)
    if (above < floor || !isOfKind(text.slice(above, found))) break
    found = above
  }
  return found
}

/** The whole lines of an entry of a block collection: with the comments that belong to it, and the blank lines above these. */
export function linesOf({ text, entries, open }: Layout, index: number) {
  const { start, end } = entries[index] ?? { start: open, end: open }
  const column = columnOf(text, start)
  const above = entries[index - 1]
  const floor = above ? tailEnd(text, above.end, column) : nextLine(text, open)
  const tail = tailEnd(text, end, column)
  if (!beginsLine(text, start)) return { blanks: start, start, end: tail }
  const head = linesAbove(text, lineStart(text, start), floor, (line) => (commentColumn(line) ?? Number.POSITIVE_INFINITY) <= column)
  return { blanks: linesAbove(text, head, floor, isBlank), start: head, end: tail }
}

/** Whether a part of a text has a comment; the part holds no scalars. */
export const hasComment = (trivia: string): boolean => trivia.includes('#')

/** The text with its splices, which do not overlap. */
export function spliced(text: string, splices: readonly Splice[]): string {
  const parts: string[] = []
  let at = 0
  for (const { start, end, text: part } of splices.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    parts.push(text.slice(at, start), part)
    at = end
  }
  return [...parts, text.slice(at)].join('')
}

/** An entry as lines, for a block collection; or in one line, for brackets. */
export interface EntryText {
  readonly lines: readonly string[]
  readonly flow: string
}

/** Inserts an entry after another one. The collection is not empty, or it has brackets. */
export function insertAfter(layout: Layout, index: number, { lines, flow }: EntryText): readonly Splice[] {
  return layout.isFlow ? insertInBrackets(layout, index, flow) : [insertLines(layout, index, lines)]
}

function insertLines(layout: Layout, index: number, lines: readonly string[]): Splice {
  const { text, entries } = layout
  const entry = entries[index] ?? { start: layout.open, end: layout.open }
  const { blanks, start, end } = linesOf(layout, index)
  const indent = ' '.repeat(columnOf(text, entry.start))
  // A block scalar that keeps its last blank lines would keep one more.
  const keeps = /[|>]\d?\+/.test(text.slice(entry.start, end))
  const empty = keeps ? [] : text.slice(blanks, start).split('\n').slice(1)
  return linesAt(text, end, [...empty.map(() => ''), ...indented(lines, indent)])
}

export const indented = (lines: readonly string[], indent: string): readonly string[] => lines.map((line) => `${indent}${line}`)

/** Inserts lines where a line starts, or at the end of a text without a last line end. */
function linesAt(text: string, at: number, lines: readonly string[]): Splice {
  const end = lineEndAt(text, at)
  const isOpen = at > 0 && text[at - 1] !== '\n'
  return { start: at, end: at, text: lines.map((line) => (isOpen ? `${end}${line}` : `${line}${end}`)).join('') }
}

function insertInBrackets(layout: Layout, index: number, flow: string): readonly Splice[] {
  const { text, entries, close } = layout
  const entry = entries[index]
  // A bracket that begins its line may stand where no content may.
  if (!entry) return [at(beginsLine(text, close) ? layout.open : close, text.slice(layout.open, close) === ' ' ? `${flow} ` : flow)]
  const comma = commaAfter(layout, index)
  const line = nextLine(text, comma ?? entry.end)
  const next = entries[index + 1]?.start ?? close
  if (beginsLine(text, entry.start) && next >= line) {
    const own = `${text.slice(lineStart(text, entry.start), entry.start)}${flow}`
    const end = lineEndAt(text, line)
    const below = tailEnd(text, comma ?? entry.end, columnOf(text, entry.start))
    return comma === undefined ? [at(entry.end, ','), at(below, `${own}${end}`)] : [at(below, `${own},${end}`)]
  }
  return [comma === undefined ? at(entry.end, `, ${flow}`) : at(comma + 1, ` ${flow},`)]
}

/** Fills the empty brackets of a mapping's value so that `removeAt` knows that the brackets were there: with a blank behind. */
export const fillMarked = ({ close }: Layout, flow: string): Splice => at(close, `${flow} `)

const at = (offset: number, text: string): Splice => ({ start: offset, end: offset, text })

/** Blanks and comments, then a comma. */
const COMMA = /(?:\s|#[^\n]*(?:\n|$))*,/y

/** The offset of the comma behind an entry in brackets. */
function commaAfter({ text, entries }: Layout, index: number): number | undefined {
  COMMA.lastIndex = entries[index]?.end ?? text.length
  return COMMA.test(text) ? COMMA.lastIndex - 1 : undefined
}

/** Takes an entry out of a collection that keeps others, or has brackets. */
export function removeAt(layout: Layout, index: number): readonly Splice[] {
  const entry = layout.entries[index]
  if (!entry) return []
  return layout.isFlow ? removeFromBrackets(layout, index, entry) : removeLines(layout, index, entry)
}

function removeLines(layout: Layout, index: number, entry: Entry): readonly Splice[] {
  const { text, entries } = layout
  const lines = linesOf(layout, index)
  if (!beginsLine(text, entry.start)) {
    // The first key of an entry: the next one takes its place behind the dash.
    const rest = /^[ \t]*/.exec(text.slice(lines.end, entries[index + 1]?.start ?? lines.end))?.[0].length ?? 0
    return [{ start: entry.start, end: lines.end + rest, text: '' }]
  }
  const above = index > 0 ? linesOf(layout, index - 1) : undefined
  const isApart = (above !== undefined && above.blanks < above.start) || /^[ \t]*\r?\n/.test(text.slice(lines.end))
  return [wholeLines(text, isApart ? lines.blanks : lines.start, lines.end)]
}

/** At the end of a text without a last line end, the line end above goes with the lines. */
export function wholeLines(text: string, start: number, end: number): Splice {
  const isOpen = end === text.length && text[end - 1] !== '\n' && start > 0
  return { start: isOpen ? start - lineEndAt(text, start).length : start, end, text: '' }
}

function removeFromBrackets(layout: Layout, index: number, entry: Entry): readonly Splice[] {
  const { text, entries, close } = layout
  const comma = commaAfter(layout, index)
  const before = index > 0 ? commaAfter(layout, index - 1) : undefined
  const end = comma === undefined ? entry.end : comma + 1
  const line = nextLine(text, end)
  const next = entries[index + 1]?.start
  if (beginsLine(text, entry.start) && (next ?? close) >= line) {
    const { start } = linesOf(layout, index)
    const cut = { start, end: Math.min(tailEnd(text, end, columnOf(text, entry.start)), lineStart(text, close)), text: '' }
    return comma === undefined && before !== undefined ? [{ start: before, end: before + 1, text: '' }, cut] : [cut]
  }
  if (entries.length === 1) return [{ start: entry.start, end: paddingAfter(layout, entry, end), text: '' }]
  if (comma === undefined) return removeLast(layout, index, entry, before ?? entry.start)
  if (before !== undefined && isSpace(text.slice(before + 1, entry.start))) return [{ start: before + 1, end, text: '' }]
  return [{ start: entry.start, end: next !== undefined && isSpace(text.slice(end, next)) ? next : end, text: '' }]
}

/** Blanks within one line. */
const isSpace = (text: string): boolean => /^[ \t]*$/.test(text)

function removeLast({ text, entries, close }: Layout, index: number, entry: Entry, before: number): readonly Splice[] {
  const [previous, line] = [entries[index - 1], nextLine(text, entry.end)]
  // Where commas begin lines, the entry has its line for itself.
  if (beginsLine(text, before) && line <= close) return [wholeLines(text, lineStart(text, before), line)]
  if (previous && isSpace(text.slice(previous.end, before)) && isSpace(text.slice(before + 1, entry.start)))
    return [{ start: previous.end, end: entry.end, text: '' }]
  return [
    { start: before, end: before + 1, text: '' },
    { start: entry.start, end: entry.end, text: '' },
  ]
}

/** The blank behind the only entry goes with it; of blanks on both sides, one stays. */
function paddingAfter({ text, close }: Layout, entry: Entry, end: number): number {
  return close === end + 1 && text[end] === ' ' && !hasComment(text.slice(entry.end, close)) ? close : end
}
