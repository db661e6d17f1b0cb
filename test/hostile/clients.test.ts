// Clients that mean harm, from the table in clients.ts: the daemon goes on, /livez answers, and caps are healed meanwhile. In a light form a few of each
// kind, for a moment each; `npm run hostile` runs them whole.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ATTACKS } from './clients.ts'
import { type Attacker, startAttacker, tried } from './trial.ts'
import { type Daemon, daemon, endAll, IS_HEAVY, liveWithinMs, POD_LIMIT_MIB, type Service, service } from './world.ts'

const [SHARE, FOR_MS] = IS_HEAVY ? [1, 10_000] : [0.05, 200]
const HEALED_WITHIN_MS = 10_000

interface Parts {
  readonly good: Service
  readonly attacker: Attacker
  readonly open: Daemon
  readonly guarded: Daemon
}
const state: { parts?: Parts } = {}

beforeAll(async () => {
  const good = await service({}, 200)
  const options = { workspaces: { acme: good.url }, settings: { usageInterval: '5s' }, env: { TOKEN: 'the-token' } }
  const [open, guarded] = await Promise.all([daemon(options), daemon({ ...options, config: { auth: { token: { env: 'TOKEN' } } } })])
  state.parts = { good, attacker: startAttacker(), open, guarded }
})
afterAll(endAll)

describe('the daemon goes on under clients that send', () => {
  test.each(ATTACKS.map((attack) => [attack.name, attack] as const))('%s', async (_name, attack) => {
    if (!state.parts) throw new Error('no daemon')
    const { open, guarded, ...parts } = state.parts
    const outcome = await tried({ ...parts, attack, on: attack.token ? guarded : open, share: SHARE, forMs: FOR_MS })
    expect(outcome.ended).toBeUndefined()
    expect(outcome.livezMs).toBeLessThan(liveWithinMs(outcome.livezMs))
    expect(outcome.healedMs).toBeLessThan(HEALED_WITHIN_MS)
    expect(outcome.peakMiB).toBeLessThan(POD_LIMIT_MIB)
  })
})
