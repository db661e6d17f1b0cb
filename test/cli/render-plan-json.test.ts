import { describe, expect, test } from 'vitest'
import { plansFromJson } from '../../src/cli/plan/file.ts'
import { renderPlanJson, writeKey } from '../../src/cli/plan/view.ts'
import { InputError } from '../../src/core/model/problem.ts'
import { bobBlock, bobHold, fullPlan, orphanClear, plan, teamSet } from './plans.ts'

const parsed = (text: string): unknown => JSON.parse(text)

describe('a plan as JSON', () => {
  test('is the document of the contract, to the letter', () => {
    const one = plan({
      changes: [teamSet, bobBlock, orphanClear],
      holds: [bobHold],
      counts: { set: 1, clear: 1, held: 1 },
    })
    const outcomes = new Map([[writeKey(teamSet), { result: 'applied' as const }]])
    expect(parsed(renderPlanJson([{ plan: one, outcomes }]))).toEqual({
      apiVersion: 'capkeeper/v1',
      kind: 'Plan',
      id: '3f9c2a1b7d5e4c08',
      workspace: 'acme',
      createdAt: '2026-11-20T12:00:00.000Z',
      policyDigest: '9a1b2c3d4e5f',
      revision: '',
      counts: { set: 1, raise: 0, lower: 0, block: 0, clear: 1, held: 1, inSync: 0, unknown: 0, skipped: 0, rejected: 0 },
      changes: [
        {
          scope: { kind: 'team' },
          action: 'set',
          effect: 'set',
          from: 'none',
          to: 500,
          cause: 'policy',
          people: 120,
          source: { file: 'policies/acme.yaml', line: 5, column: 10 },
          reason: null,
          result: 'applied',
        },
        {
          scope: { kind: 'user', email: 'bob@example.com' },
          action: 'set',
          effect: 'block',
          from: 800,
          to: 100,
          cause: 'policy',
          people: 1,
          source: { file: 'policies/acme.yaml', line: 16, column: 12 },
          reason: null,
          hold: '7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b',
        },
        {
          scope: { kind: 'user', email: 'old@example.com' },
          action: 'clear',
          effect: 'clear',
          from: 700,
          to: 'none',
          cause: 'orphan',
          people: 1,
          source: null,
          reason: null,
          waitsFor: { scope: { kind: 'user', email: 'old@example.com' }, why: 'not tried: writing stopped before it was its turn' },
        },
      ],
      holds: [
        {
          id: '7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b',
          guards: ['maxBlocked', 'protected'],
          people: 1,
          changes: [{ scope: { kind: 'user', email: 'bob@example.com' }, from: 800, to: 100 }],
          message: bobHold.message,
        },
      ],
      unknown: [],
      problems: [],
      approvals: [],
    })
  })

  test('of several workspaces is a list, also when only one of them could be planned', () => {
    const one = parsed(renderPlanJson([{ plan: plan() }], 2))
    expect(one).toMatchObject({ kind: 'PlanList', items: [{ kind: 'Plan' }] })
    const list = parsed(renderPlanJson([{ plan: plan() }, { plan: plan({ workspace: 'beta' }) }]))
    expect(list).toMatchObject({ kind: 'PlanList', items: [{ workspace: 'acme' }, { workspace: 'beta' }] })
  })
})

describe('a saved plan', () => {
  test('is read back exactly as it was', () => {
    expect(plansFromJson(renderPlanJson([{ plan: fullPlan }]), 'plan.json')).toEqual([fullPlan])
    expect(plansFromJson(renderPlanJson([{ plan: fullPlan }, { plan: plan() }]), 'plan.json')).toEqual([fullPlan, plan()])
  })

  const document = JSON.parse(renderPlanJson([{ plan: fullPlan }]))
  const rows: readonly (readonly [string, string, string])[] = [
    ['that is not JSON is refused', 'kind: Plan', 'p.json is not a saved plan: it is not JSON'],
    ['that is no object is refused', '[]', 'the document must be an object, and is []'],
    ['of another kind is refused', JSON.stringify({ ...document, kind: 'CapPolicy' }), 'kind must be one of Plan, and is "CapPolicy"'],
    [
      'of another version is refused',
      JSON.stringify({ ...document, apiVersion: 'v9' }),
      'apiVersion must be one of capkeeper/v1, and is "v9"',
    ],
    ['with a made-up id is refused', JSON.stringify({ ...document, id: 'x' }), 'id must be 16 hex digits, and is "x"'],
    [
      'without its creation is refused',
      JSON.stringify({ ...document, createdAt: undefined }),
      'createdAt must be an RFC 3339 instant, and is missing',
    ],
    [
      'with a cap below 0 names the change',
      JSON.stringify({ ...document, changes: [document.changes[0], { ...document.changes[1], to: -1 }] }),
      'changes[1].to must be a whole number from 0 to 2147483647 or "none", and is -1',
    ],
    [
      'that clears to a number is refused',
      JSON.stringify({ ...document, changes: [{ ...document.changes[0], action: 'clear' }] }),
      'changes[0].to must be "none", and is 500',
    ],
    [
      'with an unknown scope kind names the field',
      JSON.stringify({ ...document, unknown: [{ scope: { kind: 'robot' }, message: 'x' }] }),
      'unknown[0].scope.kind must be one of team, group, user, and is "robot"',
    ],
  ]
  test.each(rows)('%s', (_name, text, message) => {
    const read = (): unknown => plansFromJson(text, 'p.json')
    expect(read).toThrow(InputError)
    expect(read).toThrow(message)
  })
})
