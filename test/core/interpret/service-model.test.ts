import { describe, expect, test } from 'vitest'
import { type Aspect, type AspectValue, addObservation, type ServiceEvidence } from '../../../src/core/interpret/evidence.ts'
import { serviceModel } from '../../../src/core/interpret/service-model.ts'
import { NOW } from '../../support/declare.ts'

type DeclaredModel = Parameters<typeof serviceModel>[0]

const LAYERED: DeclaredModel = { capSemantics: 'layered' }
const one = <A extends Aspect>(aspect: A, value: AspectValue<A>): ServiceEvidence => ({
  [aspect]: { value, at: NOW, evidence: `${aspect} ${value}` },
})

describe('how reads are taken', () => {
  test.each<readonly [string, DeclaredModel, ServiceEvidence, 'explicit' | 'inherited' | 'open']>([
    ['explicit once a scope read unset under a team with a cap', LAYERED, one('reads', 'explicit'), 'explicit'],
    ['explicit where a 0 is known to be stored', LAYERED, { ...one('reads', 'explicit'), ...one('zero', 'stored') }, 'explicit'],
    [
      'open where a 0 reads as unset: then reading unset proves nothing',
      LAYERED,
      { ...one('reads', 'explicit'), ...one('zero', 'omitted') },
      'open',
    ],
    ['inherited once a read followed a team or group write', LAYERED, one('reads', 'inherited'), 'inherited'],
    ['as declared, whatever was seen', { ...LAYERED, capReads: 'explicit' }, one('reads', 'inherited'), 'explicit'],
  ])('is %s', (_name, declared, seen, reads) => expect(serviceModel(declared, seen).reads).toBe(reads))
})

describe('layers', () => {
  test.each<readonly [string, DeclaredModel, ServiceEvidence, object]>([
    ['are proven once a cap survived a team or group write', LAYERED, one('caps', 'layered'), { layers: 'layered', layersProven: true }],
    ['are copied where that is declared', { capSemantics: 'copied' }, {}, { layers: 'copied', layersProven: false }],
  ])('%s', (_name, declared, seen, expected) => expect(serviceModel(declared, seen)).toEqual({ reads: 'open', zero: 'open', ...expected }))

  test('that were seen to be copied stay so when one later reading looks layered', () => {
    const copied = addObservation({}, { aspect: 'caps', value: 'copied', evidence: 'ada changed' }, NOW)
    const seen = addObservation(copied, { aspect: 'caps', value: 'layered', evidence: 'ada kept 4000' }, NOW + 1)
    expect(serviceModel(LAYERED, seen)).toMatchObject({ copying: 'ada changed', layersProven: false })
  })
})
