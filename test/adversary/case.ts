// Runs one random case from its seed and reports its breaches; never throws because of what the program did.
import type { Company } from './company.ts'
import { kinds, turns } from './kinds/all.ts'
import { randomOf } from './random.ts'
import { type Breach, openWorld, type World } from './world.ts'

interface CaseResult {
  readonly seed: number
  readonly kind: string
  readonly breaches: readonly Breach[]
  readonly story: readonly string[]
}

/** The case of a seed; `only` names the kind that it must be. */
export async function runCase(seed: number, only?: string): Promise<CaseResult> {
  const name = only ?? turns[seed % turns.length] ?? 'converge'
  const kind = kinds[name]
  if (!kind) throw new Error(`no kind ${name}; there are ${Object.keys(kinds).join(', ')}`)
  const worlds: World[] = []
  const open = async (company: Company, switches: readonly string[] = []): Promise<World> => {
    const world = await openWorld(company, switches)
    worlds.push(world)
    return world
  }
  const broken: Breach[] = []
  try {
    await kind(randomOf(seed), open)
  } catch (error) {
    broken.push({ rule: 'the trial itself ran to its end', found: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
  for (const world of worlds) await world.close()
  return { seed, kind: name, breaches: [...worlds.flatMap((w) => w.breaches), ...broken], story: worlds.flatMap((w) => w.story) }
}

/** A result as text: the breaches first, then what led to them. */
export function tell(result: CaseResult): string {
  const { seed, kind, breaches, story } = result
  const told = breaches.map((b) => `  ✗ ${b.rule}\n    ${b.found}`)
  return [
    `seed ${seed}: ${kind}: ${breaches.length} breaches; again: npm run adversary -- --first ${seed} --seeds 1 --only ${kind}`,
    ...told,
    ...story.map((line) => `    | ${line.replaceAll('\n', '\n    | ')}`),
  ].join('\n')
}
