// The timeline by day, the newest first: writes, foreign changes, holds, releases, policy revisions, pauses, outages.
import { type Html, html, type Value } from '../../core/escape/html.ts'
import type { Documents, Query } from '../../daemon/http/documents/documents.ts'
import type { ChangeEntry } from '../../daemon/http/documents/types.ts'
import { filterForm } from '../filters.ts'
import { renderFrame } from '../frame.ts'
import { holdUrl, planUrl, sectionUrl, withQuery, workspaceUrl } from '../links.ts'
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
export function timelineEntry(one: ChangeEntry, workspace: string, now: string): Html {
  const { at, kind, tone, text, scope, from, to, cause, source, reason, error } = one
  const isChange = from !== undefined && to !== undefined
  const soft = [cause && CAUSE_TEXT[cause], reason, error].filter((part) => part !== undefined).join(' · ')
  return html`<li><span>${when(at, now)}</span><span>${badge(KIND_TEXT[kind], tone === 'good' ? undefined : tone)}</span><span>${
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
