// A real Chromium for tests of pages: one browser for each file, a fresh page for each test, and a list of everything that a page must not
// do.
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'

/** Its path on this machine; tests without it are skipped by name. */
export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path))

/** A limit for events that never come; no test depends on its length. */
const PATIENCE_MS = 90_000

export const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export type Opened = Awaited<ReturnType<ReturnType<typeof browser>['open']>>

/** Starts one for all tests of the calling file. */
export function browser() {
  let context: BrowserContext | undefined
  let profile = ''
  beforeAll(async () => {
    if (CHROMIUM === undefined) return
    profile = await mkdtemp(join(tmpdir(), 'capkeeper-browser-'))
    context = await chromium.launchPersistentContext(profile, {
      executablePath: CHROMIUM,
      headless: true,
      args: FLAGS,
      timeout: PATIENCE_MS,
    })
    context.setDefaultTimeout(PATIENCE_MS)
  })
  afterAll(async () => {
    await context?.close()
    if (profile !== '') await rm(profile, { recursive: true, force: true })
  })
  return {
    /** A page of its own, closed with the browser. */
    async open({ width = 1280, height = 900 } = {}) {
      if (!context) throw new Error('no Chromium here')
      const page = await context.newPage()
      await page.setViewportSize({ width, height })
      /** Errors, and refusals of the content security policy. */
      const complaints: string[] = []
      /** Hosts to which a request was sent. */
      const hosts = new Set<string>()
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
      })
      page.on('pageerror', (error) => complaints.push(String(error)))
      page.on('request', (request) => {
        if (/^https?:/.test(request.url())) hosts.add(new URL(request.url()).host)
      })
      return { page, complaints, hosts }
    },
  }
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
/** Half a megabyte, which a page keeps until the next one is loaded. */
let axe: Promise<string> | undefined

/** The faults that axe finds in a page, by all its rules or by some: the rule and the place. */
export async function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  axe ??= readFile(AXE, 'utf8')
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(await axe)
  const found: unknown = await page.evaluate(
    `axe.run(document, ${JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) })}).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' at ' + target.join(' '))))`,
  )
  return Array.isArray(found) ? found.map(String) : [String(found)]
}
