// All known cases, each with a sentence as its name; `npm run adversary -- --known [TEXT]` runs the cases with the text in their names.
import type { CaseResult } from './case.ts'
import type { Company } from './company.ts'
import { guardCases } from './known/guards.ts'
import type { Known } from './known/known.ts'
import { livingCases } from './known/living.ts'
import { passCases } from './known/passes.ts'
import { readCases } from './known/reads.ts'
import { ruleCases } from './known/rules.ts'
import { tellingCases } from './known/telling.ts'
import { wordCases } from './known/words.ts'
import type { Programs } from './program.ts'
import { type Breach, openWorld, type World } from './world.ts'

export const knownCases: readonly Known[] = [
  ...guardCases,
  ...passCases,
  ...readCases,
  ...ruleCases,
  ...livingCases,
  ...tellingCases,
  ...wordCases,
]

/** Runs one known case on a world of its own. */
export async function runKnown(known: Known, programs?: Programs): Promise<Omit<CaseResult, 'seed'>> {
  const worlds: World[] = []
  const broken: Breach[] = []
  const open = async (company: Company, switches: readonly string[] = []): Promise<World> => {
    const world = await openWorld(company, switches, programs)
    worlds.push(world)
    return world
  }
  try {
    await known.run(open)
  } catch (error) {
    broken.push({ rule: 'the trial itself ran to its end', found: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
  for (const world of worlds) await world.close()
  return { kind: known.name, breaches: [...worlds.flatMap((w) => w.breaches), ...broken], story: worlds.flatMap((w) => w.story) }
}
