import { describe, expect, test } from 'vitest'
import { plansFromJson } from '../../src/cli/plan/file.ts'
import { renderPlanJson } from '../../src/cli/plan/view.ts'
import { InputError } from '../../src/core/model/problem.ts'
import { fullPlan, plan } from './plans.ts'

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
