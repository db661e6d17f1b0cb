// G27: clients of the pages that mean harm (test/hostile/clients.ts) against the built program at the heap of the image: whether it ended, and how long
// /livez and a foreign change waited at worst. A word as its argument chooses the attacks that have it in their name.

import { judged, publish, type Row, seconds } from './bench.ts'
import { build, MAIN } from './built.ts'

build()
process.env['CAPKEEPER_HOSTILE_MAIN'] ??= MAIN
const { ATTACKS } = await import('../hostile/clients.ts')
const { startAttacker, tried } = await import('../hostile/trial.ts')
const { daemon, endAll, POD_LIMIT_MIB, service } = await import('../hostile/world.ts')

/** As many as the heap of the image is for. */
const PEOPLE = 1_000
const FOR_MS = 10_000
const LIVEZ_MS = 1_000
const HEALED_MS = 10_000

const good = await service({}, PEOPLE)
const attacker = startAttacker()
const wanted = process.argv[2] ?? ''
const rows: Row[] = []
for (const [name, { token }] of Object.entries(ATTACKS).filter(([one]) => one.includes(wanted))) {
  const config = token ? { auth: { token: { env: 'TOKEN' } } } : {}
  const on = await daemon({
    workspaces: { acme: good.url },
    settings: { interval: '1s', usageInterval: '5s' },
    config,
    env: { TOKEN: 'the-token' },
  })
  const { ended, livezMs, healedMs, peakMiB, bytes } = await tried({ attacks: [name], on, good, attacker, share: 1, forMs: FOR_MS })
  const figure = `${name}: /livez; healed; memory`
  const met = ended === undefined && livezMs <= LIVEZ_MS && healedMs <= HEALED_MS && peakMiB <= POD_LIMIT_MIB
  const measured = ended === undefined ? `${seconds(livezMs)}; ${seconds(healedMs)}; ${Math.round(peakMiB)} MiB` : 'ended'
  rows.push(judged('G27', figure, `1 s; 10 s; ${POD_LIMIT_MIB} MiB`, measured, met))
  console.log(`${name}: ${measured}; ${Math.round(bytes / 1024)} KiB read`)
  on.child.kill('SIGKILL')
  await on.over
}
await endAll()
publish('Clients that mean harm', rows)
process.exit()
