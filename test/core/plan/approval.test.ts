import { describe, expect, test } from 'vitest'
import { type Approval, isReady } from '../../../src/core/model/change.ts'
import { DAY, NOW } from '../../support/declare.ts'
import { each, lines, type PlanSketch, planOf } from '../../support/plan.ts'

/** 16 of 100 people lowered: one hold by maxLowered. */
const held: PlanSketch = { people: 100, caps: { ...each(100, 500), ...each(16, 400) }, observed: each(100, 500) }
const holdId = '35fbf18efa8ca7059c8d6c6492af67dc'
/** Somebody could read the hold before its approval was listed. */
const REVIEWED = { [holdId]: { people: 16, at: NOW, reviewed: true } }
const open = (sketch: PlanSketch): number => planOf(sketch).plan.changes.filter(isReady).length
const first = (approvals: readonly Approval[]): Approval | undefined => approvals[0]

describe('an approval', () => {
  test('names a hold, which has the same id on every machine', () => expect(planOf(held).plan.holds).toMatchObject([{ id: holdId }]))

  test.each([
    ['listed in policy', { approvalIds: [holdId], holdsShown: REVIEWED }],
    ['given by the command approve', { approvals: [{ id: holdId, via: 'command', approvedAt: NOW, state: 'pending', released: [] }] }],
    ['given by apply --approve', { approve: [holdId] }],
  ] as const)('%s releases exactly the changes of its hold', (_name, more) => {
    const planned = planOf({ ...held, ...more })
    expect(planned.plan.holds).toEqual([])
    expect(planned.plan.changes.map((one) => one.released?.id)).toEqual(Array(16).fill(holdId))
    expect(planned.plan.approvals.map((one) => [one.id, one.releases.length])).toEqual([[holdId, 16]])
    expect(first(planned.approvals)).toMatchObject({ id: holdId, state: 'pending', people: 16 })
  })

  test('does not release what came on top: other values make another hold', () => {
    expect(open({ ...held, caps: { ...held.caps, p50: 400 }, approvalIds: [holdId], holdsShown: REVIEWED })).toBe(0)
  })

  test('that is spent and still listed is reported as removable', () => {
    const spent: Approval = { id: holdId, via: 'policy', approvedAt: NOW, state: 'spent', released: [] }
    const planned = planOf({ approvals: [spent], approvalIds: [holdId] })
    expect(planned.plan.problems.map((one) => [one.code, one.message])).toContainEqual([
      'APPROVAL_SPENT',
      `approval ${holdId}: it was used, and releases nothing any more; remove it from spec.approvals: capkeeper edit remove approval:${holdId}`,
    ])
  })

  test.each([
    ['up to a quarter more people than shown it still releases', 13, 16],
    ['beyond that it is void', 12, 0],
  ])('%s', (_name, people, released) => {
    expect(open({ ...held, approve: [holdId], holdsShown: { [holdId]: { people, at: NOW } } })).toBe(released)
  })

  test('is void after 14 days', () => {
    const old: Approval = { id: holdId, via: 'policy', approvedAt: NOW - 14 * DAY - 1, state: 'pending', released: [] }
    const planned = planOf({ ...held, approvals: [old], approvalIds: [holdId] })
    expect(first(planned.approvals)).toMatchObject({ state: 'void' })
    expect(planned.plan.holds).toHaveLength(1)
  })

  test('of a roster hold says that the new roster is good', () => {
    const sketch: PlanSketch = { caps: { p0: 400 }, observed: { p0: 500 }, facts: { rosterDoubt: { before: 40, now: 20 } } }
    const id = planOf(sketch).plan.holds[0]?.id ?? ''
    const planned = planOf({ ...sketch, approve: [id], now: NOW + DAY / 24 })
    expect(planned.rosterAccepted).toBe(true)
    expect(lines(planned)).toEqual(['p0 lower 500>400 policy'])
  })
})
