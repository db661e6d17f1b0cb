// The daemon around the loops: restarts by a changed configuration, broken files, what a restart recalls, when it is ready, and its end.
import { describe, expect, test } from 'vitest'
import { configOf, workspaceConfig } from '../../support/configured.ts'
import { BROKEN, type House, house } from '../../support/daemons.ts'
import { answerOf, instead } from '../../support/faults.ts'
import { MINUTE, outage, SECOND } from '../../support/living.ts'
import { revisionOf, type World } from '../../support/world.ts'

const viewOf = ({ daemon }: House, name = 'acme') => daemon.views().find((view) => view.workspace === name)
const worldOf = ({ worlds }: House, name = 'acme'): World => {
  const world = worlds.get(name)
  if (!world) throw new Error(`there is no world called ${name}`)
  return world
}

const TWO = { acme: { caps: { team: 500 } }, beta: { caps: { team: 700 } } }

describe('a failure while policies load', () => {
  test('is reported, rejects nothing, and the next load is adopted', async () => {
    const one = await house(['acme'], { acme: { caps: { team: 500 } } })
    await one.clock.pass(MINUTE)
    one.faults.load = true
    one.daemon.policiesChanged()
    one.config = configOf(workspaceConfig('acme', { onDrift: 'alert' }))
    one.daemon.configChanged()
    await one.clock.pass(MINUTE)
    const told = worldOf(one).told('bug')
    expect(told.map(({ message }) => message)).toEqual(['unexpected: the disk is gone', 'unexpected: the disk is gone'])
    one.faults.load = false
    one.sets.set('acme', revisionOf({ caps: { team: 600 } }, 'acme'))
    one.daemon.policiesChanged()
    await one.clock.pass(MINUTE)
    expect(worldOf(one).caps()).toEqual({ team: 600 })
  })

  test('leaves a workspace that was never fed able to end', async () => {
    const one = await house(['acme'], { acme: { caps: { team: 500 } } })
    one.faults.load = true
    one.config = configOf(workspaceConfig('acme', { onDrift: 'alert' }))
    one.daemon.configChanged()
    await one.clock.pass(MINUTE)
    await one.clock.until(one.daemon.stop())
    expect(one.closed).toEqual(['acme', 'acme'])
  })
})

describe('a change of the configuration', () => {
  test('restarts only the workspace that changed', async () => {
    const one = await house(['acme', 'beta'], TWO)
    await one.clock.pass(MINUTE)
    expect([worldOf(one).caps(), worldOf(one, 'beta').caps()]).toEqual([{ team: 500 }, { team: 700 }])
    worldOf(one, 'beta').forget()
    one.config = configOf(workspaceConfig('acme', { mode: 'audit' }), workspaceConfig('beta'))
    one.daemon.configChanged()
    await one.clock.pass(MINUTE)
    expect({ opened: one.opened, closed: one.closed }).toEqual({ opened: ['acme', 'beta', 'acme'], closed: ['acme'] })
    expect(viewOf(one)?.mode).toBe('audit')
    expect(worldOf(one, 'beta').calls).toEqual([])
  })

  test('keeps the known state visible and the daemon ready until the changed workspace has had a cycle', async () => {
    const away = { is: false }
    const one = await house(['acme'], { acme: { caps: { team: 500, ada: 4000 } } }, { wrapTransport: outage(away) })
    await one.clock.pass(MINUTE)
    worldOf(one).foreign('ada', 1)
    const before = viewOf(one)
    const newer = ['mode', 'policy', 'lastCycle', 'conditions', 'clockSkewMs', 'notMeasured']
    const seen = (view: typeof before) => Object.fromEntries(Object.entries(view ?? {}).filter(([name]) => !newer.includes(name)))
    away.is = true
    one.config = configOf(workspaceConfig('acme', { mode: 'audit' }))
    one.daemon.configChanged()
    await one.clock.pass(0)
    expect(one.opened).toEqual(['acme', 'acme'])
    expect(viewOf(one)?.mode).toBe('audit')
    expect(seen(viewOf(one))).toEqual(seen(before))
    expect(viewOf(one)?.scopes.map(({ state }) => state)).toEqual(['in_sync', 'in_sync'])
    expect(viewOf(one)?.people.filter(({ cap }) => cap === undefined)).toEqual([])
    expect(one.daemon.ready()).toEqual({ ready: true, reasons: [] })
  })

  test('of the address of a service shows nothing of the one before', async () => {
    const one = await house(['acme'], { acme: { caps: { team: 500 } } })
    await one.clock.pass(MINUTE)
    expect(one.daemon.ready().ready).toBe(true)
    one.config = configOf(workspaceConfig('acme', { baseUrl: 'http://other' }))
    one.daemon.configChanged()
    await one.clock.pass(0)
    expect(viewOf(one)).toMatchObject({ scopes: [], people: [] })
    expect(one.daemon.ready()).toMatchObject({ ready: false })
  })

  test('does not report a lasting condition again', async () => {
    const one = await house(['acme'], { acme: { caps: { team: 500 } } })
    await one.clock.pass(MINUTE)
    for (const intervalMs of [5 * MINUTE, 6 * MINUTE, 7 * MINUTE]) {
      one.config = configOf(workspaceConfig('acme', { onDrift: 'alert', intervalMs }))
      one.daemon.configChanged()
      worldOf(one).foreign('team', 900)
      await one.clock.pass(10 * MINUTE)
    }
    expect(worldOf(one).begun('ForeignChange')).toHaveLength(1)
  })

  test('ends and restarts each workspace for itself, while the last write of another takes its time', async () => {
    const busy = Promise.withResolvers<void>()
    const one = await house(['acme', 'beta'], TWO, {}, { ending: async (name) => (name === 'acme' ? busy.promise : undefined) })
    await one.clock.pass(MINUTE)
    one.config = configOf(...['acme', 'beta', 'gamma'].map((name) => workspaceConfig(name, { mode: 'audit' })))
    one.daemon.configChanged()
    worldOf(one, 'beta').foreign('team', 900)
    await one.clock.pass(10 * MINUTE)
    const modes = () => one.daemon.views().map(({ workspace, mode }) => `${workspace}: ${mode}`)
    expect([worldOf(one, 'beta').caps(), modes()]).toEqual([{ team: 900 }, ['acme: enforce', 'beta: audit', 'gamma: audit']])
    busy.resolve()
    await one.clock.pass(SECOND)
    expect(modes()[0]).toBe('acme: audit')
  })

  test('restarts a workspace whose last write cannot be read back, because the service refuses every request for the rate', async () => {
    const away = { is: false }
    const wrapTransport = instead(() => (away.is ? answerOf(429, '{"error":"rate limit exceeded"}') : undefined))
    const one = await house(['acme'], { acme: { caps: { team: 500 } } }, { wrapTransport, switches: { latency: 2000 } })
    while (worldOf(one).count('UsageConfig') === 0) await one.clock.pass(SECOND)
    away.is = true
    await one.clock.pass(5 * SECOND)
    one.config = configOf(workspaceConfig('acme', { mode: 'audit' }))
    one.daemon.configChanged()
    await one.clock.pass(MINUTE)
    expect([one.closed, viewOf(one)?.mode]).toEqual([['acme'], 'audit'])
  })

  test('starts new workspaces and ends removed ones', async () => {
    const one = await house(['acme', 'beta'], { ...TWO, gamma: { caps: { team: 900 } } })
    await one.clock.pass(MINUTE)
    one.config = configOf(workspaceConfig('beta'), workspaceConfig('gamma'))
    one.daemon.configChanged()
    await one.clock.pass(MINUTE)
    expect(one.daemon.views().map((view) => view.workspace)).toEqual(['beta', 'gamma'])
    expect(worldOf(one, 'gamma').caps()).toEqual({ team: 900 })
    worldOf(one).forget()
    await one.clock.pass(20 * MINUTE)
    expect(worldOf(one).calls).toEqual([])
  })

  test('that is broken leaves the last good one in force, and says so', async () => {
    const one = await house(['acme'], { acme: { caps: { team: 500 } } })
    await one.clock.pass(MINUTE)
    const good = one.config
    one.config = undefined
    one.daemon.configChanged()
    await one.clock.pass(MINUTE)
    expect(one.daemon.health().configValid).toBe(false)
    expect(one.opened).toEqual(['acme'])
    worldOf(one).foreign('team', 9000)
    await one.clock.pass(10 * MINUTE)
    expect(worldOf(one).caps()).toEqual({ team: 500 })
    one.config = good
    one.daemon.configChanged()
    await one.clock.pass(SECOND)
    expect(one.daemon.health().configValid).toBe(true)
    expect(one.opened).toEqual(['acme'])
  })

  test('with a workspace that cannot be opened leaves the last good one in force, and says why', async () => {
    const one = await house(['acme', 'beta'], TWO)
    await one.clock.pass(MINUTE)
    one.shut.add('gamma')
    one.config = configOf(workspaceConfig('acme', { mode: 'audit' }), workspaceConfig('gamma'))
    one.daemon.configChanged()
    await one.clock.pass(MINUTE)
    expect(one.daemon.health().configValid).toBe(false)
    expect(one.refusals).toMatchObject([{ type: 'ConfigInvalid', message: expect.stringContaining('gamma: no key') }])
    expect(one.daemon.views().map((view) => [view.workspace, view.mode])).toEqual([
      ['acme', 'enforce'],
      ['beta', 'enforce'],
    ])
  })

  test('twice in a row never runs two loops of one workspace side by side', async () => {
    const one = await house(['acme'], { acme: { caps: { team: 500 } } }, { switches: { latency: 3000 } })
    await one.clock.pass(4 * SECOND)
    for (const intervalMs of [MINUTE, 2 * MINUTE]) {
      one.config = configOf(workspaceConfig('acme', { intervalMs }))
      one.daemon.configChanged()
    }
    await one.clock.pass(MINUTE)
    expect({ opened: one.opened, closed: one.closed }).toEqual({ opened: ['acme', 'acme', 'acme'], closed: ['acme', 'acme'] })
    expect(worldOf(one).count('UsageConfig')).toBe(1)
    expect(worldOf(one).caps()).toEqual({ team: 500 })
  })
})

describe('policies', () => {
  test('with problems keep the last good set in force, prune nothing and show as invalid with the problems', async () => {
    const one = await house(['acme'], { acme: { caps: { team: 500, ada: 4000 } } })
    await one.clock.pass(MINUTE)
    const digest = viewOf(one)?.policy?.digest
    one.sets.clear()
    one.problems = [BROKEN]
    one.daemon.policiesChanged()
    worldOf(one).foreign('ada', 1)
    await one.clock.pass(10 * MINUTE)
    expect(viewOf(one)?.policy).toMatchObject({ valid: false, digest, problems: [BROKEN] })
    expect(worldOf(one).caps()).toEqual({ team: 500, ada: 4000 })
    one.sets.set('acme', revisionOf({ caps: { team: 500 } }))
    one.problems = []
    one.daemon.policiesChanged()
    await one.clock.pass(MINUTE)
    expect(viewOf(one)?.policy).toMatchObject({ valid: true, problems: [] })
    expect(worldOf(one).caps()).toEqual({ team: 500 })
  })

  test('that are broken are not the other’s business, and show with their own mistakes and with whether anything is in force', async () => {
    const one = await house(['acme', 'beta'], { beta: { caps: { team: 700 } } })
    await one.clock.pass(MINUTE)
    expect(['acme', 'beta'].map((name) => viewOf(one, name)?.policy?.valid)).toEqual([false, true])
    expect(worldOf(one, 'beta').caps()).toEqual({ team: 700 })
    expect(one.daemon.ready()).toEqual({ ready: true, reasons: [] })
    one.sets.clear()
    one.problemsOf = new Map(['acme', 'beta'].map((name) => [name, [{ ...BROKEN, message: `the team cap of ${name}` }]]))
    one.daemon.policiesChanged()
    await one.clock.pass(MINUTE)
    const told = ['acme', 'beta'].map((name) => viewOf(one, name)?.conditions.find(({ type }) => type === 'PolicyInvalid')?.message)
    expect(told).toEqual([
      'policies are invalid, no set was whole yet, so no cap is kept: the team cap of acme',
      'policies are invalid, the last good set stays in force: the team cap of beta',
    ])
    expect(viewOf(one)?.policy?.problems.map(({ message }) => message)).toEqual(['the team cap of acme'])
  })

  test('that are broken at a restart give way to the last good set of the ledger', async () => {
    const one = await house(['acme'], { acme: { caps: { team: 500, ada: 4000 } } })
    await one.clock.pass(MINUTE)
    one.sets.clear()
    one.problems = [BROKEN]
    worldOf(one).foreign('team', 1)
    await one.restart()
    await one.clock.pass(MINUTE)
    expect(viewOf(one)?.policy).toMatchObject({ valid: false, digest: revisionOf({ caps: { team: 500, ada: 4000 } }).digest })
    expect(worldOf(one).caps()).toEqual({ team: 500, ada: 4000 })
  })

  test('that are broken at a restart leave envelopes as they were, with their members, grants and bounds', async () => {
    const bounds = { name: 'a', workspace: 'acme', groups: ['ga'], maxCap: 3000, grants: { maxDays: 31, maxAdd: 500 } }
    const envelope = { ...bounds, at: { file: 'config.yaml', line: 1, column: 1 } }
    const one = await house(['acme'], {}, { groups: { ga: ['ada'] } })
    const { rules, grants } = revisionOf({
      caps: { ada: 2500 },
      grants: [{ on: 'ada', cap: 3200, until: one.clock.now() + 600 * MINUTE }],
    }).set
    const [file, name] = [rules[0]?.at.file ?? '', 'a']
    const document = {
      file,
      name,
      rules: rules.map((rule) => ({ ...rule, document: 'a' })),
      grants: grants.map((grant) => ({ ...grant, document: 'a' })),
      groups: [],
    }
    const delegated = { envelopes: [envelope], files: [{ envelope: 'a', file, documents: [document] }], unlisted: [], refused: [] }
    one.config = configOf(workspaceConfig('acme', { envelopes: [{ ...envelope, policies: ['policies/a'] }] }))
    one.sets.set('acme', { ...revisionOf({ caps: { team: 5000 }, bare: ['ga'] }), delegated })
    await one.restart()
    await one.clock.pass(MINUTE)
    const before = worldOf(one).ledger.fact('envelopes')
    one.sets.clear()
    one.problems = [BROKEN]
    await one.restart()
    await one.clock.pass(20 * MINUTE)
    const { members, spans } = worldOf(one).ledger.fact('envelopes') ?? {}
    expect({ members, spans }).toEqual({ members: { ga: ['ada@example.com'] }, spans: before?.spans })
    expect(Object.keys(spans ?? {})).toEqual(['ada@example.com'])
    expect(viewOf(one)?.conditions.map(({ type }) => type)).toEqual(['PolicyInvalid'])
    expect(worldOf(one).caps()).toEqual({ team: 5000, ada: 3200 })
  })

  test('of which a file is emptied stay in force, also after a restart, until the file is gone', async () => {
    const one = await house(['acme'], { acme: { caps: { team: 500, ada: 4000 } } })
    await one.clock.pass(MINUTE)
    const [{ at } = { at: undefined }] = revisionOf({ caps: { ada: 4000 } }).set.rules
    one.sets.set('acme', { ...revisionOf({}), empty: [at?.file ?? ''] })
    one.problems = [{ severity: 'warning', code: 'EMPTY_FILE', message: 'it holds no policy', at }]
    one.daemon.policiesChanged()
    await one.clock.pass(10 * MINUTE)
    expect(viewOf(one)?.policy).toMatchObject({ valid: false, problems: [{ code: 'EMPTY_FILE' }] })
    await one.restart()
    await one.clock.pass(10 * MINUTE)
    expect(viewOf(one)?.policy).toMatchObject({ valid: false, problems: [{ code: 'EMPTY_FILE' }] })
    expect(worldOf(one).caps()).toEqual({ team: 500, ada: 4000 })
    one.sets.set('acme', revisionOf({ caps: { team: 500 } }))
    one.daemon.policiesChanged()
    await one.clock.pass(10 * MINUTE)
    expect(worldOf(one).caps()).toEqual({ team: 500 })
  })

  test('are loaded once more for any number of edits during a load, and an edit waits for a load that began after it', async () => {
    const one = await house(['acme'], { acme: { caps: { team: 500 } } })
    await one.clock.pass(MINUTE)
    const [before, busy] = [one.loads, Promise.withResolvers<void>()]
    one.busy = busy.promise
    const edits = Array.from({ length: 100 }, () => one.daemon.policiesChanged())
    one.sets.set('acme', revisionOf({ caps: { team: 600 } }))
    expect(one.loads - before).toBe(1)
    busy.resolve()
    await Promise.all(edits)
    await one.clock.pass(MINUTE)
    expect([one.loads - before, worldOf(one).caps()]).toEqual([2, { team: 600 }])
  })

  test('that were never good leave everything alone, and the daemon is ready all the same', async () => {
    const one = await house(['acme'], {}, { caps: { ada: 123 } })
    await one.clock.pass(10 * MINUTE)
    expect(worldOf(one).calls).toEqual([])
    expect(one.daemon.ready().ready).toBe(true)
  })
})

describe('readiness and the end', () => {
  test('it is ready once every workspace was tried once', async () => {
    const one = await house(['acme', 'beta'], TWO, { switches: { latency: 500 } })
    expect(one.daemon.ready()).toEqual({ ready: false, reasons: ['acme: not attempted yet', 'beta: not attempted yet'] })
    await one.clock.pass(MINUTE)
    expect(one.daemon.ready().ready).toBe(true)
  })

  test('a service that says nothing counts as tried after 30 s', async () => {
    const one = await house(['acme'], { acme: { caps: { team: 500 } } }, { switches: { latency: 3_600_000 } })
    await one.clock.pass(30 * SECOND - 1)
    expect(one.daemon.ready()).toEqual({ ready: false, reasons: ['acme: not attempted yet'] })
    await one.clock.pass(1)
    expect(one.daemon.ready().ready).toBe(true)
  })

  test('a service to which a request has failed counts as tried at once, and without a workspace there is nothing to try', async () => {
    const one = await house(['acme'], { acme: { caps: { team: 500 } } })
    one.faults.request = true
    expect(one.daemon.ready()).toEqual({ ready: true, reasons: [] })
    expect((await house([], {})).daemon.ready()).toEqual({ ready: true, reasons: [] })
  })

  test('pages that ask at the same time share one look at the ledger, and wait for it for a second at most', async () => {
    const one = await house(['acme'], {})
    const looks: PromiseWithResolvers<void>[] = []
    one.probe = () => looks[looks.push(Promise.withResolvers<void>()) - 1]?.promise ?? expect.unreachable()
    const page = () => one.clock.until(one.daemon.refresh())
    const before = one.clock.monotonic()
    await Promise.all([page(), page()])
    await page()
    expect([looks.length, one.clock.monotonic() - before]).toEqual([1, 2 * SECOND])
    looks[0]?.resolve()
    await page()
    void page()
    looks[1]?.resolve()
    await one.clock.pass(SECOND)
    expect(looks.length).toBe(2)
  })

  test('a signal makes everything due at once, in every workspace', async () => {
    const one = await house(['acme', 'beta'], TWO)
    await one.clock.pass(MINUTE)
    for (const world of one.worlds.values()) world.forget()
    one.daemon.hurry()
    await one.clock.pass(SECOND)
    expect([worldOf(one).reads(), worldOf(one, 'beta').reads()]).toEqual([['team'], ['team']])
  })

  test('a stop gives the write in flight its time, and no more', async () => {
    const one = await house(['acme'], { acme: { caps: { team: 500 } } }, { switches: { latency: 20_000 } })
    while (worldOf(one).count('UsageConfig') === 0) await one.clock.pass(SECOND)
    const before = one.clock.monotonic()
    await one.clock.until(one.daemon.stop())
    expect(one.clock.monotonic() - before).toBeLessThanOrEqual(8 * SECOND + 100)
    expect(worldOf(one).ledger.openIntents()).toHaveLength(1)
    expect(one.closed).toEqual(['acme'])
  })

  test('neither a stop nor another configuration waits for policies that take long to read', async () => {
    const one = await house(['alpha'], { alpha: {} })
    await one.clock.pass(MINUTE)
    one.busy = Promise.withResolvers<void>().promise
    for (const names of [['alpha', 'gamma'], ['gamma']]) {
      one.config = configOf(...names.map((name) => workspaceConfig(name)))
      one.daemon.configChanged()
      await one.clock.pass(SECOND)
      expect(one.daemon.views().map(({ workspace }) => workspace)).toEqual(names)
    }
    await one.clock.until(one.daemon.stop())
  })

  test('a stop while a changed workspace is still ending waits for it and starts nothing', async () => {
    const one = await house(['acme'], { acme: { caps: { team: 500 } } }, { switches: { latency: 4000 } })
    while (worldOf(one).count('UsageConfig') === 0) await one.clock.pass(SECOND)
    one.config = configOf(workspaceConfig('acme', { intervalMs: MINUTE }))
    one.daemon.configChanged()
    await one.clock.until(one.daemon.stop())
    expect(one.opened.toSorted()).toEqual(one.closed.toSorted())
    worldOf(one).forget()
    await one.clock.pass(10 * MINUTE)
    expect(worldOf(one).calls).toEqual([])
  })
})
