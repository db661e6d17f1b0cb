// G8: a plan over 20,000 scopes and 50,000 people, guards included, beside the bare diff of the same inputs.

import { groupsWithCap, interpret } from '../../src/core/interpret/slots.ts'
import { scopeKey, TEAM } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { diff } from '../../src/core/plan/diff.ts'
import { buildPlan, type Planned } from '../../src/core/plan/plan.ts'
import type { Snapshot } from '../../src/core/plan/snapshot.ts'
import { atMost, median, ms, publish, type Row } from './bench.ts'
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

function compare(figure: string, world: BigWorld, expected: (planned: Planned) => boolean): Row {
  const policy = policyIn(world)
  const inputs: Snapshot = inputsOf(world, policy, resolveAll(world, policy))
  const slots = interpret({ ...inputs, groupsWithCap: groupsWithCap(inputs.resolution.desired) })
  const bare = (): number => diff({ ...inputs, slots }).differences.length
  const whole = (): Planned => buildPlan(inputs)
  if (!expected(whole())) throw new Error(`${figure}: the plan is not what the bench is about`)
  const times = { bare: [] as number[], whole: [] as number[] }
  for (let round = -WARM_UPS; round < PLAN_ROUNDS; round += 1) {
    const started = performance.now()
    bare()
    const middle = performance.now()
    whole()
    const ended = performance.now()
    if (round < 0) continue
    times.bare.push(middle - started)
    times.whole.push(ended - middle)
  }
  const [floor, plan] = [median(times.bare), median(times.whole)]
  return atMost('G8', figure, `${ms(plan)} / ${ms(floor)}`, plan / floor, 3)
}

publish(`Planning: ${SIZE.scopes} scopes, ${SIZE.people} people, beside the bare diff, medians of ${PLAN_ROUNDS}`, [
  compare('nothing to do', bigWorld({ ...SIZE, drifted: 0 }), ({ plan }) => plan.changes.length === 0),
  compare('1,000 people drifted', bigWorld({ ...SIZE, drifted: 1000 }), ({ plan }) => plan.changes.length >= 900),
  compare('1,000 people and the team drifted', withTeamDrift(bigWorld({ ...SIZE, drifted: 1000 })), ({ plan }) =>
    plan.changes.some((change) => change.scope.kind === 'team' && change.people > 0),
  ),
])
