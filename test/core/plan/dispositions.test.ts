// What becomes of each change, and which of several reasons is shown.
import { describe, expect, test } from 'vitest'
import { waveInputs } from '../../../src/core/plan/dispositions.ts'
import { buildPlan } from '../../../src/core/plan/plan.ts'
import { cap, entryOf, keysOf, NOW, type PlainCap, scope, short } from '../../support/declare.ts'
import { type PlanMore, type PlanSketch, planInputs, scopes } from '../../support/plan.ts'
import { keyOf } from '../../support/waves.ts'

type Disposition = ReturnType<typeof buildPlan>['plan']['changes'][number]['disposition']

const OFF = { maxAffected: 'off', maxLowered: 'off', maxBlocked: 'off', maxCleared: 'off' } as const
const sketchOf = (text: string, more: PlanSketch = {}): PlanSketch => ({ people: ['p0', 'p1'], guards: OFF, ...scopes(text), ...more })
const fate = (one: Disposition): string => {
  if (one.kind === 'deferred') return `${one.code} ${one.waitsFor ? short(one.waitsFor) : ''}`.trim()
  return one.kind === 'excluded' ? one.code : one.kind
}
type Excluded = Pick<Required<PlanMore>, 'excluded'>
const leaveOut = (code: 'focus' | 'onDrift' | 'pause' | 'mode' | 'replaced' | 'notShown', ...names: readonly string[]): Excluded => ({
  excluded: ({ scope: at }) => (names.includes(short(at)) ? { kind: 'excluded', code, reason: 'because' } : undefined),
})
const refused = (name: string, value: PlainCap = 500, code = 'CAP_REFUSED'): PlanSketch => ({
  quarantined: [{ scope: scope(name), code, message: 'too high', entry: entryOf('cap', value), at: NOW }],
})
const g = (...names: readonly string[]) => ({ groups: { g: names } })

test.each<readonly [string, PlanSketch]>([
  ['was refused', refused('team', 100)],
  ['could not be read', { observed: { team: 'unknown', 'group:g': 'none', p0: 'none' } }],
])('a foreign value is not what stands at a team whose own cap %s: no person falls below the present cap', (_name, more) => {
  const inputs = planInputs({ ...sketchOf('team 900>100, group:g none>300, p0 none>500', g('p0')), ...more })
  const last = { observed: cap(900), readAt: NOW - 1 }
  const readings = new Map([...inputs.readings].map(([at, one]) => [at, one.observed === 'unknown' ? { ...one, last } : one] as const))
  const { changes } = buildPlan({ ...inputs, readings, ...leaveOut('focus', 'p0') }).plan
  expect(changes.map((one) => `${short(one.scope)} ${fate(one.disposition)}`)).toEqual(['group:g order p0', 'p0 focus'])
})

describe('what a wave is judged by', () => {
  const shown = 'team 500>500, p0 ?>40 ours 40, p1 ?>30 ours 30, p2 500>500, p3 50>60, p4 ?>7, p5 ? ours 70, p6 ?>90 ours 90, p7 80>80'
  const sketch = sketchOf(shown, { people: 8, readsExplicit: false })
  const inputs = planInputs({ ...sketch, owned: { ...sketch.owned, p7: { cap: 80, more: { written: true } } } })
  const last = { observed: cap(90), readAt: NOW - 1 }
  const lastRead = keysOf('p1', 'p6')
  const readings = new Map([...inputs.readings].map(([at, one]) => [at, lastRead.has(at) ? { ...one, last } : one] as const))
  const { slots, people, owned, desired } = buildPlan({ ...inputs, readings })
  const { caps, mayBeInherited, ...rest } = waveInputs({ slots, people, owned, desired })
  test.each<readonly [string, string, PlainCap, boolean]>([
    ['is what shows, or nothing where no write of ours set it', 'p3', 50, true],
    ['is what shows where a write of ours set it', 'p7', 80, false],
    ['may be nothing where what shows may be inherited', 'p2', 500, true],
    ['is what the ledger verified under the same entry, where nothing could be read', 'p0', 40, false],
    ['is what was read last, or nothing, whatever the ledger had verified before', 'p1', 90, true],
    ['is what the ledger verified under the same entry, where that was read last', 'p6', 90, false],
    ['is nothing where nothing was ever read', 'p4', 'none', true],
    ['is nothing where nothing could be read and policy asks for nothing any more', 'p5', 'none', true],
  ])('%s', (_name, name, expected, isOpen) => expect([caps(keyOf(name)), mayBeInherited(keyOf(name))]).toEqual([expected, isOpen]))
  test('names groups with unknown members, where there are any', () => {
    expect(rest).toEqual({ people, layers: 'layered' })
    const unlisted = keysOf('group:g')
    expect(waveInputs({ slots, people, owned, desired, unlisted }).unlisted).toBe(unlisted)
  })
})
