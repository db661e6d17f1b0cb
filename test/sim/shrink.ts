// Finds the smallest part of a failing seed that still fails: fewer days, fewer events from the end, fewer kinds of faults and events.
import { EVENT_KINDS } from './lives/events/kinds.ts'
import { type Cut, FAULT_KINDS } from './lives/scenario.ts'
import { type RunReport, runSeed } from './run.ts'

interface Least {
  readonly days: number
  readonly cut: Cut
}

const KINDS: readonly string[] = [...FAULT_KINDS, ...EVENT_KINDS.map(({ kind }) => kind)]

/** Tries some runs for the kinds and a few for the others. The same invariant must fail. */
export async function shrink(seed: number, days: number, cut: Cut): Promise<Least> {
  const first = await runSeed({ seed, days, cut })
  const invariant = first.violations[0]?.invariant
  const fails = async (tryDays: number, tryCut: Cut): Promise<RunReport | undefined> => {
    const report = await runSeed({ seed, days: tryDays, cut: tryCut })
    return report.violations[0]?.invariant === invariant ? report : undefined
  }
  let least: Least = { days, cut }
  const lastDay = Math.ceil(((first.violations[0]?.atMs ?? 0) + 1) / 86_400_000)
  if (lastDay > 0 && lastDay < days && (await fails(lastDay, cut))) least = { days: lastDay, cut }
  // Halves first: most kinds are irrelevant.
  for (let size = Math.ceil(KINDS.length / 2); size >= 1; size = Math.floor(size / 2)) {
    const left = KINDS.filter((kind) => !least.cut.without.has(kind))
    for (let from = 0; from < left.length; from += size) {
      const without = new Set([...least.cut.without, ...left.slice(from, from + size)])
      if (await fails(least.days, { ...least.cut, without })) least = { ...least, cut: { ...least.cut, without } }
    }
  }
  let until = (await runSeed({ seed, days: least.days, cut: least.cut })).events
  for (let step = Math.ceil(until / 2); step >= 1; step = step === 1 ? 0 : Math.ceil(step / 2)) {
    while (until - step >= 0 && (await fails(least.days, { ...least.cut, until: until - step }))) until -= step
  }
  const ended: Cut = { ...least.cut, until }
  return (await fails(least.days, ended)) ? { ...least, cut: ended } : least
}
