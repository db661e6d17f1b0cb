// G9: what a scrape of /metrics costs: how many series there are for more and more people, and how long the event loop stands still.

import { createConsole } from '../../src/console/routes.ts'
import { showUsageSummary } from '../../src/daemon/collect/usage-summary.ts'
import { viewOf } from '../../src/daemon/conditions/view.ts'
import { createLive } from '../../src/daemon/http/events.ts'
import { createMetrics } from '../../src/daemon/http/metrics/metrics.ts'
import { startServer } from '../../src/daemon/http/server.ts'
import { EMAIL_LABELS } from '../../src/daemon/http/status/labels.ts'
import type { Workspace } from '../../src/daemon/workspace.ts'
import { libraryOf } from '../support/documents.ts'
import { noLedger } from '../support/views.ts'
import { median, ms, publish, type Row, told, watchLoop } from './bench.ts'
import { bigWorld, type Size } from './big.ts'
import { quietWorkspace } from './quiet.ts'

const LONGEST_BLOCK_MS = 20
const SCRAPES = 15
const WARM_UPS = 10

/** How long it takes to work out what is shown of use, which no scrape does. */
async function showBurnMs(workspace: Workspace): Promise<number> {
  const walls: number[] = []
  for (let times = 0; times < SCRAPES; times += 1) {
    const started = performance.now()
    await showUsageSummary(workspace)
    walls.push(performance.now() - started)
  }
  return median(walls)
}

interface Scrapes {
  readonly series: number
  readonly blockMs: number
  readonly wallMs: number
  readonly burnMs: number
}

async function scrapesOf(size: Size): Promise<Scrapes> {
  const world = bigWorld(size)
  const workspace = await quietWorkspace(world)
  const burnMs = await showBurnMs(workspace)
  const metrics = createMetrics({ version: '0', revision: '', clock: workspace.clock })
  metrics.registerWorkspace('bench')
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    clock: workspace.clock,
    metrics,
    console: createConsole(),
    documents: libraryOf({ views: () => [viewOf(workspace)] }),
    people: EMAIL_LABELS,
    views: () => [viewOf(workspace)],
    health: () => ({ configValid: true, ledgerWritable: true }),
    ledger: noLedger,
    live: createLive(workspace.clock, 'boot'),
    ledgerGate: () => undefined,
    ready: () => ({ ready: true, reasons: [] }),
  })
  const blocks: number[] = []
  const walls: number[] = []
  let series = 0
  for (let scrape = -WARM_UPS; scrape < SCRAPES; scrape += 1) {
    const watch = watchLoop()
    const started = performance.now()
    const text = await (await fetch(`${server.url}/metrics`)).text()
    const wallMs = performance.now() - started
    const blockMs = watch()
    if (scrape < 0) continue
    series = text.split('\n').filter((line) => line.startsWith('capkeeper_')).length
    blocks.push(blockMs)
    walls.push(wallMs)
  }
  await server.close()
  return { series, blockMs: median(blocks), wallMs: median(walls), burnMs }
}

function rowsOf(size: Size, scrape: Scrapes): readonly Row[] {
  const figure = `${size.scopes} scopes, ${size.people} people: longest block of a scrape`
  const ratio = scrape.blockMs / LONGEST_BLOCK_MS
  return [
    { goal: 'G9', figure, limit: `<= ${LONGEST_BLOCK_MS} ms`, measured: ms(scrape.blockMs), ratio, met: ratio <= 1 },
    told('G9', 'the whole scrape', ms(scrape.wallMs)),
    told('G9', 'pace and forecast, worked out after readings and cycles', ms(scrape.burnMs)),
  ]
}

const sizes = [1000, 10_000, 50_000].map((people): Size => ({ scopes: Math.min(people, 20_000), people, drifted: 0 }))
const found: Scrapes[] = []
for (const size of sizes) found.push(await scrapesOf(size))
const series = found.map((one) => one.series)
publish(`A scrape of /metrics with the default settings, medians of ${SCRAPES}`, [
  {
    goal: 'G9',
    figure: `series with ${sizes.map(({ people }) => people).join(', ')} people (500 groups)`,
    limit: 'all the same',
    measured: series.join(', '),
    met: new Set(series).size === 1,
  },
  ...sizes.flatMap((size, at) => rowsOf(size, found[at] ?? { series: 0, blockMs: Number.NaN, wallMs: Number.NaN, burnMs: Number.NaN })),
])
