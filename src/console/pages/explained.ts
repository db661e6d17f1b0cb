// Why a scope has its cap, as `explain` says it: declarations, readings, the planned change, writes. The pages of a group and of a person share it.
import { type Html, html } from '../../core/escape/html.ts'
import type { CandidateEntry, GroupDocument, PersonDocument, WriteEntry } from '../../daemon/http/documents/types.ts'
import { badge, capCell, empty, facts, figure, holdLink, number, scopeLink, section, sourceLink, table, when, words } from '../parts.ts'

type Explained = Pick<
  GroupDocument,
  'chain' | 'readings' | 'history' | 'conditions' | 'workspace' | 'at' | 'change' | 'nextReadingAt' | 'why' | 'desired'
>

/** Why the cap is what it is, and its past. `beside` stands beside the readings. Readers of some people are told the kind and the reason only. */
export function explainedParts(one: Explained & Pick<PersonDocument, 'rule'>, isPart: boolean, beside: Html): readonly (Html | false)[] {
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
    table<CandidateEntry>(
      'All declarations that apply, the winner first',
      [
        {
          head: 'Declared',
          isName: true,
          cell: ({ kind, scope, name, wins }) =>
            html`${wins && badge('decides', 'good')} ${words(kind)}${name !== undefined && html` ${name}`} on ${scopeLink(workspace, scope)}`,
        },
        {
          head: 'Cap',
          kind: 'number',
          cell: ({ cap, add }) => html`${capCell(cap)}${add !== undefined && html` <span class="soft">+${number(add)}</span>`}`,
        },
        {
          head: 'Why',
          kind: 'text',
          cell: ({ why, reason, ticket }) =>
            html`${why}${reason !== undefined && html`<br><span class="soft">${reason}${ticket !== undefined && ` (${ticket})`}</span>`}`,
        },
        {
          head: 'Ends',
          kind: 'fixed',
          cell: ({ until, state }) =>
            html`${state !== undefined && state !== 'active' && html`${words(state)} `}${until !== undefined && when(until, at)}`,
        },
        { head: 'Declared at', kind: 'fixed', cell: ({ source }) => sourceLink(source) },
      ],
      chain,
    ),
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
    ])}${table(
      'Readings of the scope and its ancestors',
      [
        { head: 'Read at', isName: true, cell: ({ scope }) => scopeLink(workspace, scope) },
        {
          head: 'Value',
          kind: 'number',
          cell: ({ observed, failure }) =>
            failure !== undefined ? html`<span class="soft">${failure}</span>` : capCell(observed ?? 'unknown'),
        },
        { head: 'When', kind: 'fixed', cell: ({ readAt }) => (readAt === undefined ? 'not read yet' : when(readAt, at)) },
      ],
      readings,
    )}${conditions.length > 0 && html`<p class="small soft">What would change the cap:</p><ul>${conditions.map((text) => html`<li>${text}</li>`)}</ul>`}`,
  )
}

function historyPart({ history, at }: Explained): Html {
  return section(
    'History',
    history.length === 0
      ? empty('capkeeper has not written this cap.')
      : table<WriteEntry>(
          'Writes, the newest first',
          [
            { head: 'When', kind: 'fixed', isName: true, cell: (write) => when(write.at, at) },
            {
              head: 'Effect',
              kind: 'fixed',
              cell: ({ effect, result }) => html`${effect} ${result !== 'applied' && badge(words(result), 'bad')}`,
            },
            { head: 'From', kind: 'number', cell: ({ from }) => capCell(from) },
            { head: 'To', kind: 'number', cell: ({ to }) => capCell(to) },
            { head: 'Cause', kind: 'fixed', cell: ({ cause }) => CAUSE_TEXT[cause] },
            { head: 'Why', kind: 'text', cell: ({ reason, error }) => error ?? reason },
            { head: 'Declared at', kind: 'fixed', cell: ({ source }) => sourceLink(source) },
          ],
          history,
        ),
  )
}

export const CAUSE_TEXT: Readonly<Record<WriteEntry['cause'], string>> = {
  policy: 'policy',
  external: 'changed by others',
  expired: 'grant ended',
  orphan: 'no longer declared',
}

export const addOnText = (addOn: number | undefined, isUpperBound: boolean | undefined): Html | string =>
  addOn === undefined ? 'not known' : html`${isUpperBound === true && 'at most '}${figure(addOn)}`
