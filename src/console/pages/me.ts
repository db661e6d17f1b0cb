// What is left for the person who asks: for each workspace the cap, what stops the person first, and grants that end.
import { type Html, html } from '../../core/escape/html.ts'
import { STOP_TEXT } from '../../core/use/first-stop.ts'
import type { Documents } from '../../daemon/http/documents/documents.ts'
import type { MeDocument } from '../../daemon/http/documents/types.ts'
import { renderFrame } from '../frame.ts'
import { capCell, empty, section, table, tiles } from '../parts.ts'
import { day, figure, moment } from '../text.ts'

type Entry = MeDocument['workspaces'][number]

export async function mePage(documents: Documents): Promise<string> {
  const { workspaces } = await documents.me()
  const nothing = section('Nothing here', empty('No workspace lists your address.'))
  return renderFrame({
    heading: 'What is left for you',
    isPart: true,
    parts: workspaces.length === 0 ? [nothing] : workspaces.map(workspacePart),
  })
}

function workspacePart(one: Entry): Html {
  const { workspace, cap, left, used, addOn, entry, stopsFirst, grants, cycleEnd, requestUrl } = one
  const contents = [
    tiles([
      { name: 'Left', value: left === undefined ? '–' : figure(left), note: cycleEnd !== undefined && html`until ${day(cycleEnd)}` },
      {
        name: 'Your cap',
        value: capCell(cap ?? 'unknown'),
        note: entry && `${entry.kind}${entry.reason === undefined ? '' : `: ${entry.reason}`}`,
      },
      {
        name: 'Used',
        value: used === undefined ? '–' : figure(used),
        note: addOn !== undefined && html`${figure(addOn)} of them add-on credits`,
      },
      { name: 'Stops you first', value: STOP_TEXT[stopsFirst.what], note: stopsFirst.on !== undefined && `expected on ${stopsFirst.on}` },
    ]),
    requestUrl !== undefined && html`<p><a href="${requestUrl}">Ask for more</a></p>`,
    grants.length > 0 &&
      table(
        `Temporary caps in ${workspace}`,
        [
          { head: 'Cap', kind: 'number', cell: (grant) => capCell(grant.cap) },
          { head: 'Until', cell: ({ until }) => moment(until) },
          { head: 'Reason', cell: ({ reason = '' }) => reason },
        ],
        grants,
      ),
  ]
  return section(workspace, contents)
}
