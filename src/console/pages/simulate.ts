// How to ask what a policy would have done: the comparison runs on the command line, from the same ledger; this page holds the lines to paste.
import { html } from '../../core/escape/html.ts'
import type { Documents } from '../../daemon/http/documents/documents.ts'
import { renderFrame } from '../frame.ts'
import { paste, section } from '../parts.ts'

export async function simulatePage(documents: Documents, workspace: string): Promise<string> {
  const { at, name } = await documents.workspace(workspace)
  return renderFrame({
    title: `Simulate ${name}`,
    heading: 'Simulate',
    workspace: name,
    section: 'simulate',
    at,
    parts: [
      section(
        'Before you merge: what would this policy do?',
        html`<p>A change of policy can be held against what people really used, before anybody feels it. Nothing is asked of the service, and nothing is written.</p>
<ol class="steps"><li><strong>Play it against recorded use</strong> <span class="soft">credits, who would have been blocked and on how many days, caps never reached</span>${paste(`capkeeper simulate proposed.yaml --workspace ${name} --against policies/`, 'The command that compares two policies')}</li>
<li><strong>As a page with charts</strong> <span class="soft">to mail, or to attach to a pull request</span>${paste(`capkeeper simulate proposed.yaml --workspace ${name} --output html > simulation.html`, 'The command that writes the comparison as a page')}</li>
<li><strong>See the writes it would make now</strong> <span class="soft">and what the guards would hold</span>${paste(`capkeeper plan --workspace ${name} --policies proposed.yaml`, 'The command that shows the plan')}</li>
<li><strong>Let recorded use propose caps</strong>${paste(`capkeeper recommend --workspace ${name}`, 'The command that proposes caps')}</li></ol>
<p class="small soft">The commands read the ledger, so they run where it is: beside the daemon, or with the address of its database.</p>`,
      ),
    ],
  })
}
