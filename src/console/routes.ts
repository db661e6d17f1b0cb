// The console as the server takes it: which page is at which address, its files, and the page of a refusal. It decides nothing about what a
// page says.

import { html } from '../core/escape/text.ts'
import type { Console, ConsoleRoute, Page } from '../daemon/http/console.ts'
import { CONTENT_SECURITY_POLICY, renderFrame, SCRIPT_ASSET, STYLE_ASSET } from './frame.ts'
import { changesPage, holdPage, holdsPage } from './pages/changes.ts'
import { groupPage, groupsPage } from './pages/groups.ts'
import { healthPage } from './pages/health.ts'
import { overviewPage } from './pages/overview.ts'
import { leadPage, mePage, peoplePage, personPage } from './pages/people.ts'
import { policiesPage } from './pages/policies.ts'
import { simulatePage } from './pages/simulated.ts'
import { workspacePage } from './pages/workspace.ts'
import { section } from './parts.ts'
import { url } from './words.ts'

const HEADINGS: Readonly<Record<number, string>> = {
  400: 'Not understood',
  401: 'Not signed in',
  403: 'Not yours to see',
  404: 'Not found',
  503: 'Not now',
}

const renderRefusal = (status: number, message: string): string =>
  renderFrame({
    heading: HEADINGS[status] ?? 'No answer',
    parts: [section('Why', html`<p>${message}</p><p><a href="${url.overview}">To the overview</a></p>`)],
  })

/** The console as the server takes it. */
export const createConsole = (): Console => ({
  routes: ROUTES,
  assets: [STYLE_ASSET, SCRIPT_ASSET],
  refusal: renderRefusal,
  contentSecurityPolicy: CONTENT_SECURITY_POLICY,
})

const of = (path: string, render: Page): ConsoleRoute => ({ path: `/workspaces/:workspace${path}`, render })

const ROUTES: readonly ConsoleRoute[] = [
  { path: '/', render: overviewPage },
  { path: '/me', render: mePage, isOwn: true },
  of('', (documents, asked) => (documents.parts().includes(asked.params['workspace'] ?? '') ? leadPage : workspacePage)(documents, asked)),
  of('/lead', leadPage),
  of('/groups', groupsPage),
  of('/groups/:name', groupPage),
  of('/people', peoplePage),
  of('/people/:name', personPage),
  of('/changes', changesPage),
  of('/holds', holdsPage),
  of('/holds/:name', holdPage),
  of('/policies', policiesPage),
  of('/simulate', simulatePage),
  of('/health', healthPage),
]
