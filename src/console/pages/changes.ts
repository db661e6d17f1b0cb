// The timeline: writes, changes by others, holds, releases, policy revisions, pauses, outages, the newest first and by day.
import { type Html, html } from '../../core/escape/html.ts'
import type { Documents, Query } from '../../daemon/http/documents/documents.ts'
import type { ChangeEntry } from '../../daemon/http/documents/types.ts'
import { filterForm } from '../filters.ts'
import { renderFrame } from '../frame.ts'
import { holdUrl, sectionUrl, withQuery } from '../links.ts'
import { badge, capCell, empty, scopeLink, section, sourceLink } from '../parts.ts'
import { day, when } from '../text.ts'
import { CAUSE_TEXT } from './explained.ts'

const KINDS: readonly (readonly [ChangeEntry['kind'], string])[] = [
  ['write', 'writes'],
  ['foreign', 'changes by others'],
  ['hold', 'holds'],
  ['release', 'releases'],
  ['policy', 'policy revisions'],
  ['pause', 'pauses'],
  ['resume', 'ends of pauses'],
  ['outage', 'outages'],
  ['recovery', 'recoveries'],
]

const KIND_TEXT: Readonly<Record<ChangeEntry['kind'], string>> = {
  write: 'write',
  foreign: 'by others',
  hold: 'hold',
  release: 'release',
  policy: 'policy',
  pause: 'pause',
  resume: 'resumed',
  outage: 'outage',
  recovery: 'recovered',
}

export async function changesPage(documents: Documents, workspace: string, query: Query): Promise<string> {
  const list = await documents.changes(workspace, query)
  const path = sectionUrl(workspace, 'changes')
  const days = Map.groupBy(list.items, ({ at }) => at.slice(0, 10))
  return renderFrame({
    title: `Changes of ${workspace}`,
    heading: 'Changes',
    workspace,
    section: 'changes',
    at: list.at,
    parts: [
      filterForm(
        path,
        [
          { kind: 'choice', name: 'kind', label: 'Kind', options: KINDS },
          { kind: 'search', name: 'scope', label: 'Scope: team, group:ID or a person' },
        ],
        query,
      ),
      list.items.length === 0 &&
        section(
          'Nothing yet',
          empty(
            Object.keys(query).length > 0
              ? 'Nothing of this kind was recorded.'
              : 'Nothing was written and nothing else happened since the ledger was made.',
          ),
        ),
      ...[...days.values()].map((items) =>
        section(day(items[0]?.at ?? list.at), html`<ol class="timeline">${items.map((one) => line(one, workspace, list.at))}</ol>`),
      ),
      list.next !== undefined &&
        html`<nav class="pages" aria-label="Older changes"><a class="button" href="${withQuery(path, { ...query, after: list.next })}">Older</a></nav>`,
    ],
  })
}

function line(one: ChangeEntry, workspace: string, now: string): Html {
  const { at, kind, tone, text, scope, from, to, cause, source, hold, reason, error, planId, revision } = one
  const isChange = from !== undefined && to !== undefined
  const soft = [cause && CAUSE_TEXT[cause], reason, error].filter((part) => part !== undefined).join(' · ')
  return html`<li><span>${when(at, now)}</span><span>${badge(KIND_TEXT[kind], tone === 'good' ? undefined : tone)}</span><span>${
    isChange && scope !== undefined ? html`${scopeLink(workspace, scope)} ${capCell(from)} → ${capCell(to)}` : text
  }${soft !== '' && html` <span class="soft">${soft}</span>`}${source && html` ${sourceLink(source)}`}${
    hold !== undefined && html` <a href="${holdUrl(workspace, hold)}">hold <code>${hold.slice(0, 12)}</code></a>`
  }${planId !== undefined && html` <code class="soft" title="plan ${planId}">plan ${planId.slice(0, 8)}</code>`}${
    planId === undefined && revision !== undefined && revision !== '' && html` <code class="soft">${revision.slice(0, 12)}</code>`
  }</span></li>
`
}
