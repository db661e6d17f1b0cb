// Two policies beside each other over the same days: for each row two amounts, and two bars on one scale. Made for what `simulate` compares.
import { type Html, html } from '../../core/escape/html.ts'
import { figure, number } from '../text.ts'
import { meter } from './bars.ts'
import { legendList } from './chart.ts'

export interface CompareRow {
  readonly name: string
  /** What was, or the other policy. */
  readonly beside: number
  readonly policy: number
}

export interface Comparison {
  readonly title: string
  /** What a row is: `Cycle`, `Group`. */
  readonly head: string
  /** How the two are called. */
  readonly names: { readonly beside: string; readonly policy: string }
  readonly rows: readonly CompareRow[]
}

/** Nothing to compare is said in words. */
export function compareChart({ title, head, names, rows }: Comparison, level: 2 | 3 = 3): Html {
  const heading = level === 2 ? html`<h2>${title}</h2>` : html`<h3>${title}</h3>`
  const most = rows.reduce((highest, { beside, policy }) => Math.max(highest, beside, policy), 0)
  if (most === 0) return html`<figure class="chart"><figcaption>${heading}<p class="soft">0 under both.</p></figcaption></figure>`
  return html`<figure class="chart"><figcaption>${heading}<p class="soft">${sentence(names, rows)}</p></figcaption>${legendList([
    { tone: 'rest', text: names.beside },
    { tone: 'main', text: names.policy },
  ])}<div class="scroll" tabindex="0" role="group" aria-label="${title}"><table class="amounts">
<thead><tr><th scope="col">${head}</th><th scope="col" class="number">${names.beside}</th><th scope="col" class="number">${names.policy}</th><th scope="col" class="number">Change</th><td></td></tr></thead>
<tbody>${rows.map(
    ({
      name,
      beside,
      policy,
    }) => html`<tr><th scope="row">${name}</th><td class="number">${figure(beside)}</td><td class="number">${figure(policy)}</td><td class="number">${difference(
      policy - beside,
    )}</td><td class="measure">${meter(beside / most, 'rest')}${meter(policy / most, 'main')}</td></tr>
`,
  )}</tbody></table></div></figure>`
}

const difference = (amount: number): string => (amount > 0 ? `+${number(amount)}` : number(amount))

function sentence({ beside, policy }: Comparison['names'], rows: readonly CompareRow[]): string {
  const sum = (side: 'beside' | 'policy'): number => rows.reduce((total, row) => total + row[side], 0)
  return `${policy}: ${number(sum('policy'))}; ${beside}: ${number(sum('beside'))}.`
}
