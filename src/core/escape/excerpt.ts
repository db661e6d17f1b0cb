// The line of a file that a problem is about, with carets below the part in question, for terminals and pages.
import { printable } from './terminal.ts'

const EXCERPT_WIDTH = 120

interface Excerpt {
  readonly sourceLine: string
  /** The column at which `sourceLine` begins; default 1. */
  readonly sourceColumn?: number
  /** From 1. */
  readonly column: number
  /** Of the part in question; default 1. */
  readonly length?: number
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
