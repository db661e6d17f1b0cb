// What may be written and read in a quiet world: what a grant that ends has held there, and nothing else that a guard holds for good.
import { expect, it } from 'vitest'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { emptyModel } from '../lives/policy-model.ts'
import type { Scene, Step } from '../steps.ts'
import { quiet } from './whole.ts'

const HOUR = 3_600_000
const BOB = { kind: 'user', email: 'bob@example.com' } as const
const G1 = { kind: 'group', id: 'g1' } as const
const G2 = { kind: 'group', id: 'g2' } as const

/** What is said of a group write in a world in which a grant of bob's ends at that time. */
function said(group: typeof G1 | typeof G2, endsAt: number): readonly string[] {
  const found: string[] = []
  const hold = (guard: string, scopes: readonly object[]) => ({ guards: [guard], changes: scopes.map((scope) => ({ scope })) })
  const scene = {
    scenario: { intervalMs: HOUR, usageIntervalMs: HOUR },
    now: () => 100 * HOUR,
    policy: emptyModel,
    view: () => ({ scopes: [], holds: [hold('maxLowered', [BOB, G1]), hold('maxCleared', [G2])] }),
    ledger: () => ({
      owned: () => [{ scope: BOB, cap: 6400, owner: 'copied', grant: `group:g1||${endsAt}` }],
      fact: () => undefined,
      approvals: () => [],
    }),
  } as unknown as Scene
  const watch = quiet.watch(scene, { checked: () => undefined, violated: (message) => found.push(message) })
  watch({ kind: 'settled' })
  watch({ kind: 'request', process: 1, operation: 'UsageConfig', scope: `group:${group.id}`, to: 4000 } as Step)
  return found
}

it('a guard that lets go of an ended grant lets go of what it held because of it', () => {
  expect(said(G1, 101 * HOUR)).toEqual([])
})

it('a group write that a guard held beside a grant that goes on is found', () => {
  expect(said(G1, 200 * HOUR)).not.toEqual([])
})

it('a group write that another guard held is found', () => {
  expect(said(G2, 101 * HOUR)).not.toEqual([])
})

const told = (kind: string): Step => ({ kind: 'told', process: 1, event: { kind } }) as unknown as Step
const reading: Step = { kind: 'request', process: 1, operation: 'GetUsageConfig', scope: scopeKey(G1) }
const letGo: Step = { kind: 'recorded', process: 1, method: 'releaseOwned', values: [['group:g1']] }
const sweep = [reading, told('cycle-finished')]

/** What is said of these steps in a quiet world in which nothing is managed. */
function saidOfReads(steps: readonly Step[]): readonly string[] {
  const found: string[] = []
  const scene = {
    scenario: { intervalMs: HOUR, usageIntervalMs: HOUR },
    now: () => 100 * HOUR,
    policy: emptyModel,
    policies: () => [],
    view: () => ({ scopes: [] }),
    ledger: () => ({ owned: () => [], fact: () => undefined, approvals: () => [] }),
  } as unknown as Scene
  const watch = quiet.watch(scene, { checked: () => undefined, violated: (message) => found.push(message) })
  for (const step of [{ kind: 'settled' } as const, told('cycle-finished'), ...steps]) watch(step)
  return found
}

it('a group that was let go is read until groups are listed again', () => {
  expect(saidOfReads([letGo, ...sweep, ...sweep, reading, told('usage-read'), told('cycle-finished')])).toEqual([])
})

it.each([
  ['that was let go is not read once groups were listed again', [letGo, ...sweep, told('usage-read'), ...sweep]],
  ['that was never ours is not read', sweep],
])('a group %s', (_title, steps) => {
  expect(saidOfReads(steps)).not.toEqual([])
})

/** What is said of a group write while nothing is held any more, when a guard has held it in a cycle so long after a grant has ended. */
function saidAfterEnd(guard: string, heldAfter: number): readonly string[] {
  const found: string[] = []
  let hours = 100
  let holds: readonly object[] = []
  const scene = {
    scenario: { intervalMs: HOUR, usageIntervalMs: HOUR },
    now: () => hours * HOUR,
    policy: () => ({ ...emptyModel(), grants: [{ scope: 'bob@example.com', cap: 100, untilAt: 100 * HOUR }] }),
    view: () => ({ scopes: [], holds }),
    ledger: () => ({ owned: () => [], fact: () => undefined, approvals: () => [] }),
  } as unknown as Scene
  const watch = quiet.watch(scene, { checked: () => undefined, violated: (message) => found.push(message) })
  watch({ kind: 'settled' })
  hours += heldAfter
  holds = [{ guards: [guard], changes: [{ scope: G1 }] }]
  watch(told('cycle-finished'))
  hours += 10
  holds = []
  watch({ kind: 'request', process: 1, operation: 'UsageConfig', scope: 'group:g1', to: 4000 } as Step)
  return found
}

it('what the breaker began to hold in the first cycles after a grant has ended is tried again', () => {
  expect(saidAfterEnd('breaker', 2)).toEqual([])
})

it.each([
  ['another guard', 'maxCleared', 2],
  ['the breaker, for something that was written later,', 'breaker', 9],
] as const)('what %s held after a grant has ended is found', (_who, guard, heldAfter) => {
  expect(saidAfterEnd(guard, heldAfter)).not.toEqual([])
})
