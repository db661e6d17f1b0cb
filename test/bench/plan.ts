// G8: a plan over 20,000 scopes and 50,000 people, guards included, beside the bare diff of the same inputs.

import { groupsWithCap, interpret } from '../../src/core/interpret/slots.ts'
import type { Grant, PolicyRevision } from '../../src/core/model/policy.ts'
import { scopeKey, TEAM, userScope } from '../../src/core/model/scope.ts'
import { credits, MINUTE_MS } from '../../src/core/model/units.ts'
import { diff } from '../../src/core/plan/diff.ts'
import { buildPlan, type Planned } from '../../src/core/plan/plan.ts'
import type { Snapshot } from '../../src/core/plan/snapshot.ts'
import { grantId } from '../../src/core/resolve/grants.ts'
import { entryOf } from '../support/declare.ts'
import { beside, publish, type Row, took, turns } from './bench.ts'
import { type BigWorld, bigWorld, emailOf, inputsOf, policyIn, resolveAll } from './big.ts'

const SIZE = { scopes: 20_000, people: 50_000 }
const WARM_UPS = 10
const PLAN_ROUNDS = 51

/** Somebody else lowered the team cap: its healing reaches everybody without a narrower cap. */
function withTeamDrift(world: BigWorld): BigWorld {
  const readings = new Map(world.readings)
  readings.set(scopeKey(TEAM), { scope: TEAM, observed: credits(900), readAt: world.now })
  return { ...world, readings }
}

const GRANTS = 10_000
const GRANTED = credits(9000)

/** As many grants have just ended, of people without a cap of their own. */
function withEndedGrants(world: BigWorld): readonly [BigWorld, PolicyRevision] {
  const policy = policyIn(world)
  const scopes = Array.from({ length: GRANTS }, (_, index) => userScope(emailOf(SIZE.scopes + index)))
  const grants = scopes.map((scope): Grant => {
    const until = { kind: 'instant', at: world.now - MINUTE_MS } as const
    return {
      scope,
      amount: { kind: 'cap', credits: GRANTED },
      until,
      reason: 'a release',
      document: 'bench',
      at: { file: '', line: 0, column: 0 },
    }
  })
  const owned = new Map(world.owned)
  const readings = new Map(world.readings)
  for (const [at, scope] of scopes.entries()) {
    const entry = entryOf('grant', GRANTED)
    const grant = grants[at] && grantId(grants[at])
    owned.set(scopeKey(scope), { scope, cap: GRANTED, owner: 'grant', entry, verifiedAt: world.now, ...(grant && { grant }) })
    readings.set(scopeKey(scope), { scope, observed: GRANTED, readAt: world.now })
  }
  return [
    { ...world, owned, readings },
    { ...policy, set: { ...policy.set, grants } },
  ]
}

async function compare(figure: string, world: BigWorld, expected: (planned: Planned) => boolean, policy = policyIn(world)): Promise<Row> {
  const inputs: Snapshot = inputsOf(world, policy, resolveAll(world, policy))
  const slots = interpret({ ...inputs, groupsWithCap: groupsWithCap(inputs.resolution.desired) })
  if (!expected(buildPlan(inputs))) throw new Error(`${figure}: the plan is not what the bench is about`)
  const { bare, whole } = await turns(
    { bare: () => took(() => diff({ ...inputs, slots })), whole: () => took(() => buildPlan(inputs)) },
    { rounds: PLAN_ROUNDS, warmUps: WARM_UPS },
  )
  return beside('G8', figure, [whole, bare], 3)
}

const [ended, endedPolicy] = withEndedGrants(bigWorld({ ...SIZE, drifted: 0 }))
publish(`Planning: ${SIZE.scopes} scopes, ${SIZE.people} people, beside the bare diff, medians of ${PLAN_ROUNDS}`, [
  await compare('nothing to do', bigWorld({ ...SIZE, drifted: 0 }), ({ plan }) => plan.changes.length === 0),
  await compare('1,000 people drifted', bigWorld({ ...SIZE, drifted: 1000 }), ({ plan }) => plan.changes.length >= 900),
  await compare('1,000 people and the team drifted', withTeamDrift(bigWorld({ ...SIZE, drifted: 1000 })), ({ plan }) =>
    plan.changes.some((change) => change.scope.kind === 'team' && change.people > 0),
  ),
  await compare('10,000 grants end', ended, ({ plan }) => plan.changes.length === GRANTS, endedPolicy),
])
