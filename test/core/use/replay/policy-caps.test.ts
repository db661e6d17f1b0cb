// The caps that a policy would have given on past days: worked out once for days on which the same grants were in force.
import { describe, expect, test } from 'vitest'
import { capsOfPolicy } from '../../../../src/core/use/replay/in-force.ts'
import { replayPeople } from '../../../../src/core/use/replay/recorded.ts'
import { DAY, email, type PolicySketch, policy, roster } from '../../../support/declare.ts'
import { cyclesOf, group, recordedOf, START } from '../../../support/replay.ts'

const [CYCLE, NEXT] = cyclesOf(2)
const PRESENT = roster({ ada: 'approved', bob: 'approved' })
const PEOPLE = replayPeople(recordedOf({}), PRESENT.people, [group('a', 'ada')])

function sourceOf(sketch: PolicySketch) {
  const source = capsOfPolicy({ set: policy(sketch), people: PEOPLE, roster: PRESENT, groups: [group('a', 'ada')] })
  const on = (day: number) => {
    const cycle = day < 28 ? CYCLE : NEXT
    if (!cycle) throw new Error('no cycle')
    return source.capsOn({ at: START + (day + 0.5) * DAY, cycle, used: new Float64Array(2) })
  }
  return { source, on }
}

describe('days', () => {
  const grant = (from: number, until: number, cap: number) => ({ on: 'ada', cap, from: START + from * DAY, until: START + until * DAY })
  test('with the same grants have the very same caps', () => {
    const { on } = sourceOf({ caps: { team: 50 }, grants: [grant(2, 4, 90)] })
    expect([...on(0).caps]).toEqual([50, 50])
    expect(on(1)).toBe(on(0))
    expect([...on(2).caps]).toEqual([90, 50])
    expect(on(3)).toBe(on(2))
    expect(on(30)).toBe(on(0))
    const plain = sourceOf({ caps: { team: 50 } })
    expect(plain.on(40)).toBe(plain.on(0))
  })
  test('with another grant of the same size have their own', () => {
    const { on } = sourceOf({ caps: { team: 50 }, grants: [grant(0, 1, 90), { ...grant(1, 2, 70), on: 'bob' }] })
    expect([0, 1, 2].map((day) => [...on(day).caps])).toEqual([
      [90, 50],
      [50, 70],
      [50, 50],
    ])
  })
})

test('pools are known once a day was asked for', () => {
  const { source, on } = sourceOf({ pools: [{ name: 'p', members: { kind: 'emails', emails: [email('bob')] }, credits: 100, max: 70 }] })
  expect(source.pools()).toEqual([])
  on(0)
  expect(source.pools()).toEqual([{ name: 'p', credits: 100, max: 70, members: [1] }])
  const free = sourceOf({ pools: [{ name: 'p', members: { kind: 'emails', emails: [email('ada'), email('bob')] }, credits: 100 }] })
  free.on(0)
  expect(free.source.pools()).toEqual([{ name: 'p', credits: 100, max: 100, members: [0, 1] }])
})

test('people dealt by a pool have their cap from no scope, all others from theirs, unknown people included', () => {
  const emails = [email('ada'), email('zoe')]
  const { source, on } = sourceOf({ caps: { team: 50 }, pools: [{ name: 'p', members: { kind: 'emails', emails }, credits: 80 }] })
  expect([...on(0).from].map((place) => source.scopes[place])).toEqual([undefined, 'team'])
  expect([...on(0).from][0]).toBe(-1)
  expect([...on(1).caps]).toEqual([80, 50])
})
