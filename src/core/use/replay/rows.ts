// The rows of a simulation: sums over everybody, over groups and over pools in one replayed cycle.

import { TEAM_KEY } from '../../interpret/effective.ts'
import { compareText } from '../../model/order.ts'
import { groupScope, type ScopeKey, scopeKey } from '../../model/scope.ts'
import { wholeCents } from '../../model/units.ts'
import type { Banded, Outcomes, ReplayedCycle, SideFigures, SimulatedCycle, SimulationInputs, SimulationRow } from './document.ts'
import type { PoolPlaces } from './pool-caps.ts'
import type { ReplayPeople } from './recorded.ts'
import { BANDS, type Outcome } from './replay.ts'

/** The rows of one cycle. */
export function simulatedCycle(
  inputs: SimulationInputs,
  people: ReplayPeople,
  replayed: ReplayedCycle,
  pools: readonly PoolPlaces[],
): SimulatedCycle {
  const { cycle } = replayed.demand
  const all = people.emails.flatMap((_, person) => (isCounted(people, replayed, person) ? [person] : []))
  const row = (key: string, name: string, members: readonly number[]) => rowOf({ key, name }, members, replayed, inputs.pricePerCredit)
  const membersOf = new Map<ScopeKey, number[]>(groupRows(inputs).map(({ key }) => [key, []]))
  for (const person of all) for (const key of people.groupsOf[person] ?? []) membersOf.get(key)?.push(person)
  const groups = groupRows(inputs).map(({ key, name }) => row(key, name, membersOf.get(key) ?? []))
  const rest = all.filter((person) => people.groupsOf[person]?.length === 0)
  return {
    startAt: cycle.startAt,
    endAt: cycle.endAt,
    isWhole: cycle.isWhole,
    total: row(TEAM_KEY, 'everybody', all),
    groups: [...groups, ...(groups.length > 0 && rest.length > 0 ? [row('-', 'in no group', rest)] : [])],
    pools: pools.map(({ name, credits, members }) => {
      const counted = members.filter((person) => isCounted(people, replayed, person))
      return { ...row(`pool:${name}`, `pool ${name}`, counted), credits }
    }),
  }
}

/** Approved today, or with use in the cycle. */
export const isCounted = (
  { isPresent }: ReplayPeople,
  { workingDays: days }: Pick<ReplayedCycle, 'workingDays'>,
  person: number,
): boolean => isPresent[person] === true || (days[person] ?? 0) > 0

/** Groups whose members are known, by name. */
function groupRows({ groups, policy }: SimulationInputs): readonly { readonly key: ScopeKey; readonly name: string }[] {
  const names = new Map(policy.set.groups.map(({ scope, name }) => [scope.id, name]))
  return groups
    .map(({ id, name }) => ({ key: scopeKey(groupScope(id)), name: names.get(id) ?? name }))
    .sort((a, b) => compareText(a.name, b.name))
}

function rowOf(
  about: Pick<SimulationRow, 'key' | 'name'>,
  members: readonly number[],
  replayed: ReplayedCycle,
  price: number | undefined,
): SimulationRow {
  const policy = figuresOf(members, replayed.policy)
  const beside = figuresOf(members, replayed.beside)
  const kept = wholeCents(beside.credits.middle - policy.credits.middle)
  return {
    ...about,
    people: members.length,
    workingDays: tenth(sumOver(members, replayed.workingDays)),
    policy,
    beside,
    kept,
    ...(price !== undefined && { keptMoney: wholeCents(kept * price) }),
  }
}

function figuresOf(members: readonly number[], outcomes: Outcomes): SideFigures {
  const of = (figure: (outcome: Outcome) => number): Banded => {
    const middle = figure(outcomes.middle)
    if (outcomes.low === outcomes.middle) return { low: middle, middle, high: middle }
    // Where pools deal by use, more demand can give a lower figure.
    const all = BANDS.map((band) => figure(outcomes[band]))
    return { low: Math.min(...all), middle, high: Math.max(...all) }
  }
  return {
    credits: of(({ addOn }) => wholeCents(sumOver(members, addOn))),
    blockedPeople: of(({ blockedDays }) => members.reduce((sum, person) => sum + Number((blockedDays[person] ?? 0) > 0), 0)),
    blockedDays: of(({ blockedDays }) => tenth(sumOver(members, blockedDays))),
  }
}

const sumOver = (members: readonly number[], values: Float64Array): number =>
  members.reduce((sum, person) => sum + (values[person] ?? 0), 0)

/** Rounded to a tenth. */
export const tenth = (value: number): number => Math.round(value * 10) / 10
