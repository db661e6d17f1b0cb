import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countPeople } from '../../../src/core/interpret/effective.ts'
import type { CapReading, Observed } from '../../../src/core/model/observed.ts'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { managedUsers, undeclaredCaps, undeclaredPeople } from '../../../src/core/plan/audit.ts'
import { cap, email, NOW, type PlainCap, roster, scope } from '../../support/declare.ts'

const key = (name: string) => scopeKey(scope(name))

describe('whom to look at', () => {
  const people = countPeople({
    roster: roster({ ada: 'approved', bob: 'approved', cleo: 'approved', dan: 'pending' }),
    groups: [],
    now: NOW,
  })
  const NOTHING = { desired: [], skipped: [], rejected: [], pools: [] }

  test('approved people whom neither policy nor the ledger knows', () => {
    expect(undeclaredPeople(people, managedUsers(NOTHING)).map(({ email }) => email)).toEqual([
      'ada@example.com',
      'bob@example.com',
      'cleo@example.com',
    ])
  })

  test.each([
    ['who is declared', managedUsers({ ...NOTHING, desired: [{ scope: scope('ada') }, { scope: scope('team') }] })],
    [
      'whom policy makes impossible',
      managedUsers({ ...NOTHING, rejected: [{ scope: scope('ada'), code: 'GROUP_CONFLICT', message: '' }] }),
    ],
    ['to whom a pool may deal', managedUsers({ ...NOTHING, pools: [{ members: [{ email: email('ada') }] }] })],
    ['whose cap is ours, or who is left alone', managedUsers(NOTHING, [key('ada')], [key('team')])],
  ])('nobody %s', (_name, managed) => {
    expect(undeclaredPeople(people, managed).map(({ email }) => email)).toEqual(['bob@example.com', 'cleo@example.com'])
  })
})

describe('what is worth showing', () => {
  const reading = (observed: PlainCap | 'unknown', last?: PlainCap): CapReading => ({
    scope: scope('ada'),
    observed: observed === 'unknown' ? observed : cap(observed),
    readAt: NOW,
    ...(last !== undefined && { last: { observed: cap(last), readAt: NOW - 1 } }),
  })
  const wider = (observed: Observed) => (): Observed => observed

  test.each<readonly [string, CapReading, Observed, readonly number[]]>([
    ['a number of the person’s own', reading(900), cap(500), [900]],
    ['a 0', reading(0), cap(500), [0]],
    ['nothing where nothing is set', reading('none'), cap(500), []],
    ['nothing where the wider cap shows, or may', reading(500), cap(500), []],
    ['what was read last while it cannot be read', reading('unknown', 900), cap(500), [900]],
    ['nothing of what was never read', reading('unknown'), cap(500), []],
    ['a number where nothing wider is set', reading(500), 'none', [500]],
  ])('%s', (_name, one, wide, expected) => expect(undeclaredCaps([one], wider(wide)).map((found) => Number(found.cap))).toEqual(expected))

  test('never a scope that is not a person, whatever it shows', () =>
    fc.assert(
      fc.property(fc.constantFrom('team', 'group:a'), fc.nat(), (name, shown) => {
        const wide = { scope: scope(name), observed: cap(shown), readAt: NOW }
        return undeclaredCaps([wide], wider('none')).length === 0
      }),
    ))
})
