// The spread of workspaces over replicas: even, stable, with few moves when replicas come and go, and no workspace left over.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { settingsThatCount, spread } from '../../../src/core/replicas/lease.ts'

type Held = Parameters<typeof spread>[2][number]
type Peer = Parameters<typeof spread>[1][number]

const peer = (id: string, refuses: readonly string[] = []): Peer => ({ id, refuses: new Set(refuses) })
const names = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `w${at}`)

/** The holder of each workspace; '' for a free one. */
type Table = Map<string, string>

const leasesOf = (table: Table, freeForMs = 0): readonly Held[] =>
  [...table].map(([workspace, holder]) => (holder === '' ? { workspace, freeForMs } : { workspace, holder }))

/** Each replica in turn makes its moves; returns how many leases were taken. */
function round(table: Table, peers: readonly Peer[], freeForMs = 0): number {
  let moved = 0
  for (const { id } of peers) {
    const { take, release } = spread(id, peers, leasesOf(table, freeForMs))
    for (const one of release) {
      expect(table.get(one)).toBe(id)
      table.set(one, '')
    }
    for (const one of take) {
      expect(table.get(one)).toBe('')
      table.set(one, id)
      moved += 1
    }
  }
  return moved
}

/** Rounds until one changes nothing, as then no later one does; returns how many leases were taken. */
function settled(table: Table, peers: readonly Peer[]): number {
  let moved = 0
  for (let turn = 0; turn < 60; turn += 1) {
    const before = [...table.values()].join()
    moved += round(table, peers)
    if ([...table.values()].join() === before) return moved
  }
  throw new Error('the leases move on and on')
}

const countsOf = (table: Table, peers: readonly Peer[]): readonly number[] =>
  peers.map(({ id }) => [...table.values()].filter((holder) => holder === id).length)

const replicas = (count: number): readonly Peer[] => names(count).map((name) => peer(`r-${name}`))

describe('workspaces', () => {
  test('are spread evenly within one, and then stay', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 6 }), (count, size) => {
        const table: Table = new Map(names(count).map((name) => [name, '']))
        const peers = replicas(size)
        settled(table, peers)
        const counts = countsOf(table, peers)
        expect(counts.reduce((sum, one) => sum + one, 0)).toBe(count)
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
        expect(round(table, peers)).toBe(0)
      }),
    )
  })

  test('move only as far as the replica that came or went makes necessary', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 5 }), (count, size) => {
        const table: Table = new Map(names(count).map((name) => [name, '']))
        const before = replicas(size)
        settled(table, before)
        const after = replicas(size + 1)
        expect(settled(table, after)).toBeLessThanOrEqual(Math.ceil(count / (size + 1)))
        const [, ...rest] = after
        const left = countsOf(table, after)[0] ?? 0
        for (const [workspace, holder] of table) if (holder === after[0]?.id) table.set(workspace, '')
        expect(settled(table, rest)).toBe(left)
      }),
    )
  })

  test('are released a few at a time', () => {
    const table: Table = new Map(names(100).map((name) => [name, 'a']))
    expect(spread('a', [peer('a'), peer('b')], leasesOf(table)).release).toHaveLength(5)
  })

  test('are kept when no other replica would take them, and taken by any that would when they are left over', () => {
    const table: Table = new Map(names(4).map((name) => [name, 'a']))
    const peers = [peer('a'), peer('b', names(4))]
    expect(spread('a', peers, leasesOf(table))).toEqual({ take: [], release: [] })
    const alone: Table = new Map([...names(4).map((name): [string, string] => [name, 'a']), ['w9', '']])
    expect(spread('a', [peer('a'), peer('b', [...names(4), 'w9'])], leasesOf(alone, 8_000)).take).toEqual(['w9'])
  })

  test('are left alone by a replica that is not alive', () => {
    expect(spread('x', [peer('a')], leasesOf(new Map([['w0', '']])))).toEqual({ take: [], release: [] })
  })
})

describe('whatever the order of replicas', () => {
  type Expected = Readonly<Record<string, readonly string[]>>
  const moves = (peers: readonly Peer[], leases: readonly Held[]): readonly Expected[] => {
    const all = peers.map(({ id }) => ({ id, ...spread(id, peers, leases) }))
    const given = (of: 'take' | 'release') => Object.fromEntries(all.filter((one) => one[of].length > 0).map((one) => [one.id, one[of]]))
    return [given('take'), given('release')]
  }
  const table = (holders: string, freeForMs = 0): readonly Held[] =>
    leasesOf(new Map([...holders].map((holder, at) => [`w${at}`, holder.trim()])), freeForMs)
  const [a, b, c] = [peer('a'), peer('b'), peer('c')]

  test.each<readonly [string, readonly Peer[], readonly Held[], Expected, Expected]>([
    ['the first by name gets one more', [b, c, a], table('    '), { a: ['w0', 'w1'], b: ['w1'], c: ['w2'] }, {}],
    ['the replica that holds most keeps one more', [a, b, c], table('ccab'), {}, {}],
    ['the replica that holds most keeps one more, whatever the order', [b, c, a], table('acbb'), {}, {}],
    ['a holder that is not alive does not count', [a, b], table('xx    '), { a: ['w2', 'w3', 'w4'], b: ['w4', 'w5', 'w2'] }, {}],
    ['workspaces that the others refuse are kept', [a, peer('b', names(3)), c], table('aaac'), {}, {}],
    ['a replica that refuses all has no share', [a, b, peer('c', names(6))], table('aab   '), { a: ['w3'], b: ['w4', 'w5'] }, {}],
    ['a workspace that one of two others would take is released', [a, peer('b', names(6)), c], table('aaaaaa'), {}, { a: ['w5'] }],
  ])('%s', (_title, peers, leases, take, release) => expect(moves(peers, leases)).toEqual([take, release]))
})

const votes = (text: string) => new Map([...text].map((config, place) => [`r${place}`, config]))
test.each<readonly [string, string, string | undefined, string]>([
  ['are those of most', 'abb', 'a', 'b'],
  ['are the present ones where as many have each', 'ab', 'b', 'b'],
  ['are those of the first by id where nobody ever kept it', 'ba', undefined, 'b'],
])('the settings that count: %s', (_name, text, present, counts) => expect(settingsThatCount(votes(text), present)).toBe(counts))
