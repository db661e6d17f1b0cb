// Broken policies: all errors are reported at once, each with file:line:column (only the line where the documents leave the column open),
// exit code 65, and no request is sent.
import { person } from '../company.ts'
import type { Random } from '../random.ts'
import { type Kind, outcome } from './kind.ts'

interface Line {
  readonly text: string
  /** The text on the line at which the error is reported; absent without an error, or where the column is open. */
  readonly marks?: string
  /** The line has an error, at any column. */
  readonly wrong?: true
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
    ...(random.chance(0.4) ? twice(random) : []),
    { text: '  grants:' },
    ...grantLines(random),
  ]
  world.write(`${lines.map((line) => line.text).join('\n')}\n`)
  const places = lines.flatMap((line, i) => {
    if (line.marks !== undefined) return [`p.yaml:${i + 1}:${line.text.indexOf(line.marks) + 1}:`]
    return line.wrong ? [`p.yaml:${i + 1}:`] : []
  })
  const due = places.length > 0 ? 65 : 0
  for (const words of [['validate'], random.chance(0.5) ? ['plan'] : ['apply', '--yes']]) {
    const run = await world.run(...words)
    if (words[0] === 'validate' || due === 65) {
      if (run.code !== due) world.breach('65 invalid policy or config', `${words.join(' ')}: exit ${run.code}: ${outcome(run)}`)
    }
    const said = `${run.out}${run.talk}`
    for (const place of places) {
      if (!said.includes(place))
        world.breach(
          'Every error names file:line:column, and all are reported at once (docs/policies.md)',
          `${words.join(' ')}: nothing at ${place} told: ${outcome(run)}`,
        )
    }
    if (due === 65 && run.seen.length > 0)
      world.breach('An invalid policy stops the command', `${words.join(' ')}: ${run.seen.length} requests`)
  }
}

function capLine(random: Random, head: string, tail: string): Line {
  if (random.chance(0.5)) return { text: `${head}${random.int(1, 900)}${tail}` }
  const cap = random.pick(bad)
  return { text: `${head}${cap}${tail}`, marks: cap === '~' ? `cap: ${cap}` : `${cap}${tail}` }
}

function groupLine(random: Random, i: number): Line {
  if (random.chance(0.1)) return { text: `    - {id: grp_${i}, cap: 5}`, wrong: true }
  return capLine(random, `    - {id: grp_${i}, name: "Group ${i}", cap: `, '}')
}

function userLine(random: Random, i: number): Line {
  const line = capLine(random, `    - {email: u${i}@adv.example, cap: `, '}')
  if (random.chance(0.1)) return { text: `    - {emial: u${i}@adv.example, cap: 5}`, marks: 'emial' }
  if (random.chance(0.1)) return { text: `    - {email: u${i}@adv.example, cap: 0}`, marks: '0}' }
  return line
}

/** The same person twice, with another case of letters; the second cap may be wrong as well: both errors are reported. */
function twice(random: Random): readonly Line[] {
  const second = capLine(random, '    - {email: " D@Adv.Example", cap: ', '}')
  return [
    { text: '    - {email: d@adv.example, cap: 5}', wrong: true },
    { ...second, wrong: true },
  ]
}

function grantLines(random: Random): readonly Line[] {
  const tail = 'until: 2999-01-31, reason: trial}'
  const kinds: readonly (readonly Line[])[] = [
    [{ text: `    - {user: ok@adv.example, cap: 7, ${tail}` }],
    [
      { text: `    - {user: x@adv.example, cap: 7, ${tail}`, wrong: true },
      { text: `    - {user: x@adv.example, cap: 8, ${tail}`, wrong: true },
    ],
    [{ text: '    - {user: c@adv.example, cap: 7, until: cycleEnd, reason: trial}', wrong: true }],
    [{ text: '    - {user: r@adv.example, cap: 7, until: 2999-01-31}', wrong: true }],
    [{ text: '    - {user: b@adv.example, cap: 7, add: 9, until: 2999-01-31, reason: trial}', wrong: true }],
    [{ text: '    - {user: t@adv.example, cap: 7, until: soon, reason: trial}', marks: 'soon' }],
    [{ text: `    - {group: grp_none, cap: 7, ${tail}`, wrong: true }],
    [capLine(random, '    - {user: q@adv.example, cap: ', `, ${tail}`)],
  ]
  return random.sample(kinds, random.int(1, 4)).flat()
}
