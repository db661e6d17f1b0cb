import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { adopt } from '../../../src/core/plan/audit.ts'
import { cap, type PlainCap } from '../../support/declare.ts'

interface Sketch {
  readonly team: PlainCap
  readonly groups?: Readonly<Record<string, { readonly cap: PlainCap; readonly members: readonly string[] }>>
  readonly people: Readonly<Record<string, PlainCap>>
}

const live = ({ team, groups = {}, people }: Sketch): Parameters<typeof adopt>[0] => ({
  team: cap(team),
  groups: Object.entries(groups).map(([id, one]) => ({ id, name: id.toUpperCase(), cap: cap(one.cap), emails: one.members })),
  people: Object.entries(people).map(([email, own]) => ({ email, cap: cap(own) })),
})

const declared = (sketch: Sketch): Readonly<Record<string, unknown>> => {
  const { team, groups, people } = adopt(live(sketch))
  const all = [
    ['team', team] as const,
    ...groups.map((one) => [one.id, one.cap] as const),
    ...people.map((one) => [one.email, one.cap] as const),
  ]
  return Object.fromEntries(all.filter(([, one]) => one !== 'none'))
}

test.each<[string, Sketch, Readonly<Record<string, number>>]>([
  ['every cap that is set', { team: 500, people: { ada: 900, bob: 'none' } }, { team: 500, ada: 900 }],
  [
    'a cap equal to the inherited one, when others read as unset',
    { team: 500, people: { ada: 500, bob: 'none' } },
    { team: 500, ada: 500 },
  ],
  ['a cap of 0', { team: 500, people: { ada: 0, bob: 'none' } }, { team: 500, ada: 0 }],
  ['nothing, where nothing is set', { team: 'none', people: { ada: 'none' } }, {}],
  ['only what differs, where everybody reads a value', { team: 500, people: { ada: 500, bob: 900 } }, { team: 500, bob: 900 }],
  [
    'nobody who shows the group’s cap, whoever else is under no cap at all',
    { team: 'none', groups: { core: { cap: 700, members: ['ada'] } }, people: { ada: 700, bob: 'none' } },
    { core: 700 },
  ],
])('adopt declares %s', (_name, sketch, expected) => {
  expect(declared(sketch)).toEqual(expected)
})

describe('adopt tells', () => {
  test('how many inherited caps it left out, groups included', () => {
    const { left } = adopt(live({ team: 500, groups: { core: { cap: 500, members: [] } }, people: { ada: 500, bob: 900 } }))
    expect(left).toBe(2)
  })

  test('whose groups disagree, unless they have a cap of their own', () => {
    const groups = { a: { cap: 1, members: ['ada', 'bob'] }, b: { cap: 2, members: ['ada', 'bob'] } }
    expect(adopt(live({ team: 500, groups, people: { ada: 'none', bob: 3, cleo: 'none' } })).conflicts).toEqual(['ada'])
  })

  test('which groups have no cap of their own', () => {
    const groups = { core: { cap: 'none' as const, members: ['ada'] }, web: { cap: 7, members: [] } }
    const { named, groups: kept } = adopt(live({ team: 500, groups, people: { ada: 'none' } }))
    expect([named.map(({ id }) => id), kept.map(({ id }) => id)]).toEqual([['core'], ['web']])
  })
})

const someCap = fc.oneof(
  fc.constant('none' as const),
  fc.integer({ min: 0, max: 3 }).map((n) => n * 100),
)
const names = ['ada', 'bob', 'cleo', 'dan', 'eve']
const sketches: fc.Arbitrary<Sketch> = fc.record({
  team: someCap,
  groups: fc.record({
    x: fc.record({ cap: someCap, members: fc.subarray(names) }),
    y: fc.record({ cap: someCap, members: fc.subarray(names) }),
  }),
  people: fc.record(Object.fromEntries(names.map((name) => [name, someCap]))) as fc.Arbitrary<Record<string, PlainCap>>,
})

test('what adopt declares leaves everybody with the cap they read or inherit', () => {
  fc.assert(
    fc.property(sketches, (sketch) => {
      const seen = declared(sketch)
      for (const [name, own] of Object.entries(sketch.people)) {
        if (own === 'none' || seen[name] !== undefined) continue
        const groups = Object.entries(sketch.groups ?? {}).flatMap(([id, one]) => (one.members.includes(name) ? [seen[id] ?? 'none'] : []))
        const [only = sketch.team, ...others] = new Set(groups.filter((one) => one !== 'none'))
        expect({ others, only }).toEqual({ others: [], only: own })
      }
    }),
  )
})
