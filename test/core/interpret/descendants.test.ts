import { describe, expect, test } from 'vitest'
import { mayHaveMoved, observeDescendant, sampleDescendants } from '../../../src/core/interpret/evidence.ts'
import { cap, NOW, type PlainCap, scope, short } from '../../support/declare.ts'

type CapReading = Parameters<typeof observeDescendant>[1]
type Observed = CapReading['observed']
type ServiceModel = Parameters<typeof observeDescendant>[3]
type Shown = PlainCap | 'unknown'
const observed = (value: Shown): Observed => (value === 'unknown' ? value : cap(value))
const reading = (name: string, value: Shown): CapReading => ({ scope: scope(name), observed: observed(value), readAt: NOW })
const OPEN: ServiceModel = { layers: 'layered', layersProven: false, reads: 'open', zero: 'open' }
const EXPLICIT: ServiceModel = { ...OPEN, reads: 'explicit' }
const wide = (from: PlainCap, to: PlainCap) => ({ scope: scope('team'), from: cap(from), to: cap(to) })

test.each<readonly [string, readonly [PlainCap, PlainCap], Shown, Shown, ServiceModel, string | undefined]>([
  ['layers, when it kept a number of its own while the team was cleared', [500, 'none'], 4000, 4000, OPEN, 'caps layered: kept its 4000'],
  [
    'copying, when its own number went as the team was cleared',
    [500, 'none'],
    4000,
    'none',
    OPEN,
    'caps copied: changed from 4000 to none without a write of its own',
  ],
  ['inherited reads, when it went from the old team value to the new', [500, 600], 500, 600, OPEN, 'reads inherited: reads 600 as well'],
  ['explicit reads, when it still reads unset', ['none', 600], 'none', 'none', OPEN, 'reads explicit: still reads unset'],
  ['layers, when it reads unset where reads are explicit', ['none', 600], 'none', 'none', EXPLICIT, 'caps layered: still reads unset'],
  ['nothing, when it reads unset under a team with 0: a 0 may not be kept', ['none', 0], 'none', 'none', OPEN, undefined],
  ['nothing, when it had the value that was written anyway', [500, 600], 600, 600, OPEN, undefined],
  ['nothing, when it went from the old team value as the team was cleared', [500, 'none'], 500, 'none', OPEN, undefined],
  ['nothing, when it went from the old team value to nothing', [500, 600], 500, 'none', OPEN, undefined],
  ['nothing, when another client set it meanwhile', ['none', 600], 'none', 77, OPEN, undefined],
  ['nothing, when it could not be read before', [500, 600], 'unknown', 600, OPEN, undefined],
  ['nothing, when it could not be read after', [500, 600], 4000, 'unknown', OPEN, undefined],
  ['nothing, when the write changed nothing', [500, 500], 500, 500, OPEN, undefined],
])('what a descendant of a written team proves is %s', (_name, [from, to], before, after, model, expected) => {
  const found = observeDescendant(wide(from, to), reading('ada', before), reading('ada', after), model)
  const words = expected?.replace(': ', `: after team was written (${from} to ${to}), ada@example.com `)
  expect(found && `${found.aspect} ${found.value}: ${found.evidence}`).toBe(words)
})

test('what a group keeps under the team proves nothing about people, to whom caps are copied', () => {
  const [kept, unset] = [reading('group:g', 4000), reading('group:g', 'none')]
  expect(observeDescendant(wide(500, 600), kept, kept, OPEN)).toBeUndefined()
  expect(observeDescendant(wide(500, 600), unset, unset, EXPLICIT)).toBeUndefined()
})

const PROVEN: ServiceModel = { ...OPEN, layersProven: true }
test.each<readonly [string, Shown | undefined, ServiceModel, boolean]>([
  ['while layers are not proven', 4000, OPEN, true],
  ['not once layers are proven and reads show only what is set', 'none', { ...PROVEN, reads: 'explicit' }, false],
  ['where reads may show what applies and it had nothing', 'none', PROVEN, true],
  ['where reads may show what applies and it showed the old value', 500, PROVEN, true],
  ['where reads may show what applies and it showed the new value', 600, PROVEN, true],
  ['not where it had a number of its own and layers are proven', 4000, PROVEN, false],
])('a descendant of a written team is read again: %s', (_name, before, model, expected) =>
  expect(mayHaveMoved(wide(500, 600), before === undefined ? before : observed(before), model)).toBe(expected),
)

describe('the sample of descendants of a written team', () => {
  const own = Array.from({ length: 9 }, (_, index) => reading(`own${index}`, 4000 + index))
  const unset = Array.from({ length: 9 }, (_, index) => reading(`unset${index}`, 'none'))
  const equal = Array.from({ length: 9 }, (_, index) => reading(`equal${index}`, 500))
  const sample = (beneath: readonly CapReading[], model: ServiceModel): string =>
    sampleDescendants(wide(500, 600), beneath, model)
      .map((one) => short(one.scope))
      .join(' ')
  test.each<readonly [string, readonly CapReading[], ServiceModel, string]>([
    ['has numbers of their own and scopes with nothing set', [...equal, ...unset, ...own], OPEN, 'own0 own1 own2 unset0 unset1'],
    ['has unset scopes where reads are known and no person has a number of their own', [...equal, ...unset], EXPLICIT, 'unset0 unset1'],
    ['has scopes with the old cap where reads are open and all have a cap', [...equal, ...own], OPEN, 'own0 own1 own2 equal0 equal1'],
    ['has none of these where reads are known', [...equal, ...own], EXPLICIT, 'own0 own1 own2'],
    ['has any scopes where none proves much', equal, OPEN, 'equal0 equal1 equal2 equal3 equal4'],
    ['is empty without descendants', [], OPEN, ''],
    ['has people before groups', [reading('group:g', 9), ...unset, ...own], EXPLICIT, 'own0 own1 own2'],
  ])('%s', (_name, beneath, model, expected) => expect(sample(beneath, model)).toBe(expected))
})
