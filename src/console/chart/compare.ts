// Two policies over the same days, as `simulate` compares them: for each row two amounts, and two bars on one scale.
import { type Html, html } from '../../core/escape/html.ts'
import { type Column, table } from '../parts.ts'
import { figure, number } from '../text.ts'
import { BAR_HEAD, meter } from './bars.ts'
import { legendList } from './chart.ts'

interface CompareRow {
  readonly name: string
  /** Under the caps that were in force, or under the other policy. */
  readonly beside: number
  readonly policy: number
}

interface Comparison {
  readonly title: string
  /** `Cycle`, `Group`. */
  readonly head: string
  readonly names: { readonly beside: string; readonly policy: string }
  readonly rows: readonly CompareRow[]
}

export function compareChart({ title, head, names, rows }: Comparison, level: 2 | 3 = 3): Html {
  const heading = level === 2 ? html`<h2>${title}</h2>` : html`<h3>${title}</h3>`
  const most = rows.reduce((highest, { beside, policy }) => Math.max(highest, beside, policy), 0)
  if (most === 0) return html`<figure class="chart"><figcaption>${heading}<p class="soft">0 under both.</p></figcaption></figure>`
  const legend = legendList([
    { tone: 'rest', text: names.beside },
    { tone: 'main', text: names.policy },
  ])
  const columns: readonly Column<CompareRow>[] = [
    { head, isName: true, cell: ({ name }) => name },
    { head: names.beside, kind: 'number', cell: ({ beside }) => figure(beside) },
    { head: names.policy, kind: 'number', cell: ({ policy }) => figure(policy) },
    { head: 'Change', kind: 'number', cell: ({ beside, policy }) => difference(policy - beside) },
    {
      head: BAR_HEAD,
      kind: 'measure',
      cell: ({ beside, policy }) => html`${meter(beside / most, 'rest')}${meter(policy / most, 'main')}`,
    },
  ]
  return html`<figure class="chart"><figcaption>${heading}<p class="soft">${sentence(names, rows)}</p></figcaption>${legend}${table(title, columns, rows, 'amounts')}</figure>`
}

const difference = (amount: number): string => (amount > 0 ? `+${number(amount)}` : number(amount))

function sentence({ beside, policy }: Comparison['names'], rows: readonly CompareRow[]): string {
  const sum = (side: 'beside' | 'policy'): number => rows.reduce((total, row) => total + row[side], 0)
  return `${policy}: ${number(sum('policy'))}; ${beside}: ${number(sum('beside'))}.`
}
