// The invariants of readings, pauses and doubted rosters: violated by steps that break them, and not by others.
import { expect, it } from 'vitest'
import type { Plan } from '../../../src/core/model/change.ts'
import { type PolicyEntry, UNDECLARED } from '../../../src/core/model/policy.ts'
import { entryOf } from '../../support/declare.ts'
import type { Invariant, Scene, Step } from '../steps.ts'
import { wholeOnly } from './orphans.ts'
import { freshReading, readBack } from './readings.ts'
import { ADA, ADA_SCOPE, read } from './sketch.ts'
import { paused, rosterDoubt, wrongClock } from './standstill.ts'

type Timed = Step | { readonly kind: 'time'; readonly ms: number }

const asks: Step = { kind: 'request', process: 1, operation: 'GetUsageConfig', scope: ADA }
const write: Step = { kind: 'request', process: 1, operation: 'UsageConfig', scope: ADA, to: 200 }
const written = (refused: boolean): Step => ({ kind: 'answered', process: 1, operation: 'UsageConfig', scope: ADA, refused })
const wait = (ms: number): Timed => ({ kind: 'time', ms })

const intentFor = (to: number | 'none', entry: PolicyEntry, more = {}) => ({
  at: 0,
  planId: 'p1',
  entry,
  change: { scope: ADA_SCOPE, from: 100, to, grantEnd: false, ...more },
})
const intent = (to: number | 'none' = 200, entry: PolicyEntry = entryOf('cap', 200), more = {}): Step => ({
  kind: 'recorded',
  process: 1,
  method: 'recordIntent',
  values: [intentFor(to, entry, more)],
})
const outcome = (result: string): Step => ({
  kind: 'recorded',
  process: 1,
  method: 'recordOutcome',
  values: [intentFor(200, entryOf('cap', 200)), { result }, 'kept'],
})
const planned = (to: number | 'none' = 200): Step => {
  const plan = { id: 'p1', changes: [{ scope: ADA_SCOPE, from: 100, to, disposition: { kind: 'ready' } }], holds: [] } as unknown as Plan
  return { kind: 'told', process: 1, event: { kind: 'planned', workspace: 'acme', at: 0, plan } }
}
const roster = (approved: number): readonly Step[] => [
  { kind: 'answered', process: 1, operation: 'UserPageAnalytics', approved },
  { kind: 'told', process: 1, event: { kind: 'usage-read', workspace: 'acme', at: 0, groups: [] } },
]
const loaded = (valid: boolean): Step => {
  const policy = { valid, digest: '', revision: '', loadedAt: 0, problems: [] }
  return { kind: 'told', process: 1, event: { kind: 'policy-loaded', workspace: 'acme', at: 0, policy } }
}

/** The violations of an invariant by these steps. */
function said(invariant: Invariant, steps: readonly Timed[]): readonly string[] {
  const found: string[] = []
  let elapsed = 0
  const scene = {
    scenario: { capSemantics: 'layered', switches: { capSemantics: 'layered' } },
    settingsSince: () => [{ rate: { concurrency: 1 } }],
    elapsed: () => elapsed,
    skewMs: () => 10 * 60_000,
    mode: () => 'enforce',
    ledger: () => ({ pause: () => ({ reason: 'looking' }), owned: () => [] }),
  } as unknown as Scene
  const watch = invariant.watch(scene, { checked: () => undefined, violated: (message) => found.push(message) })
  for (const step of steps) {
    if (step.kind === 'time') elapsed += step.ms
    else watch(step)
  }
  return found
}

const LOWER: Step = { kind: 'request', process: 1, operation: 'UsageConfig', scope: ADA, to: 50 }

const BROKEN: readonly (readonly [title: string, invariant: Invariant, steps: readonly Timed[]])[] = [
  ['a write long after the reading', freshReading, [read(100), wait(70_000), intent()]],
  ['a write from another cap than was read', freshReading, [read(300), intent()]],
  ['a plan from a reading that failed', freshReading, [...Array.from({ length: 4 }, () => read('unknown')), planned()]],
  ['an outcome without a read-back', readBack, [read(100), write, written(false), outcome('applied')]],
  ['an outcome by the answer to an earlier read', readBack, [asks, write, read(200), outcome('applied')]],
  ['an outcome applied though another cap was read back', readBack, [write, asks, read(300), outcome('applied')]],
  ['a lost write that is sent again', readBack, [write, written(false), write]],
  ['a second write in a pause', paused, [intent(), intent()]],
  ['a grant that starts on a wrong clock', wrongClock, [read(100), planned(), intent(900, entryOf('grant', 900))]],
  ['a grant that ends on a wrong clock', wrongClock, [read(100), planned(), intent(200, entryOf('cap', 200), { grantEnd: true })]],
  ['a lower cap by a roster in doubt', rosterDoubt, [...roster(10), ...roster(7), planned(50), LOWER]],
  ['an orphan that is pruned while a file is broken', wholeOnly, [loaded(false), planned('none'), intent('none', UNDECLARED)]],
]

it.each(BROKEN)('%s is a violation', (_title, invariant, steps) => {
  expect(said(invariant, steps)).not.toEqual([])
})

const KEPT: readonly (readonly [title: string, invariant: Invariant, steps: readonly Timed[]])[] = [
  ['a write right after the reading', freshReading, [read(100), wait(1_000), intent()]],
  [
    'a write by the reading before a look that was cut short',
    freshReading,
    [read(100), read('unknown'), read('unknown'), planned(), intent()],
  ],
  ['a write that is read back', readBack, [write, written(false), asks, read(200), outcome('applied')]],
  ['a write that was refused and is sent again', readBack, [write, written(true), write]],
  ['the write that was under way when the pause began', paused, [intent()]],
  ['a rule on a wrong clock', wrongClock, [read(100), planned(), intent()]],
  ['a grant before the clock error can be known', wrongClock, [planned(), intent(900, entryOf('grant', 900))]],
  ['a lower cap by a good roster', rosterDoubt, [...roster(10), ...roster(9), planned(50), LOWER]],
  [
    'an orphan that is pruned once the file is valid',
    wholeOnly,
    [loaded(false), loaded(true), planned('none'), intent('none', UNDECLARED)],
  ],
]

it.each(KEPT)('%s is no violation', (_title, invariant, steps) => {
  expect(said(invariant, steps)).toEqual([])
})
