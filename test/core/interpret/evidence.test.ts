// What is seen of the service, what readings prove, and how caps and reads are taken by it.
import { describe, expect, test } from 'vitest'
import { addObservation, groupsListed, observeReadings, serviceModel } from '../../../src/core/interpret/evidence.ts'
import { byScope } from '../../../src/core/model/scope.ts'
import { cap, HOUR, keysOf, NOW, type PlainCap, scope } from '../../support/declare.ts'
import { planInputs } from '../../support/plan.ts'

type Seen = ReturnType<typeof addObservation>
type Observation = Parameters<typeof addObservation>[1]

const layered = { aspect: 'caps', value: 'layered', evidence: 'ada kept 4000' } as const
const copied = { aspect: 'caps', value: 'copied', evidence: 'ada changed' } as const
const explicit = { aspect: 'reads', value: 'explicit', evidence: 'ada still reads unset' } as const
const inherited = { aspect: 'reads', value: 'inherited', evidence: 'ada reads 600 as well' } as const
const stored = { aspect: 'zero', value: 'stored', evidence: 'team reads 0' } as const
const omitted = { aspect: 'zero', value: 'omitted', evidence: 'team reads unset' } as const
/** One after the other, a millisecond apart. */
const seeing = (...all: readonly Observation[]): Seen => all.reduce<Seen>((seen, one, index) => addObservation(seen, one, NOW + index), {})

describe('an observation', () => {
  test('that is known already is no news, and keeps the first evidence', () => {
    const seen = seeing(layered)
    expect(addObservation(seen, { ...layered, evidence: 'bob kept 700' }, NOW + 1)).toBe(seen)
  })

  test('that only flickers back is noted once an hour at most', () => {
    const twice = seeing(stored, omitted)
    expect(addObservation(twice, stored, NOW + HOUR)).toBe(twice)
    expect(addObservation(twice, stored, NOW + 1 + HOUR).zero?.value).toBe('stored')
  })

  test.each([
    [copied, layered],
    [inherited, explicit],
  ])('$0.aspect $0.value stays whatever is seen later: one stale reading could seem to disprove it', (lasting, other) => {
    const seen = seeing(other, lasting)
    expect(seen[lasting.aspect]).toMatchObject({ value: lasting.value, before: { value: other.value } })
    expect(addObservation(seen, other, NOW + 9 * HOUR)).toBe(seen)
  })
})

describe('the readings of a sweep', () => {
  const reading = (name: string, observed: PlainCap, readAt = NOW) => ({ scope: scope(name), observed: cap(observed), readAt })
  const told = (readings: readonly ReturnType<typeof reading>[], ...more: readonly [Seen?, Parameters<typeof observeReadings>[3]?]) =>
    observeReadings(more[0] ?? {}, byScope(readings), undefined, more[1]).map((one) => `${one.aspect} ${one.value}: ${one.evidence}`)
  const UNSET = 'reads explicit: ada@example.com reads unset while the team has 500'
  test.each<readonly [string, readonly ReturnType<typeof reading>[], readonly string[]]>([
    ['no explicit reads when the team has 0', [reading('team', 0), reading('ada', 'none')], ['zero stored: team reads 0']],
    ['nothing without the team', [reading('ada', 'none')], []],
    [
      'both with the first that prove them',
      [reading('team', 500), reading('bob', 0), reading('ada', 'none'), reading('cyd', 0)],
      ['zero stored: bob@example.com reads 0', UNSET],
    ],
    ['nothing when the team was read later', [reading('team', 500, NOW + 1), reading('ada', 'none')], []],
    ['nothing when the team was read more than a minute before', [reading('team', 500), reading('ada', 'none', NOW + 60_001)], []],
    ['explicit reads when the team was read a minute before', [reading('team', 500), reading('ada', 'none', NOW + 60_000)], [UNSET]],
    ['that 0 is stored when one reads 0', [reading('ada', 0)], ['zero stored: ada@example.com reads 0']],
  ])('show %s', (_name, readings, expected) => expect(told(readings)).toEqual(expected))

  test('show explicit reads when a person is unset under a group with a cap', () => {
    const [ada = '', ...groups] = keysOf('ada', 'group:b', 'group:a')
    const readings = [reading('team', 'none'), reading('group:a', 700), reading('ada', 'none')]
    expect(told(readings, {}, (key) => (key === ada ? groups : []))).toEqual([
      'reads explicit: ada@example.com reads unset while group:a has 700',
    ])
  })

  test.each([
    ['of a group that was listed just before', 900_000 - 1, 1],
    ['not of one that was listed after: they may have come', -1, 0],
    ['not of one that was never listed', undefined, 0],
  ])('prove explicit reads by a member %s', (_name, age, found) => {
    const listed = age === undefined ? [] : [{ id: 'a', name: 'A', emails: [], readAt: NOW - age }]
    const { people } = planInputs({ people: ['ada'], groups: { a: ['ada'] } })
    expect(told([reading('group:a', 700), reading('ada', 'none')], {}, groupsListed(people, listed))).toHaveLength(found)
  })

  test('show nothing more once both are known', () =>
    expect(
      [seeing(), seeing(explicit), seeing(explicit, stored), seeing(explicit, stored, inherited)].map(
        (seen) => told([reading('ada', 0)], seen).length,
      ),
    ).toEqual([1, 1, 0, 1]))
})

test.each<readonly [string, Parameters<typeof serviceModel>[0], Seen, object]>([
  ['reads are explicit once one read unset under a team with a cap', { capSemantics: 'layered' }, seeing(explicit), { reads: 'explicit' }],
  ['they are where 0 is known to be stored', { capSemantics: 'layered' }, seeing(explicit, stored), { reads: 'explicit', zero: 'stored' }],
  ['they are open where 0 reads unset, which proves nothing', { capSemantics: 'layered' }, seeing(explicit, omitted), { zero: 'omitted' }],
  ['they are inherited once a read followed a team or group write', { capSemantics: 'layered' }, seeing(inherited), { reads: 'inherited' }],
  ['they are as declared, whatever was seen', { capSemantics: 'layered', capReads: 'explicit' }, seeing(inherited), { reads: 'explicit' }],
  ['layers are proven once a cap survived a team or group write', { capSemantics: 'layered' }, seeing(layered), { layersProven: true }],
  ['caps are copied where that is declared', { capSemantics: 'copied' }, {}, { layers: 'copied' }],
  ['caps seen to be copied stay so if one looks layered', { capSemantics: 'layered' }, seeing(copied, layered), { copying: 'ada changed' }],
])('%s', (_name, declared, seen, expected) =>
  expect(serviceModel(declared, seen)).toEqual({ layers: 'layered', layersProven: false, reads: 'open', zero: 'open', ...expected }),
)
