// Why a scope has its cap, as `explain` says it: declarations, readings, the planned change, writes. The pages of a group and of a person share it.
import { type Html, html } from '../../core/escape/text.ts'
import type { CandidateEntry, Document, WriteEntry } from '../../daemon/http/documents/table.ts'
import { badge, capCell, empty, facts, figure, holdLink, scopeLink, section, when } from '../parts.ts'
import { column, listSection, table } from '../tables.ts'
import { number, words } from '../words.ts'

type Explained = Pick<
  Document<'Group'>,
  'chain' | 'readings' | 'history' | 'conditions' | 'workspace' | 'at' | 'change' | 'nextReadingAt' | 'why' | 'desired'
>

/** Why the cap is what it is, and its past. `beside` stands beside the readings. Readers of some people are told the kind and the reason only. */
export function explainedParts(
  one: Explained & Pick<Document<'Person'>, 'rule'>,
  isPart: boolean,
  beside: Html | false,
): readonly (Html | false)[] {
  if (!isPart) return [chainPart(one), html`<div class="grid">${nowPart(one)}${beside}</div>`, historyPart(one)]
  const { rule } = one
  return [
    rule !== undefined && section('Why this cap', html`<p>${words(rule.name)}${rule.reason !== undefined && html`: ${rule.reason}`}</p>`),
  ]
}

/** All declarations, the winner first, each with its line. */
function chainPart({ chain, workspace, at, desired }: Explained): Html {
  if (chain.length === 0) return section('Why this cap', empty('No policy declares a cap that applies here.'))
  return section(
    'Why this cap',
    table<CandidateEntry>('All declarations that apply, the winner first', chain, [
      column.row(
        'Declared',
        ({ kind, scope, name, wins }) =>
          html`${wins && badge('decides', 'good')} ${words(kind)}${name !== undefined && html` ${name}`} on ${scopeLink(workspace, scope)}`,
      ),
      column.number('Cap', ({ cap, add }) => html`${capCell(cap)}${add !== undefined && html` <span class="soft">+${number(add)}</span>`}`),
      column.text(
        'Why',
        ({ why, reason, ticket }) =>
          html`${why}${reason !== undefined && html`<br><span class="soft">${reason}${ticket !== undefined && ` (${ticket})`}</span>`}`,
      ),
      column.fixed(
        'Ends',
        ({ until, state }) => html`${state !== undefined && state !== 'active' && html`${words(state)} `}${when(until, at)}`,
      ),
      column.declaredAt,
    ]),
    desired !== undefined && html`result: <strong>${capCell(desired)}</strong>`,
  )
}

function nowPart({ readings, nextReadingAt, change, why, conditions, workspace, at }: Explained): Html {
  return section(
    'Now, and what would change it',
    html`${facts([
      ['Next reading', nextReadingAt !== undefined && (nextReadingAt <= at ? 'now' : when(nextReadingAt, at))],
      [
        'To be written',
        change &&
          html`${change.effect}: ${capCell(change.from)} → ${capCell(change.to)}, ${change.disposition === 'ready' ? 'now' : words(change.disposition)}`,
      ],
      ['Held by', change?.hold !== undefined && holdLink(workspace, change.hold)],
      ['Because', change?.hold === undefined && (change?.why ?? why)],
    ])}${table('Readings of the scope and its ancestors', readings, [
      column.scope('Read at', workspace, ({ scope }) => scope),
      column.number('Value', ({ observed, failure }) =>
        failure !== undefined ? html`<span class="soft">${failure}</span>` : capCell(observed ?? 'unknown'),
      ),
      column.fixed('When', ({ readAt }) => (readAt === undefined ? 'not read yet' : when(readAt, at))),
    ])}${conditions.length > 0 && html`<p class="small soft">What would change the cap:</p><ul>${conditions.map((text) => html`<li>${text}</li>`)}</ul>`}`,
  )
}

const historyPart = ({ history, at }: Explained): Html | false =>
  listSection<WriteEntry>('History', history, {
    none: 'capkeeper has not written this cap.',
    label: 'Writes, the newest first',
    columns: [
      column.fixedRow('When', (write) => when(write.at, at)),
      column.fixed('Effect', ({ effect, result }) => html`${effect} ${result !== 'applied' && badge(words(result), 'bad')}`),
      ...column.fromTo,
      column.fixed('Cause', ({ cause }) => CAUSE_TEXT[cause]),
      column.text('Why', ({ reason, error }) => error ?? reason),
      column.declaredAt,
    ],
  })

export const CAUSE_TEXT: Readonly<Record<WriteEntry['cause'], string>> = {
  policy: 'policy',
  external: 'changed by others',
  expired: 'grant ended',
  orphan: 'no longer declared',
}

export const addOnText = (addOn: number | undefined, isUpperBound: boolean | undefined): Html | string =>
  addOn === undefined ? 'not known' : html`${isUpperBound === true && 'at most '}${figure(addOn)}`
