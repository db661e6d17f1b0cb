// The page's list of conditions: what needs a person first, each with how long it has been so. It shows what /status says and no more.
import { type Html, html } from '../core/escape/html.ts'
import type { ConditionEntry } from '../daemon/http/status-document.ts'
import { plural, span } from './text.ts'

/** As many as a person looks through at a glance. */
const MOST_SHOWN = 10

const TONES = { error: 'bad', warn: 'warn', info: '' } as const

/** Nothing while nothing needs anybody. */
export function conditionList(conditions: readonly ConditionEntry[], omitted: number, now: string): Html | false {
  const [first] = conditions
  if (!first) return false
  const shown = conditions.slice(0, MOST_SHOWN)
  const more = conditions.length - shown.length + omitted
  return html`<div class="box ${TONES[first.severity]}"><ul>${shown.map(
    ({ type, message, since }) => html`<li><strong>${type}</strong> ${message} <span class="soft">for ${span(since, now)}</span></li>`,
  )}</ul>${more > 0 && html`<p class="soft">${plural(more, 'more condition')} in <a href="/status">/status</a>.</p>`}</div>`
}
