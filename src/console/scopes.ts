// The tables about scopes: what is held and how to release it, what is wrong in the policy, what is off, and how many stand where.

import { type Html, html } from '../core/escape/html.ts'
import { SCOPE_STATES } from '../core/model/events.ts'
import { SCOPE_KINDS } from '../core/model/scope.ts'
import type { HoldEntry, PolicySummary, ProblemEntry, ScopeEntry, WorkspaceStatus } from '../daemon/http/status-document.ts'
import { capText, number, plural, span, words } from './text.ts'

export function holdList(holds: readonly HoldEntry[]): Html | false {
  return holds.length > 0 && html`<h3>Held: a person must decide</h3>${holds.map(holdBox)}`
}

const holdBox = (hold: HoldEntry): Html => html`<div class="box warn">
<p><strong><code>${hold.id}</code></strong> ${hold.guards.join(', ')} · ${plural(hold.people, 'person', 'people')}</p>
<p>${hold.message}</p>
<details><summary>${plural(hold.changes.length + hold.changesOmitted, 'change')}</summary>
<ul>${hold.changes.map(({ scope, from, to }) => html`<li><code>${scope}</code> ${capText(from)} → ${capText(to)}</li>`)}
${hold.changesOmitted > 0 && html`<li>${number(hold.changesOmitted)} more</li>`}</ul></details>
<p>If this is meant: <code>capkeeper approve ${hold.id}</code>, or add <code>${hold.id}</code> to <code>spec.approvals</code> in a reviewed policy.</p>
</div>`

export function problemList({ problems, problemsOmitted }: PolicySummary): Html | false {
  if (problems.length === 0) return false
  return html`<h3>Policy files</h3>${problems.map(problemBox)}
${problemsOmitted > 0 && html`<p class="soft">${plural(problemsOmitted, 'more problem')}; <code>capkeeper validate</code> lists all.</p>`}`
}

const problemBox = ({ severity, code, message, at, sourceLine, hint }: ProblemEntry): Html => html`<div class="box ${
  severity === 'error' ? 'bad' : 'warn'
}">
<p>${at !== undefined && html`<code>${at}</code> `}${message}${hint !== undefined && html` – ${hint}`} <span class="soft">${code}</span></p>
${sourceLine !== undefined && html`<pre>${sourceLine}</pre>`}
</div>`

const TONES: Readonly<Record<string, string>> = {
  in_sync: 'good',
  rejected: 'bad',
  contested: 'bad',
  drifted: 'warn',
  held: 'warn',
  unknown: 'warn',
}

/** Nothing for no scopes; no heading for an empty title. */
export function scopeTable(title: string, scopes: readonly ScopeEntry[], now: string): Html | false {
  if (scopes.length === 0) return false
  return html`${title !== '' && html`<h3>${title}</h3>`}<div class="scroll"><table>
<thead><tr><th>Scope</th><th>State</th><th class="number">Desired</th><th class="number">Observed</th><th>Cause</th><th>Declared at</th><th>Why</th></tr></thead>
<tbody>${scopes.map((scope) => scopeRow(scope, now))}</tbody></table></div>`
}

function scopeRow(entry: ScopeEntry, now: string): Html {
  const { scope, state, desired, observed, cause, driftSince, source, reason, why } = entry
  return html`<tr><td class="name">${scope}</td><td class="fixed"><span class="badge ${TONES[state]}">${words(state)}</span></td>
<td class="number">${capText(desired)}</td><td class="number">${capText(observed)}</td>
<td class="fixed">${cause}${driftSince !== undefined && html` <span class="soft">${span(driftSince, now)}</span>`}</td>
<td class="place">${source !== undefined && html`<code>${source}</code>`}</td>
<td class="text">${why}${why !== undefined && reason !== undefined && html`<br>`}${reason !== undefined && html`<span class="soft">${reason}</span>`}</td></tr>`
}

/** Kinds by states, without the states that nobody is in. */
export function scopeCounts({ scopeCounts: counts }: WorkspaceStatus): Html | false {
  const states = SCOPE_STATES.filter((state) => SCOPE_KINDS.some((kind) => counts[kind][state] > 0))
  if (states.length === 0) return false
  return html`<h3>Scopes</h3><div class="scroll"><table class="compact">
<thead><tr><th></th>${states.map((state) => html`<th class="number">${words(state)}</th>`)}</tr></thead>
<tbody>${SCOPE_KINDS.map(
    (kind) => html`<tr><td>${kind}</td>${states.map((state) => html`<td class="number">${number(counts[kind][state])}</td>`)}</tr>`,
  )}</tbody></table></div>`
}
