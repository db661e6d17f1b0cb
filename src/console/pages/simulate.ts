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
        html`<p>A change of policy can be run against what people really used, before anybody feels it. It asks the ledger and writes nothing.</p>
<ol class="steps"><li><strong>See the writes it makes</strong>${paste(`capkeeper plan --workspace ${name} --policies ./policies`, 'The command that shows the plan')}</li>
<li><strong>Play it against use</strong>${paste(`capkeeper simulate --workspace ${name} --policies ./policies`, 'The command that simulates')}</li></ol>`,
      ),
    ],
  })
}
