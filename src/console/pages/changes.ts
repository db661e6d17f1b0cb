// Holds: what is held, the people it affects, what each guard counted, and the exact ways to release it. And the timeline of the workspace.
import { type Html, html, type Value } from '../../core/escape/text.ts'
import { EFFECTS_ON_PEOPLE } from '../../core/model/change.ts'
import type { Page } from '../../daemon/http/console.ts'
import type { ChangeEntry, Document } from '../../daemon/http/documents/table.ts'
import { renderFrame } from '../frame.ts'
import { badge, box, capCell, empty, figure, holdLink, paste, scopeLink, section, sourceLink, tile, tiles, when } from '../parts.ts'
import { column, filterForm, listing, listSection, moreOf, pager, table } from '../tables.ts'
import { day, number, url, withoutWays, withQuery } from '../words.ts'
import { CAUSE_TEXT } from './explained.ts'

export const holdsPage: Page = async (documents, { params: { workspace = '' }, query }) => {
  const list = await documents.holds(workspace, query)
  const path = url.section(workspace, 'holds')
  return renderFrame({
    of: list,
    section: 'holds',
    parts: [
      list.total === 0
        ? section('Nothing is held', empty('Guards let every change of the present plan through.'))
        : html`<section>${table('Holds', list.items, [
            column.fixedRow('Hold', ({ id }) => holdLink(workspace, id, '')),
            column.name('Guards', ({ guards }) => guards.map((guard) => badge(guard, 'warn'))),
            column.count('People', ({ people }) => people),
            column.count('Changes', ({ changes }) => changes),
            column.text('Why', ({ message }) => withoutWays(message, list.workspace)),
            column.when('Since', list.at, ({ since }) => since),
            column.fixed('Approval', ({ approval }) => approval),
          ])}${pager(list, ['hold', 'holds'], path, query)}</section>`,
    ],
  })
}

export const holdPage: Page = async (documents, { params: { workspace = '', name: id = '' }, query }) => {
  const one = await documents.hold(workspace, id, query)
  const path = url.hold(workspace, id)
  return renderFrame({
    heading: `Hold ${one.id.slice(0, 12)}`,
    badges: html`${one.guards.map((guard) => badge(guard, 'warn'))}${one.approval !== undefined && badge(`approval ${one.approval}`, 'info')}`,
    of: one,
    section: 'holds',
    parts: [
      box.warn`<p>${one.message}</p>`,
      tiles([
        tile('People affected', number(one.people), one.since !== undefined && html`first shown ${when(one.since, one.at)}`, 'warn'),
        one.counted && tile('Lowered', number(one.counted.lowered)),
        one.counted && tile('Blocked', number(one.counted.blocked), 'at 0, or at or below their use', one.counted.blocked > 0 && 'bad'),
        one.counted && tile('Left without a cap', number(one.counted.cleared)),
        one.counted && tile('Raised', number(one.counted.raised)),
      ]),
      releasePart(one),
      arithmeticPart(one),
      section(
        'People affected',
        one.counted
          ? html`${filterForm(path, query, [{ name: 'effect', label: 'Effect', options: EFFECTS_ON_PEOPLE }])}${affectedTable(one)}${pager(one, ['person', 'people'], path, query)}`
          : empty(`Only the pages of ${one.heldBy ?? 'the replica that holds the workspace'} tell who is affected.`),
      ),
      heldPart(one),
    ],
  })
}

function releasePart({ releases, id, void: voidText }: Document<'Hold'>): Html {
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

const HOW_TEXT: Readonly<Record<Document<'Hold'>['releases'][number]['how'], string>> = {
  policy: 'In a reviewed policy',
  command: 'By an operator, for the daemon',
  apply: 'By an operator, from a pipeline',
  setting: 'By a higher limit',
  wait: 'By waiting',
}

const arithmeticPart = ({ arithmetic }: Document<'Hold'>): Html | false =>
  listing('What the guards counted', arithmetic, [
    column.fixedRow('Guard', ({ guard, exceeded }) => badge(guard, exceeded ? 'warn' : undefined)),
    column.text('Counts', ({ what }) => what),
    column.amount('Found', ({ counted }) => counted),
    column.amount('Of', ({ of }) => of),
    column.number('Share', ({ percent }): Value => percent !== undefined && `${number(percent)} %`),
    column.text(
      'Allowed',
      ({ limit, allowed }) => html`${limit}${allowed !== undefined && html` <span class="soft">(${figure(allowed)})</span>`}`,
    ),
    column.name('Setting', ({ setting }) => html`<code>${setting}</code>`),
  ])

const affectedTable = ({ items, total, people, workspace }: Document<'Hold'>): Html =>
  total === 0
    ? empty(people > 0 ? 'Nobody fits.' : 'No person: the scopes have no people, or the people are not known yet.')
    : table('People affected', items, [
        column.row(
          'Person',
          ({ person, protected: isProtected }) =>
            html`${scopeLink(workspace, person)}${isProtected === true && html` ${badge('protected', 'info')}`}`,
        ),
        column.cap('Before', ({ before }) => before),
        column.cap('After', ({ after }) => after),
        column.amount('Add-on use', ({ addOn }) => addOn),
        column.fixed('Effect', ({ effect }) =>
          badge(effect, effect === 'blocked' ? 'bad' : effect === 'raised' || effect === 'capped' ? undefined : 'warn'),
        ),
      ])

const heldPart = ({ held, heldOmitted, workspace }: Document<'Hold'>): Html | false =>
  listSection('Held changes', held, {
    more: moreOf(heldOmitted, 'change'),
    columns: [
      column.scope('Scope', workspace, ({ scope }) => scope),
      ...column.fromTo,
      column.fixed('Effect', ({ effect }) => effect),
      column.count('People', ({ people }) => people),
      column.fixed('Cause', ({ cause }) => cause && CAUSE_TEXT[cause]),
      column.declaredAt,
    ],
  })

/** On a line of the timeline, and as a filter. */
const KIND_TEXT: Readonly<Record<ChangeEntry['kind'], readonly [one: string, many: string]>> = {
  write: ['write', 'writes'],
  foreign: ['by others', 'changes by others'],
  hold: ['hold', 'holds'],
  release: ['release', 'releases'],
  policy: ['policy', 'policy revisions'],
  pause: ['pause', 'pauses'],
  resume: ['resumed', 'ends of pauses'],
  outage: ['outage', 'outages'],
  recovery: ['recovered', 'recoveries'],
}

export const changesPage: Page = async (documents, { params: { workspace = '' }, query }) => {
  const list = await documents.changes(workspace, query)
  const path = url.section(workspace, 'changes')
  const days = Map.groupBy(list.items, ({ at }) => at.slice(0, 10))
  return renderFrame({
    of: list,
    section: 'changes',
    parts: [
      filterForm(path, query, [
        { name: 'kind', label: 'Kind', options: Object.entries(KIND_TEXT).map(([kind, [, many]]) => [kind, many] as const) },
        { name: 'scope', label: 'Scope: team, group:ID or a person' },
        { name: 'plan', label: 'Plan' },
      ]),
      list.items.length === 0 &&
        section(
          'Nothing yet',
          empty(
            Object.keys(query).length > 0 ? 'Nothing of this kind was recorded.' : 'Nothing has happened since the ledger was created.',
          ),
        ),
      ...[...days.values()].map((items) =>
        section(
          day(items[0]?.at ?? list.at),
          html`<ol class="timeline">${items.map((one) => timelineEntry(one, workspace, list.at))}</ol>`,
        ),
      ),
      list.next !== undefined &&
        html`<nav class="pages" aria-label="Older changes"><a class="button" href="${withQuery(path, { ...query, after: list.next })}">Older</a></nav>`,
    ],
  })
}

/** Why something changed, and what failed. */
const softOf = ({ cause, reason, error }: Pick<ChangeEntry, 'cause' | 'reason' | 'error'>): string =>
  [cause && CAUSE_TEXT[cause], reason, error].filter((part) => part !== undefined).join(' · ')

/** One line of the timeline, with links to the pages that explain it. */
function timelineEntry(one: ChangeEntry, workspace: string, now: string): Html {
  const { at, kind, tone, text, scope, from, to, source } = one
  const isChange = from !== undefined && to !== undefined
  const soft = softOf(one)
  return html`<li><span>${when(at, now)}</span><span>${badge(KIND_TEXT[kind][0], tone === 'good' ? undefined : tone)}</span><span>${
    isChange && scope !== undefined ? html`${scopeLink(workspace, scope)} ${capCell(from)} → ${capCell(to)}` : text
  }${soft !== '' && html` <span class="soft">${soft}</span>`}${source && html` ${sourceLink(source)}`}${links(one, workspace)}</span></li>
`
}

/** To the page of a hold that is in force, to the entries of the plan, and to what was written under policies. */
const links = ({ kind, at, tone, hold, stands, planId }: ChangeEntry, workspace: string): Html =>
  html`${stands === true && hold !== undefined && html` <span class="fixed">${holdLink(workspace, hold)}</span>`}${
    planId !== undefined && html` <a class="fixed" href="${url.plan(workspace, planId, at)}">plan <code>${planId.slice(0, 8)}</code></a>`
  }${
    kind === 'policy' &&
    tone === 'good' &&
    html` <a class="fixed" href="${withQuery(url.section(workspace, 'changes'), { kind: 'write', since: at })}">writes since</a>`
  }`
