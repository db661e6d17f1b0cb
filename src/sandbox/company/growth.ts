// Lets use grow as time passes: each person's day is drawn from the seed alone, and its rows are written when their time has come. A person
// who has reached their cap, or a team without add-on credits, gets no more add-on use. Must never write a future row, nor a row twice.
import { DAY_MS, type Instant } from '../../core/model/units.ts'
import type { Store, StoredPerson } from '../store.ts'
import { cycleAt } from '../time.ts'
import type { AgentUse, UseRow } from '../use.ts'
import { habitsOf } from './company.ts'
import { dayOf, type Worker } from './work.ts'

interface Growth {
  /** Writes the rows up to `now`; cheap when none is due. */
  readonly growTo: (now: Instant) => void
  /** Records use as a fact, whatever the caps say. */
  readonly record: (row: AgentUse) => void
  /** Call it after people or figures of the balance were changed in the store. */
  readonly reload: () => void
}

interface GrowthOptions {
  readonly store: Store
  readonly seed: number
  /** The cap in force for a person, in credits. */
  readonly capOf: (person: number) => number | undefined
  /** `false`: only `record` adds use. */
  readonly working: boolean
}

/** Use in the current cycle, kept so that a cap is checked without summing the rows again. */
interface Tally {
  readonly endAt: Instant
  readonly usedCents: Map<number, number>
  addOnCents: number
  readonly perSeatCents: number
  readonly addOnLimitCents: number
}

/** The store has the rows up to its `grownUntil`; the first call of `growTo` continues from there. */
export function createGrowth({ store, seed, capOf, working }: GrowthOptions): Growth {
  let grownUntil = store.meta('grownUntil') ?? 0
  let tally = openCycle(store, grownUntil)
  let workers: readonly Worker[] | undefined
  /** The rows of the current day by time, and the index of the next one. */
  let day = { number: Number.NaN, rows: [] as readonly UseRow[], next: 0 }

  const record = (row: AgentUse): void => {
    store.addUse(row)
    const before = tally.usedCents.get(row.person) ?? 0
    const after = before + row.cents
    tally.usedCents.set(row.person, after)
    tally.addOnCents += Math.max(0, after - tally.perSeatCents) - Math.max(0, before - tally.perSeatCents)
  }
  const take = (row: UseRow): void => {
    if (row.source !== 'agent') {
      store.addUse(row)
      return
    }
    const cents = Math.min(row.cents, roomCents(tally, row.person, capOf))
    if (cents > 0) record(cents === row.cents ? row : { ...row, cents })
  }
  const openDay = (number: number): void => {
    workers ??= workersOf(store.people(), seed)
    const rows = working ? workers.flatMap((worker) => dayOf(seed, worker, number)) : []
    rows.sort((a, b) => a.at - b.at || a.person - b.person)
    // Rows up to `grownUntil` were written already.
    const due = rows.findIndex((row) => row.at > grownUntil)
    day = { number, rows, next: due < 0 ? rows.length : due }
  }
  const growDay = (until: Instant): void => {
    for (let row = day.rows[day.next]; row && row.at <= until; row = day.rows[day.next]) {
      take(row)
      day.next += 1
    }
  }
  const grow = (now: Instant): void => {
    for (let number = Math.floor(grownUntil / DAY_MS); number * DAY_MS <= now; number += 1) {
      if (day.number !== number) openDay(number)
      if (number * DAY_MS >= tally.endAt) tally = openCycle(store, number * DAY_MS)
      growDay(now)
    }
    grownUntil = now
    store.setMeta('grownUntil', now)
  }
  return {
    record: (row) => store.transaction(() => record(row)),
    growTo(now) {
      const dayIsOver = Math.floor(now / DAY_MS) !== day.number
      const next = day.rows[day.next]
      if (now > grownUntil && (dayIsOver || (next && next.at <= now))) store.transaction(() => grow(now))
    },
    reload() {
      tally = openCycle(store, grownUntil)
      workers = undefined
      day = { number: Number.NaN, rows: [], next: 0 }
    },
  }
}

/** What a person may still use: the rest of the seat's credits, and of add-on credits the lesser rest of their cap and the team's. */
function roomCents(tally: Tally, person: number, capOf: (person: number) => number | undefined): number {
  const perSeat = tally.perSeatCents
  const used = tally.usedCents.get(person) ?? 0
  const cap = capOf(person)
  const addOnUsed = Math.max(0, used - perSeat)
  const capRoom = cap === undefined ? Number.POSITIVE_INFINITY : Math.max(0, cap * 100 - addOnUsed)
  const teamRoom = Math.max(0, tally.addOnLimitCents - tally.addOnCents)
  return Math.max(0, perSeat - used) + Math.min(capRoom, teamRoom)
}

/**
 * Starts or resumes the cycle of `at`. Add-on credits are recomputed at each cycle start from the previous cycle's consumption
 * (docs/service.md, GetTeamCreditBalance): a quarter more than was used, and one seat's worth per seat at least. Choice.
 */
function openCycle(store: Store, at: Instant): Tally {
  const cycle = cycleAt(at)
  const perSeat = (store.meta('creditsPerSeat') ?? 0) * 100
  const addOnOf = (used: ReadonlyMap<number, number>): number => used.values().reduce((sum, cents) => sum + Math.max(0, cents - perSeat), 0)
  if (store.meta('cycleStart') !== cycle.startAt) {
    const before = cycleAt(cycle.startAt - 1)
    const previous = addOnOf(store.usedCents({ fromAt: before.startAt, untilAt: before.endAt - 1 }))
    const floor = (store.meta('seats') ?? 0) * (store.meta('creditsPerSeat') ?? 0)
    store.setMeta('addOnAvailable', Math.max(floor, Math.ceil((previous * 1.25) / 100_000) * 1000))
    store.setMeta('cycleStart', cycle.startAt)
  }
  const usedCents = new Map(store.usedCents({ fromAt: cycle.startAt, untilAt: cycle.endAt - 1 }))
  const addOnLimitCents = (store.meta('addOnAvailable') ?? 0) * 100
  return { endAt: cycle.endAt, usedCents, addOnCents: addOnOf(usedCents), perSeatCents: perSeat, addOnLimitCents }
}

/** Only approved people with access use anything. */
const workersOf = (people: readonly StoredPerson[], seed: number): readonly Worker[] =>
  people.filter((one) => one.status === 'APPROVED' && !one.disabled).map((one) => ({ person: one.id, habits: habitsOf(seed, one.id) }))
