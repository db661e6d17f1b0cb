// The console as the server takes it: which page is at which address, its files, and the page of a refusal. It decides nothing about what a
// page says.

import { html } from '../core/escape/html.ts'
import type { Console, ConsoleRoute, PageRequest } from '../daemon/http/console.ts'
import type { Query } from '../daemon/http/documents/documents.ts'
import type { Documents } from '../daemon/http/documents/make.ts'
import { CONTENT_SECURITY_POLICY, renderFrame, SCRIPT_ASSET, STYLE_ASSET } from './frame.ts'
import { groupPage, groupsPage } from './pages/groups.ts'
import { healthPage } from './pages/health.ts'
import { holdPage, holdsPage } from './pages/holds.ts'
import { overviewPage } from './pages/overview.ts'
import { leadPage, peoplePage } from './pages/people.ts'
import { mePage, personPage } from './pages/person.ts'
import { changesPage, planPage } from './pages/plan.ts'
import { policiesPage } from './pages/policies.ts'
import { simulatePage } from './pages/simulated.ts'
import { workspacePage } from './pages/workspace.ts'
import { OVERVIEW, section } from './parts.ts'

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
    parts: [section('Why', html`<p>${message}</p><p><a href="${OVERVIEW}">To the overview</a></p>`)],
  })

/** The console as the server takes it. */
export const createConsole = (): Console => ({
  routes: ROUTES,
  assets: [STYLE_ASSET, SCRIPT_ASSET],
  refusal: renderRefusal,
  contentSecurityPolicy: CONTENT_SECURITY_POLICY,
})

type Page = (documents: Documents, workspace: string, query: Query) => Promise<string>
type PageOf = (documents: Documents, workspace: string, name: string, query: Query) => Promise<string>

const named = ({ params }: PageRequest, name: string): string => params[name] ?? ''

const page = (section: string, render: Page): ConsoleRoute => ({
  path: `/workspaces/:workspace${section}`,
  render: (documents, request) => render(documents, named(request, 'workspace'), request.query),
})

const pageOf = (section: string, render: PageOf): ConsoleRoute => ({
  path: `/workspaces/:workspace${section}/:name`,
  render: (documents, request) => render(documents, named(request, 'workspace'), named(request, 'name'), request.query),
})

const ROUTES: readonly ConsoleRoute[] = [
  { path: '/', render: (documents, { query }) => overviewPage(documents, query) },
  { path: '/me', render: mePage, isOwn: true },
  page('', (documents, workspace) => (documents.parts().includes(workspace) ? leadPage : workspacePage)(documents, workspace)),
  page('/lead', leadPage),
  page('/groups', groupsPage),
  pageOf('/groups', groupPage),
  page('/people', peoplePage),
  pageOf('/people', personPage),
  page('/changes', changesPage),
  pageOf('/plans', planPage),
  page('/holds', holdsPage),
  pageOf('/holds', holdPage),
  page('/policies', policiesPage),
  page('/simulate', simulatePage),
  page('/health', healthPage),
]
