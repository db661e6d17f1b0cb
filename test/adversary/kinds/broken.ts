// Broken policies: every error at once, each at its file:line:column, exit 65, and nothing is read or written.
import { person } from '../company.ts'
import type { Random } from '../random.ts'
import { type Kind, outcome } from './kind.ts'

interface Line {
  readonly text: string
  /** What the line is wrong about starts here; absent when nothing is. */
  readonly marks?: string
}

const bad = ['1e3', '0x10', '010', '500.0', '1_000', '-5', '5x', '"100"', 'true', '2147483648', '.5', '~', 'None']

export const broken: Kind = async (random, open) => {
  const world = await open({ people: [person('p1')], groups: [], caps: new Map(), creditsPerSeat: 500, addOnAvailable: 1000 })
  world.configure({})
  const lines: readonly Line[] = [
    { text: 'apiVersion: capkeeper/v1' },
    { text: 'kind: CapPolicy' },
    { text: 'metadata: {name: acme}' },
    { text: 'spec:' },
    ...(random.chance(0.5) ? [capLine(random, '  team: {cap: ', '}')] : []),
    { text: '  groups:' },
    ...Array.from({ length: random.int(1, 3) }, (_, i) => groupLine(random, i)),
    { text: '  users:' },
    ...Array.from({ length: random.int(2, 6) }, (_, i) => userLine(random, i)),
  ]
  world.write(`${lines.map((line) => line.text).join('\n')}\n`)
  const places = lines.flatMap((line, i) => (line.marks === undefined ? [] : [`p.yaml:${i + 1}:${line.text.indexOf(line.marks) + 1}`]))
  for (const words of [['validate'], ['plan'], ['apply', '--yes']]) {
    const run = await world.run(...words)
    const due = places.length > 0 ? 65 : 0
    if (words[0] === 'validate' || due === 65) {
      if (run.code !== due) world.breach('65 invalid policy or config (section 3)', `${words.join(' ')}: exit ${run.code}: ${outcome(run)}`)
    }
    const said = `${run.out}${run.talk}`
    for (const place of places)
      if (!said.includes(place))
        world.breach(
          'Every error names file:line:column, and all are reported at once (section 2)',
          `${words.join(' ')}: nothing at ${place}; told: ${outcome(run)}`,
        )
    if (due === 65 && run.seen.length > 0)
      world.breach('An invalid policy stops the command (section 3)', `${words.join(' ')}: ${run.seen.length} requests`)
  }
}

function capLine(random: Random, head: string, tail: string): Line {
  if (random.chance(0.5)) return { text: `${head}${random.int(1, 900)}${tail}` }
  const cap = random.pick(bad)
  return { text: `${head}${cap}${tail}`, marks: cap === '~' ? `cap: ${cap}` : `${cap}${tail}` }
}

function groupLine(random: Random, i: number): Line {
  return capLine(random, `    - {id: grp_${i}, name: "Group ${i}", cap: `, '}')
}

/** A user; with some chance one that was there before, in other letters, so that two things can be wrong in one file. */
function userLine(random: Random, i: number): Line {
  const line = capLine(random, `    - {email: u${i}@adv.example, cap: `, '}')
  if (random.chance(0.1)) return { text: `    - {emial: u${i}@adv.example, cap: 5}`, marks: 'emial' }
  if (random.chance(0.1)) return { text: `    - {email: u${i}@adv.example, cap: 0}`, marks: '0}' }
  return line
}
