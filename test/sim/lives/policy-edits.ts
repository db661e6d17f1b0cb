// Policies of the simulation: the first one, small edits, grants. Most are valid; the real parser refuses the others.

import { type ScopeKey, scopeKey, userScope } from '../../../src/core/model/scope.ts'
import { HOUR_MS } from '../../../src/core/model/units.ts'
import { between, type Draw, pick, stream } from '../../../src/sandbox/company/company.ts'
import { cycleAt } from '../../../src/sandbox/time.ts'
import { emailOf } from '../world/company.ts'
import { delegate } from './envelope.ts'
import type { Life } from './life.ts'
import { emptyModel, groupName, type ModelCap, type ModelRule, type PolicyModel } from './policy-model.ts'
import { drawPools } from './pool-edits.ts'
import { MINUTE_MS, oneOf } from './scenario.ts'

const CAPS = [100, 200, 300, 400, 500, 700, 800, 1000, 1500, 2000, 4000] as const

export const drawCap = (draw: Draw): number => (draw() < 0.03 ? 0 : pick(draw, CAPS))

const drawRule = (draw: Draw): ModelCap => (draw() < 0.06 ? 'none' : drawCap(draw))

/** A third of the lives has these groups: for half of the people or more, the first before the second. */
const RULES: readonly ModelRule[] = [
  { starts: 'p000', cap: 700 },
  { starts: 'p001', cap: 'none' },
  { starts: 'p00', cap: 300 },
  { starts: 'p9', cap: 200 },
]

/** Two to four rules with different conditions, in any order. */
export function drawRules({ company }: Life, model: PolicyModel, draw: Draw): readonly ModelRule[] {
  const [group] = [...company.groups.keys()].filter((id) => model.groups.has(id))
  const all: readonly ModelRule[] = [
    { role: 'admin', cap: 900 },
    { starts: 'p00', role: 'member', cap: 350 },
    ...(group === undefined ? [] : [{ group, cap: 600 }]),
    { joinedWithinDays: 1, cap: 150 },
    { inactiveDays: 1, cap: 250 },
    { activeDays: { below: 1, within: 2 }, cap: 450 },
    { starts: 'p001', cap: 'none' },
  ]
  return all
    .map((rule) => ({ rule, roll: draw() }))
    .sort((a, b) => a.roll - b.roll)
    .slice(0, between(draw, 2, 4))
    .map(({ rule }) => rule)
}

/** Caps that follow from the people file, and that no policy has otherwise. */
export const drawFileRules = (draw: Draw): readonly ModelRule[] =>
  [
    { listed: false as const, cap: 644 },
    { unit: 'A', cap: 611 },
    { unit: 'B', cap: 622 },
  ].filter(() => draw() < 0.75)

const someone = (life: Life, draw: Draw): string => {
  if (draw() < 0.05) return emailOf(900)
  return oneOf(draw, [...life.company.people.keys()]) ?? emailOf(0)
}

/** The groups at the start and a policy for them. */
export function drawModel(life: Life, draw: Draw): PolicyModel {
  const model = emptyModel()
  if (draw() < 0.9) model.team = drawCap(draw) || 500
  for (const id of life.company.groups.keys()) if (draw() < 0.7) model.groups.set(id, { name: groupName(id), cap: drawRule(draw) })
  const share = pick(draw, [0.1, 0.3, 0.7])
  for (const email of life.company.people.keys()) if (draw() < share) model.users.set(email, drawRule(draw))
  model.onGroupConflict = pick(draw, ['min', 'max', 'min', undefined])
  // Not drawn, so that lives without rules stay the same.
  if (model.users.size % 3 === 1) model.rules = RULES
  if (life.scenario.rules) model.rules = drawRules(life, model, stream(life.scenario.seed, `rules/${life.elapsed()}`))
  if (life.scenario.directory) model.rules = [...drawFileRules(stream(life.scenario.seed, `directory/${life.elapsed()}`)), ...model.rules]
  if (life.scenario.pools) model.pools = drawPools(life, model, stream(life.scenario.seed, `pools/${life.elapsed()}`))
  if (life.scenario.envelope !== undefined) delegate(life, model, stream(life.scenario.seed, `envelope/${life.elapsed()}`))
  return model
}

/** Edits the model of a life a little. */
export function editModel(life: Life, draw: Draw): void {
  const { model } = life
  const id = oneOf(draw, [...life.company.groups.keys()]) ?? 'g0'
  const roll = draw()
  if (roll < 0.15) model.team = draw() < 0.1 ? undefined : drawRule(draw)
  else if (roll < 0.3) model.groups.set(id, { name: groupName(id), cap: drawRule(draw) })
  else if (roll < 0.36) {
    model.groups.delete(id)
    model.grants = model.grants.filter((one) => one.scope !== `group:${id}`)
  } else if (roll < 0.4) model.onGroupConflict = pick(draw, ['min', 'max', undefined])
  else if (roll < 0.75) model.users.set(someone(life, draw), drawRule(draw))
  else if (roll < 0.9) model.users.delete(someone(life, draw))
  else if (roll < 0.95) {
    model.grants = model.grants.slice(1)
    model.rules = model.rules.slice(1)
  } else if (model.groups.size > 0) swapUp(model, someone(life, draw), id)
  dropBaseless(model)
}

/** A grant that adds needs a cap to add to. */
function dropBaseless(model: PolicyModel): void {
  model.grants = model.grants.filter((one) => one.add === undefined || typeof baseOf(model, one.scope) === 'number')
}

/** A person's own cap is removed and the group's is raised: the order of writes matters. */
export function swapUp(model: PolicyModel, email: string, id: string): void {
  model.users.delete(email)
  model.groups.set(id, { name: groupName(id), cap: 4000 })
}

function baseOf(model: PolicyModel, scope: ScopeKey): ModelCap | undefined {
  if (scope === 'team') return model.team
  return scope.startsWith('group:') ? model.groups.get(scope.slice(6))?.cap : model.users.get(scope)
}

/** One line with a lower cap, for as many people as one line can reach. */
export function squeeze(life: Life, draw: Draw): void {
  const { model } = life
  const groups = [...model.groups].filter(([, { cap }]) => typeof cap === 'number' && cap > 100)
  const lowered = groups.length > 0 && draw() < 0.4 ? oneOf(draw, groups) : undefined
  if (lowered) lowered[1].cap = 100
  else model.team = typeof model.team === 'number' && model.team > 100 && draw() < 0.8 ? 100 : 'none'
  dropBaseless(model)
}

/** The cap that one or two people inherit is declared as their own. */
export function declareAsIs({ model, company }: Life, draw: Draw): void {
  const caps = company.inForce()
  const inheriting = company.approved.filter((email) => !model.users.has(email) && !company.caps().has(scopeKey(userScope(email))))
  for (let left = between(draw, 1, 2); left > 0 && inheriting.length > 0; left -= 1) {
    const [email = ''] = inheriting.splice(between(draw, 0, inheriting.length - 1), 1)
    const cap = caps.get(email)
    if (typeof cap === 'number' && cap > 1) model.users.set(email, cap)
  }
}

/** Halves the cap of the smallest group that has one, else the team's: for many people a guard would hold it. */
export function lowerWide({ model, company }: Life): void {
  const groups = [...model.groups].filter(([, { cap }]) => typeof cap === 'number' && cap > 1)
  const few = (id: string): number => company.groups.get(id)?.size ?? 0
  const [smallest] = groups.filter(([id]) => few(id) > 0).toSorted(([a], [b]) => few(a) - few(b))
  const half = (cap: ModelCap): ModelCap => (cap === 'none' ? cap : Math.floor(cap / 2))
  if (smallest && few(smallest[0]) <= MOST_UNHELD) smallest[1].cap = half(smallest[1].cap)
  else if (model.team !== undefined && model.team !== 0) model.team = half(model.team)
}

/** So few people that no guard that counts holds the change. */
const MOST_UNHELD = 3

/** A grant that starts and ends within hours. */
export function addShortGrant(life: Life, draw: Draw): void {
  const { model } = life
  const scope = scopeKey({ kind: 'user', email: someone(life, draw) })
  const fromAt = Math.floor(life.now() / 1000) * 1000 + between(draw, 2, 60) * MINUTE_MS
  const untilAt = fromAt + between(draw, 20, 120) * MINUTE_MS
  model.grants = [...model.grants.filter((one) => one.scope !== scope), { scope, cap: 6000 + between(draw, 0, 9) * 100, fromAt, untilAt }]
}

export function addGrant(life: Life, draw: Draw): void {
  const { model } = life
  const roll = draw()
  const [group] = model.groups.keys()
  const scope =
    roll < 0.15
      ? scopeKey({ kind: 'team' })
      : roll < 0.35 && group !== undefined
        ? scopeKey({ kind: 'group', id: group })
        : scopeKey({ kind: 'user', email: someone(life, draw) })
  const now = Math.floor(life.now() / 1000) * 1000
  const fromAt = now + between(draw, -2, 6) * HOUR_MS
  const isNumber = typeof baseOf(model, scope) === 'number'
  const amount = isNumber && draw() < 0.4 ? { add: between(draw, 1, 9) * 100 } : { cap: 6000 + between(draw, 0, 9) * 100 }
  const window =
    draw() < 0.25
      ? { fromAt, untilAt: cycleAt(fromAt).endAt, cycleEnd: true as const }
      : { ...(draw() < 0.7 && { fromAt }), untilAt: Math.max(fromAt, now) + between(draw, 1, 40) * HOUR_MS }
  model.grants = [...model.grants.filter((one) => one.scope !== scope), { scope, ...amount, ...window }]
}
