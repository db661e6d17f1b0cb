// The spread of workspaces over replicas: even, calm, with few moves when replicas come and go, and nobody left alone.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Held, LEFT_OVER_MS, type Peer, spread } from '../../../src/core/replicas/spread.ts'

const peer = (id: string, refuses: readonly string[] = []): Peer => ({ id, refuses: new Set(refuses) })
const names = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `w${at}`)

/** The table: who holds each; '' is nobody. */
type Table = Map<string, string>

const leasesOf = (table: Table, freeForMs = 0): readonly Held[] =>
  [...table].map(([workspace, holder]) => (holder === '' ? { workspace, freeForMs } : { workspace, holder }))

/** Every replica has its turn, each with what the table says then; returns how many leases changed hands. */
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

function settled(table: Table, peers: readonly Peer[]): number {
  let moved = 0
  for (let turn = 0; turn < 60; turn += 1) moved += round(table, peers)
  return moved
}

const countsOf = (table: Table, peers: readonly Peer[]): readonly number[] =>
  peers.map(({ id }) => [...table.values()].filter((holder) => holder === id).length)

const replicas = (count: number): readonly Peer[] => names(count).map((name) => peer(`r-${name}`))

describe('workspaces', () => {
  test('are spread evenly within one, and then nothing moves any more', () => {
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

  test('move only as many as the one who came, or went, asks for', () => {
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

  test('are let go a few at a time', () => {
    const table: Table = new Map(names(100).map((name) => [name, 'a']))
    expect(spread('a', [peer('a'), peer('b')], leasesOf(table)).release).toHaveLength(5)
  })

  test('are kept when nobody else would have them, and taken by whoever will when they are left over', () => {
    const table: Table = new Map(names(4).map((name) => [name, 'a']))
    const peers = [peer('a'), peer('b', names(4))]
    expect(spread('a', peers, leasesOf(table))).toEqual({ take: [], release: [] })
    const alone: Table = new Map([...names(4).map((name): [string, string] => [name, 'a']), ['w9', '']])
    expect(spread('a', [peer('a'), peer('b', [...names(4), 'w9'])], leasesOf(alone, LEFT_OVER_MS)).take).toEqual(['w9'])
  })

  test('are nobody’s business who is not among the living', () => {
    expect(spread('x', [peer('a')], leasesOf(new Map([['w0', '']])))).toEqual({ take: [], release: [] })
  })
})

describe('of the table, in whatever order the replicas stand', () => {
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
    ['each begins at another place', [b, c, a], table('   '), { a: ['w0'], b: ['w1'], c: ['w2'] }, {}],
    ['the first by name has the one more', [b, c, a], table('    '), { a: ['w0', 'w1'], b: ['w1'], c: ['w2'] }, {}],
    ['the first two by name have one more', [c, a, b], table('     '), { a: ['w0', 'w1'], b: ['w1', 'w2'], c: ['w3'] }, {}],
    ['who holds most keeps the one more', [a, b, c], table('ccab'), {}, {}],
    ['who holds most keeps it, whoever comes first', [b, c, a], table('acbb'), {}, {}],
    ['who holds too many lets the last go', [a, b], table('aaaab'), {}, { a: ['w3'] }],
    ['a holder that is not alive counts for nobody', [a, b], table('xx    '), { a: ['w2', 'w3', 'w4'], b: ['w4', 'w5', 'w2'] }, {}],
    ['what the others refuse is kept', [a, peer('b', names(4)), c], table('aaac'), {}, {}],
    ['what one of two takes is let go', [a, peer('b', names(6)), c], table('aaaaaa'), {}, { a: ['w5'] }],
    ['each refuses for itself', [peer('a', names(2)), b], table('  '), { b: ['w1'] }, {}],
    ['what is not yet left over waits', [peer('a', names(2)), b], table('  ', LEFT_OVER_MS - 1), { b: ['w1'] }, {}],
    ['what is left over goes beyond what is even', [peer('a', names(2)), b], table('  ', LEFT_OVER_MS), { b: ['w1', 'w0'] }, {}],
    ['who holds too many waits too', [a, peer('b', ['w3'])], table('aaa ', LEFT_OVER_MS - 1), {}, { a: ['w2'] }],
    ['who holds too many takes what is left over', [a, peer('b', ['w3'])], table('aaa ', LEFT_OVER_MS), { a: ['w3'] }, { a: ['w2'] }],
  ])('%s', (_title, peers, leases, take, release) => expect(moves(peers, leases)).toEqual([take, release]))
})
