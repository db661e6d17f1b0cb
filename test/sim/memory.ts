// Whether memory grows with time: one long life without kills, measured after each tenth of it. Run with --expose-gc.

import type { Cut } from './lives/scenario.ts'
import { runSeed } from './run.ts'

const CUT: Cut = { without: new Set(['kill', 'kill-at-ledger', 'kill-at-request', 'stop', 'second-process', 'mode']), until: undefined }

const MB = 2 ** 20

/** A larger increase in the second half of the life counts as growth. */
const ALLOWED_MB = 12

export async function checkMemory(seed: number, days: number): Promise<boolean> {
  const collect = globalThis.gc
  if (!collect) throw new Error('memory can only be looked at with --expose-gc: npm run sim:memory')
  const samples: number[] = []
  let day = 0
  await runSeed({
    seed,
    days,
    cut: CUT,
    patient: true,
    onLine(line) {
      if (!line.endsWith('* settled')) return
      day += 1
      if (day % Math.ceil(days / 10) > 0) return
      collect()
      const { heapUsed, external } = process.memoryUsage()
      samples.push((heapUsed + external) / MB)
      console.log(`day ${day}: ${samples.at(-1)?.toFixed(1)} MB`)
    },
  })
  const half = samples.slice(Math.floor(samples.length / 2))
  const growth = (half.at(-1) ?? 0) - (half[0] ?? 0)
  console.log(`grown by ${growth.toFixed(1)} MB in the second half, ${ALLOWED_MB} may be`)
  return growth <= ALLOWED_MB
}
