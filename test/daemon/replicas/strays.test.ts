// Leases from a heartbeat whose answer came too late: the keeper takes its share again, and leaves the rest until its end.
import { expect, test } from 'vitest'
import { LEASE_MS } from '../../../src/core/replicas/lease.ts'
import { createKeeper } from '../../../src/daemon/replicas/keeper.ts'
import { fakeClock } from '../../support/clock.ts'
import { QUIET_HOOKS, QUIET_TABLE, stoppedAfter } from '../../support/lease-parts.ts'

const WORKSPACES = ['a', 'b', 'c', 'd']
type LeaseTable = Parameters<typeof createKeeper>[0]['table']
type Heartbeat = Parameters<LeaseTable['beat']>[0]

const ME = { id: 'me', name: 'pod-1' }
const OTHER = { id: 'other', name: 'pod-2' }

/** A table in which `me` has all leases, even those that it does not know of. */
function setting(takesMs = 0) {
  const clock = fakeClock()
  const beats: Heartbeat[] = []
  const held = new Map(WORKSPACES.map((workspace) => [workspace, 7]))
  const answer = ({ renew, release, take }: Heartbeat) => {
    for (const { workspace } of release) held.delete(workspace)
    for (const { workspace } of take) held.set(workspace, 8)
    return {
      renewed: new Set(renew.map(({ workspace }) => workspace)),
      taken: new Map(take.map(({ workspace }) => [workspace, { token: 8, quietMs: 0 }])),
      peers: [ME, OTHER].map((one) => ({ ...one, refuses: [] })),
      leases: [...held].map(([workspace, token]) => ({ workspace, token, holder: ME, lastsMs: LEASE_MS, config: 'c' })),
      votes: new Map(),
      told: new Map(),
    }
  }
  const table: LeaseTable = {
    ...QUIET_TABLE,
    async beat(heartbeat) {
      beats.push(heartbeat)
      if (heartbeat.take.length > 0) await clock.sleep(takesMs)
      return answer(heartbeat)
    },
  }
  const keeper = createKeeper({ replica: ME, table, clock })
  keeper.want(WORKSPACES.map((workspace) => ({ workspace, config: 'c' })))
  keeper.begin(QUIET_HOOKS)
  stoppedAfter(keeper, clock)
  return { keeper, beats, clock }
}

test('its share is taken under a new token, and the rest is left until it ends', async () => {
  const { keeper, beats, clock } = setting()
  await clock.advance(4_000)
  expect(WORKSPACES.filter((name) => keeper.holds(name))).toHaveLength(2)
  expect(beats.flatMap(({ renew }) => renew).filter(({ workspace }) => !keeper.holds(workspace))).toEqual([])
})

test('an answer that comes after it was given up is not kept', async () => {
  const { keeper, clock } = setting(6_000)
  await clock.advance(30_000)
  expect(WORKSPACES.filter((name) => keeper.holds(name))).toEqual([])
})
