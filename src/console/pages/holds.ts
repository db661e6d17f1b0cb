// Holds: what is held, the people it affects, what each guard counted, and the exact ways to release it.
import { type Html, html, type Value } from '../../core/escape/html.ts'
import { EFFECTS_ON_PEOPLE } from '../../core/model/change.ts'
import type { PageRequest } from '../../daemon/http/console.ts'
import type { Documents } from '../../daemon/http/documents/make.ts'
import type { HoldDocument } from '../../daemon/http/documents/types.ts'
import { renderFrame } from '../frame.ts'
import {
  badge,
  box,
  capCell,
  column,
  empty,
  figure,
  filterForm,
  holdLink,
  holdUrl,
  listing,
  number,
  pager,
  paste,
  plural,
  scopeLink,
  section,
  sectionUrl,
  sourceLink,
  table,
  tile,
  tiles,
  when,
  withoutWays,
} from '../parts.ts'
import { CAUSE_TEXT } from './explained.ts'

export async function holdsPage(documents: Documents, { params: { workspace = '' }, query }: PageRequest): Promise<string> {
  const list = await documents.holds(workspace, query)
  const path = sectionUrl(workspace, 'holds')
  return renderFrame({
    of: list,
    section: 'holds',
    parts: [
      list.items.length === 0
        ? section(
            'Nothing is held',
            empty(
              html`Guards let every change of the present plan through. Their limits are on the <a href="${sectionUrl(workspace, 'health')}">health</a> page.`,
            ),
          )
        : html`<section>${table('Holds', list.items, [
            column.fixedRow('Hold', ({ id }) => holdLink(workspace, id, '')),
            column.name('Guards', ({ guards }) => guards.map((guard) => badge(guard, 'warn'))),
            column.number('People', ({ people }) => number(people)),
            column.number('Changes', ({ changes }) => number(changes)),
            column.text('Why', ({ message }) => withoutWays(message, list.workspace)),
            column.fixed('Since', ({ since }) => when(since, list.at)),
            column.fixed('Approval', ({ approval }) => approval),
          ])}${pager(list, ['hold', 'holds'], path, query)}</section>`,
    ],
  })
}

export async function holdPage(documents: Documents, { params: { workspace = '', name: id = '' }, query }: PageRequest): Promise<string> {
  const one = await documents.hold(workspace, id, query)
  const path = holdUrl(workspace, id)
  return renderFrame({
    heading: `Hold ${one.id.slice(0, 12)}`,
    badges: html`${one.guards.map((guard) => badge(guard, 'warn'))}${one.approval !== undefined && badge(`approval ${one.approval}`, 'info')}`,
    of: one,
    section: 'holds',
    parts: [
      box('warn', html`<p>${one.message}</p>`),
      tiles([
        tile('People affected', number(one.people), one.since !== undefined && html`first shown ${when(one.since, one.at)}`, 'warn'),
        tile('Lowered', number(one.counted.lowered)),
        tile('Blocked', number(one.counted.blocked), 'at 0, or at or below their use', one.counted.blocked > 0 && 'bad'),
        tile('Left without a cap', number(one.counted.cleared)),
        tile('Raised', number(one.counted.raised)),
      ]),
      releasePart(one),
      arithmeticPart(one),
      section(
        'People affected',
        html`${filterForm(path, [{ kind: 'choice', name: 'effect', label: 'Effect', options: EFFECTS_ON_PEOPLE.map((effect) => [effect, effect] as const) }], query)}${affectedTable(one)}${pager(one, ['person', 'people'], path, query)}`,
      ),
      heldPart(one),
    ],
  })
}

function releasePart({ releases, id, void: voidText }: HoldDocument): Html {
  return section(
    'If this is intended: how to release it',
    html`<ol class="steps">${releases.map(
      ({ how, who, text, edit, file, note }) =>
        html`<li><strong>${HOW_TEXT[how]}</strong> <span class="soft">${who}</span>${
          how === 'wait' ? html`<p>${text}</p>` : paste(text, `${HOW_TEXT[how]}: what to paste`)
        }${edit !== undefined && html`<p class="small">or by command</p>${paste(edit, `${HOW_TEXT[how]}: the command`)}`}${file !== undefined && html`<p class="small">in <code>${file}</code></p>`}${note !== undefined && html`<p class="small soft">${note}</p>`}</li>`,
    )}</ol><p class="small soft">The whole id is <code>${id}</code>. ${voidText}</p>
<p class="small soft">If it is not intended, change the policy: the hold ends when its changes are gone.</p>`,
  )
}

const HOW_TEXT: Readonly<Record<HoldDocument['releases'][number]['how'], string>> = {
  policy: 'In a reviewed policy',
  command: 'By an operator, for the daemon',
  apply: 'By an operator, from a pipeline',
  setting: 'By a higher limit',
  wait: 'By waiting',
}

const arithmeticPart = ({ arithmetic }: HoldDocument): Html | false =>
  listing('What the guards counted', arithmetic, [
    column.fixedRow('Guard', ({ guard, exceeded }) => badge(guard, exceeded ? 'warn' : undefined)),
    column.text('Counts', ({ what }) => what),
    column.number('Found', ({ counted }) => figure(counted)),
    column.number('Of', ({ of }) => figure(of)),
    column.number('Share', ({ percent }): Value => percent !== undefined && `${number(percent)} %`),
    column.text(
      'Allowed',
      ({ limit, allowed }) => html`${limit}${allowed !== undefined && html` <span class="soft">(${figure(allowed)})</span>`}`,
    ),
    column.name('Setting', ({ setting }) => html`<code>${setting}</code>`),
  ])

const affectedTable = ({ items, workspace }: HoldDocument): Html =>
  items.length === 0
    ? empty('No person: the scopes have no people, or the people are not known yet.')
    : table('People affected', items, [
        column.row(
          'Person',
          ({ person, protected: isProtected }) =>
            html`${scopeLink(workspace, person)}${isProtected === true && html` ${badge('protected', 'info')}`}`,
        ),
        column.number('Before', ({ before }) => capCell(before)),
        column.number('After', ({ after }) => capCell(after)),
        column.number('Add-on use', ({ addOn }) => figure(addOn)),
        column.fixed('Effect', ({ effect }) =>
          badge(effect, effect === 'blocked' ? 'bad' : effect === 'raised' || effect === 'capped' ? undefined : 'warn'),
        ),
      ])

const heldPart = ({ held, heldOmitted, workspace }: HoldDocument): Html =>
  section(
    'Held changes',
    html`${table('Held changes', held, [
      column.row('Scope', ({ scope }) => scopeLink(workspace, scope)),
      column.number('From', ({ from }) => capCell(from)),
      column.number('To', ({ to }) => capCell(to)),
      column.fixed('Effect', ({ effect }) => effect),
      column.number('People', ({ people }) => people !== undefined && number(people)),
      column.fixed('Cause', ({ cause }) => cause && CAUSE_TEXT[cause]),
      column.fixed('Declared at', ({ source }) => sourceLink(source)),
    ])}${heldOmitted > 0 && html`<p class="soft">${plural(heldOmitted, 'more change')}.</p>`}`,
  )
