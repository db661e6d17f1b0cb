// The invariants of caps of ours that are no longer declared: violated by steps that break them, and not by others.
import { expect, it } from 'vitest'
import { emptyModel, type ModelCap } from '../lives/policy-model.ts'
import type { Invariant, Scene, Step } from '../steps.ts'
import { notForgotten, spentInTime } from './orphans.ts'
import { ADA, ADA_SCOPE, read } from './sketch.ts'

const recorded = (method: 'recordIntent' | 'saveOwned' | 'releaseOwned', ...values: readonly unknown[]): Step => ({
  ...{ kind: 'recorded', process: 1, method, values },
})
const owning = (owner: string): Step => recorded('saveOwned', { scope: ADA_SCOPE, cap: 500, owner })
const writing = (kind: string, from: ModelCap, to: ModelCap): readonly Step[] => [
  recorded('recordIntent', { id: 1, planId: 'p', change: { scope: ADA_SCOPE, to }, entry: { kind } }),
  { ...{ kind: 'landed', process: 1, scope: ADA, from, to, late: false, before: new Map(), after: new Map() } },
]
const foreign: Step = { kind: 'foreign', scopes: [ADA] }
const released = recorded('releaseOwned', [ADA])

/** Violations where ADA has 500, nothing is declared any more, and an approval has released 900 to 500. */
function said(invariant: Invariant, steps: readonly Step[], team: ModelCap = 'none'): readonly string[] {
  const found: string[] = []
  const scene = {
    scenario: { capSemantics: 'layered', switches: {}, prune: true },
    company: { approved: [ADA], groupsOf: () => [] },
    ledger: () => ({ openIntents: () => [], approvals: () => [{ id: 'a1', state: 'pending', released: [{ scope: ADA_SCOPE, to: 500 }] }] }),
    stored: (scope: string) => (scope === ADA ? 500 : team),
    shows: () => 500,
    now: () => 0,
    policy: emptyModel,
  } as unknown as Scene
  const watch = invariant.watch(scene, { checked: () => undefined, violated: (message) => found.push(message) })
  for (const step of steps) watch(step)
  return found
}

const granted = [...writing('grant', 500, 400), ...writing('grant', 400, 500)]

it.each<readonly [string, readonly Step[]]>([
  ['of a rule', [...writing('cap', 400, 500), released]],
  ['of a grant that replaced no foreign cap', [...granted, released]],
  ['of a grant where a rule wrote after another client', [foreign, ...writing('cap', 500, 400), ...writing('grant', 400, 500), released]],
  ['of a grant where policy had asked for the foreign cap', [foreign, owning('policy'), ...granted, released]],
])('a cap %s is not let go', (_title, steps) => {
  expect(said(notForgotten, steps)).toEqual([`${ADA} still has our 500, and is let go`])
})

it.each<readonly [string, readonly Step[]]>([
  ['another client has set', [...writing('cap', 400, 500), foreign, released]],
  ['another client had set, and that a grant has replaced and returned to', [foreign, owning('grant'), ...granted, released]],
])('a cap that %s is given back', (_title, steps) => {
  expect(said(notForgotten, steps)).toEqual([])
})

const planned = (from: ModelCap): Step =>
  ({ kind: 'told', process: 1, event: { kind: 'planned', plan: { changes: [{ scope: ADA_SCOPE, from, to: 500 }] } } }) as unknown as Step
const settled: Step = { kind: 'settled' }
const PENDING = ['approval a1 is through and still pending']

it.each<readonly [string, readonly Step[], ModelCap, readonly string[]]>([
  ['whose cap is read is a violation', [read(500), settled], 500, PENDING],
  ['whose cap is still to be set, and cannot be inherited, is a violation', [read(500), planned('none'), settled], 400, PENDING],
  ['whose cap is still to be lowered to the cap that is read is a violation', [read(500), planned(900), settled], 500, PENDING],
  ['whose cap is still to be set, and may be inherited, is no violation', [read(500), planned('none'), settled], 500, []],
  ['whose cap was not read is no violation', [settled], 500, []],
])('an approval %s', (_title, steps, team, found) => {
  expect(said(spentInTime, steps, team)).toEqual(found)
})
