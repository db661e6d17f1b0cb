// The console of a real daemon in a real browser: what people do with it, by pointer, by keys alone, and by watching.
import { describe, expect, test } from 'vitest'
import { browser, CHROMIUM } from '../support/browser.ts'
import { until } from '../support/process.ts'
import { policyText, world } from './world.ts'

const PEOPLE = 1_000
const chromium = browser()

describe.skipIf(!CHROMIUM)('the console of a daemon', () => {
  test('finds one of 1,000 people, shows a foreign change without a reload, and leads by keys alone to the line that releases a hold (needs Chromium)', async () => {
    const at = await world({ policy: 'team: {cap: 500}', sandbox: { people: PEOPLE } })
    const daemon = await at.daemon()
    await daemon.shows('capkeeper_scopes', 1, { workspace: 'acme', kind: 'team', state: 'in_sync' })
    const { page, complaints, hosts } = await chromium.open()

    await page.goto(`${daemon.url}workspaces/acme/people`)
    await page.getByLabel('Search').fill('hopper')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.locator('tbody th').nth(1).waitFor({ state: 'detached' })
    expect(await page.locator('tbody th').allInnerTexts()).toEqual(['grace.hopper@example.com'])
    await page.getByRole('link', { name: 'grace.hopper@example.com' }).click()
    await page.locator('main', { hasText: 'cap on team' }).waitFor()

    await page.goto(`${daemon.url}workspaces/acme/changes`)
    await page.evaluate('globalThis.isTheSamePage = true')
    await page.locator('#live', { hasText: 'Live' }).waitFor()
    at.service.setCap('team', 777)
    await page.locator('.timeline', { hasText: '777' }).first().waitFor()
    expect(await page.locator('.timeline').first().innerText()).toContain('by others')
    expect(await page.evaluate('globalThis.isTheSamePage')).toBe(true)

    at.policy(policyText('team: {cap: 100}'))
    await until('the hold', async () => (await daemon.get('/workspaces/acme/holds')).text.includes('maxLowered'))
    await page.goto(daemon.url)
    await tabTo('a link about the hold', /waits for a decision/)
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/holds\/[0-9a-f]{32}$/)
    const id = page.url().slice(-32)
    // The address changes before the page does.
    await page.locator('h1:focus').waitFor()
    await tabTo('the line that releases it', new RegExp(`^capkeeper approve ${id}`))
    expect(complaints).toEqual([])
    expect([...hosts]).toEqual([new URL(daemon.url).host])

    /** Presses Tab until what has the focus reads like that. */
    async function tabTo(what: string, text: RegExp): Promise<void> {
      for (let presses = 0; presses < MOST_PRESSES; presses += 1) {
        await page.keyboard.press('Tab')
        const focused = await page.evaluate('document.activeElement?.textContent ?? ""')
        if (text.test(String(focused))) return
      }
      throw new Error(`${what} is not reached by ${MOST_PRESSES} tabs`)
    }
  })
})

const MOST_PRESSES = 40
