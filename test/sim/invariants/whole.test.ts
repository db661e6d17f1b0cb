// What may be written and read in a quiet world: what a grant that ends, or what counts for a day, has held there, and nothing else that a guard holds for good.
import { describe, expect, it } from 'vitest'
import { DEFAULT_GUARDS, type GuardSettings } from '../../../src/core/model/change.ts'
import { type Scope, scopeKey } from '../../../src/core/model/scope.ts'
import { REVIEW_MS, type ReviewedRules } from '../../../src/core/plan/reviewed.ts'
import { emptyModel } from '../lives/policy-model.ts'
import type { Scene, Step } from '../steps.ts'
import { quiet } from './whole.ts'

const HOUR = 3_600_000
const BOB = { kind: 'user', email: 'bob@example.com' } as const
const G1 = { kind: 'group', id: 'g1' } as const
const G2 = { kind: 'group', id: 'g2' } as const

const AMY = { kind: 'user', email: 'amy@example.com' } as const
const NOW = 100 * HOUR
const OFF: GuardSettings = { ...DEFAULT_GUARDS, maxLowered: 'off', maxCleared: 'off', protected: false }
const hold = (guard: string, scopes: readonly object[]) => ({ guards: [guard], changes: scopes.map((scope) => ({ scope })) })

interface World {
  readonly holds: readonly ReturnType<typeof hold>[]
  /** A grant of bob's ends then. */
  readonly endsAt?: number
  readonly before?: readonly ReviewedRules[]
  /** A plan that has moved bob began then. */
  readonly begunAt?: number
  readonly capSemantics?: 'layered' | 'copied'
}

/** What is said of a write in such a world. */
function said(scope: Scope, { holds, endsAt = 200 * HOUR, before = [], begunAt, capSemantics = 'layered' }: World): readonly string[] {
  const found: string[] = []
  const facts: Record<string, unknown> = {
    rules: { before },
    ...(begunAt !== undefined && { planBegunAt: begunAt, planBaseline: { [BOB.email]: 4000 } }),
  }
  const scene = {
    scenario: { intervalMs: HOUR, usageIntervalMs: HOUR, capSemantics, switches: {} },
    now: () => NOW,
    policy: emptyModel,
    view: () => ({ scopes: [], holds }),
    ledger: () => ({
      owned: () => [{ scope: BOB, cap: 6400, owner: 'copied', grant: `group:g1||${endsAt}` }],
      fact: (name: string) => facts[name],
      approvals: () => [],
    }),
  } as unknown as Scene
  const watch = quiet.watch(scene, { checked: () => undefined, violated: (message) => found.push(message) })
  watch({ kind: 'settled' })
  watch({ kind: 'request', process: 1, operation: 'UsageConfig', scope: scopeKey(scope), to: 4000 } as Step)
  return found
}

const GRANTED = [hold('maxLowered', [BOB, G1]), hold('maxCleared', [G2])]

it('a guard that lets go of an ended grant lets go of what it held because of it', () => {
  expect(said(G1, { holds: GRANTED, endsAt: 101 * HOUR })).toEqual([])
})

it('a group write that a guard held beside a grant that goes on is found', () => {
  expect(said(G1, { holds: GRANTED })).not.toEqual([])
})

it('a group write that another guard held is found', () => {
  expect(said(G2, { holds: GRANTED, endsAt: 101 * HOUR })).not.toEqual([])
})

describe('rules that were weakened a day ago', () => {
  const holds = [hold('protected', [BOB, AMY, G1]), hold('maxLowered', [G2])]
  const rules = (sinceMs: number, more: Partial<ReviewedRules>): readonly ReviewedRules[] => [
    { guards: OFF, protectedEmails: [], weakenedAt: NOW - sinceMs, ...more },
  ]
  const bob = { protectedEmails: [BOB.email] }
  const lowered = { guards: { ...OFF, maxLowered: DEFAULT_GUARDS.maxLowered } }

  it.each<readonly [string, Scope, readonly ReviewedRules[], number]>([
    ['let go of who is protected no more', BOB, rules(REVIEW_MS - HOUR, bob), 0],
    ['let go of a group write that would have reached them', G1, rules(REVIEW_MS - HOUR, bob), 0],
    ['let go of what a stricter guard held', G2, rules(REVIEW_MS - HOUR, lowered), 0],
    ['keep who is still protected', AMY, rules(REVIEW_MS - HOUR, bob), 1],
    ['keep what another guard holds', G2, rules(REVIEW_MS - HOUR, bob), 1],
    ['keep all for the whole day', BOB, rules(HOUR, bob), 1],
    ['are not why somebody is written while there are none', BOB, [], 1],
  ])('%s', (_row, scope, before, found) => {
    expect(said(scope, { holds, before })).toHaveLength(found)
  })
})

const told = (kind: string): Step => ({ kind: 'told', process: 1, event: { kind } }) as unknown as Step
const reading: Step = { kind: 'request', process: 1, operation: 'GetUsageConfig', scope: scopeKey(G1) }
const letGo: Step = { kind: 'recorded', process: 1, method: 'releaseOwned', values: [['group:g1']] }
const sweep = [reading, told('cycle-finished')]

/** What is said of these steps in a quiet world in which nothing is managed. */
function saidOfReads(steps: readonly Step[]): readonly string[] {
  const found: string[] = []
  const scene = {
    scenario: { intervalMs: HOUR, usageIntervalMs: HOUR, capSemantics: 'layered', switches: {} },
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
    scenario: { intervalMs: HOUR, usageIntervalMs: HOUR, capSemantics: 'layered', switches: {} },
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

describe('a plan that began a day ago', () => {
  const holds = [hold('protected', [BOB, AMY])]

  it.each([
    ['and has overwritten somebody protected holds their cap no more', BOB, 23, 'copied', 0],
    ['keeps who was not overwritten', AMY, 23, 'copied', 1],
    ['keeps everybody where caps are layered', BOB, 23, 'layered', 1],
    ['or less keeps everybody', BOB, 2, 'copied', 1],
  ] as const)('%s', (_row, scope, hours, capSemantics, found) => {
    expect(said(scope, { holds, begunAt: NOW - hours * HOUR, capSemantics })).toHaveLength(found)
  })
})
