// The timeline of a workspace, and one plan of it: its writes, the holds and foreign changes it found, and its remaining changes.
import { type Html, html, type Value } from '../../core/escape/html.ts'
import type { PageRequest } from '../../daemon/http/console.ts'
import type { Query } from '../../daemon/http/documents/documents.ts'
import type { Documents } from '../../daemon/http/documents/make.ts'
import type { ChangeEntry, PlanDocument, WriteEntry } from '../../daemon/http/documents/types.ts'
import { renderFrame } from '../frame.ts'
import {
  badge,
  capCell,
  column,
  day,
  empty,
  facts,
  filterForm,
  holdLink,
  holdUrl,
  number,
  pager,
  planUrl,
  scopeLink,
  section,
  sectionUrl,
  sourceLink,
  table,
  when,
  withQuery,
  words,
  workspaceUrl,
} from '../parts.ts'
import { CAUSE_TEXT } from './explained.ts'

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

export async function changesPage(documents: Documents, { params: { workspace = '' }, query }: PageRequest): Promise<string> {
  const list = await documents.changes(workspace, query)
  const path = sectionUrl(workspace, 'changes')
  const days = Map.groupBy(list.items, ({ at }) => at.slice(0, 10))
  return renderFrame({
    of: list,
    section: 'changes',
    parts: [
      filterForm(
        path,
        [
          {
            kind: 'choice',
            name: 'kind',
            label: 'Kind',
            options: Object.entries(KIND_TEXT).map(([kind, [, many]]) => [kind, many] as const),
          },
          { kind: 'search', name: 'scope', label: 'Scope: team, group:ID or a person' },
        ],
        query,
      ),
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

/** One line of the timeline, with links to the pages that explain it. */
function timelineEntry(one: ChangeEntry, workspace: string, now: string): Html {
  const { at, kind, tone, text, scope, from, to, cause, source, reason, error } = one
  const isChange = from !== undefined && to !== undefined
  const soft = [cause && CAUSE_TEXT[cause], reason, error].filter((part) => part !== undefined).join(' · ')
  return html`<li><span>${when(at, now)}</span><span>${badge(KIND_TEXT[kind][0], tone === 'good' ? undefined : tone)}</span><span>${
    isChange && scope !== undefined ? html`${scopeLink(workspace, scope)} ${capCell(from)} → ${capCell(to)}` : text
  }${soft !== '' && html` <span class="soft">${soft}</span>`}${source && html` ${sourceLink(source)}`}${links(one, workspace).map(([href, words]) => html` <a class="fixed" href="${href}">${words}</a>`)}</span></li>
`
}

type Link = readonly [href: string, words: Value]

function links({ kind, at, hold, stands, planId, tone }: ChangeEntry, workspace: string): readonly Link[] {
  const plan: readonly Link[] =
    planId === undefined ? [] : [[planUrl(workspace, planId, at), html`plan <code>${planId.slice(0, 8)}</code>`]]
  switch (kind) {
    case 'hold':
    case 'release':
      return stands === true && hold !== undefined
        ? [[holdUrl(workspace, hold), html`hold <code>${hold.slice(0, 12)}</code>`], ...plan]
        : plan
    case 'policy': {
      if (tone === 'bad') return [[sectionUrl(workspace, 'policies'), stands === true ? 'what is wrong' : 'the policies now']]
      return [
        [sectionUrl(workspace, 'policies'), stands === true ? 'what is declared' : 'the policies now'],
        [withQuery(sectionUrl(workspace, 'changes'), { kind: 'write', since: at }), 'writes since'],
      ]
    }
    case 'pause':
    case 'resume':
      return [[workspaceUrl(workspace), stands === true ? 'how to resume' : 'the workspace now']]
    case 'outage':
    case 'recovery':
      return [[sectionUrl(workspace, 'health'), 'requests and cycles']]
    default:
      return plan
  }
}

export async function planPage(documents: Documents, { params: { workspace = '', name: id = '' }, query }: PageRequest): Promise<string> {
  const plan = await documents.plan(workspace, id, query)
  const { at, first, last, present, revision, digest, applied, failed, met } = plan
  return renderFrame({
    title: `Plan ${id} of ${workspace}`,
    heading: `Plan ${id}`,
    badges: [present && badge('the present plan', 'info'), failed > 0 && badge(`${number(failed)} failed`, 'bad')],
    of: plan,
    section: 'changes',
    parts: [
      section(
        'What it is',
        facts([
          ['Policies', digest !== undefined && html`<a href="${sectionUrl(workspace, 'policies')}"><code>${digest}</code></a>`],
          ['Revision', revision !== undefined && revision !== '' && html`<code title="${revision}">${revision.slice(0, 12)}</code>`],
          ['First recorded', when(first, at)],
          ['Last recorded', when(last, at)],
          ['Writes', `${number(applied)} applied, ${number(failed)} failed`],
        ]),
      ),
      section('What it wrote', written(plan, query)),
      met.length > 0 &&
        section(
          'Holds and foreign changes it found',
          html`<ol class="timeline">${met.map((one) => timelineEntry(one, workspace, at))}</ol>`,
        ),
      plan.changes.length > 0 && section('Remaining changes', remainingChanges(plan)),
    ],
  })
}

function written(plan: PlanDocument, query: Query): Html {
  const { items, workspace, at, id } = plan
  if (plan.total === 0) return empty('No write of it is recorded.')
  return html`${table<WriteEntry>('What it wrote', items, [
    column.fixed('When', (one) => when(one.at, at)),
    column.row('Scope', ({ scope }) => scopeLink(workspace, scope)),
    column.number('From', ({ from }) => capCell(from)),
    column.number('To', ({ to }) => capCell(to)),
    column.fixed('Result', ({ result }) => badge(words(result), result === 'applied' ? 'good' : 'bad')),
    column.text('Why', ({ cause, reason, error }) => [CAUSE_TEXT[cause], reason, error].filter((part) => part !== undefined).join(' · ')),
    column.fixed('Declared at', ({ source }) => sourceLink(source)),
  ])}${pager(plan, ['write', 'writes'], planUrl(workspace, id), query)}`
}

function remainingChanges({ changes, changesOmitted, workspace }: PlanDocument): Html {
  return html`${table<PlanDocument['changes'][number]>('Remaining changes', changes, [
    column.row('Scope', ({ scope }) => scopeLink(workspace, scope)),
    column.number('From', ({ from }) => capCell(from)),
    column.number('To', ({ to }) => capCell(to)),
    column.fixed('State', ({ disposition }) => badge(disposition, disposition === 'ready' ? undefined : 'warn')),
    column.text('Why', ({ hold, why }) => (hold === undefined ? why : holdLink(workspace, hold))),
    column.fixed('Declared at', ({ source }) => sourceLink(source)),
  ])}${changesOmitted > 0 && html`<p class="soft">and ${number(changesOmitted)} more.</p>`}`
}
