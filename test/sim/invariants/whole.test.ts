// Reads and writes in a quiet world: only changes that an ending grant or a daily limit had held may be written.
import { describe, expect, it } from 'vitest'
import { DEFAULT_GUARDS, type GuardSettings } from '../../../src/core/model/change.ts'
import { type Scope, scopeKey } from '../../../src/core/model/scope.ts'
import { REVIEW_MS } from '../../../src/core/plan/reviewed.ts'
import type { ReviewedRules } from '../../../src/core/plan/snapshot.ts'
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
  /** A grant of bob's ends at this time. */
  readonly endsAt?: number
  readonly before?: readonly ReviewedRules[]
  /** A plan that changed bob's cap began at this time. */
  readonly begunAt?: number
  readonly capSemantics?: 'layered' | 'copied'
}

/** The violations by a write in such a world. */
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

it('a guard that releases an ended grant releases the changes it held because of it', () => {
  expect(said(G1, { holds: GRANTED, endsAt: 101 * HOUR })).toEqual([])
})

it('a group write that a guard held beside a continuing grant is a violation', () => {
  expect(said(G1, { holds: GRANTED })).not.toEqual([])
})

it('a group write that another guard held is a violation', () => {
  expect(said(G2, { holds: GRANTED, endsAt: 101 * HOUR })).not.toEqual([])
})

describe('guards that were weakened a day ago', () => {
  const holds = [hold('protected', [BOB, AMY, G1]), hold('maxLowered', [G2])]
  const rules = (sinceMs: number, more: Partial<ReviewedRules>): readonly ReviewedRules[] => [
    { guards: OFF, protectedEmails: [], weakenedAt: NOW - sinceMs, ...more },
  ]
  const bob = { protectedEmails: [BOB.email] }
  const lowered = { guards: { ...OFF, maxLowered: DEFAULT_GUARDS.maxLowered } }

  it.each<readonly [string, Scope, readonly ReviewedRules[], number]>([
    ['release a person who is no longer protected', BOB, rules(REVIEW_MS - HOUR, bob), 0],
    ['release a group write that would have reached them', G1, rules(REVIEW_MS - HOUR, bob), 0],
    ['release a change that a stricter guard held', G2, rules(REVIEW_MS - HOUR, lowered), 0],
    ['keep a person who is still protected', AMY, rules(REVIEW_MS - HOUR, bob), 1],
    ['keep a change that another guard holds', G2, rules(REVIEW_MS - HOUR, bob), 1],
    ['keep all for the whole day', BOB, rules(HOUR, bob), 1],
    ['explain no write while there are none', BOB, [], 1],
  ])('%s', (_row, scope, before, found) => {
    expect(said(scope, { holds, before })).toHaveLength(found)
  })
})

const told = (kind: string): Step => ({ kind: 'told', process: 1, event: { kind } }) as unknown as Step
const reading: Step = { kind: 'request', process: 1, operation: 'GetUsageConfig', scope: scopeKey(G1) }
const letGo: Step = { kind: 'recorded', process: 1, method: 'releaseOwned', values: [['group:g1']] }
const sweep = [reading, told('cycle-finished')]

/** The violations by these steps in a quiet world without managed scopes. */
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

it('a released group is read until groups are listed again', () => {
  expect(saidOfReads([letGo, ...sweep, ...sweep, reading, told('usage-read'), told('cycle-finished')])).toEqual([])
})

it.each([
  ['that was released is not read once groups were listed again', [letGo, ...sweep, told('usage-read'), ...sweep]],
  ['that was never ours is not read', sweep],
])('a group %s', (_title, steps) => {
  expect(saidOfReads(steps)).not.toEqual([])
})

/** The violations by a group write without holds, when a guard held it in a cycle so long after a grant has ended. */
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

it('a change that the breaker holds since the first cycles after the end of a grant is tried again', () => {
  expect(saidAfterEnd('breaker', 2)).toEqual([])
})

it.each([
  ['another guard', 'maxCleared', 2],
  ['the breaker, for a later write,', 'breaker', 9],
] as const)('what %s held after a grant has ended is found', (_who, guard, heldAfter) => {
  expect(saidAfterEnd(guard, heldAfter)).not.toEqual([])
})

describe('a plan that began a day ago', () => {
  const holds = [hold('protected', [BOB, AMY])]

  it.each([
    ['and has overwritten a protected person no longer holds their cap', BOB, 23, 'copied', 0],
    ['keeps a person who was not overwritten', AMY, 23, 'copied', 1],
    ['keeps all people where caps are layered', BOB, 23, 'layered', 1],
    ['or less keeps all people', BOB, 2, 'copied', 1],
  ] as const)('%s', (_row, scope, hours, capSemantics, found) => {
    expect(said(scope, { holds, begunAt: NOW - hours * HOUR, capSemantics })).toHaveLength(found)
  })
})
