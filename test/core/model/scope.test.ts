// Scopes as people type and read them.
import { describe, expect, test } from 'vitest'
import { byScope, groupScope, parseScope, SCOPE_KINDS, scopeKey, TEAM, userScope } from '../../../src/core/model/scope.ts'

describe('a scope', () => {
  test.each<readonly [string, ReturnType<typeof parseScope>]>([
    ['team', TEAM],
    [' team\n', TEAM],
    ['Team', undefined],
    ['teams', undefined],
    ['group:g', groupScope('g')],
    ['group:A b', groupScope('A b')],
    ['group:', undefined],
    ['a@x.y', userScope('a@x.y')],
    [' A@X.y ', userScope('a@x.y')],
    ['user:A@x.y', userScope('a@x.y')],
    ['user:', undefined],
    ['user:team', undefined],
    ['a@', undefined],
    ['@x', undefined],
    ['a@b@c', undefined],
    ['a b@x.y', undefined],
    ['a@x.y z', undefined],
    ['see:a@x.y', undefined],
    ['', undefined],
  ])('that is typed as %j is read so', (text, expected) => expect(parseScope(text)).toEqual(expected))

  test.each([TEAM, groupScope('G 1'), userScope(' A@x.Y ')])('is read from its own key', (scope) =>
    expect(parseScope(scopeKey(scope))).toEqual(scope),
  )

  test('is one of three kinds, in their order', () => expect(SCOPE_KINDS).toEqual(['team', 'group', 'user']))

  test('names what lies at it, the last where there are several', () => {
    const found = byScope([TEAM, userScope('a@x.y'), TEAM].map((scope, index) => ({ scope, index })))
    expect([...found].map(([key, { index }]) => [key, index])).toEqual([
      ['team', 2],
      ['a@x.y', 1],
    ])
  })
})
