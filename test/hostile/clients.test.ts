// Clients that mean harm, from the table in clients.ts: the daemon goes on, /livez answers, and caps are healed meanwhile. In a light form a few of each
// kind, for a moment each; `npm run hostile` runs them whole.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ATTACKS } from './clients.ts'
import { type Attacker, startAttacker, tried } from './trial.ts'
import { type Daemon, daemon, endAll, heals, IS_HEAVY, liveWithinMs, POD_LIMIT_MIB, type Service, service } from './world.ts'

const [SHARE, FOR_MS] = IS_HEAVY ? [1, 10_000] : [0.05, 200]
const HEALED_WITHIN_MS = 10_000

interface Target {
  readonly on: Daemon
  readonly good: Service
}
interface Parts {
  readonly attacker: Attacker
  readonly open: Target
  readonly guarded: Target
}
const state: { parts?: Parts } = {}

async function target(config: Readonly<Record<string, unknown>>): Promise<Target> {
  const good = await service({}, 200)
  const settings = { usageInterval: '5s' }
  return { good, on: await daemon({ workspaces: { acme: good.url }, settings, config, env: { TOKEN: 'the-token' } }) }
}

beforeAll(async () => {
  const [open, guarded] = await Promise.all([target({}), target({ auth: { token: { env: 'TOKEN' } } })])
  state.parts = { attacker: startAttacker(), open, guarded }
})
afterAll(endAll)

describe('the daemon goes on under clients that send', () => {
  test.each(ATTACKS.map((attack) => [attack.name, attack] as const))('%s', async (_name, attack) => {
    if (!state.parts) throw new Error('no daemon')
    const { open, guarded, attacker } = state.parts
    const at = attack.token ? guarded : open
    const outcome = await tried({ ...at, attacker, attack, share: SHARE, forMs: FOR_MS, healing: IS_HEAVY })
    expect(outcome.ended).toBeUndefined()
    expect(outcome.livezMs).toBeLessThan(liveWithinMs(outcome.livezMs))
    expect(outcome.healedMs).toBeLessThan(HEALED_WITHIN_MS)
    expect(outcome.peakMiB).toBeLessThan(POD_LIMIT_MIB)
  })

  test('all of that, and heals caps', async () => {
    if (!state.parts) throw new Error('no daemon')
    for (const { good } of [state.parts.open, state.parts.guarded]) await heals(good)
  })
})
