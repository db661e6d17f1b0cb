// Small plans for the tests of renderings.
import { type Change, type Hold, type Plan, type PlanCounts, READY } from '../../src/core/model/change.ts'
import { groupScope, TEAM, userScope } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'

const NO_COUNTS: PlanCounts = { set: 0, raise: 0, lower: 0, block: 0, clear: 0, held: 0, inSync: 0, unknown: 0, skipped: 0, rejected: 0 }

export const plan = (changed: Partial<Omit<Plan, 'counts'>> & { readonly counts?: Partial<PlanCounts> } = {}): Plan => ({
  apiVersion: 'capkeeper/v1',
  kind: 'Plan',
  id: '3f9c2a1b7d5e4c08',
  workspace: 'acme',
  createdAt: Date.UTC(2026, 10, 20, 12),
  policyDigest: '9a1b2c3d4e5f',
  revision: '',
  changes: [],
  holds: [],
  unknown: [],
  problems: [],
  approvals: [],
  ...changed,
  counts: { ...NO_COUNTS, ...changed.counts },
})

const change = (changed: Partial<Change>): Change => ({
  scope: TEAM,
  action: 'set',
  effect: 'set',
  from: 'none',
  to: credits(500),
  cause: 'policy',
  people: 120,
  source: { file: 'policies/acme.yaml', line: 5, column: 10 },
  healing: false,
  grantEnd: false,
  disposition: READY,
  ...changed,
})

export const teamSet = change({})
export const groupRaise = change({
  scope: groupScope('grp_platform'),
  effect: 'raise',
  from: credits(1000),
  to: credits(1500),
  people: 12,
  source: { file: 'policies/acme.yaml', line: 9, column: 12 },
  reason: 'builds the build',
})
export const adaLower = change({
  scope: userScope('ada@example.com'),
  effect: 'lower',
  from: credits(9000),
  to: credits(4000),
  cause: 'external',
  people: 1,
  source: { file: 'policies/acme.yaml', line: 14, column: 12 },
  healing: true,
})
export const bobBlock = change({
  scope: userScope('bob@example.com'),
  effect: 'block',
  from: credits(800),
  to: credits(100),
  people: 1,
  source: { file: 'policies/acme.yaml', line: 16, column: 12 },
  disposition: { kind: 'held', hold: '7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b' },
})
export const { source: _none, ...orphanBase } = change({
  scope: userScope('old@example.com'),
  action: 'clear',
  effect: 'clear',
  from: credits(700),
  to: 'none',
  cause: 'orphan',
  people: 1,
})
export const orphanClear: Change = orphanBase

export const bobHold: Hold = {
  id: '7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b',
  guards: ['maxBlocked', 'protected'],
  people: 1,
  changes: [{ scope: bobBlock.scope, from: bobBlock.from, to: bobBlock.to }],
  message: 'acme: bob@example.com is protected; approve hold 7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b or take the line out of spec.protected',
}

/** One of everything. */
export const fullPlan = plan({
  revision: '1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d',
  changes: [teamSet, groupRaise, adaLower, bobBlock, orphanClear],
  holds: [bobHold],
  unknown: [{ scope: userScope('eve@example.com'), message: 'HTTP 503 after 4 attempts' }],
  problems: [
    { severity: 'error', code: 'ZERO_NOT_STORED', message: 'the service does not store 0', scope: userScope('zoe@example.com') },
    {
      severity: 'warning',
      code: 'APPROVAL_SPENT',
      message: 'approval 0123456789ab is spent; remove it',
      at: { file: 'policies/acme.yaml', line: 30, column: 5 },
    },
  ],
  counts: { set: 1, raise: 1, lower: 1, clear: 1, held: 1, inSync: 42, unknown: 1, rejected: 1 },
})
