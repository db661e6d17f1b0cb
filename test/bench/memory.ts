// G11: the heap of one workspace of 1,000 scopes over 10,000 cycles of five minutes, which is five weeks. Every tenth cycle somebody else has
// changed a cap, every third reads people and groups. `node test/bench/memory.ts 500` runs fewer.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import { mib, publish, seconds, told } from './bench.ts'
import { instantWorkspace, virtualClock } from './instant.ts'

const CYCLES = Number(process.argv[2] ?? 10_000)
const COMPANY = { people: 1_000, groups: 10, scopes: 1_000 }
const INTERVAL_MS = 300_000
const LOOK_EVERY = Math.max(1, Math.round(CYCLES / 20))
const FIRST_LOOK = 100
const MOST_GROWTH = 0.05

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** The heap without garbage, in KiB. */
function heapKib(): number {
  collect()
  collect()
  return process.memoryUsage().heapUsed / 1024
}

const folder = mkdtempSync(join(tmpdir(), 'capkeeper-memory-'))
const clock = virtualClock()
const store = await openLedger({ file: join(folder, 'ledger.db'), mode: 'write', clock })
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
const healed = one.told.get('foreign-change') ?? 0
await store.close()
rmSync(folder, { recursive: true, force: true })
const growth = last / before - 1
publish(
  `Memory: ${CYCLES} cycles over ${COMPANY.scopes} scopes, ${healed} foreign changes healed, ${seconds(performance.now() - started)}`,
  [
    {
      goal: 'G11',
      figure: `heap after cycle ${FIRST_LOOK}, after cycle ${CYCLES}`,
      limit: `<= +${MOST_GROWTH * 100} %`,
      measured: `${mib(before)}, ${mib(last)} (${(growth * 100).toFixed(1)} %)`,
      met: growth <= MOST_GROWTH,
    },
    told('G11', 'highest heap without garbage on the way', mib(Math.max(...looks))),
    told('G11', 'peak resident memory', mib(process.resourceUsage().maxRSS)),
  ],
)
