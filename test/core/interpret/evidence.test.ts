import { describe, expect, test } from 'vitest'
import {
  ASPECT_VALUES,
  ASPECTS,
  addObservation,
  groupsListed,
  observeReadings,
  type ServiceEvidence,
} from '../../../src/core/interpret/evidence.ts'
import type { CapReading } from '../../../src/core/model/observed.ts'
import { type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { cap, HOUR, NOW, type PlainCap, scope } from '../../support/declare.ts'

const reading = (name: string, observed: PlainCap | 'unknown', readAt = NOW): CapReading => ({
  scope: scope(name),
  observed: observed === 'unknown' ? observed : cap(observed),
  readAt,
})
const layered = { aspect: 'caps', value: 'layered', evidence: 'ada kept 4000' } as const
const copied = { aspect: 'caps', value: 'copied', evidence: 'ada changed' } as const

describe('a observation', () => {
  test('that is known already is no news, and keeps the first evidence', () => {
    const seen = addObservation({}, layered, NOW)
    expect(addObservation(seen, { ...layered, evidence: 'bob kept 700' }, NOW + 1)).toBe(seen)
  })

  test('that only flickers back is noted once an hour at most', () => {
    const [stored, omitted] = [
      { aspect: 'zero', value: 'stored', evidence: 'team reads 0' },
      { aspect: 'zero', value: 'omitted', evidence: 'team reads unset' },
    ] as const
    const twice = addObservation(addObservation({}, stored, NOW), omitted, NOW + 1)
    expect(addObservation(twice, stored, NOW + HOUR)).toBe(twice)
    expect(addObservation(twice, stored, NOW + 1 + HOUR).zero?.value).toBe('stored')
  })

  test.each([
    [copied, layered],
    [
      { aspect: 'reads', value: 'inherited', evidence: 'ada reads 600 as well' },
      { aspect: 'reads', value: 'explicit', evidence: 'ada still reads unset' },
    ],
  ] as const)('$0.aspect $0.value stays whatever is seen later: one stale reading could seem to disprove it', (lasting, other) => {
    const seen = addObservation(addObservation({}, other, NOW), lasting, NOW + 1)
    expect(seen[lasting.aspect]).toMatchObject({ value: lasting.value, before: { value: other.value } })
    expect(addObservation(seen, other, NOW + 9 * HOUR)).toBe(seen)
  })
})

test('every question has its place in the list', () => expect(ASPECTS).toEqual(Object.keys(ASPECT_VALUES)))

describe('the readings of a sweep', () => {
  const observations = (readings: readonly CapReading[], seen: ServiceEvidence = {}): readonly string[] =>
    observeReadings(seen, new Map<ScopeKey, CapReading>(readings.map((one) => [scopeKey(one.scope), one]))).map(
      ({ aspect, value, evidence }) => `${aspect} ${value}: ${evidence}`,
    )
  test.each<readonly [string, readonly CapReading[], readonly string[]]>([
    ['show nothing when the team has 0', [reading('team', 0), reading('ada', 'none')], ['zero stored: team reads 0']],
    ['show nothing without the team', [reading('ada', 'none')], []],
    [
      'show both with the first that prove them',
      [reading('team', 500), reading('ada', 0), reading('bob', 'none'), reading('cyd', 0)],
      ['zero stored: ada@example.com reads 0', 'reads explicit: bob@example.com reads unset while the team has 500'],
    ],
    ['show nothing when the team was read later', [reading('team', 500, NOW + 1), reading('ada', 'none')], []],
    ['show nothing when the team was read more than a minute before', [reading('team', 500), reading('ada', 'none', NOW + 60_001)], []],
    [
      'show explicit reads when the team was read a minute before',
      [reading('team', 500), reading('ada', 'none', NOW + 60_000)],
      ['reads explicit: ada@example.com reads unset while the team has 500'],
    ],
    ['show that 0 is stored when one reads 0', [reading('ada', 0)], ['zero stored: ada@example.com reads 0']],
  ])('%s', (_row, readings, expected) => {
    expect(observations(readings)).toEqual(expected)
  })

  test.each<readonly [string, PlainCap, boolean, readonly string[]]>([
    [
      'show explicit reads when a person is unset under a group with a cap',
      700,
      false,
      ['ada@example.com reads unset while group:a has 700'],
    ],
  ])('%s', (_row, group, mayBeZero, expected) => {
    const readings = [reading('team', 'none'), reading('group:a', group), reading('ada', 'none')]
    const byKey = new Map<ScopeKey, CapReading>(readings.map((one) => [scopeKey(one.scope), one]))
    const isAda = (key: ScopeKey): boolean => key.startsWith('ada')
    const told = observeReadings(
      {},
      byKey,
      (key) => mayBeZero && isAda(key),
      (key) => (isAda(key) ? [scopeKey(scope('group:b')), scopeKey(scope('group:a'))] : []),
    )
    expect(told.map(({ evidence }) => evidence)).toEqual(expected)
  })

  test.each([
    ['of a group that was listed just before', 900_000 - 1, 1],
    ['not of one that was listed after: they may have come', -1, 0],
    ['not of one that was never listed', undefined, 0],
  ])('prove explicit reads by a member %s', (_row, age, found) => {
    const readings = [reading('group:a', 700), reading('ada', 'none')]
    const byKey = new Map<ScopeKey, CapReading>(readings.map((one) => [scopeKey(one.scope), one]))
    const listed = age === undefined ? [] : [{ id: 'a', name: 'A', emails: [], readAt: NOW - age }]
    const ada = { email: 'ada', key: scopeKey(scope('ada')), disabled: false, groups: [scopeKey(scope('group:a'))], use: credits(0) }
    expect(observeReadings({}, byKey, undefined, groupsListed({ byKey: new Map([[ada.key, ada]]) }, listed))).toHaveLength(found)
  })

  test('show nothing more once both are known', () => {
    const explicit = addObservation({}, { aspect: 'reads', value: 'explicit', evidence: '' }, NOW)
    const both = addObservation(explicit, { aspect: 'zero', value: 'stored', evidence: '' }, NOW)
    const inherited = addObservation(both, { aspect: 'reads', value: 'inherited', evidence: '' }, NOW)
    expect([{}, explicit, both, inherited].map((seen) => observations([reading('ada', 0)], seen).length)).toEqual([1, 1, 0, 1])
  })
})
