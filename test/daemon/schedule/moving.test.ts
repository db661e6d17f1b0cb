// The daemon while leases come and go: a configuration that is applied meanwhile restarts no workspace that went to another replica; and when a
// replica is ready. Also which policies it tells the other replicas of.
import { expect, test } from 'vitest'
import { configOf, workspaceConfig } from '../../support/configured.ts'
import { type House, house } from '../../support/daemons.ts'
import { MINUTE } from '../../support/living.ts'
import { revisionOf } from '../../support/world.ts'

const configured = (intervalMs: number) => configOf(...['acme', 'beta'].map((name) => workspaceConfig(name, { intervalMs })))

type Delegated = NonNullable<ReturnType<typeof revisionOf>['delegated']>
type Leases = Required<NonNullable<House['leases']>>

/** A replica that keeps these workspaces; acme takes its time to end. */
async function replica(names: readonly string[], more: Partial<Leases> = {}, people = 3) {
  const held = new Set(names)
  const begun = Promise.withResolvers<Parameters<Leases['begin']>[0]>()
  const ended = Promise.withResolvers<void>()
  const leases = { holds: (name: string) => held.has(name), begin: begun.resolve, ...more }
  const ending = async (name: string) => (name === 'acme' ? ended.promise : undefined)
  const policy = { caps: { team: 500 } }
  const one = await house(['acme', 'beta'], { acme: policy, beta: policy }, { people, switches: { latency: 500 } }, { leases, ending })
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

test('a workspace that was lost, and is still ending here, shows once, and then all that its new holder saves', async () => {
  const statusOf = (name: string) => ({ isHere: held.has(name), holder: 'pod-2' })
  const saved: (readonly [string, unknown])[] = []
  const shownElsewhere = async () => new Map([['acme', saved[0]?.[0] ?? '']])
  const { one, held, hooks, end } = await replica(['acme', 'beta'], { statusOf: (name) => statusOf(name), shownElsewhere }, 5_001)
  const parts = () => one.daemon.views().map(({ people, roster, scopes, lastCycle }) => ({ people, roster, scopes, lastCycle }))[0]
  for (const ms of [MINUTE, 6 * MINUTE]) {
    await one.clock.pass(ms)
    saved.push([hooks.document('acme') ?? '', parts()])
  }
  held.delete('acme')
  const ending = hooks.ending('acme', true)
  await one.clock.pass(MINUTE)
  const shown = () => [one.daemon.workspaces().map(({ config }) => config.name), one.daemon.elsewhere().map(({ view }) => view.workspace)]
  expect(shown()).toEqual([['acme', 'beta'], []])
  end()
  await ending
  expect(shown()).toEqual([['beta'], ['acme']])
  for (; saved.length > 0; saved.shift()) {
    await one.daemon.refresh()
    expect(parts()).toEqual(saved[0]?.[1])
  }
})

test('a file that cannot be used here replaces no policy of other replicas', async () => {
  const told: string[] = []
  const followed: Leases['followed'] = async (policies) => void told.push(policies.get('acme') ?? 'nothing')
  const { one, end, hooks } = await replica(['acme'], { followed })
  const at = { file: 'config.yaml', line: 1, column: 1 }
  const envelope = { name: 'a', workspace: 'acme', groups: ['ga'], maxCap: 3000, at }
  const say = (team: number | undefined, files: Partial<Delegated>, more: Partial<ReturnType<typeof revisionOf>> = {}) => {
    const delegated = { envelopes: [envelope], files: [], unlisted: [], refused: [], ...files }
    one.sets.set('acme', { ...revisionOf(team === undefined ? {} : { caps: { team } }, 'acme', '', delegated), ...more })
  }
  const document = { file: 'a.yaml', name: 'a', rules: [], grants: [], groups: [] }
  const whole = { envelope: 'a', file: 'a.yaml', documents: [document] }
  const broken = { ...whole, documents: undefined }
  const load = async (): Promise<string | undefined> => {
    await one.daemon.policiesChanged()
    return told.at(-1)
  }
  say(500, { files: [broken] })
  expect(await load()).toBe('nothing')
  for (const files of [[whole], [{ ...whole, documents: [] }]]) {
    say(500, { files })
    const first = await load()
    expect(first).not.toBe('nothing')
    for (const unusable of [{ files: [broken] }, { unlisted: ['a'] }]) {
      say(500, unusable)
      expect(await load()).toBe(first)
    }
    const [{ at: place } = { at }] = one.sets.get('acme')?.set.rules ?? []
    say(undefined, { files }, { empty: [place.file] })
    expect(await load()).toBe(first)
  }
  say(600, { files: [broken] })
  const newer = await load()
  one.sets.delete('acme')
  await load()
  // With platform's file broken as well, what is in force is what was told.
  expect(hooks.lastGood('acme')).toBe(newer)
  say(600, { files: [{ ...whole, documents: [] }] })
  expect(await load()).toBe(newer)
  end()
})

test('nothing is told of the policies of a workspace that this replica does not have, and whose files it may not read', async () => {
  const told: (readonly string[])[] = []
  const { one, end } = await replica(['acme'], { followed: async (policies) => void told.push([...policies.keys()].toSorted()) })
  one.sets.set('gamma', revisionOf({}, 'gamma'))
  await one.daemon.policiesChanged()
  end()
  expect(told.at(-1)).toEqual(['acme', 'beta'])
})

test('a replica that starts with an emptied file tells the policies in the ledger, and nothing while it cannot be read', async () => {
  const told: string[] = []
  const { one, held, end } = await replica(['acme'], { followed: async (policies) => void told.push(policies.get('acme') ?? 'nothing') })
  await one.clock.pass(MINUTE)
  end()
  const whole = revisionOf({ caps: { team: 500 } }, 'acme')
  const [file = ''] = whole.set.rules.map(({ at }) => at.file)
  const again = async (empty: string): Promise<string | undefined> => {
    one.sets.set('acme', { ...revisionOf({}, 'acme'), empty: [empty] })
    await one.restart()
    await one.clock.pass(MINUTE)
    return told.at(-1)
  }
  expect(await again(file)).toContain(whole.digest)
  held.delete('acme')
  expect(await again(file)).toContain(whole.digest)
  expect(await again('other.yaml')).toContain(revisionOf({}, 'acme').digest)
  one.shut.add('acme')
  expect(await again(file)).toBe('nothing')
})

test('while the policies of a new configuration load, a workspace that is taken follows none of the one before', async () => {
  const { one, held, hooks, end } = await replica(['acme'])
  const { clock, daemon, worlds } = one
  await clock.pass(MINUTE)
  const busy = Promise.withResolvers<void>()
  one.busy = busy.promise
  one.config = configured(6 * MINUTE)
  one.sets.set('beta', revisionOf({ caps: { team: 600 } }, 'beta'))
  daemon.configChanged()
  end()
  await clock.pass(MINUTE)
  held.add('beta')
  await hooks.taken('beta')
  await clock.pass(MINUTE)
  expect(worlds.get('beta')?.caps()).toEqual({})
  busy.resolve()
  await clock.pass(MINUTE)
  expect(worlds.get('beta')?.caps()).toEqual({ team: 600 })
})

test('policies that never end to load keep no later configuration from its own', async () => {
  const one = await house(['acme'], { acme: { caps: { team: 500 } } })
  await one.clock.pass(MINUTE)
  for (const minutes of [6, 7]) {
    one.busy = minutes === 6 ? Promise.withResolvers<void>().promise : undefined
    one.sets.set('acme', revisionOf({ caps: { team: 600 } }, 'acme'))
    one.config = configOf(workspaceConfig('acme', { intervalMs: minutes * MINUTE }))
    one.daemon.configChanged()
    await one.clock.pass(MINUTE)
  }
  expect(one.worlds.get('acme')?.caps()).toEqual({ team: 600 })
})
