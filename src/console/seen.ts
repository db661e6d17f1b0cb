// The page's section on what the deployment has shown of itself: each finding in words, with its evidence and what it contradicts.

import { type Html, html } from '../core/escape/html.ts'
import type { SeenEntry, WorkspaceStatus } from '../daemon/http/status-document.ts'
import { ago } from './text.ts'

const ASPECT_TEXT: Readonly<Record<SeenEntry['aspect'], string>> = {
  caps: 'Team and group caps',
  reads: 'What a read shows',
  zero: 'A cap of 0',
  spelling: 'The name of the cap',
  errors: 'The shape of errors',
}

const VALUE_TEXT: Readonly<Record<string, string>> = {
  layered: 'kept in layers',
  copied: 'copied to each member',
  explicit: 'what is set there',
  inherited: 'what applies there',
  camel: 'camel case',
  snake: 'snake case',
  both: 'both spellings',
  error: 'an error text',
  coded: 'a code and a message',
  text: 'plain text',
  ok: 'inside a success',
}

const valueText = (value: string): string => VALUE_TEXT[value] ?? value

/** Nothing while nothing was seen. */
export function seenSection({ seen = [] }: WorkspaceStatus, now: string): Html | false {
  if (seen.length === 0) return false
  const rows = seen.map(
    ({ aspect, value, at, evidence, before }) => html`<tr><td>${ASPECT_TEXT[aspect]}</td><td>${valueText(value)}</td>
<td>${evidence} <span class="soft">${ago(at, now)}</span>${
      before && html`<br>Before, ${valueText(before.value)}: ${before.evidence} <span class="soft">${ago(before.at, now)}</span>`
    }</td></tr>`,
  )
  return html`<details><summary>How this deployment behaves, as seen</summary><div class="scroll"><table class="compact">
<thead><tr><th>About</th><th>Seen</th><th>Evidence</th></tr></thead><tbody>${rows}</tbody></table></div></details>`
}
