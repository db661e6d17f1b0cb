// One plan: its writes, the holds and foreign changes it found, and its remaining changes. The timeline links to it.
import { type Html, html } from '../../core/escape/html.ts'
import type { Documents, Query } from '../../daemon/http/documents/documents.ts'
import type { PlanDocument, WriteEntry } from '../../daemon/http/documents/types.ts'
import { renderFrame } from '../frame.ts'
import { planUrl, sectionUrl } from '../links.ts'
import { badge, capCell, empty, facts, holdLink, pager, scopeLink, section, sourceLink, table } from '../parts.ts'
import { number, when, words } from '../text.ts'
import { timelineEntry } from './changes.ts'
import { CAUSE_TEXT } from './explained.ts'

export async function planPage(documents: Documents, workspace: string, id: string, query: Query): Promise<string> {
  const plan = await documents.plan(workspace, id, query)
  const { at, first, last, present, revision, digest, applied, failed, met } = plan
  return renderFrame({
    title: `Plan ${id} of ${workspace}`,
    heading: `Plan ${id}`,
    badges: [present && badge('the present plan', 'info'), failed > 0 && badge(`${number(failed)} failed`, 'bad')],
    workspace,
    section: 'changes',
    crumbs: [[id, planUrl(workspace, id)]],
    at,
    parts: [
      section(
        'What it is',
        facts([
          ['Policies', digest !== undefined && html`<a href="${sectionUrl(workspace, 'policies')}"><code>${digest}</code></a>`],
          ['Revision', revision !== undefined && revision !== '' && html`<code title="${revision}">${revision.slice(0, 12)}</code>`],
          ['First recorded', first !== undefined && when(first, at)],
          ['Last recorded', last !== undefined && when(last, at)],
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
  return html`${table<WriteEntry>(
    'What it wrote',
    [
      { head: 'When', kind: 'fixed', cell: (one) => when(one.at, at) },
      { head: 'Scope', isName: true, cell: ({ scope }) => scopeLink(workspace, scope) },
      { head: 'From', kind: 'number', cell: ({ from }) => capCell(from) },
      { head: 'To', kind: 'number', cell: ({ to }) => capCell(to) },
      { head: 'Result', kind: 'fixed', cell: ({ result }) => badge(words(result), result === 'applied' ? 'good' : 'bad') },
      {
        head: 'Why',
        kind: 'text',
        cell: ({ cause, reason, error }) => [CAUSE_TEXT[cause], reason, error].filter((part) => part !== undefined).join(' · '),
      },
      { head: 'Declared at', kind: 'fixed', cell: ({ source }) => sourceLink(source) },
    ],
    items,
  )}${pager(plan, ['write', 'writes'], planUrl(workspace, id), query)}`
}

function remainingChanges({ changes, changesOmitted, workspace }: PlanDocument): Html {
  return html`${table<PlanDocument['changes'][number]>(
    'Remaining changes',
    [
      { head: 'Scope', isName: true, cell: ({ scope }) => scopeLink(workspace, scope) },
      { head: 'From', kind: 'number', cell: ({ from }) => capCell(from) },
      { head: 'To', kind: 'number', cell: ({ to }) => capCell(to) },
      { head: 'State', kind: 'fixed', cell: ({ disposition }) => badge(disposition, disposition === 'ready' ? undefined : 'warn') },
      {
        head: 'Why',
        kind: 'text',
        cell: ({ hold, why }) => (hold === undefined ? why : holdLink(workspace, hold)),
      },
      { head: 'Declared at', kind: 'fixed', cell: ({ source }) => sourceLink(source) },
    ],
    changes,
  )}${changesOmitted > 0 && html`<p class="soft">and ${number(changesOmitted)} more.</p>`}`
}
