// The line of a file that a problem is about, with carets beneath the part that is meant: the same on a terminal and on a page.
import { printable } from './terminal.ts'

const EXCERPT_WIDTH = 120

export interface Excerpt {
  readonly sourceLine: string
  /** From 1. */
  readonly column: number
  /** How many characters are meant; 1 unless said. */
  readonly length?: number
}

/** Two lines: the text, of which a long one is cut around the column, and the carets. */
export function excerptLines({ sourceLine, column, length = 1 }: Excerpt): readonly [line: string, carets: string] {
  const at = column - 1
  const from = sourceLine.length > EXCERPT_WIDTH ? Math.max(0, at - EXCERPT_WIDTH / 2) : 0
  const line = printable(sourceLine.slice(from, from + EXCERPT_WIDTH))
  const padding = line.slice(0, at - from).replace(/[^\t]/g, ' ')
  const carets = Math.max(1, Math.min(length, line.length - padding.length))
  return [line, `${padding}${'^'.repeat(carets)}`]
}
