// Which guards a change is exempt from, and who counts; what each guard holds is in judge.test.ts.
import { describe, expect, test } from 'vitest'
import { DEFAULT_GUARDS, type GuardCode } from '../../../../src/core/model/change.ts'
import { type GuardInputs, isCounted, mayHold } from '../../../../src/core/plan/guards/round.ts'
import type { Difference } from '../../../../src/core/plan/snapshot.ts'
import { entryOf } from '../../../support/declare.ts'
import { digest, NO_FAILED_READS, planOf } from '../../../support/plan.ts'
import { changeOf, keyOf } from '../../../support/waves.ts'

type Round = Parameters<typeof mayHold>[1]

const facts = { workspace: 'acme', declared: 1, reads: NO_FAILED_READS, rosterMissing: false as const, protectedPeople: new Set<string>() }
const { impact } = planOf({})
const inputs: GuardInputs = {
  ...{ differences: [], released: new Set(), impact, facts, settings: DEFAULT_GUARDS, digest, whole: [] },
}
const roundOf = (...differences: readonly Difference[]): Round => ({
  inputs,
  active: new Map(differences.map((one) => [one.key, one])),
  impacts: [],
  counted: new Map(),
})
const lowered = (more: Partial<Difference> = {}): Difference => ({ ...changeOf('p0', 500, 400), ...more })
const GUARDS: readonly GuardCode[] = [
  'maxAffected',
  'maxLowered',
  'maxBlocked',
  'maxCleared',
  'maxRaise',
  'protected',
  'readQuality',
  'semantics',
]

test.each<readonly [string, Partial<Difference>, readonly GuardCode[]]>([
  ['of policy from none', {}, []],
  ['that heals from shares and raises', { healing: true }, ['maxAffected', 'maxLowered', 'maxBlocked', 'maxRaise']],
  [
    'that ends a grant from shares but clears, and from protection',
    { grantEnd: true },
    ['maxAffected', 'maxLowered', 'maxBlocked', 'protected'],
  ],
  [
    'that restores the cap from before a 0 of ours as one that heals, from protection, and from what holds team and group writes',
    { entry: { kind: 'kept', cap: 'none' } },
    ['maxAffected', 'maxLowered', 'maxBlocked', 'maxRaise', 'protected', 'semantics'],
  ],
  [
    'that restores the same after a foreign change as any that heals',
    { entry: entryOf('kept', 400), cause: 'external', healing: true },
    ['maxAffected', 'maxLowered', 'maxBlocked', 'maxRaise'],
  ],
  [
    'of a reviewed pool from all that count',
    { pool: { name: 'research', key: 'k', isReviewed: true } },
    ['maxAffected', 'maxLowered', 'maxBlocked', 'maxCleared', 'maxRaise'],
  ],
  ['of a pool that was not reviewed from none', { pool: { name: 'research', key: 'k', isReviewed: false } }, []],
])('a change %s is exempt', (_name, more, expected) => {
  const round = roundOf(lowered(more))
  expect(GUARDS.filter((guard) => !mayHold(keyOf('p0'), round, guard))).toEqual(expected)
  const [person] = impact.people.approved
  if (!person) throw new Error('nobody is there')
  const hit = { person, effect: 'lowered', before: 'none', after: 'none', changes: [keyOf('p0')] } as const
  expect(GUARDS.filter((guard) => !isCounted(hit, round, guard))).toEqual(expected)
})

describe('a person', () => {
  const [person] = impact.people.approved
  const counts = (changes: readonly string[], round: Round) =>
    person && isCounted({ person, effect: 'lowered', before: 'none', after: 'none', changes: changes.map(keyOf) }, round, 'maxLowered')
  test('counts by a change that is still to be judged, or without any, as an interrupted plan has left them', () => {
    const round = roundOf(lowered())
    expect([counts(['p0'], round), counts(['team', 'p0'], round), counts([], round)]).toEqual([true, true, true])
  })
  test('does not count by a change that was taken out, and nothing of it is held again', () => {
    expect(counts(['team'], roundOf(lowered()))).toBe(false)
    expect(mayHold(keyOf('team'), roundOf(lowered()), 'maxLowered')).toBe(false)
  })
})
