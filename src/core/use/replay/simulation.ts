// A simulation as one document of plain data: what each cycle, group and person would have had under a policy, compared with what was in force or
// with another policy. Sums and comparisons only. What is not known is absent, and a note says so.

import { isApproved } from '../../interpret/effective.ts'
import type { Roster } from '../../model/observed.ts'
import type { PolicyRevision } from '../../model/policy.ts'
import { type CycleDemand, demandByCycle } from './demand.ts'
import type { Outcomes, ReplayedCycle, SimulatedCycle, Simulation, SimulationInputs } from './document.ts'
import { capsInForce } from './in-force.ts'
import { simulationNotes } from './notes.ts'
import { capsOfPolicy, type PolicyCaps } from './policy-caps.ts'
import { type ReplayPeople, recordedSpan, replayPeople } from './recorded.ts'
import { type BandEnd, type CapUse, noCapUse, type Outcome, recordedCycle, replayCycle, workingDays } from './replay.ts'
import { simulatedCycle } from './rows.ts'
import { capsReached, tallyOf } from './tally.ts'

/** Replays the cycles and builds the document. */
export function simulate(inputs: SimulationInputs): Simulation {
  const { workspace, policy, against, recorded, creditsPerSeat, pricePerCredit } = inputs
  const people = replayPeople(recorded, presentPeople(inputs.roster), inputs.groups)
  const capUse = noCapUse()
  const sides = { policy: sourcesOf(inputs, people, policy), beside: against && sourcesOf(inputs, people, against) }
  const tally = tallyOf(people)
  const cycles: SimulatedCycle[] = []
  const first = Math.max(0, inputs.cycles.length - inputs.shown)
  const from = inputs.cycles[first]?.startAt ?? 0
  for (const demand of demandsOf(inputs, people)) {
    inputs.onCycle?.()
    if (demand.cycle.startAt < from) continue
    const replayed = replayedCycle(demand, sides, capUse)
    tally.add(replayed)
    cycles.push(simulatedCycle(inputs, people, replayed, sides.policy.middle.pools()))
  }
  const span = recordedSpan(recorded) ?? { firstAt: 0, lastAt: 0 }
  return {
    workspace,
    policy: { digest: policy.digest, revision: policy.revision },
    beside: against ? { kind: 'policy', digest: against.digest, revision: against.revision } : { kind: 'inForce' },
    addOn: recorded.addOn,
    ...(creditsPerSeat !== undefined && { creditsPerSeat }),
    ...(pricePerCredit !== undefined && { pricePerCredit }),
    recorded: span,
    cycles,
    ...tally.lists(),
    caps: capsReached(sides.policy.middle, capUse, tally.held()),
    notes: [
      ...inputs.notes,
      ...simulationNotes(inputs, people, { tally: tally.counts(), rejected: [...sides.policy.middle.rejected.values()] }),
    ],
  }
}

/** The approved people of a roster. */
export const presentPeople = (roster: Roster | undefined): Roster['people'] =>
  (roster?.people ?? []).filter((person) => roster && isApproved(person, roster))

/** The demand of each cycle, the earliest first. */
export const demandsOf = (
  inputs: Pick<SimulationInputs, 'recorded' | 'cycles' | 'owned' | 'history' | 'journal' | 'creditsPerSeat'>,
  people: ReplayPeople,
): Generator<CycleDemand> =>
  demandByCycle({
    recorded: inputs.recorded,
    people: people.emails,
    cycles: inputs.cycles,
    inForce: capsInForce(people, inputs.owned, inputs.history, inputs.journal),
    ...(inputs.creditsPerSeat !== undefined && { creditsPerSeat: inputs.creditsPerSeat }),
  })

type Sources = Readonly<Record<BandEnd, PolicyCaps>>

/** One source for each end of the band, because a source that deals by use remembers its deals. */
function sourcesOf({ roster, groups }: SimulationInputs, people: ReplayPeople, { set }: PolicyRevision): Sources {
  const one = (): PolicyCaps => capsOfPolicy({ set, people, groups, ...(roster && { roster }) })
  return { low: one(), middle: one(), high: one() }
}

function replayedCycle(
  demand: CycleDemand,
  sides: { readonly policy: Sources; readonly beside: Sources | undefined },
  capUse: CapUse,
): ReplayedCycle {
  const under = (sources: Sources, use?: CapUse) =>
    banded(demand, (band) => replayCycle(demand, sources[band], band, band === 'middle' ? use : undefined))
  return {
    demand,
    workingDays: workingDays(demand),
    policy: under(sides.policy, capUse),
    beside: sides.beside ? under(sides.beside) : banded(demand, (band) => recordedCycle(demand, band)),
  }
}

/** Where nothing was cut off, the ends of the band are the same. */
function banded(demand: CycleDemand, replay: (band: BandEnd) => Outcome): Outcomes {
  const middle = replay('middle')
  if (demand.days.every(({ cutOff }) => cutOff.length === 0)) return { low: middle, middle, high: middle }
  return { low: replay('low'), middle, high: replay('high') }
}
