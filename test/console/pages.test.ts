// Each page in each state, as text: what a reader finds, and what must never get into the markup. browser.test.ts checks the looks.
import { parse } from 'parse5'
import { describe, expect, test } from 'vitest'
import { createConsole } from '../../src/console/routes.ts'
import { DAY_MS } from '../../src/core/model/units.ts'
import { NOW } from '../support/declare.ts'
import { exampleOf } from '../support/example.ts'
import { ACME, changed, EXAMPLE, HOLD, PAGE_PATHS, PAGE_STATES, pageAt, TIMELINE, textOf } from '../support/pages.ts'

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
    if (path !== '/') expect(markup).toContain(`href="${ACME}/holds"`)
  })
})

test.each(PAGE_STATES)('a page says: %s (%s)', async (_, path, state, text) => {
  expect(textOf(await pageAt(path, state))).toContain(text)
})

test.each([
  ['12 s', 12],
  ['1 min', 61],
  ['4 h', 4 * 3600 + 5 * 60 + 9],
  ['3 d', 3 * 86_400 + 2 * 3600],
])('an age reads as %s', async (text, seconds) => {
  const at = NOW - seconds * 1000
  const documents = exampleOf({ lastCycle: { startedAt: at, finishedAt: at, result: 'error', message: 'm' } })
  expect(textOf(await pageAt(ACME, documents))).toContain(`failed ${text} ago.`)
})

test('the name of a rule or pool leads to its people by the word that their page filters by', async () => {
  const markup = await pageAt(`${ACME}/policies`)
  for (const rule of ['rule%20seldom%20here', 'pool%20research']) expect(markup).toContain(`href="${ACME}/people?rule=${rule}"`)
})

test('the timeline links each entry to the others of its plan, to the writes since, and to its hold, but not to one that is over', async () => {
  const markup = await pageAt(`${ACME}/changes`)
  const lines = markup.match(/<li><span><time.*?<\/li>/gs) ?? []
  const links = lines.map((line) => [...line.matchAll(/ class="fixed"(?:><a)? href="([^"]+)"/g)].map(([, href]) => href))
  expect(links).toEqual(
    TIMELINE.map(({ kind, at, planId, stands, hold, tone }) => {
      const [dayBefore, dayAfter] = [new Date(Date.parse(at) - DAY_MS).toISOString(), Date.parse(at) + DAY_MS]
      const ofPlan = `${ACME}/changes?plan=${planId}&amp;since=${encodeURIComponent(dayBefore)}&amp;after=${dayAfter}-0`
      const plan = planId === undefined ? [] : [ofPlan]
      if (kind === 'policy') return tone === 'bad' ? [] : [`${ACME}/changes?kind=write&amp;since=${encodeURIComponent(at)}`]
      return [...(hold !== undefined && stands === true ? [`${ACME}/holds/${hold}`] : []), ...plan]
    }),
  )
  expect(new Set(TIMELINE.map(({ kind }) => kind)).size).toBe(9)
  expect(links.flat()).toContain(HOLD)
})

test('groups are searched by name or id', async () => {
  const text = async (search: string) => textOf(await pageAt(`${ACME}/groups`, EXAMPLE, { search }))
  expect(await text('PLATF')).toMatch(/Name or id.*Platform/)
  expect(await text('PLATF')).not.toContain('Mobile')
  expect(await text('nothing')).toContain('No group fits.')
})

test('the people whom a hold affects are listed by effect where one is asked for', async () => {
  const listed = await EXAMPLE.hold('acme', HOLD.split('/').at(-1) ?? '', { effect: 'lowered' })
  expect(listed.total).toBe(listed.counted?.lowered)
  expect(listed.total).toBeLessThan(listed.people)
  expect(await pageAt(HOLD, EXAMPLE, { effect: 'lowered' })).toContain('<option value="lowered" selected>')
})

test.each([...['people', 'groups', 'policies', 'holds'].map((name) => `${ACME}/${name}`), HOLD])('%s past its end', async (path) => {
  expect(textOf(await pageAt(path, EXAMPLE, { page: '9' }))).toMatch(/Previous past the end of \d/)
})

describe('outside data', () => {
  const hostile = `<script>alert("x")</script><img src=x onerror='alert(1)'>&amp;`

  test('is escaped everywhere', async () => {
    const place = { file: hostile, line: 1, column: 1, url: 'javascript:alert(1)' }
    const documents = changed({
      workspace: {
        verdict: hostile,
        warningTexts: [hostile],
        attention: [{ kind: 'user', scope: hostile, state: 'drifted', observed: 'none', reason: hostile, source: place }],
      },
      burnSeries: { lines: [{ name: hostile, total: 1, values: [1] }] },
    })
    const markup = await pageAt(ACME, documents)
    expect(markup).not.toContain('<img')
    expect(markup).not.toContain('<script>')
    expect(markup).not.toContain('javascript:')
    expect(markup).toContain('&lt;img src=x onerror=&#39;alert(1)&#39;&gt;')
  })

  test('keeps a question in the forms and links of the page, and nothing else of it', async () => {
    const markup = await pageAt(`${ACME}/people`, undefined, { search: '"><b>', sort: 'cap', page: '2' })
    expect(markup).toContain('value="&quot;&gt;&lt;b&gt;"')
    expect(markup).toContain('<input type="hidden" name="sort" value="cap">')
    expect(markup).not.toContain('name="page"')
  })

  test('that has no answer goes through to the server', async () => {
    await expect(pageAt(`${ACME}/people/nobody`)).rejects.toThrow('this workspace has no such person')
  })
})

test('a refusal is a page with the words of the server, escaped, and the way back', () => {
  const markup = createConsole().refusal(404, 'no such hold <b>')
  expect(textOf(markup)).toContain('Not found')
  expect(markup).toContain('no such hold &lt;b&gt;')
  expect(markup).toContain('<a href="/">To the overview</a>')
})

const { assets, contentSecurityPolicy } = createConsole()

test('what pages load is small, and allowed by a policy that allows nothing from elsewhere', () => {
  const scripts = assets.filter(({ type }) => type.startsWith('text/javascript'))
  expect(scripts).toHaveLength(1)
  expect(scripts.reduce((sum, { body }) => sum + body.length, 0)).toBeLessThan(150 * 1024)
  expect(contentSecurityPolicy).toMatch(/^default-src 'none'/)
  expect(contentSecurityPolicy).not.toMatch(/unsafe|\*|https?:/)
})
