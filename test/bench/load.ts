// G7: a policy of 20,000 entries from its files to its plan, beside `yaml` parsing the same texts alone.
import { parse } from 'yaml'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { beside, publish, took, turns } from './bench.ts'
import { bigWorld, planOf, resolveAll } from './big.ts'
import { openFolder } from './world.ts'

const ENTRIES = 20_000
const LOAD_ROUNDS = 7

const world = bigWorld({ scopes: ENTRIES, people: ENTRIES, drifted: 0 })
const folder = openFolder()
const files = world.texts.map((text, part) => folder.write(`policy${part}.yaml`, text))
async function load() {
  const loaded = await loadPolicies(files, { now: world.now })
  const policy = loaded.sets.get('bench')
  if (!policy) throw new Error(loaded.problems[0]?.message ?? 'no policy')
  return policy
}
const { bare, loading, whole } = await turns(
  {
    bare: () => took(() => world.texts.map((text) => parse(text, { uniqueKeys: false }))),
    loading: () => took(load),
    whole: () =>
      took(async () => {
        const policy = await load()
        planOf(world, policy, resolveAll(world, policy))
      }),
  },
  { rounds: LOAD_ROUNDS },
)
publish(`Loading a policy of ${ENTRIES} entries (${Math.round(world.texts.join('').length / 1024)} KiB), medians of ${LOAD_ROUNDS}`, [
  beside('G7', 'parse, positions, schema, duplicates, plan, beside yaml.parse', [whole, bare], 1.25),
  beside('G7', 'the same without the plan', [loading, bare]),
])
