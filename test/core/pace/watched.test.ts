// Which scopes are worth reading soon: where people could use much beyond their cap, and where there is a sign that the cap is wrong.
import { describe, expect, test } from 'vitest'
import { watchedScopes } from '../../../src/core/pace/rhythm.ts'
import { email, NOW, type PlainCap, scope } from '../../support/declare.ts'
import { planInputs } from '../../support/plan.ts'
import { capsOf, keyOf } from '../../support/waves.ts'

interface Sketch {
  readonly use?: Readonly<Record<string, number>>
  readonly useWhenRead?: Readonly<Record<string, number>>
}

/** ada has a cap of her own, bob that of his group, cyd that of the team. */
function watched(
  { use = {}, useWhenRead = {} }: Sketch,
  caps: Readonly<Record<string, PlainCap>> = { team: 100, 'group:g': 200, ada: 300 },
) {
  const declared = capsOf(caps)
  const before = capsOf(useWhenRead)
  return watchedScopes({
    scopes: ['team', 'group:g', 'ada'].map(scope),
    readAt: (key) => (key === keyOf('ada') ? NOW : undefined),
    people: planInputs({ people: ['ada', 'bob', 'cyd', 'dan'], groups: { g: ['bob'] }, used: use }).people,
    declared: (key) => declared.get(key),
    pacePerDay: (one) => (one === email('ada') ? 40 : 10),
    useWhenRead: (one) => before.get(keyOf(one)) as never,
    changedByOthers: () => false,
  })
}

describe('a scope', () => {
  const suspects = (sketch: Sketch): readonly string[] =>
    watched(sketch).flatMap(({ key, suspect }) => (suspect ? [key.split('@')[0] ?? ''] : []))

  test('carries the risk of everybody whose cap it gives', () => {
    const use = { ada: 290, bob: 198, cyd: 95, dan: 99 }
    expect(watched({ use }).map(({ key, risk }) => [key, risk])).toEqual([
      ['team', 0 + 4],
      ['group:g', 3],
      [keyOf('ada'), 10],
    ])
  })

  test('carries none where nobody can reach the cap, nobody has it, or none is set', () => {
    expect(watched({}).map(({ risk }) => risk)).toEqual([0, 0, 0])
    expect(watched({ use: { cyd: 1e6 } }, { team: 'none' }).map(({ risk }) => risk)).toEqual([0, 0, 0])
  })

  test('has the time of its last reading where it was read', () => {
    expect(watched({}).map((one) => one.readAt)).toEqual([undefined, undefined, NOW])
    expect(watched({}).some((one) => one.suspect === true)).toBe(false)
  })

  test.each<readonly [string, Sketch, readonly string[]]>([
    ['is none while use stays within the cap', { use: { ada: 300 }, useWhenRead: { ada: 200 } }, []],
    ['is one where a person went on beyond the cap since it was read', { use: { ada: 301 }, useWhenRead: { ada: 300 } }, ['ada']],
    ['is none where that use was there at the reading', { use: { ada: 301 }, useWhenRead: { ada: 301 } }, []],
  ])('to be suspected %s', (_name, sketch, expected) => expect(suspects(sketch)).toEqual(expected))
})
