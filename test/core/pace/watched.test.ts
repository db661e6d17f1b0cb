// Which scopes are worth reading soon: where people could use much beyond their cap, and where there is a sign that the cap is wrong.
import { describe, expect, test } from 'vitest'
import { countPeople } from '../../../src/core/interpret/effective.ts'
import { type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { watchedScopes } from '../../../src/core/pace/pacing.ts'
import { cap, members, NOW, type PlainCap, roster, scope, short } from '../../support/declare.ts'

interface Sketch {
  readonly use?: Readonly<Record<string, number>>
  readonly useWhenRead?: Readonly<Record<string, number>>
  readonly changed?: readonly string[]
}

/** ada has a cap of her own, bob that of his group, cyd that of the team. */
const CAPS: Readonly<Record<string, PlainCap>> = { team: 100, 'group:g': 200, ada: 300 }

function watched({ use = {}, useWhenRead = {}, changed = [] }: Sketch, caps = CAPS) {
  const known = roster({ ada: 'approved', bob: 'approved', cyd: 'approved', dan: 'approved' })
  const people = known.people.map((one) => ({ ...one, used: credits(use[short({ kind: 'user', email: one.email })] ?? 0) }))
  const named = <T>(record: Readonly<Record<string, T>>, email: string): T | undefined => record[short({ kind: 'user', email })]
  const declared = new Map(Object.entries(caps).map(([name, value]) => [scopeKey(scope(name)), cap(value)]))
  const inputs: Parameters<typeof watchedScopes>[0] = {
    scopes: ['team', 'group:g', 'ada'].map(scope),
    readAt: (key) => (key === scopeKey(scope('ada')) ? NOW : undefined),
    people: countPeople({ now: NOW, roster: { ...known, people }, groups: members({ g: ['bob'] }) }),
    declared: (key: ScopeKey) => declared.get(key),
    pacePerDay: (email) => (email.startsWith('ada') ? 40 : 10),
    useWhenRead: (email) => {
      const amount = named(useWhenRead, email)
      return amount === undefined ? undefined : credits(amount)
    },
    changedByOthers: (at) => changed.includes(short(at)),
  }
  return watchedScopes(inputs)
}

describe('a scope', () => {
  const suspects = (sketch: Sketch): readonly string[] =>
    watched(sketch).flatMap(({ key, suspect }) => (suspect ? [key.split('@')[0] ?? ''] : []))

  test('carries the risk of everybody whose cap it gives', () => {
    const use = { ada: 290, bob: 198, cyd: 95, dan: 99 }
    expect(watched({ use }).map(({ key, risk }) => [key, risk])).toEqual([
      ['team', 0 + 4],
      ['group:g', 3],
      [scopeKey(scope('ada')), 10],
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
