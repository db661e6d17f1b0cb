// G8: a plan over 20,000 scopes and 50,000 people, guards included, beside the bare diff of the same inputs.

import { groupsWithCap, interpret } from '../../src/core/interpret/slots.ts'
import { scopeKey, TEAM } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { diff } from '../../src/core/plan/diff.ts'
import { buildPlan, type Planned } from '../../src/core/plan/plan.ts'
import type { Snapshot } from '../../src/core/plan/snapshot.ts'
import { beside, publish, type Row, took, turns } from './bench.ts'
import { type BigWorld, bigWorld, inputsOf, policyIn, resolveAll } from './big.ts'

const SIZE = { scopes: 20_000, people: 50_000 }
const WARM_UPS = 10
const PLAN_ROUNDS = 51

/** Somebody else lowered the team cap: its healing reaches everybody without a narrower cap. */
function withTeamDrift(world: BigWorld): BigWorld {
  const readings = new Map(world.readings)
  readings.set(scopeKey(TEAM), { scope: TEAM, observed: credits(900), readAt: world.now })
  return { ...world, readings }
}

async function compare(figure: string, world: BigWorld, expected: (planned: Planned) => boolean): Promise<Row> {
  const policy = policyIn(world)
  const inputs: Snapshot = inputsOf(world, policy, resolveAll(world, policy))
  const slots = interpret({ ...inputs, groupsWithCap: groupsWithCap(inputs.resolution.desired) })
  if (!expected(buildPlan(inputs))) throw new Error(`${figure}: the plan is not what the bench is about`)
  const { bare, whole } = await turns(
    { bare: () => took(() => diff({ ...inputs, slots })), whole: () => took(() => buildPlan(inputs)) },
    { rounds: PLAN_ROUNDS, warmUps: WARM_UPS },
  )
  return beside('G8', figure, [whole, bare], 3)
}

publish(`Planning: ${SIZE.scopes} scopes, ${SIZE.people} people, beside the bare diff, medians of ${PLAN_ROUNDS}`, [
  await compare('nothing to do', bigWorld({ ...SIZE, drifted: 0 }), ({ plan }) => plan.changes.length === 0),
  await compare('1,000 people drifted', bigWorld({ ...SIZE, drifted: 1000 }), ({ plan }) => plan.changes.length >= 900),
  await compare('1,000 people and the team drifted', withTeamDrift(bigWorld({ ...SIZE, drifted: 1000 })), ({ plan }) =>
    plan.changes.some((change) => change.scope.kind === 'team' && change.people > 0),
  ),
])
