// A scope that other clients keep changing: from which change on it is left alone, and what its hold says.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cap, entryOf, HOUR, keysOf, NOW, type PlainCap } from '../../support/declare.ts'
import { each, type PlanSketch, planOf } from '../../support/plan.ts'

const [KEY] = keysOf('p0')
const CONTEST = { at: NOW, entry: entryOf('cap', 500), changes: 3 }
const KNOWN = { known: KEY === undefined ? {} : { [KEY]: { ...CONTEST, at: NOW - HOUR } } }
const wrote = (
  hoursAgo: number,
  to: PlainCap = 500,
  more: { cause?: 'policy'; result?: 'failed' | 'verify_failed'; from?: PlainCap } = {},
) => ({
  at: NOW - hoursAgo * HOUR,
  ...{ to: cap(to), cause: more.cause ?? ('external' as const), result: more.result ?? ('applied' as const), from: cap(more.from ?? 800) },
})
/** Put right, and changed again before it could be read back. */
const outpaced = (hoursAgo: number, from: PlainCap) => wrote(hoursAgo, 500, { from, result: 'verify_failed' })
/** p0 has 900 in place of the 500 that was verified there, after these writes of ours. */
const fought = (entries: readonly ReturnType<typeof wrote>[], more: PlanSketch = {}): PlanSketch => ({
  ...{ caps: { p0: 500 }, observed: { p0: 900 }, owned: { p0: { cap: 500 } } },
  contests: { written: (_scope, sinceAt) => entries.filter(({ at }) => at >= sinceAt).toSorted((a, b) => b.at - a.at) },
  ...more,
})
const contested = (sketch: PlanSketch) => planOf(sketch).contested.get(KEY ?? ('' as never))

test.each<readonly [string, PlanSketch, typeof CONTEST | undefined]>([
  ['is not contested by the first change', fought([]), undefined],
  ['nor by the second', fought([wrote(1)]), undefined],
  ['is by the third within 24 h', fought([wrote(1), wrote(23)]), CONTEST],
  ['is not when the first is longer ago', fought([wrote(1), wrote(25)]), undefined],
  ['is not by our own changes of policy', fought([wrote(1, 500, { cause: 'policy' }), wrote(2, 500, { cause: 'policy' })]), undefined],
  ['is not by what failed to be put right', fought([wrote(1, 500, { result: 'failed' }), wrote(2, 500, { result: 'failed' })]), undefined],
  ['is not by what was put right before policy asked for something else', fought([wrote(1), wrote(2, 700), wrote(3), wrote(4)]), undefined],
  ['is by changes that came before the one before was read back', fought([outpaced(1, 800), outpaced(2, 700)]), CONTEST],
  ['is not by writes that never moved the cap', fought([outpaced(1, 900), outpaced(2, 900), outpaced(3, 900)]), undefined],
  ['is by more than three as well', fought([wrote(1), wrote(2), wrote(3)]), { ...CONTEST, changes: 4 }],
  ['is never when the guard is off', fought([], { guards: { contested: 'off' }, contests: KNOWN }), undefined],
  ['is for a day', fought([], { contests: KNOWN }), { ...CONTEST, at: NOW - HOUR }],
  ['is not when the difference is none of somebody else', fought([wrote(1), wrote(2), wrote(3)], { owned: {} }), undefined],
])('a scope %s', (_name, sketch, expected) => expect(contested(sketch)).toEqual(expected))

test('a scope is contested only by as many changes as the limit says, however they are spread over the day', () =>
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 23 }), { maxLength: 12 }), fc.integer({ min: 1, max: 12 }), (hours, limit) => {
      const found = contested(
        fought(
          hours.map((ago) => wrote(ago)),
          { guards: { contested: limit } },
        ),
      )
      return (found !== undefined) === hours.length + 1 >= limit
    }),
  ))

const since = NOW - HOUR
test.each([
  [1, ['p0'], ''],
  [3, ['p0', 'p1', 'p2'], ''],
  [5, ['p0', 'p1', 'p2'], ' and 2 more'],
])('the hold of contested scopes of %i names three and counts the rest, and says until when and how to go on', (count, named, more) => {
  const contests = {
    known: Object.fromEntries([...keysOf(...Object.keys(each(count, 0)))].map((key) => [key, { ...CONTEST, at: since }])),
  }
  const [hold] = planOf({ caps: each(count, 500), observed: each(count, 900), owned: each(count, { cap: 500 }), contests }).plan.holds
  const until = '2026-11-21 11:00 UTC'
  const told = named.map((name) => `${name}@example.com was changed by others 3 times (now 900, not 500, left alone until ${until})`)
  expect([hold?.changes.length, hold?.message]).toEqual([
    count,
    `acme: ${told.join(', ')}${more}; the limit is 3 in 24 h, so they are not healed for 24 h; approve hold ${hold?.id} (capkeeper edit approve ${hold?.id}) or stop the other writer`,
  ])
})
