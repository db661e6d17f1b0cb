// The page of a lead: what they want to know of their people, in the place of the page of the whole workspace.
import { type Html, html } from '../../core/escape/html.ts'
import { SOURCE_TEXT } from '../../core/use/add-on.ts'
import type { Documents } from '../../daemon/http/documents/documents.ts'
import type { LeadDocument } from '../../daemon/http/documents/types.ts'
import { renderFrame } from '../frame.ts'
import { badge, bandBadge, capCell, empty, figure, number, scopeLink, section, sectionUrl, table, when } from '../parts.ts'

const CAUSE_TEXT: Readonly<Record<LeadDocument['changes'][number]['cause'], string>> = {
  policy: 'the policy changed',
  external: 'somebody else had changed it',
  expired: 'a temporary cap ended',
  orphan: 'no policy declares it any more',
}

export async function leadPage(documents: Documents, name: string): Promise<string> {
  const one = await documents.lead(name)
  return renderFrame({
    title: one.workspace,
    heading: one.workspace,
    badges: one.peopleShown === 'hash' && badge('shown as hashes'),
    workspace: one.workspace,
    workspaces: documents.parts().filter((other) => other !== name),
    isPart: documents.parts().includes(name),
    at: one.at,
    parts: [nearPart(one), grantsPart(one), changesPart(one)],
  })
}

const more = (count: number): Html | false =>
  count > 0 && html`<p class="soft">${number(count)} more ${count === 1 ? 'is' : 'are'} not listed.</p>`

const nearPart = ({ near, nearOmitted, workspace }: LeadDocument): Html =>
  section(
    'Near their cap',
    near.length === 0
      ? empty('Nobody has used 85 % of their cap.')
      : [
          table(
            'People near their cap',
            [
              { head: 'Person', isName: true, cell: ({ person }) => scopeLink(workspace, person) },
              { head: 'Used', kind: 'number', cell: ({ used }) => figure(used) },
              { head: 'Cap', kind: 'number', cell: ({ cap }) => capCell(cap) },
              { head: 'Use of the cap', kind: 'fixed', cell: ({ band }) => bandBadge(band) },
              { head: 'Figure', cell: ({ source }) => source && SOURCE_TEXT[source] },
            ],
            near,
          ),
          more(nearOmitted),
        ],
    html`<span class="soft"><a href="${sectionUrl(workspace, 'people')}">all your people</a></span>`,
  )

const grantsPart = ({ grants, grantsOmitted, workspace, at }: LeadDocument): Html =>
  section(
    'Temporary caps that end within a week',
    grants.length === 0
      ? empty('None ends within a week.')
      : [
          table(
            'Temporary caps that end within a week',
            [
              { head: 'Scope', isName: true, cell: ({ scope }) => scopeLink(workspace, scope) },
              {
                head: 'Cap',
                kind: 'number',
                cell: ({ cap, add }) => (cap !== undefined ? figure(cap) : add !== undefined && `+${number(add)}`),
              },
              { head: 'Ends', kind: 'fixed', cell: ({ until }) => when(until, at) },
              { head: 'Why', kind: 'text', cell: ({ reason }) => reason },
            ],
            grants,
          ),
          more(grantsOmitted),
        ],
  )

const changesPart = ({ changes, changesOmitted, workspace, at }: LeadDocument): Html =>
  section(
    'Changed this week',
    changes.length === 0
      ? empty('No cap of your people was written in the last seven days.')
      : [
          table(
            'Caps that were written in the last seven days',
            [
              { head: 'When', kind: 'fixed', cell: (change) => when(change.at, at) },
              { head: 'Scope', isName: true, cell: ({ scope }) => scopeLink(workspace, scope) },
              { head: 'From', kind: 'number', cell: ({ from }) => capCell(from) },
              { head: 'To', kind: 'number', cell: ({ to }) => capCell(to) },
              { head: 'Because', kind: 'text', cell: ({ cause }) => CAUSE_TEXT[cause] },
            ],
            changes,
          ),
          more(changesOmitted),
        ],
  )
