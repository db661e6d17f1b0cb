// Leases in a real PostgreSQL: who gets one, what its token protects, and that a failover voids all of them.
import { describe, expect, onTestFinished, test } from 'vitest'
import { openLedger } from '../../../src/daemon/ledger/ledger.ts'
import { hasPostgres, postgresForFile } from '../../support/postgres.ts'
import { realClock } from '../../support/real-clock.ts'

const server = postgresForFile()

type LeaseTable = NonNullable<Awaited<ReturnType<typeof openLedger>>['leases']>
type Heartbeat = Parameters<LeaseTable['beat']>[0]

interface Place {
  readonly address: string
  table(): Promise<LeaseTable>
  sql(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>
}

async function place(): Promise<Place> {
  const address = await server().create()
  const database = new URL(address).pathname.slice(1)
  return {
    address,
    async table() {
      const store = await openLedger({ file: address, mode: 'write', clock: realClock(), env: {}, fence: () => undefined })
      onTestFinished(() => store.close())
      if (!store.leases) throw new Error('a database has leases')
      return store.leases
    },
    sql: (text) => server().sql(database, text),
  }
}

const beat = (id: string, more: Partial<Heartbeat> = {}): Heartbeat => ({
  replica: { id, name: `pod-${id}` },
  lastsMs: 60_000,
  renew: [],
  release: [],
  take: [],
  refuses: [],
  spreads: true,
  ...more,
})

const acme = [{ workspace: 'acme', config: 'c1' }]

describe.skipIf(!hasPostgres)('a lease in PostgreSQL', () => {
  test('is given to one replica, shown to the others, renewed under its token with its holder’s settings, and free after its release', async () => {
    const table = await (await place()).table()
    const first = (await table.beat(beat('a', { take: acme }))).taken.get('acme')
    expect(first).toMatchObject({ quietMs: 0 })
    const other = await table.beat(beat('b', { take: acme }))
    expect([...other.taken]).toEqual([])
    expect(other.leases).toMatchObject([{ workspace: 'acme', holder: { id: 'a', name: 'pod-a' }, config: 'c1' }])
    expect(other.peers.map(({ id }) => id).toSorted()).toEqual(['a', 'b'])
    const token = first?.token ?? 0
    expect([...(await table.beat(beat('a', { renew: [{ workspace: 'acme', token, config: 'c2' }] }))).renewed]).toEqual(['acme'])
    // The holder has read other settings meanwhile, as the other replica will.
    expect((await table.beat(beat('b'))).leases).toMatchObject([{ workspace: 'acme', config: 'c2' }])
    expect([...(await table.beat(beat('a', { renew: [{ workspace: 'acme', token: token - 1, config: 'c1' }] }))).renewed]).toEqual([])
    expect(await table.hasFree()).toBe(false)
    await table.beat(beat('a', { release: [{ workspace: 'acme', token }] }))
    expect(await table.hasFree()).toBe(true)
    const second = (await table.beat(beat('b', { take: acme }))).taken.get('acme')
    // The former holder may have left an intent open.
    expect(second?.quietMs).toBeGreaterThan(5_000)
    expect(second?.token).toBeGreaterThan(token)
  })

  test('tells the settings of a workspace that live replicas have otherwise or not at all', async () => {
    const table = await (await place()).table()
    await table.configured('a', new Map(Object.entries({ acme: 'c1', beta: 'c1', gamma: 'c1' })))
    await table.beat(beat('a'))
    expect([...(await table.beat(beat('a'))).votes]).toEqual([])
    await table.configured('b', new Map(Object.entries({ acme: 'c1', beta: 'c2' })))
    await table.beat(beat('b'))
    const told = [...(await table.beat(beat('a'))).votes].map(([name, votes]) => [name, Object.fromEntries(votes)]).toSorted()
    expect(told).toEqual([
      ['beta', { a: 'c1', b: 'c2' }],
      ['gamma', { a: 'c1' }],
    ])
  })

  test('that ended by itself is taken with the time in which a write of its former holder may still land', async () => {
    const table = await (await place()).table()
    await table.beat(beat('a', { take: acme, lastsMs: 1 }))
    const taken = (await table.beat(beat('b', { take: acme }))).taken.get('acme')
    expect(taken?.quietMs).toBeGreaterThan(5_000)
    expect(taken?.quietMs).toBeLessThanOrEqual(10_000)
  })

  test('is void after a failover, and can be taken only when it would have ended', async () => {
    const { table: open, sql } = await place()
    const table = await open()
    const token = (await table.beat(beat('a', { take: acme }))).taken.get('acme')?.token ?? 0
    await sql("UPDATE capkeeper.era SET id = 'the server of before'; UPDATE capkeeper.lease SET era = 'the server of before'")
    const after = await table.beat(
      beat('a', { renew: [{ workspace: 'acme', token, config: 'c1' }], take: [{ workspace: 'beta', config: 'c1' }] }),
    )
    expect([[...after.renewed], [...after.taken]]).toEqual([[], []])
    expect([...(await table.beat(beat('b', { take: acme }))).taken]).toEqual([])
    await sql("UPDATE capkeeper.era SET since = since - interval '60 seconds'")
    const anew = (await table.beat(beat('b', { take: [...acme, { workspace: 'beta', config: 'c1' }] }))).taken
    expect(anew.get('acme')?.token).toBeGreaterThan(token)
    // The standby may lack the last holder and the end of its lease: every lease of the old server must have ended.
    for (const name of ['acme', 'beta']) expect(anew.get(name)?.quietMs).toBeGreaterThan(5_000)
  })

  test('belongs to the same era for all replicas, even for one whose first heartbeat reached a standby', async () => {
    const { table: open, sql } = await place()
    const [table, late] = [await open(), await open()]
    await server().becomeStandby()
    await expect(late.beat(beat('late'))).rejects.toMatchObject({ code: 'LEDGER_AWAY', message: expect.stringContaining('standby') })
    await sql('SELECT pg_promote()')
    const eras: unknown[] = []
    for (const [id, one] of [
      ['a', table],
      ['late', late],
      ['a', table],
    ] as const) {
      await one.beat(beat(id))
      eras.push(...(await sql('SELECT id, since::text FROM capkeeper.era')))
    }
    expect(eras).toEqual([eras[0], eras[0], eras[0]])
  })

  test('keeps a copy from beginning, from this ledger or to it, and from ending; the message names the holder', async () => {
    const { address, table: open } = await place()
    const store = await openLedger({ file: address, mode: 'write', clock: realClock(), env: {} })
    onTestFinished(() => store.close())
    await store.workspace('acme', 'http://service')
    const [end, before] = [await store.copyEnd(), await store.isHeld('acme')]
    await (await open()).beat(beat('a', { take: acme }))
    const refusal = { code: 'LEDGER_LOCKED', message: expect.stringContaining('pod-a') }
    for (const ask of [store.copyEnd, end.mustBeFree]) await expect(ask()).rejects.toMatchObject(refusal)
    expect([before, await store.isHeld('acme')]).toEqual([false, true])
  })
})

describe.skipIf(!hasPostgres)('the policies that a ledger has seen', () => {
  test('are in order of arrival, and an old one counts again only when every live replica has had it for long enough', async () => {
    const table = await (await place()).table()
    const given = (policy: string): ReadonlyMap<string, string> => new Map([['acme', policy]])
    // The settings of c do not have the workspace.
    for (const id of ['a', 'b']) await table.configured(id, given('c1'))
    for (const id of ['a', 'b', 'c']) await table.beat(beat(id))
    expect((await table.followed('a', given('one'))).get('acme')).toBe('one')
    expect((await table.followed('b', given('two'))).get('acme')).toBe('two')
    expect((await table.followed('a', given('one'))).get('acme')).toBe('two')
    expect(await table.readopt('acme', 'one', 0)).toBe(false)
    await table.followed('b', given('one'))
    expect(await table.readopt('acme', 'one', 60_000)).toBe(false)
    // Equal policies at another commit are the same set, known for as long.
    await table.followed('b', given('one 4f2a'))
    expect(await table.readopt('acme', 'one', 0)).toBe(true)
    expect((await table.followed('a', given('one'))).get('acme')).toBe('one')
  })

  test('are in the answer of each heartbeat, and one that was dropped for its age can come back like any other', async () => {
    const { table: open, sql } = await place()
    const table = await open()
    expect([...(await table.beat(beat('a', { take: acme }))).told]).toEqual([])
    await table.followed('a', new Map([['acme', 'one']]))
    await table.followed('other', new Map([['acme', 'two']]))
    expect([...(await table.beat(beat('a'))).told]).toEqual([['acme', 'one']])
    await sql("DELETE FROM capkeeper.policy_seen WHERE policy = 'one'")
    expect(await table.readopt('acme', 'one', 0)).toBe(true)
    const { leases } = await table.beat(beat('a'))
    expect(leases).toMatchObject([{ workspace: 'acme', policy: 'one' }])
    await sql("DELETE FROM capkeeper.replica WHERE id = 'a'")
    expect([...(await table.beat(beat('a'))).told]).toEqual([])
  })

  test('reach the other replicas, as do the holders’ views and the common values', async () => {
    const table = await (await place()).table()
    const token = (await table.beat(beat('a', { take: acme }))).taken.get('acme')?.token ?? 0
    await table.saveShown('a', [
      { workspace: 'acme', token, document: '{"a":1}' },
      { workspace: 'beta', token, document: '{}' },
    ])
    await table.saveShown('b', [{ workspace: 'acme', token, document: '{"a":2}' }])
    const { documents, mark } = await table.shownSince(undefined)
    expect([...documents]).toEqual([['acme', '{"a":1}']])
    expect((await table.shownSince(mark)).mark).toBe(mark)
    expect(await table.common('salt', () => 'x')).toBe('x')
    expect(await table.common('salt', () => 'y')).toBe('x')
  })

  test('and the holders’ views do not name a forgotten person', async () => {
    const one = await place()
    const table = await one.table()
    const token = (await table.beat(beat('a', { take: acme }))).taken.get('acme')?.token ?? 0
    await table.saveShown('a', [{ workspace: 'acme', token, document: 'ada@example.com' }])
    const beside = await openLedger({ file: one.address, mode: 'note', clock: realClock(), env: {} })
    await (await beside.workspace('acme', undefined)).forget('ada@example.com')
    await beside.close()
    expect([...(await table.shownSince(undefined)).documents]).toEqual([])
  })
})
