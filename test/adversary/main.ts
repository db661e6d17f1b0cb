// `npm run adversary -- --seeds 1000 [--first N] [--only KIND] [--jobs N] [--brief] [--ignore TEXT]`: many random cases. Prints
// each breach with what led to it, and a count; exit code 1 on any breach.
import { parseArgs } from 'node:util'
import { runCase, tell } from './case.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '30' },
    first: { type: 'string', default: '0' },
    only: { type: 'string' },
    jobs: { type: 'string', default: '2' },
    ignore: { type: 'string', multiple: true, default: [] },
    brief: { type: 'boolean', default: false },
  },
})
const first = Number(values.first)
const end = first + Number(values.seeds)
let next = first
let failed = 0
const rules = new Map<string, number>()

async function work(): Promise<void> {
  while (next < end) {
    const seed = next
    next += 1
    const all = await runCase(seed, values.only)
    const result = { ...all, breaches: all.breaches.filter((b) => !values.ignore.some((text) => `${b.rule} ${b.found}`.includes(text))) }
    for (const { rule } of result.breaches) rules.set(rule, (rules.get(rule) ?? 0) + 1)
    if (result.breaches.length === 0) continue
    failed += 1
    console.log(values.brief ? tell({ ...result, story: [] }) : `${tell(result)}\n`)
  }
}

await Promise.all(Array.from({ length: Number(values.jobs) }, work))
for (const [rule, count] of [...rules].sort((a, b) => b[1] - a[1])) console.log(`${String(count).padStart(5)} × ${rule}`)
console.log(`${end - first} cases, ${failed} with breaches`)
process.exitCode = failed > 0 ? 1 : 0
