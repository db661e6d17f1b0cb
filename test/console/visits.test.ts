// What a click on a page does in a real browser: the next page comes in place of this one, as whole as if it had been loaded, and is loaded whole
// where it cannot come in place.
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startServer } from '../../src/daemon/http/server.ts'
import { browser, CHROMIUM, violations } from '../support/browser.ts'
import { fakeClock } from '../support/clock.ts'
import { serverParts } from '../support/server.ts'
import { fullView } from '../support/views.ts'

const chromium = browser()
const clock = fakeClock()
const views = [fullView('acme', 300), fullView('globex', 3)]
const parts = serverParts({ views: () => views, clock })
const open = () => startServer(parts)

let server: Awaited<ReturnType<typeof open>> | undefined
beforeAll(async () => {
  server = await open()
})
afterAll(() => server?.close())

const pages: Page[] = []
// Each hears of changes over a connection of its own, and a browser has six.
afterEach(async () => {
  for (const page of pages.splice(0)) await page.close()
})

/** A page that was loaded whole, and remembers it as long as nothing else is. */
async function loaded(path: string, base = server?.url) {
  const opened = await chromium.open({ height: 400 })
  pages.push(opened.page)
  await opened.page.goto(base + path)
  await opened.page.locator('#live', { hasText: 'Live' }).waitFor()
  await opened.page.evaluate('window.isStillHere = true')
  return opened
}

const isInPlace = (page: Page): Promise<boolean> => page.evaluate<boolean>('window.isStillHere === true')
const heading = (page: Page, text: string): Promise<void> => page.locator('h1', { hasText: text }).waitFor()
const focused = (page: Page): Promise<string> => page.evaluate<string>('document.activeElement.textContent')
const scrolled = (page: Page): Promise<number> => page.evaluate<number>('Math.round(scrollY)')

describe.skipIf(!CHROMIUM)('a click', () => {
  test('changes address, title, heading and the place in the navigation, and the focus is on the heading (needs Chromium)', async () => {
    const { page, complaints } = await loaded('/workspaces/acme/people')
    await page.evaluate('scrollTo(0, 500)')
    const person = await page.locator('tbody th a').nth(20).innerText()
    await page.locator('tbody th a').nth(20).click()
    await heading(page, person)
    expect(new URL(page.url()).pathname).toBe(`/workspaces/acme/people/${encodeURIComponent(person)}`)
    expect(await page.title()).toContain(person)
    expect(await focused(page)).toBe(person)
    expect(await scrolled(page)).toBe(0)
    await page.locator('.side a', { hasText: 'Health' }).click()
    await heading(page, 'Health')
    expect(await page.locator('.side [aria-current]').allInnerTexts()).toEqual(['Health'])
    expect(await page.locator('#live').innerText()).toBe('Live')
    expect(await isInPlace(page)).toBe(true)
    expect(await violations(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  test('leaves a way back to where one was, and on again (needs Chromium)', async () => {
    const { page } = await loaded('/workspaces/acme/people')
    const link = page.locator('tbody th a').nth(25)
    await link.scrollIntoViewIfNeeded()
    const [person, place] = [await link.innerText(), await scrolled(page)]
    await link.click()
    await heading(page, person)
    await page.goBack()
    await heading(page, 'People')
    await expect.poll(() => scrolled(page)).toBe(place)
    expect(place).toBeGreaterThan(300)
    expect(await focused(page)).toBe(person)
    await page.goForward()
    await heading(page, person)
    await expect.poll(() => scrolled(page)).toBe(0)
    expect(await isInPlace(page)).toBe(true)
  })

  test('the last of several counts (needs Chromium)', async () => {
    const { page } = await loaded('/workspaces/acme')
    await page.evaluate(`for (const link of document.querySelectorAll('.side nav a')) link.click()`)
    await heading(page, 'Health')
    await page.waitForLoadState('networkidle', { timeout: 300 }).catch(() => undefined)
    expect([await page.title(), new URL(page.url()).pathname]).toEqual(['Health of acme · capkeeper', '/workspaces/acme/health'])
    expect(await isInPlace(page)).toBe(true)
  })

  test('goes on hearing of changes, of the workspace that is shown now (needs Chromium)', async () => {
    const { page } = await loaded('/workspaces/globex')
    const asked = page.waitForRequest(/events\?workspace=acme/)
    await page.locator('.side a', { hasText: 'Overview' }).click()
    await page.locator('main a', { hasText: 'acme' }).first().click()
    await heading(page, 'acme')
    await (await asked).response()
    const again = page.waitForRequest((request) => request.url().endsWith('/workspaces/acme') && request.resourceType() === 'fetch')
    parts.live.changed('acme')
    await clock.advance(1_000)
    await again
    expect(await isInPlace(page)).toBe(true)
  })
})

test.skipIf(!CHROMIUM)('a page that nobody sees keeps no connection, and takes one up when it is seen again (needs Chromium)', async () => {
  const { page } = await loaded('/workspaces/acme')
  const see = (isHidden: boolean): Promise<void> =>
    page.evaluate(
      `Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`,
    )
  const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/events'))
  await see(true)
  await ended
  const begun = page.waitForRequest(/events/)
  await see(false)
  await begun
})

describe.skipIf(!CHROMIUM)('who searches or sorts', () => {
  test('stays in the field with what was typed meanwhile, and hears what was found (needs Chromium)', async () => {
    const { page } = await loaded('/workspaces/acme/people')
    const search = page.locator('input[type=search]')
    await search.focus()
    await page.keyboard.type('person29')
    await page.keyboard.press('Enter')
    await page.keyboard.type('9')
    await page.waitForURL(/search=person29$|search=person29&/)
    await page.locator('[role=status].hidden', { hasText: /^11 people$/ }).waitFor({ state: 'attached' })
    await page.keyboard.type('@')
    expect(await search.inputValue()).toBe('person299@')
    expect(await isInPlace(page)).toBe(true)
  })

  test('stays at the head of the column (needs Chromium)', async () => {
    const { page } = await loaded('/workspaces/acme/people')
    const head = page.locator('thead a', { hasText: 'Person' })
    await head.focus()
    await page.keyboard.press('Enter')
    await page.locator('thead a', { hasText: 'sorted upwards' }).waitFor()
    await page.keyboard.press('Enter')
    await page.locator('thead a', { hasText: 'sorted downwards' }).waitFor()
    expect(await focused(page)).toContain('Person')
    expect(await isInPlace(page)).toBe(true)
  })
})

describe.skipIf(!CHROMIUM)('what cannot come in place is loaded whole:', () => {
  const lost = (page: Page) => expect.poll(() => isInPlace(page)).toBe(false)

  test('a document that is no page (needs Chromium)', async () => {
    const { page } = await loaded('/workspaces/acme')
    await page.locator('footer a', { hasText: 'API' }).click()
    await page.waitForURL('**/openapi.json')
    expect(await page.locator('body').innerText()).toContain('"openapi"')
    await page.goBack()
    await heading(page, 'acme')
  })

  test('a refusal (needs Chromium)', async () => {
    const { page } = await loaded('/workspaces/acme/people')
    await page
      .locator('tbody a')
      .first()
      .evaluate((link) => link.setAttribute('href', '/workspaces/acme/people/nobody@example.com'))
    await page.locator('tbody a').first().click()
    await heading(page, 'Not found')
    expect(await isInPlace(page)).toBe(false)
    await page.goBack()
    await heading(page, 'People')
  })

  test('a page of another release (needs Chromium)', async () => {
    const { page } = await loaded('/workspaces/acme')
    await page.locator('head script').evaluate((script) => script.setAttribute('src', '/console/0123/page.js'))
    await page.locator('.side a', { hasText: 'Health' }).click()
    await lost(page)
    await heading(page, 'Health')
  })

  test('any page once the connection is lost (needs Chromium)', async () => {
    const own = await open()
    const { page } = await loaded('/workspaces/acme', own.url)
    await own.close()
    await page.locator('.side a', { hasText: 'Health' }).click()
    await lost(page)
    expect(await page.locator('body').innerText()).toContain('ERR_CONNECTION_REFUSED')
  })

  test('every page where the browser has no Navigation API (needs Chromium)', async () => {
    const { page } = await chromium.open()
    pages.push(page)
    await page.addInitScript(`Object.defineProperty(window, 'navigation', { value: undefined })`)
    await page.goto(`${server?.url}/workspaces/acme`)
    await page.evaluate('window.isStillHere = true')
    await page.locator('.side a', { hasText: 'Health' }).click()
    await heading(page, 'Health')
    expect(await isInPlace(page)).toBe(false)
    await page.locator('#live', { hasText: 'Live' }).waitFor()
  })
})
