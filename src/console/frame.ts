// The frame of every page: navigation, breadcrumbs, the time of the data, and the files to load. It knows no document.

import { createHash } from 'node:crypto'
import { type Html, html, type Value } from '../core/escape/text.ts'
import type { ConsoleAsset } from '../daemon/http/console.ts'
import { PAGE_SCRIPT } from './browser.generated.ts'
import { moment } from './parts.ts'
import { STYLE } from './style.generated.ts'
import { number, PART_SECTIONS, SECTIONS, type Section, url } from './words.ts'

const asset = (name: string, type: string, body: string): ConsoleAsset => ({
  path: `/console/${createHash('sha256').update(body).digest('hex').slice(0, 16)}/${name}`,
  type,
  body,
})

export const STYLE_ASSET = asset('style.css', 'text/css; charset=utf-8', STYLE)
export const SCRIPT_ASSET = asset('page.js', 'text/javascript; charset=utf-8', PAGE_SCRIPT)

/** Allows only what this server sends; no inline style or script. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

interface PageContents {
  /** How many things need a person, for the title of the window. */
  readonly needed?: number
  /** Default: the name of the section. A page of a section with a heading of its own is about one thing in it. */
  readonly heading?: string
  /** Badges beside the heading. */
  readonly badges?: Value
  /** The document that it shows: about which workspace, and when it was made. */
  readonly of?: { readonly workspace?: string; readonly at?: string }
  readonly section?: Section
  /** The reader sees only some people of the workspace, for whom the other sections do not exist. */
  readonly isPart?: boolean
  /** The page's script replaces each part when it changes. */
  readonly parts: readonly (Html | false | undefined)[]
}

const nameOf = (section: Section): string => section.charAt(0).toUpperCase() + section.slice(1)

/** The whole document. */
export function renderFrame(page: PageContents): string {
  const { section, heading = section && nameOf(section), badges, of: { workspace, at } = {}, parts, isPart = false, needed = 0 } = page
  const title = section === undefined ? heading : page.heading === undefined ? `${heading} of ${workspace}` : `${heading} · ${workspace}`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${needed > 0 && `(${number(needed)}) `}${title} · capkeeper</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${STYLE_ASSET.path}">
<script type="module" src="${SCRIPT_ASSET.path}"></script>
</head>
<body>
<a class="skip" href="#contents">Skip to the contents</a>
<header class="top"><a class="brand" href="${url.overview}">capkeeper</a>${
    at !== undefined && html`<span class="state">as of ${moment(at)} · <span id="live" role="status">reload for newer figures</span></span>`
  }</header>
<div class="shell">
<div class="side">${navigation(page)}</div>
<main id="contents" tabindex="-1">
<div><div class="title"><h1 tabindex="-1">${heading}</h1>${badges}</div></div>
${parts.map((part) => part && html`<div class="part">${part}</div>\n`)}
</main>
</div>
<footer>${workspace !== undefined && html`<a href="/api/v1/workspaces/${encodeURIComponent(workspace)}${isPart && '/lead'}">this workspace as JSON</a> · `}<a href="/openapi.json">API</a> · ${!isPart && html`<a href="/status">status</a> · <a href="/metrics">metrics</a> · `} read-only: changes come by pull request or command</footer>
</body>
</html>
`.markup
}

function navigation({ of: { workspace } = {}, section, heading, isPart = false }: PageContents): Html {
  const link = (href: string, text: string, isHere: boolean): Html =>
    html`<li><a href="${href}"${isHere && html` aria-current="page"`}>${text}</a></li>`
  return html`<nav aria-label="Pages"><ul>${link(url.overview, 'Overview', workspace === undefined && heading === 'Overview')}</ul>${
    workspace !== undefined &&
    html`<h2>${workspace}</h2><ul>${link(url.workspace(workspace), 'Workspace', section === undefined)}${(
      isPart ? PART_SECTIONS : SECTIONS
    ).map((one) => link(url.section(workspace, one), nameOf(one), one === section))}</ul>`
  }</nav>`
}
