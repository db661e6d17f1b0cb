// Conditions of a running workspace: the log of a long outage, of a restart, of a workspace that has no
// caps; groups of `viewers` that show nobody, and an envelope that refuses what is in it.
import { describe, expect, it, test } from 'vitest'
import { TEAM } from '../../../src/core/model/scope.ts'
import { eventLog } from '../../../src/daemon/conditions/log.ts'
import { groupsShownOf } from '../../../src/daemon/http/auth.ts'
import { loadPolicies } from '../../../src/policy/load/load.ts'
import { folder, policyText } from '../../policy/support.ts'
import { configOf, workspaceConfig } from '../../support/configured.ts'
import { house } from '../../support/daemons.ts'
import { HOUR, NOW } from '../../support/declare.ts'
import { answering, type Match } from '../../support/faults.ts'
import { raise } from '../../support/ledger.ts'
import { living, loopUnder, MINUTE, outage, SECOND, worldUnder } from '../../support/living.ts'
import { testWorld, type World } from '../../support/world.ts'

/** The lines that the log has for what happened since `forget`, but for those of debug. */
function linesOf(one: World): readonly string[] {
  const lines: string[] = []
  const say = (level: string) => (fields: object, message: string) =>
    void lines.push([level, message, 'code' in fields && fields.code].filter(Boolean).join(' '))
  const log = eventLog({ error: say('error'), warn: say('warn'), info: say('info'), debug: () => undefined })
  for (const event of one.events) log(event)
  return lines
}

/** The line of a cycle that did what was asked. */
const GOOD = 'info cycle finished'

const typesOf = (one: World): readonly string[] => one.view().conditions.map(({ type }) => type)

test('a service that is away for hours is one line when it goes and one when it is back, beside those of good cycles', async () => {
  const away = { is: false }
  // Use is read once a day, so that reads of caps find the outage.
  const { one, set } = await living({ wrapTransport: outage(away), config: { usageIntervalMs: 24 * HOUR } })
  set({ caps: { team: 500 } })
  await one.clock.pass(HOUR)
  away.is = true
  one.forget()
  await one.clock.pass(4 * HOUR)
  expect(linesOf(one).filter((line) => line !== GOOD)).toEqual(['error the service gives no usable answer SERVICE_UNREACHABLE'])
  expect(one.view().conditions).toMatchObject([{ type: 'ServiceUnreachable', message: expect.stringContaining('connection refused') }])
  const [{ since } = { since: 0 }] = one.view().conditions
  expect(one.clock.now() - since).toBeGreaterThan(3 * HOUR)
  away.is = false
  one.forget()
  await one.clock.pass(HOUR)
  expect([...new Set(linesOf(one))]).toEqual(['info the service answers again SERVICE_UNREACHABLE', GOOD])
  expect(one.ended('ServiceUnreachable')).toHaveLength(1)
  expect(typesOf(one)).toEqual([])
})

describe('a restart', () => {
  test('reports lasting conditions again, since the time in the ledger', async () => {
    const one = await worldUnder({ caps: { team: 500 } }, { people: 20 })
    await one.cycle({ caps: { team: 100 } })
    const [held] = one.begun('Held')
    expect(held).toMatchObject({ fields: { guards: expect.arrayContaining(['maxLowered']) } })
    await one.clock.pass(HOUR)
    one.restart()
    one.forget()
    await one.cycle()
    await one.cycle()
    expect(one.begun('Held')).toMatchObject([{ subject: held?.subject, since: held?.since }])
  })

  test('reports a lasting foreign value again and counts it once; one that came meanwhile is new', async () => {
    const { one, set, stop } = await living({ config: { mode: 'audit' } })
    const counted = () =>
      one
        .told('condition')
        .filter(({ condition: { type, remembered }, change }) => type === 'ForeignChange' && change !== 'ended' && !remembered)
    one.foreign('ada', 4000)
    set({ caps: { ada: 4000 } })
    await one.clock.pass(10 * MINUTE)
    one.foreign('ada', 9000)
    await one.clock.pass(10 * MINUTE)
    await stop()
    expect(counted()).toHaveLength(1)
    for (const [value, times] of [
      [9000, 1],
      [9500, 2],
    ] as const) {
      one.foreign('ada', value)
      one.workspace.chronicle?.keep()
      one.restart()
      await one.cycle({ caps: { ada: 4000 } })
      expect(counted()).toHaveLength(times)
    }
    expect(one.begun('ForeignChange')).toHaveLength(3)
  })
})

test.each([
  ['applied', 'info'],
  ['failed', 'error'],
  ['ambiguous', 'warn'],
  ['verify_failed', 'warn'],
] as const)('a write that is %s is logged at %s', async (result, level) => {
  const said: string[] = []
  const say = (at: string) => () => void said.push(at)
  const log = eventLog({ error: say('error'), warn: say('warn'), info: say('info'), debug: say('debug') })
  log({ kind: 'change-finished', workspace: 'acme', at: 0, change: raise(TEAM, 5, 6), result })
  expect(said).toEqual([level])
})

test('a workspace whose caps and balance are refused for good has one condition, which is not the key, and its use is read on', async () => {
  const isLacking: Match = (operation) => ['GetUsageConfig', 'UsageConfig', 'GetTeamCreditBalance'].includes(operation)
  const plan = '{"error":"add-on caps are not available on this plan"}'
  const one = await testWorld({ wrapTransport: answering(isLacking, 403, undefined, plan) })
  const { result } = await one.cycle({ caps: { team: 500, ada: 100 } })
  expect(result).toBe('error')
  await one.cycle()
  expect(typesOf(one)).toEqual(['NoCaps'])
  expect(one.begun('NoCaps')).toHaveLength(1)
  expect(one.begun('KeyRefused', 'CycleFailed')).toEqual([])
  expect(one.view().roster?.people).toHaveLength(3)
})

async function told(groupsShown: () => readonly string[]) {
  const config = { intervalMs: HOUR / 4, usageIntervalMs: HOUR / 4 }
  const declared = { caps: { team: 1000, 'group:grp_r': 1000, 'group:grp_e': 1000 } }
  const { one } = await loopUnder(declared, { groups: { grp_r: ['ada'], grp_e: [] }, config, parts: { groupsShown } })
  await one.clock.pass(HOUR)
  const found = () => one.workspace.conditions.flatMap(({ type, message }) => (type === 'ViewersNobody' ? [message] : []))
  return { one, found }
}

describe('a group that viewers name', () => {
  it.each([
    ['with people is nothing to tell', 'grp_r', undefined],
    ['in which nobody is, is told', 'grp_e', 'and nobody is in it'],
    ['that no policy declares is told', 'grp_x', 'and no policy declares it'],
  ])('%s', async (_case, id, why) => {
    const { found } = await told(() => [id])
    expect(found()).toEqual(why === undefined ? [] : [expect.stringContaining(`viewers show the people of group:${id} of `)])
    if (why !== undefined) expect(found()[0]).toContain(why)
  })

  it('is told no longer once the entry is corrected', async () => {
    let ids = ['grp_x']
    const { one, found } = await told(() => ids)
    expect(found()).toHaveLength(1)
    ids = ['grp_r']
    await one.clock.pass(HOUR)
    expect(found()).toEqual([])
  })

  it('is one of the entries for the workspace, or for all', () => {
    const rules = [
      { workspaces: ['*'], only: ['a'] },
      { workspaces: ['acme'], only: ['b'] },
      { workspaces: ['beta'], only: ['c'] },
      { workspaces: ['acme'] },
    ]
    expect(groupsShownOf(rules, 'acme')).toEqual(['a', 'b'])
    expect(groupsShownOf(undefined, 'acme')).toEqual([])
  })
})

test('what an envelope refuses because of who is in a group is a condition until the person is in it', async () => {
  const root = folder({
    'policies/platform.yaml': policyText('workspace: acme\nteam: {cap: 500}\ngroups: [{id: g, name: G}]', 'platform'),
    'policies/team/caps.yaml': policyText('workspace: acme\nusers:\n- {email: bob@example.com, cap: 900}', 'team'),
  })
  const at = { file: 'capkeeper.yaml', line: 1, column: 1 }
  const envelope = { name: 'team', workspace: 'acme', groups: ['g'], policies: ['policies/team'], maxCap: 3000, sum: 9000, at }
  const loaded = await loadPolicies(['policies'], {
    cwd: root,
    now: NOW,
    workspaces: [{ name: 'acme', policies: ['policies'], envelopes: [envelope] }],
  })
  const policy = loaded.sets.get('acme')
  if (!policy) throw new Error(JSON.stringify(loaded.problems))
  const { one, loop } = await living({ people: ['ada', 'bob'], groups: { g: ['ada'] } })
  loop.setPolicy(policy, { valid: true, digest: '', revision: '', loadedAt: NOW, problems: [] })
  await one.clock.pass(HOUR)
  expect(one.view().conditions).toMatchObject([{ type: 'EnvelopeRefused' }])
  one.setMembers('g', ['ada', 'bob'])
  await one.clock.pass(HOUR)
  expect(one.view().conditions).toEqual([])
  expect(one.caps()).toMatchObject({ bob: 900 })
})

test('a journal keeps what a workspace recorded while it ended for a change of its settings', async () => {
  const busy = Promise.withResolvers<void>()
  const one = await house(['acme'], { acme: { caps: { team: 500 } } }, {}, { ending: () => busy.promise })
  await one.clock.pass(MINUTE)
  const world = one.worlds.get('acme') as World
  const last = world.workspace
  world.restart()
  one.config = configOf(workspaceConfig('acme', { mode: 'audit' }))
  one.daemon.configChanged()
  await one.clock.pass(SECOND)
  const took = { observeMs: 0, applyMs: 0, totalMs: 0 }
  last.emit({ kind: 'cycle-finished', workspace: 'acme', at: one.clock.now(), result: 'error', ...took })
  last.chronicle?.keep()
  busy.resolve()
  await one.clock.pass(MINUTE)
  expect(world.workspace.chronicle?.journal().entries.map(({ kind }) => kind)).toEqual(['policy', 'outage', 'recovery'])
})
