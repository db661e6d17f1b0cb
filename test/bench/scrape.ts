// G9: what a scrape of /metrics costs: how many series there are for more and more people, and how long the event loop stands still.

import { showUsageSummary } from '../../src/daemon/collect/usage-summary.ts'
import { viewOf } from '../../src/daemon/conditions/view.ts'
import { createMetrics } from '../../src/daemon/http/metrics/metrics.ts'
import { startServer } from '../../src/daemon/http/server.ts'
import { libraryOf } from '../support/documents.ts'
import { serverParts } from '../support/server.ts'
import { judged, ms, publish, type Row, told, took, turns, watchLoop, within } from './bench.ts'
import { bigWorld, type Size } from './big.ts'
import { quietWorkspace } from './quiet.ts'

const LONGEST_BLOCK_MS = 20
const SCRAPES = 15
const WARM_UPS = 10

interface Scrapes {
  readonly series: number
  readonly blockMs: number
  readonly wallMs: number
  readonly burnMs: number
}

async function scrapesOf(size: Size): Promise<Scrapes> {
  const workspace = await quietWorkspace(bigWorld(size))
  const { clock } = workspace
  const views = () => [viewOf(workspace)]
  // What no scrape does: working out what is shown of use.
  const { burnMs } = await turns({ burnMs: () => took(() => showUsageSummary(workspace)) }, { rounds: SCRAPES, warmUps: 0 })
  const metrics = createMetrics({ version: '0', revision: '', clock })
  metrics.registerWorkspace('bench')
  const server = await startServer(serverParts({ clock, metrics, views, documents: libraryOf({ views }) }))
  let [text, blocked] = ['', 0]
  const scrape = async (): Promise<void> => {
    const watch = watchLoop()
    text = await (await fetch(`${server.url}/metrics`)).text()
    blocked = watch()
  }
  const { wallMs, blockMs } = await turns({ wallMs: () => took(scrape), blockMs: () => blocked }, { rounds: SCRAPES, warmUps: WARM_UPS })
  await server.close()
  return { series: text.split('\n').filter((line) => line.startsWith('capkeeper_')).length, blockMs, wallMs, burnMs }
}

const sizes = [1000, 10_000, 50_000].map((people): Size => ({ scopes: Math.min(people, 20_000), people, drifted: 0 }))
const rows: Row[] = []
const series: number[] = []
for (const size of sizes) {
  const found = await scrapesOf(size)
  series.push(found.series)
  rows.push(
    within('G9', `${size.scopes} scopes, ${size.people} people: longest block of a scrape`, found.blockMs, LONGEST_BLOCK_MS),
    told('G9', 'the whole scrape', ms(found.wallMs)),
    told('G9', 'pace and forecast, worked out after readings and cycles', ms(found.burnMs)),
  )
}
const people = sizes.map((one) => one.people).join(', ')
publish(`A scrape of /metrics with the default settings, medians of ${SCRAPES}`, [
  judged('G9', `series with ${people} people (500 groups)`, 'all the same', series.join(', '), new Set(series).size === 1),
  ...rows,
])
