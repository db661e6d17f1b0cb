// G26: how long the built program takes to start for what needs no network, beside a Node that does nothing.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { atMost, median, ms, publish } from './bench.ts'
import { build, MAIN } from './built.ts'
import { openFolder } from './world.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const POLICIES = join(ROOT, 'policies')
/** What a policy without any time zone of its own looks like; the examples have one, and a zone costs the start of `Intl`. */
const IN_UTC = 'apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: utc}\nspec: {team: {cap: 500}}\n'
const START_ROUNDS = 21
const WARM_UPS = 3

const folder = openFolder()
const SIDES = {
  node: ['-e', '0'],
  help: [MAIN, '--help'],
  validate: [MAIN, 'validate', folder.write('utc.yaml', IN_UTC)],
  zoned: [MAIN, 'validate', POLICIES],
} as const
type Side = keyof typeof SIDES

function start(side: Side): number {
  const started = performance.now()
  const { status, stderr } = spawnSync(process.execPath, [...SIDES[side]], { encoding: 'utf8' })
  const tookMs = performance.now() - started
  if (status !== 0) throw new Error(`${side} ended with ${status}:\n${stderr}`)
  return tookMs
}

build()
const times: Record<Side, number[]> = { node: [], help: [], validate: [], zoned: [] }
for (let round = -WARM_UPS; round < START_ROUNDS; round += 1) {
  for (const side of Object.keys(SIDES) as Side[]) {
    const tookMs = start(side)
    if (round >= 0) times[side].push(tookMs)
  }
}
folder.remove()
const floor = median(times.node)
const beside = (side: Side): readonly [string, number] => [`${ms(median(times[side]))} / ${ms(floor)}`, median(times[side]) / floor]
publish(`Start-up, medians of ${START_ROUNDS}`, [
  atMost('G26', 'the built program: --help, beside node -e 0', ...beside('help'), 3),
  atMost('G26', 'the built program: validate, beside node -e 0', ...beside('validate'), 3),
  atMost('G26', 'the same for policies/, which name a time zone', ...beside('zoned'), 3),
])
