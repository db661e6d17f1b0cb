// The policies in force replayed over past cycles, beside the caps that were in force, and the commands that try other policies. Where there is nothing
// to show yet it says why, and from when on there will be.
import { type Html, html } from '../../core/escape/html.ts'
import type { Documents } from '../../daemon/http/documents/documents.ts'
import type { ComparisonDocument } from '../../daemon/http/documents/types.ts'
import { renderFrame } from '../frame.ts'
import { badge, box, paste, section } from '../parts.ts'
import { day, when } from '../text.ts'
import { simulatedParts } from './simulated.ts'

export async function simulatePage(documents: Documents, workspace: string): Promise<string> {
  const comparison = await documents.comparison(workspace)
  const { at, figures, state, madeAt } = comparison
  return renderFrame({
    title: `Simulate for ${workspace}`,
    heading: 'Simulate',
    badges: [
      figures && badge(`policies ${figures.policy.digest}`),
      state === 'running' && badge('replaying', 'info'),
      madeAt !== undefined && figures && html`<span class="soft">made ${when(madeAt, at)}</span>`,
    ],
    workspace,
    section: 'simulate',
    at,
    parts: [stateBox(comparison), ...(figures ? simulatedParts(figures, workspace) : []), tryAnother(workspace)],
  })
}

function stateBox(comparison: ComparisonDocument): Html {
  const { figures, state, message, wholeFrom } = comparison
  const from = wholeFrom !== undefined && html` The first cycle that is recorded as a whole ends on ${day(wholeFrom)}.`
  const about = html`<p>The policies in force, replayed over the use of past billing cycles, beside the caps that were in force.</p>`
  switch (state) {
    case 'running':
      return html`${about}${box('info', html`<p>${figures ? 'A new result is being made; until then the last one is shown.' : 'The result is being made. This page shows it when it is ready; without scripts, reload the page.'}</p>`)}`
    case 'failed':
      return html`${about}${box('bad', html`<p>The replay failed: ${message}. It is tried again in 10 minutes.</p>`)}`
    case 'lacking':
      return html`${about}${box('info', html`<p>There is too little to replay: ${message}.${from}</p>`)}`
    case 'made':
      return html`${about}${wholeFrom !== undefined && box('info', html`<p>No cycle is recorded as a whole yet, so the recorded part is shown.${from}</p>`)}`
  }
}

const tryAnother = (name: string): Html =>
  section(
    'Before you merge: what would another policy do?',
    html`<p>Compare a change of policy with recorded use before it takes effect. These commands send nothing to the service, and write nothing.</p>
<ol class="steps"><li><strong>Replay it over recorded use</strong> <span class="soft">credits, who would have been blocked and on how many days, caps never reached</span>${paste(`capkeeper simulate proposed.yaml --workspace ${name} --against policies/`, 'The command that compares two policies')}</li>
<li><strong>As a page with charts</strong> <span class="soft">to mail, or to attach to a pull request</span>${paste(`capkeeper simulate proposed.yaml --workspace ${name} --output html > simulation.html`, 'The command that writes the comparison as a page')}</li>
<li><strong>See the writes it would make now</strong> <span class="soft">and what the guards would hold; this reads caps from the service</span>${paste(`capkeeper plan --workspace ${name} --policies proposed.yaml`, 'The command that shows the plan')}</li>
<li><strong>Let recorded use propose caps</strong>${paste(`capkeeper recommend --workspace ${name}`, 'The command that proposes caps')}</li></ol>
<p class="small soft">The commands read the ledger, so run them beside the daemon, or with the address of its database.</p>`,
  )
