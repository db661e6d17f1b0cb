// The companies of the pools' bench: people with skewed demand over one cycle, a service that shows use up to three hours late, and writes
// that fail, are lost, or land hours later. It knows true use and true caps, and counts when the promise of a pool is broken.
import type { Cap } from '../../src/core/model/policy.ts'
import { credits, DAY_MS, HOUR_MS } from '../../src/core/model/units.ts'
import { dealPool } from '../../src/core/pools/deal.ts'
import { observePool } from '../../src/core/pools/observe.ts'
import type { CapSince, PoolState, PoolTerms } from '../../src/core/pools/state.ts'
import { between, type Draw, pick, stream } from '../../src/sandbox/company/company.ts'
import { cycleAt } from '../../src/sandbox/time.ts'

const TICK_MS = HOUR_MS / 2
const TICKS_A_DAY = DAY_MS / TICK_MS
const SHOWN_EVERY_MS = 3 * HOUR_MS
const USAGE_LAG_MS = 3.5 * HOUR_MS

export interface Company {
  readonly people: number
  readonly startAt: number
  readonly endAt: number
  /** Credits that somebody wants to use in a tick, by person. */
  readonly demand: readonly (readonly number[])[]
}

const normal = (draw: Draw): number => Array.from({ length: 12 }, draw).reduce((sum, one) => sum + one, -6)

/** The same seed gives the same company. */
export function companyOf(seed: number): Company {
  const draw = stream(seed, 'bench/pools')
  const people = pick(draw, [4, 8, 15, 30, 60])
  const { startAt, endAt } = cycleAt(Date.UTC(2025, between(draw, 0, 23), 1))
  const days = Math.round((endAt - startAt) / DAY_MS)
  const skew = 0.6 + 0.8 * draw()
  const demand = Array.from({ length: people }, () => demandOf(draw, startAt, days, 40 * Math.exp(skew * normal(draw))))
  return { people, startAt, endAt, demand }
}

/** Working days from eight to six, some weekends, days away, and spells of much more or much less. */
function demandOf(draw: Draw, startAt: number, days: number, rate: number): readonly number[] {
  const weekends = draw() < 0.15 ? 0.5 : 0.03
  const factors = Array.from({ length: days }, () => (draw() < 0.07 ? 0 : Math.exp(0.5 * normal(draw))))
  for (let spells = between(draw, 0, 2); spells > 0; spells -= 1) {
    const [from, length, by] = [between(draw, 0, days), between(draw, 2, 9), pick(draw, [0, 0.3, 2, 3])]
    for (let day = from; day < Math.min(days, from + length); day += 1) factors[day] = (factors[day] ?? 0) * by
  }
  return Array.from({ length: days * TICKS_A_DAY }, (_, tick) => {
    const at = startAt + tick * TICK_MS
    const hour = (at % DAY_MS) / HOUR_MS
    const isWeekend = (Math.floor(at / DAY_MS) + 3) % 7 >= 5
    if (hour < 8 || hour >= 18 || draw() < 0.4) return 0
    return ((rate * (isWeekend ? weekends : 1) * (factors[Math.floor(tick / TICKS_A_DAY)] ?? 0)) / 12) * (0.5 + draw())
  })
}

export interface Outcome {
  readonly blockedDays: number
  /** The lesser of what was left and what was wanted in vain, as a share of the credits. */
  readonly stranded: number
  readonly writesPerMemberDay: number
  /** Ticks in which the sum of max(cap, true use) was above the credits. */
  readonly violations: number
}

/** What happens to one try of a write. */
const FAULTS = { fails: 0.03, lost: 0.02, late: 0.02, unread: 0.02 }

interface Landing {
  readonly tick: number
  readonly person: number
  readonly cap: number
}

class World {
  readonly company: Company
  readonly used: number[]
  readonly caps: number[]
  readonly blocked = new Set<string>()
  unmet = 0

  constructor(company: Company, cap: number) {
    this.company = company
    this.used = company.demand.map(() => 0)
    this.caps = company.demand.map(() => cap)
  }

  work(tick: number): void {
    for (const [person, wants] of this.company.demand.entries()) {
      const want = wants[tick] ?? 0
      const [used, cap] = [this.used[person] ?? 0, this.caps[person] ?? 0]
      const gets = Math.max(0, Math.min(want, cap - used))
      this.used[person] = used + gets
      if (want - gets > 1e-9) {
        this.unmet += want - gets
        this.blocked.add(`${person} ${Math.floor(tick / TICKS_A_DAY)}`)
      }
    }
  }

  sum(): number {
    return this.used.reduce((sum, used, person) => sum + Math.max(used, this.caps[person] ?? 0), 0)
  }

  outcome(total: number, writes: number, violations: number): Outcome {
    const left = total - this.used.reduce((sum, used) => sum + used, 0)
    const days = (this.company.demand[0]?.length ?? 0) / TICKS_A_DAY
    return {
      blockedDays: this.blocked.size,
      stranded: Math.max(0, Math.min(left, this.unmet)) / total,
      writesPerMemberDay: writes / this.company.people / days,
      violations,
    }
  }
}

export const wantedBy = ({ demand }: Company): number => demand.flat().reduce((sum, one) => sum + one, 0)

export function withStaticCaps(company: Company, total: number): Outcome {
  const world = new World(company, Math.floor(total / company.people))
  for (let tick = 0; tick < (company.demand[0]?.length ?? 0); tick += 1) world.work(tick)
  return world.outcome(total, 0, 0)
}

/** `terms` for the same credits: the pool as it is, from a first deal over people without caps. */
export function withPool(seed: number, company: Company, terms: PoolTerms): Outcome {
  const draw = stream(seed, 'bench/pools/faults')
  const world = new World(company, Number.POSITIVE_INFINITY)
  const names = company.demand.map((_, person) => `p${person}@example.com`)
  const read = new Map<string, CapSince>(names.map((name) => [name, { cap: 'none', at: company.startAt }]))
  const landings: Landing[] = []
  const sent = new Map<string, readonly CapSince[]>()
  let shown: readonly number[] = [...world.used]
  let state: PoolState | undefined
  let [writes, violations, isSettled] = [0, 0, false]
  for (let tick = 0; tick < (company.demand[0]?.length ?? 0); tick += 1) {
    const now = company.startAt + tick * TICK_MS
    for (const { person, cap } of landings.filter((one) => one.tick === tick)) world.caps[person] = cap
    if ((now - company.startAt) % SHOWN_EVERY_MS === 0) shown = [...world.used]
    for (const [person, name] of names.entries()) if (draw() >= FAULTS.unread) note(read, name, world.caps[person] ?? 0, now)
    const observed = observePool(state, {
      now,
      use: { kind: 'known', readAt: now, cycle: company, used: new Map(names.map((name, person) => [name, credits(shown[person] ?? 0)])) },
      caps: read,
      sent,
      members: names.map((email) => ({ email })),
      usageLagMs: USAGE_LAG_MS,
    })
    if (!observed.state) throw new Error(observed.frozen)
    state = dealPool(terms, observed.state, now)
    for (const [person, name] of names.entries()) {
      const wanted = state.members[name]?.dealt
      if (wanted === undefined || read.get(name)?.cap === wanted) continue
      writes += 1
      const roll = draw()
      if (roll < FAULTS.fails) continue
      if (roll < FAULTS.fails + FAULTS.lost + FAULTS.late) sent.set(name, [...(sent.get(name) ?? []), { cap: wanted, at: now }])
      if (roll < FAULTS.fails + FAULTS.lost) continue
      if (roll < FAULTS.fails + FAULTS.lost + FAULTS.late) landings.push({ tick: tick + between(draw, 1, 20), person, cap: wanted })
      else {
        world.caps[person] = wanted
        if (draw() >= FAULTS.unread) note(read, name, wanted, now)
      }
    }
    isSettled ||= world.sum() <= terms.credits
    if (isSettled && world.sum() > terms.credits + 1e-6) violations += 1
    world.work(tick)
  }
  return world.outcome(terms.credits, writes, violations)
}

function note(read: Map<string, CapSince>, name: string, cap: number, at: number): void {
  const known: Cap = Number.isFinite(cap) ? credits(cap) : 'none'
  read.set(name, { cap: known, at })
}
