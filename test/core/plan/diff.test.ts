// What is compared with what is asked: the decision for each scope, the fields of a difference, and what the ledger remembers after it.
import { describe, expect, test } from 'vitest'
import { ownedFrom, setBefore } from '../../../src/core/plan/diff.ts'
import { buildPlan } from '../../../src/core/plan/plan.ts'
import { cap, DAY, email, entryOf, NOW, type OwnedSketch, ownedCaps, type PlainCap, scope } from '../../support/declare.ts'
import { type PlanSketch, planInputs, planOf, scopes } from '../../support/plan.ts'

const running = { on: 'p0', cap: 6000, until: NOW + 9 * DAY }
const granted = (more: Partial<OwnedSketch> = {}): OwnedSketch => ({ cap: 6000, owner: 'grant', grant: running, ...more })
const OPEN = { readsExplicit: false }

describe('beside differences', () => {
  test('a scope that was asked for and failed without a reason says that it was not read', () => {
    const inputs = planInputs(scopes('p0 ?>5, p1 ? ours 5'))
    const readings = new Map([...inputs.readings].map(([at, { failure: _, ...one }]) => [at, one]))
    expect(buildPlan({ ...inputs, readings }).diff.unknown.map((one) => one.message)).toEqual(['not read yet', 'not read yet'])
  })
})

describe('what the ledger is to remember', () => {
  const desired = (sketch: PlanSketch) => {
    const [one] = planInputs(sketch).resolution.desired
    if (!one) throw new Error('nothing is asked')
    return one
  }
  const rule = desired({ caps: { p0: 500 } })
  const grant = desired({ grants: [running] })
  const based = desired({ caps: { p0: 500 }, grants: [running] })
  const ledger = (one: OwnedSketch) => ownedCaps({ p0: one }).values().next().value
  const id = ledger(granted())?.grant
  const ofRule = { cap: 500, owner: 'policy', entry: entryOf('cap', 500) }
  const ofGrant = (baseline: PlainCap, more: object = {}) => ({
    ...{ cap: 6000, owner: 'grant', entry: entryOf('grant', 6000), grant: id, baseline },
    ...more,
  })
  const OURS = { baselineIsOurs: true }

  test.each<readonly [string, Parameters<typeof ownedFrom>[0], OwnedSketch | undefined, PlainCap, object]>([
    ['of a rule: no base', rule, undefined, 9, ofRule],
    ['of a grant over a rule: the rule’s cap as ours, for the rule may go', based, undefined, 9, ofGrant(500, OURS)],
    ['of a grant over what was tried: that it was ours as well', grant, { cap: 8, tried: 9 }, 9, ofGrant(9, OURS)],
    [
      'of a grant that was found in place, where we knew of another cap of ours: that one',
      ...([grant, { cap: 500, tried: 6000 }, 6000, ofGrant(500, OURS)] as const),
    ],
    ['of a grant over a foreign change of a cap of ours: the foreign cap', grant, { cap: 500 }, 9, ofGrant(9)],
    ['of a grant after a grant without a base: nothing comes back', grant, granted(), 9, ofGrant('none')],
    ['of a grant after a grant over what was ours: that it was', grant, granted({ baseline: 7, more: OURS }), 9, ofGrant(7, OURS)],
    [
      'of what stays in place of a grant’s 0 that is not kept: that very cap, for it stood there before',
      { ...grant, cap: 7 as never, entry: entryOf('kept', 7) },
      ...([undefined, 'none', { ...ofGrant(7), cap: 7, entry: entryOf('kept', 7) }] as const),
    ],
    ['of a cap that a write of ours has set: that it did', rule, { cap: 500, more: { written: true } }, 500, { ...ofRule, written: true }],
    ['of a cap that is found where a write of ours had set another: no write', rule, { cap: 400, more: { written: true } }, 500, ofRule],
  ])('%s', (_name, one, owned, before, expected) =>
    expect(ownedFrom(one, owned && ledger(owned), cap(before), NOW)).toStrictEqual({ scope: scope('p0'), verifiedAt: NOW, ...expected }),
  )

  test('a cap that is only inherited, or was copied, was not set', () => {
    const was = (value: PlainCap, wider: PlainCap, more: PlanSketch = OPEN) =>
      setBefore(cap(value), planOf({ observed: { p0: value, team: wider }, ...more }).slots, email('p0') as never)
    expect([was(5, 5), was(5, 6), was('none', 'none'), was(5, 5, {})]).toEqual(['none', 5, 'none', 5])
    expect([was(5, 5, { capSemantics: 'copied' }), was(5, 6, { capSemantics: 'copied' })]).toEqual(['none', 5])
  })
})
