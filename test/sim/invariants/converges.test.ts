// Convergence in calm times: violated by steps that break it, and not by others.
import { expect, it } from 'vitest'
import { emptyModel, type ModelCap } from '../lives/policy-model.ts'
import type { Scene, Step } from '../steps.ts'
import { converges } from './converges.ts'
import { ADA, ADA_SCOPE } from './sketch.ts'

const landed = (from: ModelCap, to: ModelCap): Step => ({
  ...{ kind: 'landed', process: 1, scope: ADA, from, to, late: false, before: new Map(), after: new Map() },
})
const foreign: Step = { kind: 'foreign', scopes: [ADA] }
const sending = (kind: string, to: ModelCap): Step => ({
  ...{ kind: 'recorded', process: 1, method: 'recordIntent' },
  values: [{ id: 1, planId: 'p', change: { scope: ADA_SCOPE, to }, entry: { kind } }],
})
const owning = (cap: ModelCap): Step => ({
  ...{ kind: 'recorded', process: 1, method: 'saveOwned' },
  values: [{ scope: ADA_SCOPE, cap }],
})
const granted = [sending('grant', 900), landed(400, 900), owning(900)]
const givenBack = [sending('restore', 400), landed(900, 400)]

/** Violations where caps are copied, nothing is declared and ADA has 400. */
function said(steps: readonly Step[]): readonly string[] {
  const found: string[] = []
  const scene = {
    scenario: { capSemantics: 'copied', switches: {}, intervalMs: 1, usageIntervalMs: 1, prune: true },
    company: { approved: [ADA], groupsOf: () => [] },
    view: () => ({ scopes: [], holds: [], conditions: [] }),
    stored: (scope: string) => (scope === ADA ? 400 : 'none'),
    inForce: () => new Map([[ADA, 400]]),
    elapsed: () => 0,
    now: () => 0,
    policy: () => ({ ...emptyModel(), team: 'none' }),
  } as unknown as Scene
  const watch = converges.watch(scene, { checked: () => undefined, violated: (message) => found.push(message) })
  for (const step of [...steps, { kind: 'settled' } as const]) watch(step)
  return found
}

it.each<readonly [string, readonly Step[]]>([
  ['of ours that is no longer declared', [sending('cap', 400), landed('none', 400)]],
  ['of another client that policy asked for before a grant, and no longer does', [foreign, owning(400), ...granted, ...givenBack]],
  ['of another client that policy has sent as well', [foreign, ...granted, sending('cap', 400), landed(900, 400)]],
  ['of ours that a grant has replaced and restored', [sending('cap', 400), landed('none', 400), ...granted, ...givenBack]],
])('a cap %s is found', (_title, steps) => {
  expect(said(steps)).toEqual([`${ADA} should have none in force and has 400`])
})

it.each<readonly [string, readonly Step[]]>([
  ['of another client', [foreign]],
  ['of another client that a grant has replaced and restored', [foreign, ...granted, ...givenBack]],
])('a cap %s is nothing', (_title, steps) => {
  expect(said(steps)).toEqual([])
})

const turning: Step = { kind: 'recorded', process: 1, method: 'saveFact', values: ['conditions', {}] }

/** Violations where ADA's cap of a pool is left to the next sweep, this long after these steps. */
function saidOfLeft(steps: readonly Step[], { pools = true, why = 'left to the next sweep', afterMs = 0 } = {}): readonly string[] {
  const found: string[] = []
  let elapsedMs = 0
  const scene = {
    scenario: { capSemantics: 'layered', switches: {}, intervalMs: 10, usageIntervalMs: 1, prune: true, pools },
    company: { approved: [], groupsOf: () => [] },
    view: () => ({ scopes: [{ scope: ADA_SCOPE, state: 'drifted', why }], holds: [], conditions: [] }),
    stored: () => 'none',
    shows: () => 'none',
    inForce: () => new Map(),
    elapsed: () => elapsedMs,
    now: () => 0,
    policy: emptyModel,
  } as unknown as Scene
  const watch = converges.watch(scene, { checked: () => undefined, violated: (message) => found.push(message) })
  for (const step of steps) watch(step)
  elapsedMs += afterMs
  watch({ kind: 'settled' })
  return found
}

it('a deal after the match of a rule has changed may be left to the next sweep', () => {
  expect(saidOfLeft([turning])).toEqual([])
})

it.each([
  ['without a changed match', [], {}],
  ['once that sweep is over', [turning], { afterMs: 10 }],
  ['without pools', [turning], { pools: false }],
  ['for another reason', [turning], { why: 'waits' }],
] as const)('what is left %s is found', (_title, steps, left) => {
  expect(saidOfLeft(steps, left)).toHaveLength(1)
})

/**
 * Violations where `none` is desired for ADA, who has 4000 like the group `g`, and is in `h` with a foreign 700, which can be listed or
 * not.
 */
function saidOfMember(dark: readonly string[]): readonly string[] {
  const found: string[] = []
  const groups = ['g', 'h'].map((id) => [id, { name: id, ...(id === 'g' && { cap: 4000 }) }] as const)
  const stored = (scope: string): ModelCap => ({ 'group:h': 700, team: 100 })[scope] ?? 4000
  const scene = {
    scenario: { capSemantics: 'layered', switches: {}, intervalMs: 1, usageIntervalMs: 1, prune: true },
    company: { approved: [ADA], groupsOf: () => ['g', 'h'], holds: () => true, dark: new Set(dark) },
    view: () => ({ scopes: [], holds: [], conditions: [] }),
    ...{ stored, shows: stored, inForce: () => new Map([[ADA, 4000]]), elapsed: () => 0, now: () => 0 },
    policy: () => ({ ...emptyModel(), groups: new Map(groups), users: new Map([[ADA, 'none']]), team: 100 }),
  } as unknown as Scene
  const watch = converges.watch(scene, { checked: () => undefined, violated: (message) => found.push(message) })
  watch({ kind: 'settled' })
  return found.filter((message) => message.includes('should have none'))
}

it('a cap that listed groups may pass on is taken for an inherited one', () => {
  expect(saidOfMember(['h'])).toEqual([])
  expect(saidOfMember([])).not.toEqual([])
})
