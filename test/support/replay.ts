// Recorded use for tests of the replay, from one list of daily credits for each person.
import type { GroupMembers, Roster } from '../../src/core/model/observed.ts'
import type { PolicySet } from '../../src/core/model/policy.ts'
import { credits } from '../../src/core/model/units.ts'
import type { RecordedDays } from '../../src/core/use/history.ts'
import type { SimulationInputs } from '../../src/core/use/replay/document.ts'
import { type Simulation, simulate } from '../../src/core/use/replay/simulation.ts'
import { DAY, email, policy, roster } from './declare.ts'

/** A Monday. */
export const START = Date.UTC(2026, 5, 1)

/** Credits by day from `START` on; 0 is a day without a row. */
export function recordedOf(use: Readonly<Record<string, readonly number[]>>): RecordedDays {
  const people = Object.keys(use).map(email)
  const rows = Object.values(use)
  const length = Math.max(0, ...rows.map((days) => days.length))
  const days = Array.from({ length }, (_, day) => {
    const places = rows.flatMap((own, place) => ((own[day] ?? 0) > 0 ? [place] : []))
    return {
      dayAt: START + day * DAY,
      people: Int32Array.from(places),
      cents: Float64Array.from(places, (place) => Math.round((rows[place]?.[day] ?? 0) * 100)),
    }
  })
  return { addOn: 'estimated', people, days: days.filter(({ people: some }) => some.length > 0) }
}

/** Cycles of 28 days from `START` on. */
export const cyclesOf = (count: number): SimulationInputs['cycles'] =>
  Array.from({ length: count }, (_, index) => ({ startAt: START + index * 28 * DAY, endAt: START + (index + 1) * 28 * DAY }))

export const group = (id: string, ...names: readonly string[]): GroupMembers => ({
  id,
  name: id.toUpperCase(),
  emails: names.map(email),
  readAt: 0,
})

export interface Sketch extends Partial<Omit<SimulationInputs, 'policy' | 'against'>> {
  readonly use: Readonly<Record<string, readonly number[]>>
  readonly caps?: Parameters<typeof policy>[0]
  readonly against?: Parameters<typeof policy>[0]
  readonly perSeat?: number | 'unknown'
}

const revision = (set: PolicySet) => ({ set, digest: '0123456789ab', revision: '' })

/** Simulates one cycle of 28 days; the sketch may override it. */
export function simulated({ use, caps = {}, against, perSeat = 0, ...more }: Sketch): Simulation {
  const people: Roster = roster(Object.fromEntries(Object.keys(use).map((name) => [name, 'approved'])))
  return simulate({
    workspace: 'acme',
    policy: revision(policy(caps)),
    ...(against && { against: revision(policy(against)) }),
    recorded: recordedOf(use),
    cycles: cyclesOf(1),
    shown: 99,
    roster: people,
    groups: [],
    owned: [],
    history: [],
    ...(perSeat !== 'unknown' && { creditsPerSeat: credits(perSeat) }),
    notes: [],
    ...more,
  })
}

/** The same use every weekday, none on weekends. */
export const weekdays = (amount: number, length = 28): readonly number[] => Array.from({ length }, (_, day) => (day % 7 < 5 ? amount : 0))
