// G26: how long the built program takes to start for what needs no network, beside a Node that does nothing.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { beside, publish, turns } from './bench.ts'
import { build, MAIN } from './built.ts'
import { openFolder } from './world.ts'

const POLICIES = join(import.meta.dirname, '../../policies')
/** What a policy without any time zone of its own looks like; the examples have one, and a zone costs the start of `Intl`. */
const IN_UTC = 'apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: utc}\nspec: {team: {cap: 500}}\n'
const START_ROUNDS = 21
const WARM_UPS = 3

function start(...argv: readonly string[]): number {
  const started = performance.now()
  const { status, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' })
  const tookMs = performance.now() - started
  if (status !== 0) throw new Error(`${argv.join(' ')} ended with ${status}:\n${stderr}`)
  return tookMs
}

const utc = openFolder().write('utc.yaml', IN_UTC)
build()
const times = await turns(
  {
    node: () => start('-e', '0'),
    help: () => start(MAIN, '--help'),
    validate: () => start(MAIN, 'validate', utc),
    zoned: () => start(MAIN, 'validate', POLICIES),
  },
  { rounds: START_ROUNDS, warmUps: WARM_UPS },
)
publish(`Start-up, medians of ${START_ROUNDS}`, [
  beside('G26', 'the built program: --help, beside node -e 0', [times.help, times.node], 3),
  beside('G26', 'the built program: validate, beside node -e 0', [times.validate, times.node], 3),
  beside('G26', 'the same for policies/, which name a time zone', [times.zoned, times.node], 3),
])
