// When an approval is used up, or counts no more, and how a plan tells that.
import { describe, expect, test } from 'vitest'
import type { Approval } from '../../../src/core/model/change.ts'
import { credits } from '../../../src/core/model/units.ts'
import { CYCLE, cap, email, NOW, scope } from '../../support/declare.ts'
import { each, type PlanSketch, planOf } from '../../support/plan.ts'

describe('an approval that releases nothing any more is told', () => {
  const LOWER: PlanSketch = { people: 100, caps: each(16, 400), observed: each(16, 500) }
  const id = planOf(LOWER).plan.holds[0]?.id ?? ''
  const AT = { file: 'acme.yaml', line: 1, column: 1 }
  const spent: Approval = { id, via: 'command', approvedAt: NOW, state: 'spent', released: [] }

  test('while its hold exists, when it affects more people than were shown', () => {
    const { approvals, holds } = planOf({ ...LOWER, approve: [id], holdsShown: { [id]: { people: 12, at: NOW } } }).plan
    expect(holds).toHaveLength(1)
    expect(approvals).toEqual([{ id, via: 'command', state: 'void', releases: [], note: expect.stringContaining('approve it anew') }])
  })
  test('with its place where a policy lists it, also when a command gave it', () => {
    const { approvals, problems } = planOf({ ...LOWER, approvalIds: [id], approvals: [spent] }).plan
    expect(approvals).toMatchObject([{ id, at: AT, state: 'spent', releases: [] }])
    expect(problems).toMatchObject([{ code: 'APPROVAL_SPENT', at: AT, message: expect.stringContaining('remove it from spec.approvals') }])
  })
  test('and is not, where an operator gave it and it was used, though the same is held again', () =>
    expect(planOf({ ...LOWER, approvals: [spent] }).plan.approvals).toEqual([]))
  test('and is spent once its changes are in sync, whatever a read shows', () => {
    const released = [{ scope: scope('p0'), from: cap(500), to: cap('none'), verified: false }]
    const inherited: PlanSketch = {
      caps: { team: 300 },
      observed: { team: 300, p0: 300 },
      readsExplicit: false,
      owned: { team: { cap: 300 } },
    }
    const after = planOf({ ...inherited, caps: { team: 300, p0: 300 }, approvals: [{ ...spent, state: 'pending', released }] })
    expect(after.approvals).toMatchObject([{ state: 'spent' }])
  })
  test('and is not, once nothing is held', () =>
    expect(planOf({ observed: {}, caps: {}, approvals: [{ ...spent, state: 'void' }] }).plan.approvals).toEqual([]))
})

test.each<readonly [string, PlanSketch, Approval['state']]>([
  [
    'is spent once nothing is desired there, though the ledger has it and a read shows the inherited cap',
    { caps: { team: 300, p0: 'none' }, observed: { team: 300, p0: 300 }, owned: { p0: { cap: 'none' } }, readsExplicit: false },
    'spent',
  ],
  ['is spent once the scope is no longer read', { caps: { p1: 5 }, observed: { p1: 5 } }, 'spent'],
  [
    'goes on while the cap is set and ours, though policy declares another meanwhile',
    { caps: { p0: 600 }, observed: { p0: 500 }, owned: { p0: { cap: 500 } } },
    'pending',
  ],
  ['goes on while a cap is set that is not ours', { caps: { p0: 600 }, observed: { p0: 500 } }, 'pending'],
])('the approval of a clear %s', (_name, sketch, state) => {
  const released = [{ scope: scope('p0'), from: cap(500), to: cap('none'), verified: false }]
  const given: Approval = { id: 'a'.repeat(32), via: 'command', approvedAt: NOW, state: 'pending', released }
  expect(planOf({ ...sketch, approvals: [given] }).approvals).toMatchObject([{ state }])
})

test('the approval of a deal goes on meaning the deal, and is spent once the guards let it through', () => {
  const member = (dealt: number) => ({ base: credits(0), use: credits(0), dealt: credits(dealt), sent: [], lowered: [] })
  const emails = ['ada', 'bob'].map(email)
  const dealing = (to: number, reviewed?: string): PlanSketch => ({
    people: ['ada', 'bob', 'cyd'],
    pools: [{ name: 'research', credits: 200, members: { kind: 'emails', emails } }],
    dealt: {
      research: {
        ...{ cycle: CYCLE, readAt: NOW, dealtAt: NOW, members: Object.fromEntries(emails.map((one) => [one, member(to)])) },
        ...(reviewed !== undefined && { reviewed }),
      },
    },
    observed: { ada: 60, bob: 60 },
    guards: { maxAffected: 'off', maxLowered: { percent: 10, floor: 0 } },
  })
  const first = planOf(dealing(50))
  const approved = planOf({ ...dealing(50), approve: first.plan.holds.map(({ id }) => id) })
  const key = approved.approvals[0]?.released[0]?.pool
  expect(key).toMatch(/^[0-9a-f]{32}$/)
  const later = (reviewed?: string) => planOf({ ...dealing(40, reviewed), approvals: approved.approvals })
  expect([later().plan.holds, later().approvals[0]?.state]).toEqual([[], 'pending'])
  expect(later('another').approvals[0]?.state).toBe('pending')
  expect(later(key).approvals[0]?.state).toBe('spent')
})
