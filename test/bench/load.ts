// G7: a policy of 20,000 entries from its files to its plan, beside `yaml` parsing the same texts alone.
import { parse } from 'yaml'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { atMost, median, ms, publish, told } from './bench.ts'
import { bigWorld, planOf, resolveAll } from './big.ts'
import { openFolder } from './world.ts'

const ENTRIES = 20_000
const LOAD_ROUNDS = 7

const world = bigWorld({ scopes: ENTRIES, people: ENTRIES, drifted: 0 })
const folder = openFolder()
try {
  const files = world.texts.map((text, part) => folder.write(`policy${part}.yaml`, text))
  const load = () => {
    const loaded = loadPolicies(files, { now: world.now })
    const policy = loaded.sets.get('bench')
    if (!policy) throw new Error(loaded.problems[0]?.message ?? 'no policy')
    return policy
  }
  const took = (work: () => unknown): number => {
    const started = performance.now()
    work()
    return performance.now() - started
  }
  const bare: number[] = []
  const loading: number[] = []
  const whole: number[] = []
  for (let round = -1; round < LOAD_ROUNDS; round += 1) {
    const times = [
      took(() => world.texts.map((text) => parse(text, { uniqueKeys: false }))),
      took(load),
      took(() => {
        const policy = load()
        planOf(world, policy, resolveAll(world, policy))
      }),
    ] as const
    if (round < 0) continue
    bare.push(times[0])
    loading.push(times[1])
    whole.push(times[2])
  }
  const floor = median(bare)
  publish(`Loading a policy of ${ENTRIES} entries (${Math.round(world.texts.join('').length / 1024)} KiB), medians of ${LOAD_ROUNDS}`, [
    atMost(
      'G7',
      'parse, positions, schema, duplicates, plan, beside yaml.parse',
      `${ms(median(whole))} / ${ms(floor)}`,
      median(whole) / floor,
      1.25,
    ),
    told('G7', 'the same without the plan', `${ms(median(loading))} / ${ms(floor)}`, median(loading) / floor),
  ])
} finally {
  folder.remove()
}
