// The daemon while leases come and go: a configuration that is applied meanwhile restarts no workspace that went to another replica; and when a
// replica is ready.
import { expect, test } from 'vitest'
import { configOf, workspaceConfig } from '../../support/configured.ts'
import { type House, house } from '../../support/daemons.ts'
import { MINUTE } from '../../support/living.ts'

const configured = (intervalMs: number) => configOf(...['acme', 'beta'].map((name) => workspaceConfig(name, { intervalMs })))

type Leases = Required<NonNullable<House['leases']>>

/** A replica that keeps these workspaces; acme takes its time to end. */
async function replica(names: readonly string[], more: Partial<Leases> = {}) {
  const held = new Set(names)
  const begun = Promise.withResolvers<Parameters<Leases['begin']>[0]>()
  const ended = Promise.withResolvers<void>()
  const leases = { holds: (name: string) => held.has(name), begin: begun.resolve, ...more }
  const ending = async (name: string) => (name === 'acme' ? ended.promise : undefined)
  const policy = { caps: { team: 500 } }
  const one = await house(['acme', 'beta'], { acme: policy, beta: policy }, { switches: { latency: 500 } }, { leases, ending })
  return { one, held, end: ended.resolve, hooks: await begun.promise }
}

test.each([
  ['whose lease is over', 'beta', true],
  ['that is let go', 'acme', false],
])('of a workspace %s nothing runs here after a configuration that was read meanwhile', async (_case, name, gone) => {
  const { one, held, end, hooks } = await replica(['acme', 'beta'])
  const { clock, daemon } = one
  await clock.pass(MINUTE)
  one.config = configured(6 * MINUTE)
  daemon.configChanged()
  await clock.pass(MINUTE)
  if (gone) held.delete(name)
  const ending = hooks.ending(name, gone)
  await clock.pass(MINUTE)
  end()
  await ending
  held.delete(name)
  await clock.pass(10 * MINUTE)
  const left = ['acme', 'beta'].filter((other) => other !== name)
  const times = (list: readonly string[], which: string) => list.filter((other) => other === which).length
  expect(['acme', 'beta'].filter((which) => times(one.opened, which) > times(one.closed, which))).toEqual(left)
  expect(daemon.workspaces().map(({ config }) => [config.name, config.intervalMs])).toEqual(left.map((other) => [other, 6 * MINUTE]))
})

test('it is not ready before its first beat, nor while it cannot record; a workspace that it takes over later does not take that back', async () => {
  const now = { began: false, trouble: undefined as string | undefined }
  const { one, held, hooks, end } = await replica(['acme'], { hasBegun: () => now.began, trouble: () => now.trouble })
  const reasons = () => one.daemon.ready().reasons
  expect(reasons()).toEqual(['the ledger was not reached yet', 'acme: not attempted yet'])
  now.began = true
  expect(reasons()).toEqual(['acme: not attempted yet'])
  await one.clock.pass(MINUTE)
  expect(reasons()).toEqual([])
  held.add('beta')
  await hooks.taken('beta')
  expect([one.opened, one.daemon.ready()]).toEqual([['acme', 'beta'], { ready: true, reasons: [] }])
  now.trouble = 'no answer'
  expect(reasons()).toEqual(['the ledger cannot be written'])
  end()
})
