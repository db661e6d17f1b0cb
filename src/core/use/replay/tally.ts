// What a simulation says of single people and single caps over all cycles: who is blocked, who gains and loses, how far each cap was used.

import { wholeCents } from '../../model/units.ts'
import type { Blocked, BlockedPerson, CapReach, Counts, PersonChange, ReplayedCycle, Simulation } from './document.ts'
import type { PolicyCaps } from './policy-caps.ts'
import type { ReplayPeople } from './recorded.ts'
import type { CapUse, Outcome } from './replay.ts'
import { isCounted, tenth } from './rows.ts'

/** For names that differ. */
const inOrder = (a: string, b: string): number => (a < b ? -1 : 1)

/** The caps of a policy, reached ones first. */
export function capsReached({ scopes }: PolicyCaps, { highest, cap, isReached }: CapUse, held: Held): readonly CapReach[] {
  return scopes
    .flatMap((scope, place): readonly CapReach[] => {
      const most = highest[place]
      if (most === undefined) return []
      const [personCycles, blocked] = [held.personCycles[place] ?? 0, held.blocked[place] ?? 0]
      return [{ scope, cap: cap[place] ?? 0, highest: wholeCents(most), isReached: isReached[place] === true, personCycles, blocked }]
    })
    .sort((a, b) => Number(b.isReached) - Number(a.isReached) || inOrder(a.scope, b.scope))
}

/** By place of the scope. */
export interface Held {
  readonly personCycles: number[]
  readonly blocked: number[]
}

function addHeld({ personCycles, blocked }: Held, people: ReplayPeople, replayed: ReplayedCycle): void {
  const { from, blockedDays } = replayed.policy.middle
  for (const [person, place] of from?.entries() ?? []) {
    if (place < 0 || !isCounted(people, replayed, person)) continue
    personCycles[place] = (personCycles[place] ?? 0) + 1
    blocked[place] = (blocked[place] ?? 0) + Number((blockedDays[person] ?? 0) > 0)
  }
}

export interface Tally {
  add(replayed: ReplayedCycle): void
  lists(): Pick<Simulation, 'blocked' | 'gains' | 'losses'>
  counts(): Counts
  held(): Held
}

/** Add one replayed cycle after the other. */
export function tallyOf(people: ReplayPeople): Tally {
  const blocked: BlockedPerson[] = []
  const sums = { policy: sumsOf(people), beside: sumsOf(people) }
  const atCap = new Uint8Array(people.emails.length)
  const held: Held = { personCycles: [], blocked: [] }
  return {
    held: () => held,
    add(replayed) {
      addHeld(held, people, replayed)
      for (const side of ['policy', 'beside'] as const) addOutcome(sums[side], replayed[side].middle)
      for (const [person, email] of people.emails.entries()) {
        atCap[person] = Math.max(atCap[person] ?? 0, replayed.demand.atCap[person] ?? 0)
        const both = { policy: blockedOf(replayed, 'policy', person), beside: blockedOf(replayed, 'beside', person) }
        if (!both.policy && !both.beside) continue
        blocked.push({
          email,
          cycleStartAt: replayed.demand.cycle.startAt,
          workingDays: tenth(replayed.workingDays[person] ?? 0),
          ...(both.policy && { policy: both.policy }),
          ...(both.beside && { beside: both.beside }),
        })
      }
    },
    lists: () => ({
      blocked: blocked.sort(
        (a, b) => b.cycleStartAt - a.cycleStartAt || (b.policy?.days ?? 0) - (a.policy?.days ?? 0) || inOrder(a.email, b.email),
      ),
      ...changesOf(people, sums),
    }),
    counts: () => ({
      atCap: atCap.reduce((sum, one) => sum + Number(one > 0), 0),
      unknown: atCap.reduce((sum, one) => sum + Number(one === 2), 0),
    }),
  }
}

type Sums = Pick<Outcome, 'addOn' | 'blockedDays'>

const sumsOf = ({ emails: { length } }: ReplayPeople): Sums => ({ addOn: new Float64Array(length), blockedDays: new Float64Array(length) })

function addOutcome({ addOn, blockedDays }: Sums, outcome: Sums): void {
  for (let person = 0; person < addOn.length; person += 1) {
    addOn[person] = (addOn[person] ?? 0) + (outcome.addOn[person] ?? 0)
    blockedDays[person] = (blockedDays[person] ?? 0) + (outcome.blockedDays[person] ?? 0)
  }
}

function blockedOf({ demand, ...replayed }: ReplayedCycle, side: 'policy' | 'beside', person: number): Blocked | undefined {
  const { firstBlocked, blockedDays, capThen } = replayed[side].middle
  const day = demand.days[firstBlocked[person] ?? -1]
  return day && { fromAt: day.dayAt, days: tenth(blockedDays[person] ?? 0), cap: capThen[person] ?? 0 }
}

function changesOf(
  { emails }: ReplayPeople,
  { policy, beside }: { readonly policy: Sums; readonly beside: Sums },
): Pick<Simulation, 'gains' | 'losses'> {
  const all = emails.map(
    (email, person): PersonChange => ({
      email,
      credits: { policy: wholeCents(policy.addOn[person] ?? 0), beside: wholeCents(beside.addOn[person] ?? 0) },
      blockedDays: { policy: tenth(policy.blockedDays[person] ?? 0), beside: tenth(beside.blockedDays[person] ?? 0) },
    }),
  )
  const days = ({ blockedDays: { policy: now, beside: then } }: PersonChange): number => now - then
  const more = ({ credits: { policy: now, beside: then } }: PersonChange): number => now - then
  return {
    gains: all
      .filter((one) => days(one) < 0 || (days(one) === 0 && more(one) > 0))
      .sort((a, b) => days(a) - days(b) || more(b) - more(a) || inOrder(a.email, b.email)),
    losses: all.filter((one) => days(one) > 0).sort((a, b) => days(b) - days(a) || more(a) - more(b) || inOrder(a.email, b.email)),
  }
}
