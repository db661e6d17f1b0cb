// Where the entries of a list or mapping lie in its text, and which lines and comments belong to each. It reads tokens and blanks only, and never
// says what an entry means.
import { type CST, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from 'yaml'
import type { YamlNode } from '../yaml.ts'

/** `start`: its dash, its key, or itself in brackets; `end`: where its content ends, before blanks and comments. */
export interface Entry {
  readonly start: number
  readonly end: number
}

/** A list or mapping. `open`: where its first entry may begin at the earliest. Offsets are into `text`. */
export interface Layout {
  readonly text: string
  readonly isFlow: boolean
  readonly open: number
  readonly entries: readonly Entry[]
  /** The offset of the closing bracket, in flow style. */
  readonly close: number
}

/** The part of a text from `start` to `end` becomes `text`. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The layout of a collection; `open`: the end of its key, or the start of the document. */
export function layoutOf(text: string, node: YAMLMap | YAMLSeq, open: number): Layout {
  const isFlow = node.flow === true
  const start = node.range?.[0] ?? 0
  const entries = isSeq(node) ? itemsOf(node, isFlow) : node.items.map((pair) => entryOfPair(pair as Pair<Node, YamlNode>))
  return { text, isFlow, open: isFlow ? start + 1 : open, entries, close: (node.range?.[1] ?? 0) - 1 }
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

/** The first line of an entry with the comments above it, not above `floor`. */
function headStart(text: string, start: number, floor: number): number {
  const column = columnOf(text, start)
  let found = lineStart(text, start)
  while (found > floor) {
    const above = lineStart(text, found - 1)
    const comment = commentColumn(text.slice(above, found))
    if (above < floor || comment === undefined || comment > column) break
    found = above
  }
  return found
}

/** The start of the blank lines directly above a line, not above `floor`. */
function blanksStart(text: string, line: number, floor: number): number {
  let found = line
  while (found > floor) {
    const above = lineStart(text, found - 1)
    if (above < floor || !isBlank(text.slice(above, found))) break
    found = above
  }
  return found
}

/** The whole lines of an entry of a block collection: with the comments that belong to it, and the blank lines above these. */
interface Lines {
  readonly blanks: number
  readonly start: number
  readonly end: number
}

/** The lines of an entry of a block collection. */
export function linesOf({ text, entries, open }: Layout, index: number): Lines {
  const { start, end } = entries[index] ?? { start: open, end: open }
  const above = entries[index - 1]
  const floor = above ? tailEnd(text, above.end, columnOf(text, start)) : nextLine(text, open)
  const head = beginsLine(text, start) ? headStart(text, start, floor) : start
  return { blanks: head === start ? head : blanksStart(text, head, floor), start: head, end: tailEnd(text, end, columnOf(text, start)) }
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
