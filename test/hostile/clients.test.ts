// Clients that mean harm, from the table in clients.ts: the daemon goes on, /livez answers, and caps are healed meanwhile. `npm run hostile` tries them
// one by one, some on a workspace of 50,000 people, `npm test` a few of each at the same time.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../support/process.ts'
import { ATTACKS } from './clients.ts'
import { type Attacker, startAttacker, tried } from './trial.ts'
import { type Daemon, daemon, endAll, heals, IS_HEAVY, liveWithinMs, POD_LIMIT_MIB, type Service, service } from './world.ts'

const [PEOPLE, SHARE, FOR_MS] = IS_HEAVY ? [200, 1, 10_000] : [2_000, 0.05, 1_500]
const LARGE = 50_000
/** The most that a config without a rate allows: at more, reading the history of so many people keeps a busy machine at work by itself. */
const RATE = { start: 10, max: 10 }
/** The old space is what deploy/README.md gives for so many people, who are read seldom. */
const OF_LARGE = {
  env: { NODE_OPTIONS: '--max-semi-space-size=1 --max-old-space-size=160' },
  settings: { interval: '5s', usageInterval: '1h', rate: RATE },
}
const HEALED_WITHIN_MS = 10_000
const NAMES = Object.keys(ATTACKS)
const TRIED: readonly (readonly [string, readonly string[]])[] = IS_HEAVY
  ? NAMES.map((name) => [name, [name]])
  : [
      ['all at the same time', NAMES.filter((name) => !ATTACKS[name]?.token)],
      ['all that is about a token', NAMES.filter((name) => ATTACKS[name]?.token)],
    ]

interface Target {
  readonly on: Daemon
  readonly good: Service
}
interface Parts {
  readonly attacker: Attacker
  readonly open: Target
  readonly guarded: Target
  /** The open one, where the heavy cases are left out. */
  readonly large: () => Promise<Target>
}
const state: { parts?: Parts } = {}
const parts = (): Parts => {
  if (!state.parts) throw new Error('no daemon')
  return state.parts
}

async function target(config: Readonly<Record<string, unknown>>, more: object = {}, people = PEOPLE): Promise<Target> {
  const good = await service({}, people)
  const env = { TOKEN: 'the-token', LEDGER_TOKEN: 'the-ledger-token' }
  const on = await daemon({ workspaces: { acme: good.url }, settings: { usageInterval: '5s', rate: RATE }, config, env, ...more })
  await heals(good)
  return { good, on }
}

beforeAll(async () => {
  const tokens = { auth: { token: { env: 'TOKEN' } }, ledgerToken: { env: 'LEDGER_TOKEN' } }
  const [open, guarded] = await Promise.all([target({}), target(tokens, { listen: '0.0.0.0:0' })])
  let made: Promise<Target> | undefined
  const large = async (): Promise<Target> => (made ??= IS_HEAVY ? target({}, OF_LARGE, LARGE) : Promise.resolve(open))
  state.parts = { attacker: startAttacker(), open, guarded, large }
})
afterAll(endAll)

describe('the daemon goes on under clients that send', () => {
  test.each(TRIED)('%s', async (_name, attacks) => {
    const { open, guarded, large, attacker } = parts()
    const { token, large: isLarge } = ATTACKS[attacks[0] ?? ''] ?? {}
    const at = token ? guarded : IS_HEAVY && isLarge ? await large() : open
    const outcome = await tried({ ...at, attacker, attacks, share: SHARE, forMs: FOR_MS })
    expect(outcome.ended).toBeUndefined()
    expect(outcome.livezMs).toBeLessThan(liveWithinMs(outcome.livezMs))
    expect(outcome.healedMs).toBeLessThan(HEALED_WITHIN_MS)
    expect(outcome.peakMiB).toBeLessThan(POD_LIMIT_MIB)
  })

  test('all of that, and heals caps and tells its whole ledger to a client that reads it', async () => {
    const { open, guarded, large } = parts()
    for (const { good } of [open, guarded, await large()]) await heals(good)
    const ledger = await until('the ledger', async () => JSON.parse((await (await large()).on.get('/ledger')).text))
    expect(ledger.workspaces[0].facts.usage.roster.people).toHaveLength(IS_HEAVY ? LARGE : PEOPLE)
  })
})

test('/ledger beyond loopback is served to a client with its token', async () => {
  const { on } = parts().guarded
  for (const [authorization, status] of [
    ['', 401],
    ['Bearer wrong', 401],
    ['Bearer the-token', 401],
    ['Bearer the-ledger-token', 200],
  ] as const)
    expect(await on.get('/ledger', authorization === '' ? {} : { authorization })).toMatchObject({ status })
  expect(on.stderr()).not.toMatch(/the-(ledger-)?token/)
})
