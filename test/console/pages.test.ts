// Each page in each state, as text: what a reader finds, and what must never get into the markup. browser.test.ts checks the looks.
import { parse } from 'parse5'
import { describe, expect, test } from 'vitest'
import { createConsole } from '../../src/console/routes.ts'
import { pageAt, textOf } from '../support/page-at.ts'
import { BROKEN_POLICY, policiesOf, workspaceOf } from '../support/page-documents.ts'
import { ago, HOLD_ID, PAGE_PATHS, PLAN_ID, place } from '../support/page-parts.ts'
import { PAGE_STATES } from '../support/page-states.ts'
import { changesOf } from '../support/page-story.ts'

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

describe('a page says', () => {
  test.each(PAGE_STATES)('%s (%s)', async (_, path, state, text) => {
    expect(textOf(await pageAt(path, state))).toContain(text)
  })
})

test.each([
  ['12 s', 12],
  ['1 min', 61],
  ['4 h', 4 * 3600 + 5 * 60 + 9],
  ['3 d', 3 * 86_400 + 2 * 3600],
])('an age reads as %s', async (text, seconds) => {
  const lastCycle = { startedAt: ago(seconds * 1000), finishedAt: ago(seconds * 1000), result: 'error' as const, message: 'm' }
  expect(textOf(await pageAt('/workspaces/acme', { workspace: async () => workspaceOf({ lastCycle }) }))).toContain(`failed ${text} ago.`)
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
  test('links each entry to the page that explains it', async () => {
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

describe('outside data', () => {
  const hostile = `<script>alert("x")</script><img src=x onerror='alert(1)'>&amp;`

  test('is escaped everywhere', async () => {
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
    const refused = pageAt('/workspaces/acme/people/nobody', { person: async () => Promise.reject(new Error('nobody here')) })
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

  test('is small, and allowed by a policy that allows nothing from elsewhere', () => {
    const scripts = assets.filter(({ type }) => type.startsWith('text/javascript'))
    expect(scripts).toHaveLength(1)
    expect(scripts.reduce((sum, { body }) => sum + body.length, 0)).toBeLessThan(150 * 1024)
    expect(contentSecurityPolicy).toMatch(/^default-src 'none'/)
    expect(contentSecurityPolicy).not.toMatch(/unsafe|\*|https?:/)
  })
})
