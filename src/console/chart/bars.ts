// Amounts beside each other, as a table whose last column draws them: models, groups, and the policies that `simulate` compares.
import { type Html, html, type Value } from '../../core/escape/html.ts'
import { figure, percent } from '../text.ts'
import type { Tone } from './plot.ts'
import { short } from './scale.ts'

export interface AmountRow {
  readonly name: Value
  /** Further cells between name and amount. */
  readonly cells?: readonly Value[]
  readonly amount: number
  /** How its bar is coloured. */
  readonly tone?: Tone
}

export interface AmountTable {
  readonly heads: readonly string[]
  readonly rows: readonly AmountRow[]
  /** What a full bar is; the greatest amount unless given. */
  readonly full?: number
  /** Whether amounts also stand as a share of their sum. */
  readonly shares?: boolean
}

export function amountTable({ heads, rows, full, shares = false }: AmountTable): Html {
  const most = full ?? rows.reduce((highest, { amount }) => Math.max(highest, amount), 0)
  const sum = rows.reduce((total, { amount }) => total + amount, 0)
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${heads.join(', ')}"><table class="amounts">
<thead><tr>${heads.map((head, index) => html`<th scope="col"${index === heads.length - 1 && html` class="number"`}>${head}</th>`)}${shares && html`<th scope="col" class="number">Share</th>`}<td></td></tr></thead>
<tbody>${rows.map(
    ({
      name,
      cells = [],
      amount,
      tone = 'main',
    }) => html`<tr><th scope="row">${name}</th>${cells.map((value) => html`<td>${value}</td>`)}<td class="number">${figure(amount)}</td>${
      shares && html`<td class="number soft">${percent(sum === 0 ? 0 : amount / sum)}</td>`
    }<td class="measure">${meter(most === 0 ? 0 : amount / most, tone)}</td></tr>
`,
  )}</tbody></table></div>`
}

/** A bar filled to a share; what it says stands beside it in words. */
export const meter = (share: number, tone: Tone): Html =>
  html`<svg class="meter" width="100%" height="8" aria-hidden="true"><rect class="trough" width="100%" height="8" rx="4"></rect>${share > 0 && html`<rect class="bar t-${tone}" width="${short(Math.min(1, share) * 100)}%" height="8" rx="4"></rect>`}</svg>`
