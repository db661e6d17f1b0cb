// G28: `simulate` of 12 cycles, 5,000 people, as a process with the heap of the image: seconds of CPU (it works on
// one core, and other work on the machine does not count), and how they grow with people. The ledger is
// made by the real adapter.
import { join } from 'node:path'
import { credits } from '../../src/core/model/units.ts'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import type { Ledger } from '../../src/ports.ts'
import { DAY, entryOf } from '../support/declare.ts'
import { atMost, median, publish, type Row, seconds } from './bench.ts'
import { build, MAIN, timeOf } from './built.ts'
import { virtualClock } from './instant.ts'
import { openFolder } from './world.ts'

const PEOPLE = [1_250, 2_500, 5_000]
const GROUPS = 50
const ROUNDS = 5
/** Old space of the image (G10), with room for nothing else. */
const OLD_SPACE_MIB = 64
const MOST_MS = { caps: 1_000, pools: 2_000 } as const
const FROM = Date.UTC(2025, 10, 1)
const UNTIL = Date.UTC(2026, 10, 2)

const emailOf = (person: number): string => `person${person}@example.com`

/** Readings of a year: on weekdays everybody uses something, a fifth of them a lot. */
async function record(ledger: Ledger, people: number): Promise<void> {
  const emails = Array.from({ length: people }, (_, person) => emailOf(person))
  const highest = new Map(emails.map((email) => [email, credits(0)]))
  let month = -1
  for (let at = FROM; at < UNTIL; at += DAY) {
    const isNewCycle = month !== -1 && month !== new Date(at).getUTCMonth()
    month = new Date(at).getUTCMonth()
    if (isNewCycle) for (const email of emails) highest.set(email, credits(0))
    if ((at / DAY + 3) % 7 > 4) continue
    const increases = new Map(
      emails.map((email, person) => [email, credits(((person * 7919 + at / DAY) % 40) * (person % 5 === 0 ? 2 : 0.5) + 1)]),
    )
    for (const [email, more] of increases) highest.set(email, credits((highest.get(email) ?? 0) + more))
    await ledger.saveBurn({
      burned: { team: credits(0), groups: {}, highest },
      readAt: at + DAY / 2,
      increases,
      isNewCycle,
      raised: emails,
    })
  }
  const cycle = { startAt: Date.UTC(2026, 10, 1), endAt: Date.UTC(2026, 11, 1) }
  const readAt = UNTIL
  ledger.saveFact('usage', {
    roster: {
      people: emails.toSorted().map((email) => ({ email, name: email, status: 'approved', disabled: false, used: credits(1) })),
      cycle,
      readAt,
      statusesAbsent: false,
      duplicates: [],
    },
    groups: Array.from({ length: GROUPS }, (_, group) => ({
      id: `g${group}`,
      name: `Group ${group}`,
      emails: emails.filter((_, person) => person % GROUPS === group),
      readAt,
    })),
    balance: { creditsPerSeat: credits(300), seats: people, addOnAvailable: credits(1e6), addOnUsed: credits(0), cycle, readAt },
  })
  // A cap in force, so that demand is cut off for some.
  ledger.saveOwned([{ scope: { kind: 'team' }, cap: credits(600), owner: 'policy', entry: entryOf('cap', 600), verifiedAt: FROM }])
  await ledger.commit()
}

const folder = openFolder()
const spec = {
  team: { cap: 400 },
  groups: Array.from({ length: GROUPS }, (_, group) => ({ id: `g${group}`, name: `Group ${group}`, cap: 200 + 10 * group })),
}
const policy = folder.write(
  'acme.yaml',
  JSON.stringify({ apiVersion: 'capkeeper/v1', kind: 'CapPolicy', metadata: { name: 'acme' }, spec: { workspace: 'acme', ...spec } }),
)

/** Everybody is in one of three pools, which are dealt as the daemon does. */
const pooled = folder.write(
  'pooled.yaml',
  JSON.stringify({
    apiVersion: 'capkeeper/v1',
    kind: 'CapPolicy',
    metadata: { name: 'acme' },
    spec: {
      workspace: 'acme',
      ...spec,
      pools: [0, 1, 2].map((rest) => ({
        name: `pool${rest}`,
        members: { groups: spec.groups.filter((_, group) => group % 3 === rest).map(({ id }) => id) },
        credits: 1_000_000,
      })),
    },
  }),
)

async function measure(people: number): Promise<{ readonly caps: number; readonly pools: number }> {
  const file = join(folder.path, `${people}.db`)
  const store = await openLedger({ file, mode: 'write', clock: virtualClock() })
  await record(await store.workspace('acme', 'https://a.example/api/v1'), people)
  await store.close()
  const argv = (path: string): string =>
    [process.execPath, `--max-old-space-size=${OLD_SPACE_MIB}`, MAIN, 'simulate', path, '--ledger', file, '--cycles', '12']
      .map((word) => `'${word}'`)
      .join(' ')
  const times: number[] = []
  for (let round = -1; round < ROUNDS; round += 1) {
    const { cpuMs, output } = timeOf(argv(policy))
    if (!output.includes(' over 12 cycles, ')) throw new Error('not twelve cycles')
    if (round >= 0) times.push(cpuMs)
  }
  // Each pool is dealt on each day, at each end of the band: long enough for one round.
  const { cpuMs: pools, output } = timeOf(argv(pooled))
  if (!output.includes('pool pool0')) throw new Error('no pools')
  return { caps: median(times), pools }
}

build()
const measured: { readonly caps: number; readonly pools: number }[] = []
for (const people of PEOPLE) measured.push(await measure(people))
folder.remove()
const times = measured.map(({ caps }) => caps)
const pools = measured.map((one) => one.pools)
const [quarter = 0, , whole = 0] = times
const [pooledQuarter = 0, , pooledWhole = 0] = pools
const rows: readonly Row[] = [
  {
    goal: 'G28',
    figure: `simulate, 12 cycles, ${PEOPLE.at(-1)} people: CPU, start included, ${OLD_SPACE_MIB} MiB of old space`,
    limit: `<= ${seconds(MOST_MS.caps)}`,
    measured: seconds(whole),
    met: whole <= MOST_MS.caps,
  },
  atMost(
    'G28',
    `the same with ${PEOPLE.join(', ')} people: cost per person, beside the first`,
    times.map(seconds).join(', '),
    whole / 4 / quarter,
    1.25,
  ),
  {
    goal: 'G28',
    figure: `the same with everybody in one of three pools, ${PEOPLE.at(-1)} people`,
    limit: `<= ${seconds(MOST_MS.pools)}`,
    measured: seconds(pooledWhole),
    met: pooledWhole <= MOST_MS.pools,
  },
  atMost(
    'G28',
    `pools with ${PEOPLE.join(', ')} people: cost per person, beside the first`,
    pools.map(seconds).join(', '),
    pooledWhole / 4 / pooledQuarter,
    1.25,
  ),
]
publish(`simulate, medians of ${ROUNDS}`, rows)
