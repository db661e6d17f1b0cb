// Each page in each state, as text: what a reader finds, and what never gets into the markup. How it looks is for test/console/browser.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'parse5'
import { describe, expect, test } from 'vitest'
import { generatedScript, SCRIPT_FILE } from '../../deploy/console.ts'
import { createConsole } from '../../src/console/routes.ts'
import { DocumentError, type Documents, type Query } from '../../src/daemon/http/documents/documents.ts'
import { comparisonOf } from '../support/page-comparison.ts'
import {
  BROKEN_POLICY,
  documentsOf,
  healthOf,
  holdListOf,
  policiesOf,
  summaryOf,
  workspaceListOf,
  workspaceOf,
} from '../support/page-documents.ts'
import { ago, HOLD_ID, headOf, PAGE_PATHS, PLAN_ID, place } from '../support/page-parts.ts'
import { groupListOf, personListOf, personOf } from '../support/page-people.ts'
import { creditsOf } from '../support/page-series.ts'
import { changesOf } from '../support/page-story.ts'

const { routes } = createConsole()

/** The markup of the page at a path, of its documents but for some. */
async function pageAt(path: string, overrides: Partial<Documents> = {}, query: Query = {}): Promise<string> {
  for (const route of routes) {
    const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
    const found = new RegExp(`^${route.path.replace(/:\w+/g, '([^/]+)')}$`).exec(path)
    if (!found) continue
    const params = Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(found[index + 1] ?? '')]))
    return route.render(documentsOf(overrides), { params, query, path })
  }
  throw new Error(`no page at ${path}`)
}

/** What a reader sees, roughly: the markup without tags. */
const textOf = (markup: string): string =>
  markup
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replace(/\s+/g, ' ')
    .replace(/ (?=[.,:;])/g, '')

describe('every page', () => {
  test.each(PAGE_PATHS)('%s is whole HTML without scripts or styles in it, and within 100 KiB but for its charts', async (path) => {
    const markup = await pageAt(path)
    const problems: string[] = []
    parse(markup, { onParseError: ({ code }) => problems.push(code) })
    expect(problems).toEqual([])
    expect(markup).not.toMatch(
      /<style|\sstyle=|\son\w+=|<script(?! type="module" src="\/console\/)|(src|href)="(https?:)?\/\/(?!git\.example\.com)/,
    )
    expect(Buffer.byteLength(markup.replace(/<figure.*?<\/figure>/gs, ''))).toBeLessThan(100 * 1024)
    expect(markup.match(/<h1/g)).toHaveLength(1)
  })

  test.each(PAGE_PATHS)('%s names the way to it and the way on', async (path) => {
    const markup = await pageAt(path)
    expect(markup).toContain('<a class="skip" href="#contents">')
    expect(markup).toContain('aria-current="page"')
    if (path !== '/') expect(markup).toContain('href="/workspaces/acme/holds"')
  })
})

/** Rows: what is said, where, in which state. */
const STATES: readonly (readonly [says: string, path: string, state: Partial<Documents>, text: string])[] = [
  ['what needs a person first', '/', {}, 'Needs a person 1'],
  ['how much is left', '/', {}, 'Add-on credits left 33.8K'],
  ['when it runs out', '/', {}, 'Run out 27 Nov'],
  [
    'that nothing needs a person',
    '/',
    { workspaces: async () => workspaceListOf([{ ...summaryOf(), tone: 'good', verdict: 'in sync' }]) },
    'Nothing needs a person',
  ],
  ['that there is no workspace', '/', { workspaces: async () => workspaceListOf([]) }, 'No workspace yet.'],
  [
    'that the ledger cannot be written',
    '/',
    { workspaces: async () => workspaceListOf([summaryOf()], { ledgerWritable: false }) },
    'The ledger cannot be written, so no cap is written.',
  ],
  [
    'that the config file is broken',
    '/',
    { workspaces: async () => workspaceListOf([summaryOf()], { configValid: false }) },
    'The config file is not valid.',
  ],
  [
    '100 workspaces in a table',
    '/',
    { workspaces: async () => workspaceListOf(Array.from({ length: 100 }, (_, index) => summaryOf(`team-${index}`))) },
    '100 workspaces',
  ],
  [
    'that nothing was read yet',
    '/workspaces/acme',
    { workspace: async () => firstStart(), creditsSeries: async () => creditsOf({ days: [] }) },
    'The first cycle is under way.',
  ],
  ['that the balance is not known', '/workspaces/acme', { workspace: async () => firstStart() }, 'Add-on credits left not known'],
  ['audit mode', '/workspaces/acme', { workspace: async () => workspaceOf({ mode: 'audit' }) }, 'nothing is ever written'],
  [
    'a pause with its reason and the way out',
    '/workspaces/acme',
    { workspace: async () => workspaceOf({ pause: { until: ago(-14_400_000), since: ago(60_000), reason: 'incident 12' } }) },
    'incident 12 To go on now: capkeeper resume --workspace acme',
  ],
  [
    'that the service is down',
    '/workspaces/acme',
    {
      workspace: async () =>
        workspaceOf({ lastCycle: { startedAt: ago(60_000), finishedAt: ago(50_000), result: 'error', message: '503 from the service' } }),
    },
    'The last cycle failed 50 s ago. 503 from the service',
  ],
  [
    'that a key is refused',
    '/workspaces/acme',
    { workspace: async () => workspaceOf({ warningTexts: ['UsageConfig was refused: the key needs Billing Write'] }) },
    'the key needs Billing Write',
  ],
  [
    'a broken policy with its place',
    '/workspaces/acme',
    { workspace: async () => workspaceOf(BROKEN_POLICY) },
    'policies/acme.yaml:21:7 unknown key "emial" in a user',
  ],
  [
    'the same carets as validate',
    '/workspaces/acme/policies',
    { policies: async () => policiesOf(BROKEN_POLICY) },
    '- emial: grace@example.com ^^^^^ hint: did you mean "email"?',
  ],
  [
    'what the policies would have kept, in credits and money',
    '/workspaces/acme/simulate',
    {},
    'Add-on credits kept 18K of 72K used in 3 cycles · 720 in money',
  ],
  [
    'on how many days they would have blocked people',
    '/workspaces/acme/simulate',
    {},
    'Working days blocked 186 1 % of all · 378 as it was',
  ],
  [
    'who would have been blocked, since when',
    '/workspaces/acme/simulate',
    {},
    '8.5 of 21 days from 12 Oct 2026 400 3 of 21 days from 20 Oct 2026',
  ],
  ['caps that nobody reached', '/workspaces/acme/simulate', {}, 'group:grp_data 1,500 611 41 %'],
  [
    'the commands that try another policy',
    '/workspaces/acme/simulate',
    {},
    'capkeeper simulate proposed.yaml --workspace acme --against policies/',
  ],
  [
    'that a comparison is under way',
    '/workspaces/acme/simulate',
    { comparison: async () => ({ ...headOf('Comparison'), state: 'running' as const, since: ago(1_000) }) },
    'This page shows the result as soon as it is there',
  ],
  [
    'from when on there is enough to compare',
    '/workspaces/acme/simulate',
    {
      comparison: async () => ({
        ...headOf('Comparison'),
        state: 'lacking' as const,
        message: 'no day is recorded yet',
        wholeFrom: '2027-01-01',
      }),
    },
    'There is too little to replay: no day is recorded yet. The first cycle that is recorded as a whole ends on 1 Jan 2027.',
  ],
  [
    'why a comparison could not be made',
    '/workspaces/acme/simulate',
    { comparison: async () => comparisonOf({ state: 'failed', message: 'the ledger is away' }) },
    'It could not be worked out: the ledger is away.',
  ],
  [
    'copying seen',
    '/workspaces/acme/health',
    {
      health: async () =>
        healthOf({
          model: {
            layers: 'layered',
            layersProven: false,
            reads: 'open',
            zero: 'open',
            copying: 'a write of team changed ada@example.com',
          },
        }),
    },
    'Copying was seen: a write of team changed ada@example.com',
  ],
  [
    'the replicas',
    '/workspaces/acme/health',
    { health: async () => healthOf({ replicas: [{ name: 'capkeeper-0', version: '0.1.0', keeps: true }] }) },
    'capkeeper-0 0.1.0 ✓ yes',
  ],
  ['no policy at all', '/workspaces/acme/policies', { policies: async () => policiesOf({ items: [], total: 0 }) }, 'No cap is declared'],
  [
    'a pool with its credits',
    '/workspaces/acme/policies',
    {
      policies: async () =>
        policiesOf({
          items: [{ kind: 'pool', name: 'research', credits: 20_000, people: 12, members: 13, near: 0, source: place(50) }],
          total: 1,
        }),
    },
    'pool research 20K together 12 of 13 0 policies/acme.yaml:50',
  ],
  ['no group at all', '/workspaces/acme/groups', { groups: async () => groupListOf({ items: [], total: 0 }) }, 'No group is declared.'],
  [
    'nobody read yet',
    '/workspaces/acme/people',
    { people: async () => personListOf({ items: [], total: 0 }) },
    'People were not read yet.',
  ],
  ['people as hashes', '/workspaces/acme/people', { people: async () => personListOf({ peopleShown: 'hash' }) }, 'shown as hashes'],
  ['where one is in a long list', '/workspaces/acme/people', {}, '1 to 50 of 5,000 people'],
  ['no history', '/workspaces/acme/changes', { changes: async () => changesOf({ items: [] }) }, 'Nothing was written'],
  [
    'a person without history',
    '/workspaces/acme/people/ada@example.com',
    { person: async () => personOf({ history: [], use: { days: [] } }) },
    'capkeeper has not written here.',
  ],
  [
    'why a cap is what it is',
    '/workspaces/acme/people/ada@example.com',
    {},
    'decides grant on ada@example.com 4,000 the narrowest scope decides',
  ],
  ['no holds', '/workspaces/acme/holds', { holds: async () => holdListOf({ items: [], total: 0 }) }, 'Nothing is held'],
  ['the command that releases a hold', `/workspaces/acme/holds/${HOLD_ID}`, {}, `capkeeper approve ${HOLD_ID}`],
  ['the line that releases a hold', `/workspaces/acme/holds/${HOLD_ID}`, {}, `spec: approvals: - ${HOLD_ID}`],
  ['what a guard counted', `/workspaces/acme/holds/${HOLD_ID}`, {}, 'people whose cap falls 41 120 34 % 15 %, never under 3 (18)'],
]

const firstStart = () => {
  const {
    use: _,
    balance: __,
    cycle: ___,
    lastCycle: ____,
    lastSuccessAt: _____,
    ...rest
  } = workspaceOf({ attention: [], held: [], models: [], grants: [] })
  return rest
}

describe('a page says', () => {
  test.each(STATES)('%s (%s)', async (_, path, state, text) => {
    expect(textOf(await pageAt(path, state))).toContain(text)
  })
})

describe('the name of a rule or pool', () => {
  test('leads to its people by the word that their page filters by', async () => {
    const items = (['rule', 'pool'] as const).map((kind) => ({ kind, name: 'on leave', people: 1, near: 0, source: place(50) }))
    const markup = await pageAt('/workspaces/acme/policies', { policies: async () => policiesOf({ items, total: 2 }) })
    for (const kind of ['rule', 'pool'])
      expect(markup).toMatch(new RegExp(`href="/workspaces/acme/people\\?rule=${kind}(\\+|%20)on(\\+|%20)leave"`))
  })
})

describe('the timeline', () => {
  test('leads from each entry to what explains it', async () => {
    const markup = await pageAt('/workspaces/acme/changes')
    for (const href of [
      `/workspaces/acme/plans/${PLAN_ID}?at=${encodeURIComponent(ago(120_000))}`,
      `/workspaces/acme/holds/${HOLD_ID}`,
      '/workspaces/acme/policies',
      `/workspaces/acme/changes?kind=write&amp;since=${encodeURIComponent(ago(86_400_000))}`,
      '/workspaces/acme',
      '/workspaces/acme/health',
    ])
      expect(markup.slice(markup.indexOf('class="timeline"'))).toContain(`href="${href}"`)
  })

  test('does not lead to a hold that is over', async () => {
    const over = changesOf().items.map((one) => ({ ...one, stands: false }))
    const markup = await pageAt('/workspaces/acme/changes', { changes: async () => changesOf({ items: over }) })
    expect(markup).not.toContain(`href="/workspaces/acme/holds/${HOLD_ID}"`)
  })
})

describe('what comes from outside', () => {
  const hostile = `<script>alert("x")</script><img src=x onerror='alert(1)'>&amp;`

  test('is escaped wherever it stands', async () => {
    const markup = await pageAt('/workspaces/acme', {
      workspace: async () =>
        workspaceOf({
          ...BROKEN_POLICY,
          verdict: hostile,
          warningTexts: [hostile],
          grants: [
            { scope: hostile, state: 'active', reason: hostile, source: { file: hostile, line: 1, column: 1, url: 'javascript:alert(1)' } },
          ],
        }),
      burnSeries: async () => ({
        apiVersion: 'capkeeper/v1',
        kind: 'BurnSeries',
        at: ago(0),
        peopleShown: 'email',
        workspace: hostile,
        by: 'group',
        days: ['2026-11-01'],
        lines: [{ name: hostile, total: 1, values: [1] }],
      }),
    })
    expect(markup).not.toContain('<img')
    expect(markup).not.toContain('<script>')
    expect(markup).not.toContain('javascript:')
    expect(markup).toContain('&lt;img src=x onerror=&#39;alert(1)&#39;&gt;')
  })

  test('keeps a question in the forms and links of the page, and nothing else of it', async () => {
    const markup = await pageAt('/workspaces/acme/people', {}, { search: '"><b>', sort: 'cap', page: '2' })
    expect(markup).toContain('value="&quot;&gt;&lt;b&gt;"')
    expect(markup).toContain('<input type="hidden" name="sort" value="cap">')
    expect(markup).not.toContain('name="page"')
  })

  test('that has no answer goes through to the server', async () => {
    const refused = pageAt('/workspaces/acme/people/nobody', { person: async () => Promise.reject(new DocumentError(404, 'nobody here')) })
    await expect(refused).rejects.toThrow('nobody here')
  })
})

describe('a refusal', () => {
  test('is a page with the words of the server, escaped, and the way back', () => {
    const markup = createConsole().refusal(404, 'no such hold <b>')
    expect(textOf(markup)).toContain('Not found')
    expect(markup).toContain('no such hold &lt;b&gt;')
    expect(markup).toContain('<a href="/">To the overview</a>')
  })
})

describe('what pages load', () => {
  const { assets, contentSecurityPolicy } = createConsole()

  test('is made of its source (npm run console:generate)', () => {
    expect(readFileSync(join(import.meta.dirname, '../..', SCRIPT_FILE), 'utf8') === generatedScript()).toBe(true)
  })

  test('is small, and allowed by a policy that allows nothing from elsewhere', () => {
    const scripts = assets.filter(({ type }) => type.startsWith('text/javascript'))
    expect(scripts).toHaveLength(1)
    expect(scripts.reduce((sum, { body }) => sum + body.length, 0)).toBeLessThan(150 * 1024)
    expect(contentSecurityPolicy).toMatch(/^default-src 'none'/)
    expect(contentSecurityPolicy).not.toMatch(/unsafe|\*|https?:/)
  })
})
