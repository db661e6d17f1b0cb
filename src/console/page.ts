// The status page: one HTML document made from /status, without a script. It shows what needs a person first and tells the age of what
// it shows; it decides nothing and knows nothing that /status does not say.
import { createHash } from 'node:crypto'
import { type Html, html } from '../core/escape/html.ts'
import { shortRevision } from '../core/model/policy.ts'
import type { StatusDocument, WorkspaceStatus } from '../daemon/http/status-document.ts'
import { conditionList } from './conditions.ts'
import { holdList, problemList, scopeCounts, scopeTable } from './scopes.ts'
import { seenSection } from './seen.ts'
import { STYLE } from './style.ts'
import { ago, instant, number, plural, span, words } from './text.ts'
import { useSection } from './use.ts'

/** Seconds between reloads. */
const REFRESH_SECONDS = 30

const styleHash = createHash('sha256').update(STYLE).digest('base64')

/** Allows the page's own style and nothing else: no script, no frame, no form, no fetch. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The whole document, every value in it escaped. */
export function renderPage(status: StatusDocument): string {
  const { at, version, workspaces } = status
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="${REFRESH_SECONDS}">
<title>${title(workspaces)}</title>
<link rel="icon" href="data:,">
<style>${styleSheet}</style>
</head>
<body>
<header><h1>capkeeper</h1><p class="soft">${version} · as of ${instant(at)} · <a href="/status">JSON</a> · <a href="/metrics">metrics</a></p></header>
<main>
${!status.configValid && html`<p class="box bad">The configuration file is not valid; the last good one is in force. The log says what is wrong.</p>`}
${!status.ledgerWritable && html`<p class="box bad">The ledger cannot be written, so no cap is written.</p>`}
${conditionList(status.conditions, 0, at)}
${workspaces.length === 0 && html`<section><p>No workspace yet.</p></section>`}
${workspaces.map((workspace) => workspaceSection(workspace, at))}
</main>
</body>
</html>
`
  return page.markup
}

// The one text that is not escaped: a constant, whose hash the policy names.
const styleSheet: Html = { markup: STYLE }

const title = (workspaces: readonly WorkspaceStatus[]): string => {
  const wanting = workspaces.filter((workspace) => verdict(workspace).tone !== 'good').length
  return wanting === 0 ? 'capkeeper' : `(${wanting}) capkeeper`
}

type Tone = 'good' | 'warn' | 'bad'

/** The one sentence about a workspace: what is wrong with the most weight, else that all is in sync. */
function verdict(workspace: WorkspaceStatus): { readonly tone: Tone; readonly text: string } {
  const { policy, lastCycle, holds } = workspace
  if (!lastCycle) return { tone: 'warn', text: 'first cycle under way' }
  if (lastCycle.result === 'error') return { tone: 'bad', text: 'the last cycle failed' }
  if (policy && !policy.valid) return { tone: 'bad', text: 'policy not valid' }
  if (holds.length > 0) return { tone: 'warn', text: `${plural(holds.length, 'hold')} to decide` }
  const off = countOf(workspace, 'drifted') + countOf(workspace, 'contested')
  if (off > 0) return { tone: 'warn', text: `${plural(off, 'scope')} off` }
  const unread = countOf(workspace, 'unknown') + countOf(workspace, 'rejected')
  if (unread > 0) return { tone: 'warn', text: `${plural(unread, 'scope')} unknown or rejected` }
  return { tone: 'good', text: 'in sync' }
}

const countOf = ({ scopeCounts }: WorkspaceStatus, state: keyof WorkspaceStatus['scopeCounts']['team']): number =>
  scopeCounts.team[state] + scopeCounts.group[state] + scopeCounts.user[state]

function workspaceSection(workspace: WorkspaceStatus, now: string): Html {
  const { tone, text } = verdict(workspace)
  const { pause, policy, scopes } = workspace
  const skipped = scopes.filter(({ state }) => state === 'skipped')
  const inSync = scopes.filter(({ state }) => state === 'in_sync')
  const wanting = scopes.filter(({ state }) => state !== 'skipped' && state !== 'in_sync')
  return html`<section>
<div class="title"><h2>${workspace.workspace}</h2><span class="badge ${tone}">${text}</span>
<span class="badge ${workspace.mode !== 'enforce' && 'warn'}">${workspace.mode}</span></div>
${pause && html`<p class="box warn">Paused until ${instant(pause.until)} (${span(now, pause.until)} more): ${pause.reason}</p>`}
${
  policy &&
  !policy.valid &&
  html`<p class="box bad">The policy files are not valid; the last good set stays in force and nothing is pruned until they are whole again.</p>`
}
${conditionList(workspace.conditions, workspace.conditionsOmitted, now)}
${facts(workspace, now)}
${holdList(workspace.holds)}
${policy && problemList(policy)}
${scopeTable('Off, held or unknown', wanting, now)}
${scopeCounts(workspace)}
${useSection(workspace, now)}
${seenSection(workspace, now)}
${details('Skipped', skipped, now)}
${details('In sync', inSync, now)}
${workspace.scopesOmitted > 0 && html`<p class="soft">${plural(workspace.scopesOmitted, 'more scope')} not listed here.</p>`}
</section>
`
}

const details = (name: string, scopes: WorkspaceStatus['scopes'], now: string): Html | false =>
  scopes.length > 0 && html`<details><summary>${name}: ${plural(scopes.length, 'scope')}</summary>${scopeTable('', scopes, now)}</details>`

function facts(workspace: WorkspaceStatus, now: string): Html {
  const { policy, lastCycle, lastSuccessAt, ratePerSecond, clockSkewSeconds, grants } = workspace
  const rows: readonly (readonly [string, Html | string | undefined | false])[] = [
    ['Policy', policy && html`<code>${policy.digest || 'none yet'}</code>, loaded ${ago(policy.loadedAt, now)}`],
    ['Revision', policy && policy.revision !== '' && html`<code>${shortRevision(policy.revision)}</code>`],
    ['Last cycle', lastCycle && `${lastCycle.result}, ${ago(lastCycle.finishedAt, now)}`],
    ['It said', lastCycle?.message],
    ['Last success', lastSuccessAt !== undefined ? ago(lastSuccessAt, now) : 'none yet'],
    ['Grants', tally(grants)],
    ['Approvals', workspace.approvals.map(({ id, state }) => `${id} ${state}`).join(', ')],
    ['Pace', ratePerSecond !== undefined && `${number(ratePerSecond)} requests/s`],
    ['Clock of the service', clockSkewSeconds !== undefined && skewText(clockSkewSeconds)],
  ]
  const known = rows.filter(([, value]) => value !== undefined && value !== false && value !== '')
  return html`<dl>${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}

/** Says nothing below one second. */
const skewText = (seconds: number): string | false =>
  Math.abs(seconds) >= 1 && `${number(Math.abs(seconds))} s ${seconds < 0 ? 'behind' : 'ahead of'} ours`

/** The names that count something: `2 active, 1 pending`. */
const tally = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${number(count)} ${words(name)}`)
    .join(', ')
