import { expect, test } from 'vitest'
import { nearest } from '../../src/policy/suggest.ts'

const PEOPLE = ['ada@example.com', 'bob@example.com', 'Grace.Hopper@example.org', `${'long.'.repeat(9)}name@example.com`]

test.each([
  ['is found by a name with two wrong letters', 'grace.hoper@example.org', 'Grace.Hopper@example.org'],
  ['is found by a domain with two letters swapped', 'ada@exmaple.com', 'ada@example.com'],
  ['is found where both parts are wrong', 'grace.hoppre@exampel.org', 'Grace.Hopper@example.org'],
  ['is found also where it is long', `${'long.'.repeat(9)}mane@example.com`, `${'long.'.repeat(9)}name@example.com`],
  ['is none where the name is another', 'eve@example.com', undefined],
  ['is none where the domain is another', 'ada@elsewhere.net', undefined],
])('the nearest address: %s', (_row, typed, meant) => expect(nearest(typed, PEOPLE)).toBe(meant))
