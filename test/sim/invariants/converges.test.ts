// What converges when things are calm, shown to be able to fail on steps that break it, and to be silent on steps that do not.
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

/** What is said where caps are copied, nothing is declared and ADA has 400. */
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
  ['of ours that nothing asks for any more', [sending('rule', 400), landed('none', 400)]],
  ['of others that policy has asked for before a grant, and does not any more', [foreign, owning(400), ...granted, ...givenBack]],
  ['that others had and policy has sent as well', [foreign, ...granted, sending('rule', 400), landed(900, 400)]],
  ['of ours that a grant has replaced and given back', [sending('rule', 400), landed('none', 400), ...granted, ...givenBack]],
])('a cap %s is found', (_title, steps) => {
  expect(said(steps)).toEqual([`${ADA} should have none in force and has 400`])
})

it.each<readonly [string, readonly Step[]]>([
  ['of others', [foreign]],
  ['of others that a grant has replaced and given back', [foreign, ...granted, ...givenBack]],
])('a cap %s is nothing', (_title, steps) => {
  expect(said(steps)).toEqual([])
})

const turning: Step = { kind: 'recorded', process: 1, method: 'saveFact', values: ['conditions', {}] }

/** What is said where ADA's cap of a pool is left to the next sweep, so long after these steps. */
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

it('what a deal asks after a condition has turned may be left to the next sweep', () => {
  expect(saidOfLeft([turning])).toEqual([])
})

it.each([
  ['of which nothing has turned', [], {}],
  ['once that sweep is over', [turning], { afterMs: 10 }],
  ['without pools', [turning], { pools: false }],
  ['for another reason', [turning], { why: 'waits' }],
] as const)('what is left %s is found', (_title, steps, left) => {
  expect(saidOfLeft(steps, left)).toHaveLength(1)
})

/** What is said where ADA, of whom `none` is asked, has 4000 as the group `g` does, and is in `h` too, which has 700 and cannot be listed, or can. */
function saidOfMember(dark: readonly string[]): readonly string[] {
  const found: string[] = []
  const groups = ['g', 'h'].map((id) => [id, { name: id, cap: id === 'g' ? 4000 : 700 }] as const)
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

it('a cap that may be inherited by the groups that can be listed is not told from one', () => {
  expect(saidOfMember(['h'])).toEqual([])
  expect(saidOfMember([])).not.toEqual([])
})
