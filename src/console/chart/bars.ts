// Amounts as a table with a bar for each, and the bars themselves.
import { type Html, html } from '../../core/escape/html.ts'
import { table } from '../parts.ts'
import { figure, percent } from '../text.ts'
import type { Tone } from './plot.ts'
import { short } from './scale.ts'

export interface AmountRow {
  readonly name: string
  readonly amount: number
}

/** Each amount with its share of the sum, and a bar that is full for the greatest. */
export function amountTable(nameHead: string, amountHead: string, rows: readonly AmountRow[]): Html {
  const most = rows.reduce((highest, { amount }) => Math.max(highest, amount), 0)
  const sum = rows.reduce((total, { amount }) => total + amount, 0)
  return table(
    amountHead,
    [
      { head: nameHead, isName: true, cell: ({ name }) => name },
      { head: amountHead, kind: 'number', cell: ({ amount }) => figure(amount) },
      { head: 'Share', kind: 'number', cell: ({ amount }) => percent(sum === 0 ? 0 : amount / sum) },
      { head: BAR_HEAD, kind: 'measure', cell: ({ amount }) => meter(most === 0 ? 0 : amount / most, 'main') },
    ],
    rows,
    'amounts',
  )
}

/** The head of a column of bars, for screen readers. */
export const BAR_HEAD = html`<span class="hidden">As a bar</span>`

/** A bar filled to a share. Hidden from screen readers, so the figure must be beside it. */
export const meter = (share: number, tone: Tone): Html =>
  html`<svg class="meter" width="100%" height="8" aria-hidden="true"><rect class="trough" width="100%" height="8" rx="4"></rect>${share > 0 && html`<rect class="bar t-${tone}" width="${short(Math.min(1, share) * 100)}%" height="8" rx="4"></rect>`}</svg>`
