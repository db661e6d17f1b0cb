// From a spend spike to a message on somebody's screen, and back: the daemon, Prometheus with our rules, Alertmanager with our sample.
import { describe, expect, test } from 'vitest'
import { foldUsage, NOTHING_BURNED } from '../../src/core/use/burn.ts'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import { until } from '../support/process.ts'
import { realClock } from '../support/real-clock.ts'
import { hasMonitoring, startMonitoring } from './monitoring.ts'
import { policyText, type World, world } from './world.ts'

const HOUR_MS = 3_600_000
const clock = realClock()

/** The sandbox's cycle is the month. */
const cycleAt = (at: number) => {
  const [year, month] = [new Date(at).getUTCFullYear(), new Date(at).getUTCMonth()]
  return { startAt: Date.UTC(year, month, 1), endAt: Date.UTC(year, month + 1, 1) }
}

/** A day and a half of readings in which nobody used anything, as a daemon that has long been there would have them. */
async function quietReadings({ service, path }: World): Promise<void> {
  const store = await openLedger({ file: path('ledger.db'), mode: 'write', clock })
  const ledger = await store.workspace('acme', service.url)
  let burned = NOTHING_BURNED
  for (let ago = 36; ago > 0; ago -= 1) {
    const readAt = clock.now() - ago * HOUR_MS
    const people = service.sandbox.store
      .people()
      .map(({ email }) => ({ email, name: email, status: 'approved' as const, disabled: false, used: burned.team }))
    const step = foldUsage(burned, { people, readAt, cycle: cycleAt(readAt), statusesAbsent: false, duplicates: [] }, [])
    await ledger.saveBurn(step)
    burned = step.burned
  }
  await store.close()
}

/** In the first hours of a cycle there is no burn ratio. */
const isCycleYoung = clock.now() - cycleAt(clock.now()).startAt < 7 * HOUR_MS

interface Trouble {
  readonly alertname: string
  readonly receiver: string
  readonly labels: Readonly<Record<string, string>>
  readonly says: RegExp
  cause(at: World): void
  cure(at: World): void
}

const BROKEN_POLICY: Trouble = {
  alertname: 'CapkeeperPolicyInvalid',
  receiver: 'capkeeper-tickets',
  labels: { workspace: 'acme', severity: 'warning', topic: 'policy' },
  says: /policy files of acme .* digest \w+\) stays in force/,
  cause: ({ policy }) => policy(policyText('team: {cap: lots}')),
  cure: ({ policy }) => policy(policyText('team: {cap: 500}')),
}

/** One person spends as much as 20 people should in nine days; then credits are bought. */
const SPEND_SPIKE: Trouble = {
  alertname: 'CapkeeperBurnFast',
  receiver: 'capkeeper-pages',
  labels: { workspace: 'acme', severity: 'critical', topic: 'burn' },
  says: /Over the last 24 h acme burned \d+\.\d times .* over the last 6 h \d+\.\d times/,
  cause: ({ service: { sandbox } }) => sandbox.recordUse(sandbox.store.people()[0]?.email ?? '', 6_000 * 100),
  cure({ service: { sandbox } }) {
    sandbox.store.setMeta('addOnAvailable', 100_000_000)
    sandbox.reload()
  },
}

const troubles = isCycleYoung ? [BROKEN_POLICY] : [BROKEN_POLICY, SPEND_SPIKE]

describe.skipIf(!hasMonitoring)('alerts (need prometheus and prometheus-alertmanager)', () => {
  test(`of a broken policy and of ${isCycleYoung ? 'nothing else, as the month has just begun,' : 'a spend spike'} arrive, say what to do, and are taken back`, async () => {
    const at = await world()
    await quietReadings(at)
    const daemon = await at.daemon()
    if (!isCycleYoung) await daemon.shows('capkeeper_burn_ratio', 0, { workspace: 'acme', window: '6h' })
    const monitoring = await startMonitoring(at, daemon.url)
    const names = troubles.map((trouble) => trouble.alertname)
    expect(monitoring.told.filter(({ labels }) => names.includes(labels['alertname'] ?? ''))).toEqual([])

    for (const trouble of troubles) trouble.cause(at)
    for (const { alertname, receiver, labels, says } of troubles) {
      const told = await monitoring.hears(alertname, 'firing')
      expect(told).toMatchObject({ receiver, labels: { alertname, ...labels }, annotations: { description: expect.stringMatching(says) } })
      const runbook = `Runbook: deploy/RUNBOOK.md#${alertname.toLowerCase()}`
      const message = await until(`the message of ${alertname}`, () => monitoring.slack.find(({ text }) => text.includes(runbook)))
      expect(message.title).toMatch(/^\[FIRING \d+\] capkeeper acme \((critical|warning)\)$/)
      expect(message.text).toContain(told.annotations['summary'])
    }

    for (const trouble of troubles) trouble.cure(at)
    for (const { alertname } of troubles) await monitoring.hears(alertname, 'resolved')
  })
})
