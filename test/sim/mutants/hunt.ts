// Lives one seed after the other until an invariant is violated, and prints what was found as one line of JSON. `main.ts` starts it with a
// planted bug, or without one.
import { parseArgs } from 'node:util'
import { runSeed } from '../run.ts'

const { values } = parseArgs({ options: { seeds: { type: 'string', default: '1000' }, days: { type: 'string', default: '2' } } })

for (let seed = 1; seed <= Number(values.seeds); seed += 1) {
  const [first] = (await runSeed({ seed, days: Number(values.days) })).violations
  if (!first) continue
  console.log(JSON.stringify({ seed, invariant: first.invariant, message: first.message }))
  break
}
console.log(JSON.stringify('over'))
