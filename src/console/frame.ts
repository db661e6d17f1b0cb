// The frame of every page: navigation, breadcrumbs, the time of the data, and the files to load. It knows no document.

import { createHash } from 'node:crypto'
import { type Html, html, type Value } from '../core/escape/text.ts'
import type { ConsoleAsset } from '../daemon/http/console.ts'
import { PAGE_SCRIPT } from './browser.generated.ts'
import { moment } from './parts.ts'
import { STYLE } from './style.generated.ts'
import { PART_SECTIONS, SECTIONS, type Section, url } from './words.ts'

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
  /** Of the browser's window; default: the heading, and of which workspace. */
  readonly title?: string
  /** Default: the name of the section. A page of a section with a heading of its own is about one thing in it. */
  readonly heading?: string
  /** Badges beside the heading. */
  readonly badges?: Value
  /** The document that it shows: about which workspace, and when it was made. */
  readonly of?: { readonly workspace?: string; readonly at?: string }
  /** Links to workspaces, on the overview. */
  readonly workspaces?: readonly string[]
  readonly section?: Section
  /** The reader sees only some people of the workspace, for whom the other sections do not exist. */
  readonly isPart?: boolean
  /** The page's script replaces each part when it changes. */
  readonly parts: readonly (Html | false | undefined)[]
}

const nameOf = (section: Section): string => section.charAt(0).toUpperCase() + section.slice(1)

/** The whole document. */
export function renderFrame(page: PageContents): string {
  const { section, heading = section && nameOf(section), badges, of: { workspace, at } = {}, parts, isPart = false } = page
  const named = section === undefined ? heading : page.heading === undefined ? `${heading} of ${workspace}` : `${heading} · ${workspace}`
  const { title = named } = page
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · capkeeper</title>
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
<div>${crumbs(page)}<div class="title"><h1 tabindex="-1">${heading}</h1>${badges}</div></div>
${parts.map((part) => part && html`<div class="part">${part}</div>\n`)}
</main>
</div>
<footer>${workspace !== undefined && html`<a href="/api/v1/workspaces/${encodeURIComponent(workspace)}${isPart && '/lead'}">this workspace as JSON</a> · `}<a href="/openapi.json">API</a> · ${!isPart && html`<a href="/status">status</a> · <a href="/metrics">metrics</a> · `} read-only: changes come by pull request or command</footer>
</body>
</html>
`.markup
}

/** The overview itself lists all. */
const MOST_LINKED = 20

function navigation({ of: { workspace } = {}, section, heading, isPart = false, workspaces = [] }: PageContents): Html {
  const link = (href: string, text: string, isHere: boolean): Html =>
    html`<li><a href="${href}"${isHere && html` aria-current="page"`}>${text}</a></li>`
  return html`<nav aria-label="Pages"><ul>${link(url.overview, 'Overview', workspace === undefined && heading === 'Overview')}</ul>${workspaces.length > 0 && html`<h2>Workspaces</h2><ul>${workspaces.slice(0, MOST_LINKED).map((name) => link(url.workspace(name), name, false))}</ul>`}${
    workspace !== undefined &&
    html`<h2>${workspace}</h2><ul>${link(url.workspace(workspace), 'Workspace', section === undefined)}${(
      isPart ? PART_SECTIONS : SECTIONS
    ).map((one) => link(url.section(workspace, one), nameOf(one), one === section))}</ul>`
  }</nav>`
}

function crumbs({ of: { workspace } = {}, section, heading }: PageContents): Html | false {
  if (workspace === undefined) return false
  const trail: (readonly [string, string])[] = [['Overview', url.overview]]
  if (section !== undefined) trail.push([workspace, url.workspace(workspace)])
  if (section !== undefined && heading !== undefined) trail.push([nameOf(section), url.section(workspace, section)])
  return html`<nav class="crumbs" aria-label="Breadcrumbs"><ol>${trail.map(([text, href]) => html`<li><a href="${href}">${text}</a></li>`)}</ol></nav>`
}
