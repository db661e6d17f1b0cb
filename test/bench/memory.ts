// G11: the heap of one workspace of 1,000 scopes over 10,000 cycles of five minutes, which is five weeks. Every tenth cycle somebody else has
// changed a cap, every third reads people and groups. `node test/bench/memory.ts 500` runs fewer.
import { join } from 'node:path'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import { heapKib, judged, mib, publish, seconds, told } from './bench.ts'
import { instantWorkspace, virtualClock } from './instant.ts'
import { openFolder } from './world.ts'

const CYCLES = Number(process.argv[2] ?? 10_000)
const COMPANY = { people: 1_000, groups: 10, scopes: 1_000 }
const INTERVAL_MS = 300_000
const LOOK_EVERY = Math.max(1, Math.round(CYCLES / 20))
const FIRST_LOOK = 100
const MOST_GROWTH = 0.05

const clock = virtualClock()
const store = await openLedger({ file: join(openFolder().path, 'ledger.db'), mode: 'write', clock })
const one = await instantWorkspace('bench', COMPANY, store, clock)
const looks: number[] = []
const started = performance.now()
let before = 0
let last = 0
for (let cycle = 1; cycle <= CYCLES; cycle += 1) {
  clock.pass(INTERVAL_MS)
  if (cycle % 10 === 0) one.disturb((cycle / 10) % 900)
  await one.cycle(cycle % 3 === 1)
  if (cycle === FIRST_LOOK) before = heapKib()
  if (cycle % LOOK_EVERY === 0) {
    last = heapKib()
    looks.push(last)
    if (process.stderr.isTTY) console.error(`cycle ${cycle}: ${mib(last)}`)
  }
}
const healed = (one.told.get('change-finished') ?? 0) - COMPANY.scopes
await store.close()
const growth = last / before - 1
publish(
  `Memory: ${CYCLES} cycles over ${COMPANY.scopes} scopes, ${healed} foreign changes healed, ${seconds(performance.now() - started)}`,
  [
    judged(
      'G11',
      `heap after cycle ${FIRST_LOOK}, after cycle ${CYCLES}`,
      `<= +${MOST_GROWTH * 100} %`,
      `${mib(before)}, ${mib(last)} (${(growth * 100).toFixed(1)} %)`,
      growth <= MOST_GROWTH,
    ),
    told('G11', 'highest heap without garbage on the way', mib(Math.max(...looks))),
    told('G11', 'peak resident memory', mib(process.resourceUsage().maxRSS)),
  ],
)
