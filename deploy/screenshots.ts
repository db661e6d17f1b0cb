// The pictures of README and docs, taken of the real program on its sandbox, so that they never grow old. `npm run screenshots`; needs Chromium.
import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium, type Page } from 'playwright-core'

const ROOT = join(import.meta.dirname, '..')
const MAIN = join(ROOT, 'src/main.ts')
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path))
const WITHIN_MS = 120_000
/** What a repository should carry of pictures. */
const MAX_BYTES = 150 * 1024
const WORKSPACE = 'default'

const say = (line: string): void => void process.stdout.write(`${line}\n`)

interface Daemon {
  readonly child: ChildProcess
  readonly url: string
}

async function start(folder: string): Promise<Daemon> {
  const argv = [
    'run',
    '--sandbox',
    '--listen',
    '127.0.0.1:0',
    '--ledger',
    join(folder, 'ledger.db'),
    '--policies',
    join(folder, 'policies'),
  ]
  const child = spawn(process.execPath, [MAIN, ...argv], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text))
  const url = await until('the daemon', async () => {
    if (child.exitCode !== null) throw new Error(said)
    const [, url] = /status page\s+(http:\S+)\//.exec(said) ?? []
    return url
  })
  return { child, url }
}

async function until<Found>(what: string, look: () => Promise<Found | false | undefined>): Promise<Found> {
  const end = Date.now() + WITHIN_MS
  while (Date.now() < end) {
    const found = await look()
    if (found !== false && found !== undefined) return found
    await sleep(250)
  }
  throw new Error(`${what}: not within ${WITHIN_MS / 1000} s`)
}

async function json(url: string): Promise<Readonly<Record<string, unknown>>> {
  const answer = await fetch(url)
  return answer.ok ? Object(await answer.json()) : {}
}

const WIDTH = 1240
/** A picture of what fits a window of this height; the page is at rest. */
async function shoot(page: Page, name: string, height: number): Promise<void> {
  await page.setViewportSize({ width: WIDTH, height })
  const path = join(ROOT, 'docs', `${name}.png`)
  await page.waitForTimeout(500)
  await page.screenshot({ path })
  const { size } = statSync(path)
  say(`  docs/${name}.png, ${Math.ceil(size / 1024)} KiB`)
  if (size > MAX_BYTES) throw new Error(`${path} is larger than ${MAX_BYTES} bytes`)
}

/** Less for everybody: what a mistake in a review would look like. */
function lowerEverybody(folder: string): void {
  const file = join(folder, 'policies/acme.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/cap: (\d\d)\d\d\b/g, 'cap: $1'))
}

async function pictures(folder: string, { url }: Daemon, page: Page): Promise<void> {
  const api = `${url}/api/v1/workspaces/${WORKSPACE}`
  await until('a foreign change reverted', async () => {
    const { items } = await json(`${api}/changes?kind=foreign`)
    return Array.isArray(items) && items.length > 0
  })
  await until('a quiet moment with a projection', async () => {
    const { tone, use } = await json(api)
    return tone === 'good' && Object(use)['projected'] !== undefined
  })
  await page.goto(`${url}/workspaces/${WORKSPACE}`)
  await shoot(page, 'status-page', 1080)
  await page.goto(`${url}/workspaces/${WORKSPACE}/people`)
  await shoot(page, 'people', 640)
  await until('a comparison', async () => (await json(`${api}/comparison`))['state'] === 'made')
  await page.goto(`${url}/workspaces/${WORKSPACE}/simulate`)
  await shoot(page, 'simulate', 700)
  lowerEverybody(folder)
  const id = await until('a hold', async () => {
    const { items } = await json(`${api}/holds`)
    return Array.isArray(items) && items.length > 0 && String(Object(items[0])['id'])
  })
  await page.goto(`${url}/workspaces/${WORKSPACE}/holds/${id}`)
  await shoot(page, 'hold', 760)
}

async function main(): Promise<void> {
  if (CHROMIUM === undefined) throw new Error('no Chromium on this machine')
  const folder = mkdtempSync(join(tmpdir(), 'capkeeper-screenshots-'))
  cpSync(join(ROOT, 'policies'), join(folder, 'policies'), { recursive: true })
  const daemon = await start(folder)
  const context = await chromium.launchPersistentContext(join(folder, 'profile'), {
    executablePath: CHROMIUM,
    headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run'],
    colorScheme: 'light',
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'UTC',
  })
  try {
    await pictures(folder, daemon, await context.newPage())
  } finally {
    await context.close()
    daemon.child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

await main()
