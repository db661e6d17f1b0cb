// Puts an entry into a list or mapping, or takes one out, as splices of the text. What an insertion writes, the removal of the same entry takes
// out again, byte for byte; no other entry or comment is touched.
import {
  beginsLine,
  columnOf,
  type Entry,
  hasComment,
  type Layout,
  lineEndAt,
  lineStart,
  linesOf,
  nextLine,
  type Splice,
  tailEnd,
} from './layout.ts'

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
  const empty = text.slice(blanks, start).split('\n').slice(1)
  return linesAt(text, end, [...empty.map(() => ''), ...indented(lines, indent)])
}

export const indented = (lines: readonly string[], indent: string): readonly string[] => lines.map((line) => `${indent}${line}`)

/** Inserts lines where a line starts, or at the end of a text without a last line end. */
export function linesAt(text: string, at: number, lines: readonly string[]): Splice {
  const end = lineEndAt(text, at)
  const isOpen = at > 0 && text[at - 1] !== '\n'
  return { start: at, end: at, text: lines.map((line) => (isOpen ? `${end}${line}` : `${line}${end}`)).join('') }
}

function insertInBrackets(layout: Layout, index: number, flow: string): readonly Splice[] {
  const { text, entries, close } = layout
  const entry = entries[index]
  if (!entry) return [at(close, text.slice(layout.open, close) === ' ' ? `${flow} ` : flow)]
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

/** The offset of the comma behind an entry in brackets. */
function commaAfter({ text, entries }: Layout, index: number): number | undefined {
  const entry = entries[index]
  if (!entry) return undefined
  for (let offset = entry.end; offset < text.length; offset += 1) {
    const character = text[offset]
    if (character === ',') return offset
    if (character === '#') offset = nextLine(text, offset) - 1
    else if (!/\s/.test(character ?? '')) return undefined
  }
  return undefined
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
  const previous = entries[index - 1]
  if (before !== undefined && previous && isSpace(text.slice(before + 1, entry.start)) && isSpace(text.slice(previous.end, before)))
    return [{ start: before + 1, end, text: '' }]
  return [{ start: entry.start, end: next !== undefined && isSpace(text.slice(end, next)) ? next : end, text: '' }]
}

/** Blanks within one line. */
const isSpace = (text: string): boolean => /^[ \t]*$/.test(text)

function removeLast({ text, entries }: Layout, index: number, entry: Entry, before: number): readonly Splice[] {
  const previous = entries[index - 1]
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
