import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { WorkspaceView } from '../../src/core/model/events.ts'
import { groupScope } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { startServer } from '../../src/daemon/http/server.ts'
import { serverParts } from '../support/server.ts'
import { fullView, REFUSED } from '../support/views.ts'

const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path))

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

const HOSTILE = `<script>document.title='owned'</script><img src=x onerror="document.title='owned'">`

const hostileView = (): WorkspaceView => ({
  ...fullView(),
  conditions: [{ ...REFUSED, message: HOSTILE }],
  groups: [{ id: HOSTILE, name: HOSTILE, emails: [], used: credits(1), readAt: Date.UTC(2026, 10, 20) }],
  scopes: [
    { scope: groupScope(HOSTILE), state: 'drifted', desired: credits(5), observed: 'none', cause: 'policy', why: HOSTILE },
    { scope: groupScope('g'.repeat(400)), state: 'drifted', desired: credits(5), observed: 'none', cause: 'policy' },
  ],
})

/** Serves the views, opens the page at a width, and gives what a person and a developer console would see. */
async function open(views: readonly WorkspaceView[], width: number) {
  const server = await startServer(serverParts({ views: () => views }))
  const profile = await mkdtemp(join(tmpdir(), 'capkeeper-browser-'))
  const context = await chromium.launchPersistentContext(profile, {
    ...(browserPath === undefined ? {} : { executablePath: browserPath }),
    headless: true,
    args: FLAGS,
    viewport: { width, height: 800 },
  })
  try {
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`))
    const answer = await page.goto(server.url)
    return {
      complaints,
      status: answer?.status(),
      title: await page.title(),
      text: await page.locator('body').innerText(),
      font: await page.locator('body').evaluate((body) => body.ownerDocument.defaultView?.getComputedStyle(body).fontSize),
      images: await page.locator('img, script').count(),
      overflow: await page.locator('html').evaluate((root) => root.scrollWidth - root.clientWidth),
    }
  } finally {
    await context.close()
    await server.close()
    await rm(profile, { recursive: true, force: true })
  }
}

describe('in a browser', () => {
  test.skipIf(!browserPath).each([1200, 390])(
    'the page shows, styled and without complaints, %i pixels wide (needs Chromium)',
    async (width) => {
      const seen = await open([fullView()], width)
      expect(seen.status).toBe(200)
      expect(seen.complaints).toEqual([])
      expect(seen.title).toBe('(1) capkeeper')
      expect(seen.text).toContain('capkeeper approve 7d1f0c2a9b34')
      expect(seen.font).toBe('15px')
      expect(seen.overflow).toBe(0)
    },
  )

  test.skipIf(!browserPath)('a hostile group name runs no script and does not stretch the page (needs Chromium)', async () => {
    const seen = await open([hostileView()], 800)
    expect(seen.title).toBe('(1) capkeeper')
    expect(seen.text).toContain(HOSTILE)
    expect(seen.images).toBe(0)
    expect(seen.complaints).toEqual([])
    expect(seen.overflow).toBe(0)
  })
})
