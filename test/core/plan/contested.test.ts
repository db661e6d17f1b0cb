import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { contestedScopes } from '../../../src/core/plan/contested.ts'
import type { Contest, Difference } from '../../../src/core/plan/snapshot.ts'
import { cap, entryOf, NOW, type PlainCap, scope } from '../../support/declare.ts'

type ContestInputs = Parameters<typeof contestedScopes>[1]

const ADA = scope('ada')
const KEY = scopeKey(ADA)
const HOUR = 3_600_000

const difference = (more: Partial<Difference> = {}): Difference => ({
  scope: ADA,
  key: KEY,
  from: cap(900),
  to: cap(500),
  cause: 'external',
  entry: entryOf('cap', 500),
  healing: true,
  grantEnd: false,
  ...more,
})

type Entry = ReturnType<ContestInputs['written']>[number] & { readonly at: number }
const wrote = (hoursAgo: number, to: PlainCap = 500, more: Partial<Entry> = {}): Entry => ({
  at: NOW - hoursAgo * HOUR,
  from: cap(800),
  to: cap(to),
  cause: 'external',
  result: 'applied',
  ...more,
})

/** Put right, and changed again before it could be read back. */
const outpaced = (hoursAgo: number, from: PlainCap): Entry => wrote(hoursAgo, 500, { from: cap(from), result: 'verify_failed' })

const inputs = (entries: readonly Entry[], known?: Contest): ContestInputs => ({
  known: known ? { [KEY]: known } : {},
  written: (_scope, sinceAt) => entries.filter(({ at }) => at >= sinceAt).toSorted((a, b) => b.at - a.at),
})

const contested = (entries: readonly Entry[], more: Partial<Difference> = {}, known?: Contest, limit: number | 'off' = 3) =>
  contestedScopes([difference(more)], inputs(entries, known), limit, NOW).get(KEY)

describe('a scope that others keep changing', () => {
  const FRESH = { at: NOW, entry: entryOf('cap', 500), changes: 3 }
  test.each<readonly [string, readonly Entry[], Contest | undefined]>([
    ['is not contested by the first change', [], undefined],
    ['nor by the second', [wrote(1)], undefined],
    ['is by the third within 24 h', [wrote(1), wrote(23)], FRESH],
    ['is not when the first is longer ago', [wrote(1), wrote(25)], undefined],
    ['is not by our own changes of policy', [wrote(1, 500, { cause: 'policy' }), wrote(2, 500, { cause: 'policy' })], undefined],
    ['is not by what failed to be put right', [wrote(1, 500, { result: 'failed' }), wrote(2, 500, { result: 'failed' })], undefined],
    ['is not by what was put right before policy asked for something else', [wrote(1), wrote(2, 700), wrote(3), wrote(4)], undefined],
    ['is by changes that came before the one before was read back', [outpaced(1, 800), outpaced(2, 700)], FRESH],
    ['is not by writes that never moved the cap', [outpaced(1, 900), outpaced(2, 900), outpaced(3, 900)], undefined],
    ['is by more than three as well', [wrote(1), wrote(2), wrote(3)], { ...FRESH, changes: 4 }],
  ])('%s', (_name, entries, expected) => expect(contested(entries)).toEqual(expected))

  const before: Contest = { at: NOW - 23 * HOUR, entry: entryOf('cap', 500), changes: 3 }
  test('is not when the difference is none of somebody else', () => expect(contested([], { cause: 'policy' }, before)).toBeUndefined())

  test('is never when the guard is off', () => expect(contested([wrote(1), wrote(2), wrote(3)], {}, before, 'off')).toBeUndefined())

  test('only by as many changes as the limit says, however they are spread over the day', () =>
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 23 }), { maxLength: 12 }), fc.integer({ min: 1, max: 12 }), (hours, limit) => {
        const found = contested(
          hours.map((ago) => wrote(ago)),
          {},
          undefined,
          limit,
        )
        return (found !== undefined) === hours.length + 1 >= limit
      }),
    ))
})
