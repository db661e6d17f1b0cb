// Which policies count among replicas: the last reported ones, even when the table loses them or a file breaks.
import { expect, test } from 'vitest'
import { LEASE_MS } from '../../../src/core/replicas/lease.ts'
import { createKeeper } from '../../../src/daemon/replicas/keeper.ts'
import { fakeClock } from '../../support/clock.ts'
import { QUIET_HOOKS, QUIET_TABLE, stoppedAfter } from '../../support/lease-parts.ts'

const ME = { id: 'me', name: 'pod-1' }

/** A replica that holds acme, with a table that can be restored to an earlier state. */
async function setting(lastGood?: string) {
  const clock = fakeClock()
  let told = new Map<string, string>()
  let seen: string[] = []
  const shown: string[] = []
  const answer = () => {
    const policy = seen.at(-1)
    const lease = { workspace: 'acme', token: 8, holder: ME, lastsMs: LEASE_MS, config: 'c', ...(policy !== undefined && { policy }) }
    return { renewed: new Set(['acme']), taken: new Map(), peers: [{ ...ME, refuses: [] }], leases: [lease], votes: new Map(), told }
  }
  const table: Parameters<typeof createKeeper>[0]['table'] = {
    ...QUIET_TABLE,
    beat: async ({ take }) => ({ ...answer(), taken: new Map(take.map(({ workspace }) => [workspace, { token: 8, quietMs: 0 }])) }),
    async followed(_, policies) {
      told = new Map([...told, ...policies])
      for (const policy of policies.values()) if (!seen.includes(policy)) seen.push(policy)
      return new Map([...policies.keys()].map((workspace) => [workspace, seen.at(-1) ?? '']))
    },
    // No other replica is alive.
    async readopt(_, policy, lastsMs) {
      const counts = told.get('acme') === policy && clock.monotonic() >= lastsMs
      if (counts) seen = [...seen.filter((one) => one !== policy), policy]
      return counts
    },
    configured: async () => void shown.push('settings'),
    saveShown: async (_, documents) => void shown.push(...documents.map(({ document }) => document)),
  }
  const keeper = createKeeper({ replica: ME, table, clock })
  keeper.want([{ workspace: 'acme', config: 'c' }])
  keeper.begin({ ...QUIET_HOOKS, document: () => 'a view', lastGood: () => lastGood })
  stoppedAfter(keeper, clock)
  await clock.advance(10_000)
  const follow = (...policies: readonly string[]) => keeper.followed(new Map(policies.map((policy) => ['acme', policy])))
  return {
    ...{ keeper, clock, shown, follow },
    another: (policy: string) => void seen.push(policy),
    /** Restores the table to the state in which it knew so many policies. */
    putBack(known: number) {
      seen = seen.slice(0, known)
      told = new Map(seen.slice(-1).map((policy) => ['acme', policy]))
    },
  }
}

test('a view that another replica saved is told once, and never one of a workspace that is held here', async () => {
  const documents = new Map(Object.entries({ acme: 'here', beta: 'one' }))
  const clock = fakeClock()
  const held = { renewed: new Set(['acme']), taken: new Map([['acme', { token: 8, quietMs: 0 }]]), peers: [{ ...ME, refuses: [] }] }
  const beat = async () => ({ ...held, leases: [], votes: new Map(), told: new Map() })
  const table = { ...QUIET_TABLE, beat, shownSince: async () => ({ mark: '', documents }) }
  const keeper = createKeeper({ replica: ME, table, clock })
  const seen: string[] = []
  keeper.want([{ workspace: 'acme', config: 'c' }])
  keeper.begin({ ...QUIET_HOOKS, seen: (name) => void seen.push(name) })
  stoppedAfter(keeper, clock)
  await clock.advance(10_000)
  for (const text of ['one', 'one', 'two', 'two']) {
    documents.set('beta', text)
    await clock.advance(3_000)
    await keeper.shownElsewhere()
  }
  expect(seen).toEqual(['beta', 'beta'])
})

test.each([0, 1])('a database that comes back with %i of two policies gets the last one again, with settings and views', async (known) => {
  const { keeper, clock, shown, follow, putBack } = await setting()
  await follow('one')
  await follow('two')
  await clock.advance(10_000)
  const before = shown.length
  putBack(known)
  await clock.advance(20_000)
  expect(keeper.isReplaced('acme')).toBe(false)
  expect(shown.slice(before).toSorted()).toEqual(['a view', 'settings'])
})

test('equal policies at another commit replace nothing, and old ones with a new commit count', async () => {
  const { keeper, clock, follow, another } = await setting()
  await follow('one')
  another('one 4f2a')
  await clock.advance(10_000)
  expect(keeper.isReplaced('acme')).toBe(false)
  another('two 77b0')
  await clock.advance(10_000)
  expect(keeper.isReplaced('acme')).toBe(true)
  await follow('one 9c11')
  expect(keeper.isReplaced('acme')).toBe(false)
})

test.each([
  ['its files', ['one']],
  ['what stays in force while its files are broken', []],
])('%s count again once every live replica has had them for 10 min', async (_row, files) => {
  const { keeper, clock, follow, another } = await setting('one')
  await follow('one')
  another('two')
  await follow(...files)
  await clock.advance(20_000)
  expect(keeper.isReplaced('acme')).toBe(true)
  await clock.advance(600_000)
  expect(keeper.isReplaced('acme')).toBe(false)
})

test('newer policies also replace the last known good ones that are in force while files are broken', async () => {
  const { keeper, clock, follow, another } = await setting('one')
  expect(keeper.isReplaced('acme')).toBe(false)
  await follow('one')
  await follow()
  expect(keeper.isReplaced('acme')).toBe(false)
  another('two')
  await clock.advance(10_000)
  expect([keeper.isReplaced('acme'), keeper.mayLeave('acme', 1_000)]).toEqual([true, false])
  await follow('three')
  expect(keeper.isReplaced('acme')).toBe(false)
})
