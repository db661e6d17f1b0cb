// Tables for a terminal in which figures stand right, so that they can be compared.
import { columns, padStart, widthOf } from './text.ts'

/** Rows as columns two spaces apart; those that `isNumber` names are aligned right. */
export function aligned(rows: readonly (readonly string[])[], isNumber: (column: number) => boolean): readonly string[] {
  const widths: number[] = []
  for (const cells of rows) for (const [index, cell] of cells.entries()) widths[index] = Math.max(widths[index] ?? 0, widthOf(cell))
  return columns(rows.map((cells) => cells.map((cell, index) => (isNumber(index) ? padStart(cell, widths[index] ?? 0) : cell))))
}
