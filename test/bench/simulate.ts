// G28: `simulate` of 12 cycles, 5,000 people, as a process with the heap of the image: seconds of CPU (it works on
// one core, and other work on the machine does not count), and how they grow with people. The ledger is
// made by the real adapter.
import { join } from 'node:path'
import { credits } from '../../src/core/model/units.ts'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import type { Ledger } from '../../src/ports.ts'
import { DAY, entryOf } from '../support/declare.ts'
import { type RecordedPerson, recordCompany } from '../support/recorded.ts'
import { atMost, publish, ROUNDS, type Row, seconds, turns, within } from './bench.ts'
import { build, MAIN, timeOf } from './built.ts'
import { virtualClock } from './instant.ts'
import { openFolder, policyText } from './world.ts'

const PEOPLE = [1_250, 2_500, 5_000]
const GROUPS = 50
/** Old space of the image (G10), with room for nothing else. */
const OLD_SPACE_MIB = 64
const MOST_MS = { caps: 1_000, pools: 2_000 } as const
const FROM = Date.UTC(2025, 10, 1)
const UNTIL = Date.UTC(2026, 10, 2)

/** On weekdays everybody uses something, a fifth of them a lot. */
const usesOf =
  (person: number): RecordedPerson['uses'] =>
  ({ at, weekday }) =>
    weekday > 4 ? 0 : ((person * 7919 + at / DAY) % 40) * (person % 5 === 0 ? 2 : 0.5) + 1

/** Readings of a year. */
async function record(ledger: Ledger, count: number): Promise<void> {
  const people = Array.from({ length: count }, (_, person) => ({ email: `person${person}@example.com`, uses: usesOf(person) }))
  const groups = Array.from({ length: GROUPS }, (_, group) => ({
    ...{ id: `g${group}`, name: `Group ${group}` },
    emails: people.flatMap(({ email }, person) => (person % GROUPS === group ? [email] : [])),
  }))
  await recordCompany(ledger, { people, groups, fromAt: FROM, untilAt: UNTIL, creditsPerSeat: 300 })
  // A cap in force, so that demand is cut off for some.
  ledger.saveOwned([{ scope: { kind: 'team' }, cap: credits(600), owner: 'policy', entry: entryOf('cap', 600), verifiedAt: FROM }])
  await ledger.commit()
}

const folder = openFolder()
const spec = {
  team: { cap: 400 },
  groups: Array.from({ length: GROUPS }, (_, group) => ({ id: `g${group}`, name: `Group ${group}`, cap: 200 + 10 * group })),
}
const policy = folder.write('acme.yaml', policyText('acme', spec))
/** Everybody is in one of three pools, which are dealt as the daemon does. */
const pools = [0, 1, 2].map((rest) => ({
  name: `pool${rest}`,
  members: { groups: spec.groups.filter((_, group) => group % 3 === rest).map(({ id }) => id) },
  credits: 1_000_000,
}))
const pooled = folder.write('pooled.yaml', policyText('acme', { ...spec, pools }))

async function measure(people: number): Promise<{ readonly caps: number; readonly pools: number }> {
  const file = join(folder.path, `${people}.db`)
  const store = await openLedger({ file, mode: 'write', clock: virtualClock() })
  await record(await store.workspace('acme', 'https://a.example/api/v1'), people)
  await store.close()
  const cpuOf = (path: string, wanted: string): number => {
    const argv = [process.execPath, `--max-old-space-size=${OLD_SPACE_MIB}`, MAIN, 'simulate', path, '--ledger', file, '--cycles', '12']
    const { cpuMs, output } = timeOf(argv.map((word) => `'${word}'`).join(' '))
    if (!output.includes(wanted)) throw new Error(`${path}: there is no${wanted}`)
    return cpuMs
  }
  const { caps } = await turns({ caps: () => cpuOf(policy, ' over 12 cycles, ') })
  // Each pool is dealt on each day, at each end of the band: long enough for one round.
  return { caps, pools: cpuOf(pooled, 'pool pool0') }
}

build()
const measured: { readonly caps: number; readonly pools: number }[] = []
for (const people of PEOPLE) measured.push(await measure(people))
const grown = (figure: string, times: readonly number[]): Row =>
  atMost('G28', figure, times.map(seconds).join(', '), (times.at(-1) ?? 0) / 4 / (times[0] ?? 0), 1.25)
const whole = measured.at(-1) ?? { caps: Number.NaN, pools: Number.NaN }
const most = PEOPLE.at(-1)
publish(`simulate, medians of ${ROUNDS}`, [
  within(
    'G28',
    `simulate, 12 cycles, ${most} people: CPU, start included, ${OLD_SPACE_MIB} MiB of old space`,
    whole.caps,
    MOST_MS.caps,
    seconds,
  ),
  grown(
    `the same with ${PEOPLE.join(', ')} people: cost per person, beside the first`,
    measured.map(({ caps }) => caps),
  ),
  within('G28', `the same with everybody in one of three pools, ${most} people`, whole.pools, MOST_MS.pools, seconds),
  grown(
    `pools with ${PEOPLE.join(', ')} people: cost per person, beside the first`,
    measured.map((one) => one.pools),
  ),
])
