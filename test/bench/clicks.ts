// G21 in a real Chromium: how long it takes from an input on a page of 5,000 people until the answer is painted. The page notes both moments itself:
// of an answer that comes in place the first frame with another heading, of one that is loaded whole the first contentful paint. Both take turns, so
// that other work on the machine weighs on both.
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { CHROMIUM, FLAGS } from '../support/browser.ts'
import { ms, type Row, turns, within } from './bench.ts'
import { openFolder } from './world.ts'

const LONGEST_MS = 100
const ROUNDS = 9
const WARM_UPS = 2

/** Keeps when the last click or key came, across pages, and when the next frame with other contents was painted. */
const STAMP = `for (const kind of ['click', 'keydown']) addEventListener(kind, (event) => {
  sessionStorage.setItem('inputAt', String(performance.timeOrigin + event.timeStamp))
  window.paintedAt = undefined
  const heading = document.querySelector('h1')
  const look = () => {
    if (heading?.isConnected !== false) return requestAnimationFrame(look)
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => { window.paintedAt ??= performance.timeOrigin + performance.now() }
    port2.postMessage('')
  }
  requestAnimationFrame(look)
}, true)`

const PAINTED = `new Promise((resolve) => {
  const inputAt = Number(sessionStorage.getItem('inputAt'))
  const look = () => {
    const [paint] = performance.getEntriesByName('first-contentful-paint')
    const paintedAt = performance.timeOrigin > inputAt ? paint && performance.timeOrigin + paint.startTime : window.paintedAt
    if (paintedAt === undefined) requestAnimationFrame(look)
    else resolve(paintedAt - inputAt)
  }
  look()
})`

interface Click {
  readonly name: string
  readonly path: string
  /** What leads to where the input is made. */
  readonly before?: (page: Page) => Promise<void>
  readonly act: (page: Page) => Promise<void>
}

const CLICKS: readonly Click[] = [
  {
    name: 'search people',
    path: '/people',
    act: async (page) => {
      await page.locator('input[name="search"]').fill('person49')
      await page.keyboard.press('Enter')
    },
  },
  { name: 'sort people', path: '/people', act: (page) => page.locator('thead th a').nth(2).click() },
  {
    name: 'filter people',
    path: '/people',
    act: async (page) => {
      await page.locator('select[name="band"]').selectOption('under_50')
      await page.locator('form.filters button').click()
    },
  },
  { name: 'next page of people', path: '/people', act: (page) => page.locator('.pages a', { hasText: 'Next' }).click() },
  { name: 'open a person', path: '/people', act: (page) => page.locator('tbody th a').first().click() },
  { name: 'open a group', path: '/groups', act: (page) => page.locator('tbody th a').first().click() },
  { name: 'open the workspace', path: '/people', act: (page) => page.locator('.side a', { hasText: 'Workspace' }).click() },
  {
    name: 'back to the people',
    path: '/people',
    before: async (page) => {
      await page.locator('tbody th a').first().click()
      await page.locator('h1', { hasText: '@' }).waitFor()
    },
    act: (page) => page.evaluate(`document.querySelector('h1').click(); setTimeout(() => history.back())`),
  },
  { name: 'open the comparison', path: '/people', act: (page) => page.locator('.side a', { hasText: 'Simulate' }).click() },
  { name: 'open a plan', path: '/changes', act: (page) => page.locator('main a[href*="?plan="]').first().click() },
  { name: 'open the timeline', path: '/people', act: (page) => page.locator('.side a', { hasText: 'Changes' }).click() },
]

async function answered(page: Page, base: string, { path, before, act }: Click): Promise<number> {
  await page.goto(base + path)
  await page.locator('main h1').waitFor()
  await before?.(page)
  // Nobody clicks before they have seen the page.
  await page.evaluate('new Promise((resolve) => requestIdleCallback(resolve, { timeout: 1000 }))')
  const from = page.url()
  await act(page)
  await page.waitForURL((url) => url.href !== from, { waitUntil: 'commit' })
  return page.evaluate<number>(PAINTED)
}

/** From the change of the theme until the frame after the one in which the ground has another colour. */
async function themed(page: Page, base: string, isDark: boolean): Promise<number> {
  await page.goto(`${base}/people`)
  await page.emulateMedia({ colorScheme: isDark ? 'light' : 'dark' })
  const ground = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
  const beganMs = performance.now()
  await page.emulateMedia({ colorScheme: isDark ? 'dark' : 'light' })
  await page.evaluate(`new Promise((resolve) => {
    const look = () => getComputedStyle(document.body).backgroundColor === '${ground}' ? requestAnimationFrame(look) : requestAnimationFrame(resolve)
    look()
  })`)
  return performance.now() - beganMs
}

/** Nothing without Chromium. `base`: the address of a workspace's page. */
export async function clickRows(base: string): Promise<readonly Row[]> {
  if (CHROMIUM === undefined) {
    console.log('no Chromium on this machine: clicks are not measured')
    return []
  }
  const context = await chromium.launchPersistentContext(openFolder().path, { executablePath: CHROMIUM, headless: true, args: FLAGS })
  try {
    await context.addInitScript(STAMP)
    const page = await context.newPage()
    const rows: Row[] = []
    const many = { rounds: ROUNDS, warmUps: WARM_UPS }
    const row = (name: string, middle: number, more = ''): void =>
      void rows.push(within('G21', `${name}, until the answer is painted`, middle, LONGEST_MS, ms, `${ms(middle)}${more}`))
    for (const click of CLICKS) {
      const sides = {
        inPlace: () => answered(page, base, click),
        whole: () => inWholeLoads(context, (other) => answered(other, base, click)),
      }
      const { inPlace, whole } = await turns(sides, many)
      row(click.name, inPlace, `; loaded whole ${ms(whole)}`)
    }
    let isDark = false
    const theme = (): Promise<number> => {
      isDark = !isDark
      return themed(page, base, isDark)
    }
    row('change the theme', (await turns({ theme }, many)).theme)
    return rows
  } finally {
    await context.close()
  }
}

/** A page as in a browser without the Navigation API. */
async function inWholeLoads<T>(context: BrowserContext, action: (page: Page) => Promise<T>): Promise<T> {
  const page = await context.newPage()
  try {
    await page.addInitScript(`Object.defineProperty(window, 'navigation', { value: undefined })`)
    return await action(page)
  } finally {
    await page.close()
  }
}
