// From a spend spike to a message on somebody's screen, and back: the daemon, Prometheus with our rules, Alertmanager with our sample.
import { describe, expect, test } from 'vitest'
import { foldUsage, NOTHING_BURNED } from '../../src/core/burned.ts'
import { openLedger } from '../../src/daemon/ledger.ts'
import { cycleAt } from '../../src/sandbox/time.ts'
import { until } from '../support/process.ts'
import { realClock } from '../support/real-clock.ts'
import { hasMonitoring, startMonitoring } from './monitoring.ts'
import { policyText, type World, world } from './world.ts'

const HOUR_MS = 3_600_000
const clock = realClock()

/** A day and a half of readings in which nobody used anything, as a daemon that has long been there would have them. */
function quietReadings({ service, path }: World): void {
  const store = openLedger({ file: path('ledger.db'), mode: 'write', clock })
  const ledger = store.workspace('acme', service.url)
  let burned = NOTHING_BURNED
  for (let ago = 36; ago > 0; ago -= 1) {
    const readAt = clock.now() - ago * HOUR_MS
    const people = service.sandbox.store
      .people()
      .map(({ email }) => ({ email, name: email, status: 'approved' as const, disabled: false, used: burned.team }))
    const step = foldUsage(burned, { people, readAt, cycle: cycleAt(readAt), statusesAbsent: false, duplicates: [] }, [])
    ledger.saveBurn(step)
    burned = step.burned
  }
  store.close()
}

/** In the first hours of a cycle there is no burn ratio; the sandbox's cycle is the month. */
const isCycleYoung = clock.now() - cycleAt(clock.now()).startAt < 7 * HOUR_MS

describe.skipIf(!hasMonitoring)('an alert (needs prometheus and prometheus-alertmanager)', () => {
  test('of a broken policy arrives with its words, and is taken back when the policy is whole', async () => {
    const at = await world()
    const daemon = await at.daemon()
    const monitoring = await startMonitoring(at, daemon.url)
    at.policy(policyText('team: {cap: lots}'))
    const fired = await monitoring.hears('CapkeeperPolicyInvalid', 'firing')
    expect(fired).toMatchObject({ receiver: 'capkeeper-tickets', labels: { workspace: 'acme', severity: 'warning', topic: 'policy' } })
    expect(fired.annotations['description']).toMatch(/policy files of acme .* digest \w+\) stays in force/)
    at.policy(policyText('team: {cap: 500}'))
    await monitoring.hears('CapkeeperPolicyInvalid', 'resolved')
  }, 60_000)

  test.skipIf(isCycleYoung)(
    'of a spend spike reaches those on call, and is taken back when credits were bought (not in the first hours of a month)',
    async () => {
      const at = await world()
      quietReadings(at)
      const daemon = await at.daemon()
      await daemon.shows('capkeeper_burn_ratio', 0, { workspace: 'acme', window: '6h' })
      const monitoring = await startMonitoring(at, daemon.url)
      expect(monitoring.told.filter((one) => one.labels['alertname'] === 'CapkeeperBurnFast')).toEqual([])

      const [spender] = at.service.sandbox.store.people()
      at.service.sandbox.recordUse(spender?.email ?? '', 6_000 * 100)
      const fired = await monitoring.hears('CapkeeperBurnFast', 'firing')
      expect(fired).toMatchObject({ receiver: 'capkeeper-pages', labels: { workspace: 'acme', severity: 'critical', topic: 'burn' } })
      expect(fired.annotations['summary']).toMatch(/^acme burns .* at \d+\.\d times an even pace$/)
      expect(fired.annotations['description']).not.toMatch(/<no value>|error/)
      const message = await until('the message', () => monitoring.slack.find(({ text }) => text.includes('#capkeeperburnfast')))
      expect(message).toMatchObject({
        channel: '#capkeeper-alerts',
        title: expect.stringMatching(/^\[FIRING \d+\] capkeeper acme \(critical\)$/),
      })
      expect(message.text).toContain('Runbook: deploy/RUNBOOK.md#capkeeperburnfast')

      at.service.sandbox.store.setMeta('addOnAvailable', 100_000_000)
      at.service.sandbox.reload()
      await monitoring.hears('CapkeeperBurnFast', 'resolved')
    },
    60_000,
  )
})
