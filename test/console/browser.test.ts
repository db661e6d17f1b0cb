// All pages in a real browser: checked by axe in both themes, at the widths of a phone, a desk, a wall and paper, with scripts and without.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer } from '../../src/daemon/http/server.ts'
import { browser, CHROMIUM, type Opened, violations } from '../support/browser.ts'
import { fakeClock } from '../support/clock.ts'
import { ACME, changed, EXAMPLE, PAGE_PATHS, PAGE_STATES } from '../support/pages.ts'
import { serverParts } from '../support/server.ts'

const HOSTILE = `<script>document.title='owned'</script><img src=x onerror="document.title='owned'">`

/** Every eighth of the states; all with CAPKEEPER_PAGES=all. */
const STATES = PAGE_STATES.filter(([, , one]) => one !== EXAMPLE).filter(
  (_, place) => process.env['CAPKEEPER_PAGES'] === 'all' || place % 8 === 0,
)

const chromium = browser()
let server: Awaited<ReturnType<typeof startServer>> | undefined
let state = 0
let documents = EXAMPLE
const at = (path: string): string => `${server?.url}${path}`

beforeAll(async () => {
  const library = { for: () => documents, state: () => String(state), names: () => ['acme'] }
  server = await startServer(serverParts({ documents: library }))
})
afterAll(() => server?.close())

/** Documents alone have no events to tell; what listens to them says so on the console. */
const isOurs = (complaint: string): boolean => !/404|MIME type.*text\/plain/.test(complaint)

/** A4 between its margins, at 96 dots an inch. */
const PAPER_WIDTH = 680
const tooWide = (page: Page): Promise<number> => page.locator('html').evaluate((root) => root.scrollWidth - root.clientWidth)

/** Adds a name that is one long word to each text, but for tables, drawings and code, which scroll, and for words that are ours alone. */
const LENGTHEN = `for (const one of document.querySelectorAll('main *')) {
  const isOwn = !one.closest('table, svg, pre, .hidden, button, .button') && getComputedStyle(one).whiteSpace !== 'nowrap'
  const text = [...one.childNodes].find((node) => node.nodeType === 3 && node.textContent.trim())
  if (isOwn && text) text.textContent += ' ' + '0123456789abcdef'.repeat(4)
}`

describe.skipIf(!CHROMIUM)('in a browser', () => {
  // One tab for all: opening one takes longer than most of what is looked at.
  let opened: Opened | undefined
  test.each([...PAGE_PATHS, '/me'])(
    '%s has no fault that axe finds in either theme, and fits phones whatever its words are, a desk, a wall and paper (needs Chromium)',
    async (path) => {
      opened ??= await chromium.open()
      const { page, complaints, hosts } = opened
      await page.emulateMedia({ media: 'screen', colorScheme: 'light', reducedMotion: 'reduce' })
      await page.setViewportSize({ width: 1280, height: 900 })
      await page.goto(at(path))
      expect(await violations(page)).toEqual([])
      await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
      expect(await violations(page, ['color-contrast'])).toEqual([])
      for (const width of [1280, 2560, 390, 320]) {
        await page.setViewportSize({ width, height: 900 })
        expect([width, await tooWide(page)]).toEqual([width, 0])
      }
      await page.emulateMedia({ media: 'print' })
      await page.setViewportSize({ width: PAPER_WIDTH, height: 900 })
      expect(['on paper', await tooWide(page)]).toEqual(['on paper', 0])
      await page.emulateMedia({ media: 'screen' })
      await page.setViewportSize({ width: 320, height: 900 })
      await page.evaluate(LENGTHEN)
      expect(['with long words', await tooWide(page)]).toEqual(['with long words', 0])
      expect(complaints.filter(isOurs)).toEqual([])
      expect([...hosts]).toEqual([new URL(at('/')).host])
    },
  )

  test('in each state a page has no fault that axe finds in either theme, and fits a phone (needs Chromium)', async () => {
    const { page, complaints, hosts } = await chromium.open({ width: 390 })
    const found: string[] = []
    for (const [says, path, one] of STATES) {
      documents = one
      state += 1
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
      await page.goto(at(path))
      const faults = await violations(page)
      const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')
      await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
      faults.push(...(await violations(page, ['color-contrast'])))
      found.push(...faults.map((fault) => `${says}: ${fault}`), ...(overflow > 0 ? [`${says}: ${overflow} px too wide`] : []))
    }
    documents = EXAMPLE
    state += 1
    expect(found).toEqual([])
    expect(complaints.filter(isOurs)).toEqual([])
    expect([...hosts]).toEqual([new URL(at('/')).host])
    await page.close()
  })

  test('axe would have found faults (needs Chromium)', async () => {
    const { page } = await chromium.open()
    await page.goto(at('/'))
    await page.locator('h1').evaluate((heading) => {
      heading.innerHTML = '<img src="data:,"><button></button>'
    })
    expect(await violations(page)).toEqual(
      expect.arrayContaining([expect.stringContaining('image-alt'), expect.stringContaining('button-name')]),
    )
  })

  test('a chart tells its figures to a pointer and to keys (needs Chromium)', async () => {
    const { page } = await chromium.open()
    await page.goto(at(ACME))
    const chart = page.locator('#cycle .drawing')
    await chart.hover({ position: { x: 400, y: 100 } })
    await page.locator('.tip').waitFor()
    await chart.focus()
    await page.keyboard.press('Home')
    expect(await page.locator('.tip').innerText()).toMatch(/^1 Nov\s+Used\s+0\s+Even pace\s+337$/)
    await page.keyboard.press('ArrowRight')
    expect(await page.locator('.tip').innerText()).toMatch(/^2 Nov/)
    await page.keyboard.press('Escape')
    expect(await page.locator('.tip').count()).toBe(0)
  })

  test('times are in the viewer’s own zone, with the instant in the title (needs Chromium)', async () => {
    const { page } = await chromium.open()
    await page.goto(at('/'))
    const time = page.locator('.top time')
    expect(await time.getAttribute('title')).toContain('2026-11-20T12:00:00.000Z')
    expect(await time.innerText()).not.toContain('UTC')
  })

  test('a hostile name runs no script and does not stretch the page (needs Chromium)', async () => {
    documents = changed({ workspace: { verdict: HOSTILE, warningTexts: [HOSTILE, 'g'.repeat(400)] } })
    state += 1
    const { page, complaints } = await chromium.open({ width: 800 })
    await page.goto(at(ACME))
    expect(await page.title()).toBe('acme · capkeeper')
    expect(await page.locator('main').innerText()).toContain(HOSTILE)
    expect(await page.locator('img').count()).toBe(0)
    expect(complaints.filter(isOurs)).toEqual([])
    expect(await tooWide(page)).toBe(0)
  })

  test('a changed part is replaced in place, opened details stay open, a lost connection is shown, and what changed without it is shown after it (needs Chromium)', async () => {
    const clock = fakeClock()
    let text = 'the key needs Billing Write'
    let version = 0
    const one = changed({ workspace: () => ({ warningTexts: [text] }) })
    const library = { for: () => one, state: () => String(version), names: () => ['acme'] }
    const parts = serverParts({ documents: library, clock })
    const own = await startServer(parts)
    const { page } = await chromium.open()
    await page.goto(own.url + ACME)
    await page.locator('#live', { hasText: 'Live' }).waitFor()
    await page.locator('#cycle summary').click()
    await page.locator('#cycle').evaluate((chart) => chart.setAttribute('data-marked', ''))

    text = 'the key is refused'
    version += 1
    parts.live.onEvent({
      kind: 'policy-loaded',
      workspace: 'acme',
      at: 0,
      policy: { valid: true, digest: '', revision: '', loadedAt: 0, problems: [] },
    })
    await clock.advance(1_000)
    await page.locator('main', { hasText: text }).waitFor()
    expect(await page.locator('main').innerText()).not.toContain('Billing Write')
    expect(await page.locator('#cycle[data-marked] details[open]').count()).toBe(1)

    await own.close()
    await page.locator('#live.stale', { hasText: 'No connection' }).waitFor()
    text = 'the key is in order'
    version += 1
    const again = await startServer(serverParts({ documents: library, clock, port: Number(new URL(own.url).port) }))
    await page.locator('main', { hasText: text }).waitFor()
    await page.locator('#live:not(.stale)', { hasText: 'Live' }).waitFor()
    await again.close()
  })
})
