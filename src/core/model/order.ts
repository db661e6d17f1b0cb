// The order of texts and of places in files, the same on every machine.
import type { Position } from './problem.ts'

/** By code unit. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** By file, line and column: the last tie-break, so that the order of the files never matters. */
export const comparePositions = (a: Position, b: Position): number => compareText(a.file, b.file) || a.line - b.line || a.column - b.column
