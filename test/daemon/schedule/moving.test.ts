// The daemon while leases come and go: a configuration that is applied meanwhile restarts no workspace that went to another replica.
import { expect, test } from 'vitest'
import { soleLeases } from '../../../src/daemon/replicas/leases.ts'
import { configOf, workspaceConfig } from '../../support/configured.ts'
import { house } from '../../support/daemons.ts'
import { MINUTE } from '../../support/living.ts'

const configured = (intervalMs: number) => configOf(...['acme', 'beta'].map((name) => workspaceConfig(name, { intervalMs })))

/** A replica that keeps acme and beta, of which acme takes its time to end. */
async function replica() {
  const held = new Set(['acme', 'beta'])
  const begun = Promise.withResolvers<Parameters<ReturnType<typeof soleLeases>['begin']>[0]>()
  const ended = Promise.withResolvers<void>()
  const leases = { ...soleLeases(), isSole: false, holds: (name: string) => held.has(name), begin: begun.resolve }
  const ending = async (name: string) => (name === 'acme' ? ended.promise : undefined)
  const policy = { caps: { team: 500 } }
  const one = await house(['acme', 'beta'], { acme: policy, beta: policy }, {}, { leases, ending })
  await one.clock.pass(MINUTE)
  return { one, held, end: ended.resolve, hooks: await begun.promise }
}

test.each([
  ['whose lease is over', 'beta', true],
  ['that is let go', 'acme', false],
])('of a workspace %s nothing runs here after a configuration that was read meanwhile', async (_case, name, gone) => {
  const { one, held, end, hooks } = await replica()
  const { clock, daemon } = one
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
