// A workspace without caps, told apart from a key without permissions, in every style of errors: the client over the sandbox.

import { describe, expect, it, onTestFinished } from 'vitest'
import { probesOf } from '../../src/api/probe.ts'
import { TEAM, userScope } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { startSandbox } from '../support/sandbox.ts'
import { hastyClock, keyRing, testClient } from './world.ts'

const ADA = userScope('ada.lovelace@example.com')
const STYLES = ['error', 'connect', 'text', 'ok'] as const
const rate = { start: 50, max: 50, concurrency: 4 }

async function over(switches: Parameters<typeof startSandbox>[0], key: string) {
  const clock = hastyClock()
  const { transport, calls, close } = await startSandbox(switches)
  onTestFinished(close)
  const options = { transport, clock, random: { next: () => 0.5 }, rate }
  return { calls, options, client: testClient(() => ({}), { ...options, keys: keyRing(key) }, clock).client }
}

describe.each(STYLES)('with errors as %s', (errors) => {
  it('a plan without caps is recognised with any key, and people are still read', async () => {
    for (const key of ['sandbox-admin', 'sandbox-billing-read']) {
      const { client, calls } = await over({ errors, plan: 'no-caps' }, key)
      expect(await client.readBalance()).toBe('unavailable')
      expect(await client.readCap(TEAM)).toMatchObject({ observed: 'unknown', failure: { lacksFeature: true } })
      expect(await client.readCap(ADA)).toMatchObject({ observed: 'unknown', failure: { lacksFeature: true } })
      expect(await client.writeCap(TEAM, credits(5))).toMatchObject({ kind: 'refused', failure: { lacksFeature: true } })
      if (key === 'sandbox-admin') expect((await client.readRoster()).people).toHaveLength(20)
      // Nothing is retried.
      expect(calls.count('GetUsageConfig')).toBe(2)
      expect(calls.count('UsageConfig')).toBe(1)
    }
  })

  it('a key without the permission is not mistaken for such a plan', async () => {
    const { client } = await over({ errors }, 'sandbox-teams-read')
    const team = await client.readCap(TEAM)
    expect(team.failure).toMatchObject({ kind: 'auth', message: expect.stringContaining('needs Billing Read') })
    expect(team.failure?.lacksFeature).toBeUndefined()
    const written = await client.writeCap(TEAM, credits(5))
    expect(written).toMatchObject({ kind: 'refused', failure: { kind: 'auth' } })
    expect(JSON.stringify(written)).not.toContain('lacksFeature')
    await expect(client.readBalance()).rejects.toMatchObject({ kind: 'auth' })
    expect((await client.readRoster()).people).toHaveLength(20)
  })

  it('a probe of a key on such a plan says that nothing is known about the key', async () => {
    const { options } = await over({ errors, plan: 'no-caps' }, 'sandbox-admin')
    const [probe] = probesOf({ ...options, sources: { default: { env: 'KEY' } }, env: { KEY: 'sandbox-admin' } })
    if (!probe || 'problem' in probe) throw new Error('no probe')
    expect(await probe.mayRead('billingRead', 0)).toMatchObject({ kind: 'unclear' })
    expect(await probe.mayWrite()).toMatchObject({ kind: 'unclear' })
    expect(await probe.mayRead('teamsRead', Date.UTC(2026, 10, 20))).toEqual({ kind: 'held' })
  })
})
