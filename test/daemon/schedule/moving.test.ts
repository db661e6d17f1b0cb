// The daemon while leases come and go: a configuration that is applied meanwhile restarts no workspace that went to another replica.
import { expect, onTestFinished, test } from 'vitest'
import { soleLeases } from '../../../src/daemon/replicas/leases.ts'
import { startDaemon } from '../../../src/daemon/schedule/daemon.ts'
import { worldClock } from '../../support/clock.ts'
import { configOf, workspaceConfig } from '../../support/configured.ts'
import { createWorld, revisionOf, type World } from '../../support/world.ts'

const MINUTE = 60_000

const configured = (intervalMs: number) => configOf(...['acme', 'beta'].map((name) => workspaceConfig(name, { intervalMs })))

/** A replica that keeps acme and beta, of which acme takes its time to end. */
async function replica() {
  const clock = worldClock()
  const worlds = new Map<string, World>()
  for (const name of ['acme', 'beta']) worlds.set(name, await createWorld({ clock, name }))
  const held = new Set(['acme', 'beta'])
  const begun = Promise.withResolvers<Parameters<ReturnType<typeof soleLeases>['begin']>[0]>()
  const leases = { ...soleLeases(), isSole: false, holds: (name: string) => held.has(name), begin: begun.resolve }
  const ended = Promise.withResolvers<void>()
  const loops: string[] = []
  let config = configured(5 * MINUTE)
  const daemon = await startDaemon({
    clock,
    config,
    leases,
    async open(settings) {
      const { name } = settings
      const world = worlds.get(name)
      if (!world) throw new Error(`there is no world called ${name}`)
      loops.push(name)
      const finish = name === 'acme' ? () => ended.promise : async () => undefined
      return { parts: { ...world.workspace, config: settings }, finish, close: () => void loops.splice(loops.indexOf(name), 1) }
    },
    loadPolicies: () => ({
      sets: new Map([...worlds.keys()].map((name) => [name, revisionOf({ caps: { team: 500 } }, name)])),
      problems: [],
    }),
    reloadConfig: () => config,
    registered: () => undefined,
    ledgerWritable: () => true,
  })
  onTestFinished(async () => {
    await clock.until(daemon.stop())
    for (const one of worlds.values()) await one.close()
  })
  await clock.pass(MINUTE)
  return {
    ...{ clock, daemon, held, loops, end: ended.resolve, hooks: await begun.promise },
    edit() {
      config = configured(6 * MINUTE)
      void daemon.configChanged()
    },
  }
}

test.each([
  ['whose lease is over', 'beta', true],
  ['that is let go', 'acme', false],
])('of a workspace %s nothing runs here after a configuration that was read meanwhile', async (_case, name, gone) => {
  const { clock, daemon, held, loops, end, hooks, edit } = await replica()
  edit()
  await clock.pass(MINUTE)
  if (gone) held.delete(name)
  const left = hooks.ending(name, gone)
  await clock.pass(MINUTE)
  end()
  await left
  held.delete(name)
  await clock.pass(10 * MINUTE)
  expect(loops).toEqual(['acme', 'beta'].filter((one) => one !== name))
  expect(daemon.workspaces().map(({ config }) => [config.name, config.intervalMs])).toEqual(loops.map((one) => [one, 6 * MINUTE]))
})
