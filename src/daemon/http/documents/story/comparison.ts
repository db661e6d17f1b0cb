// The policies in force replayed over past cycles: figures, or why there are none yet. A text that may name a person must go through the labels.

import type { BlockedPerson, PersonChange, SimulatedCycle, SimulationRow } from '../../../../core/use/replay/document.ts'
import type { Compared, ComparedPolicies } from '../../../replay/compare.ts'
import type { ComparisonState } from '../../../replay/comparisons.ts'
import type { Showing, WorkspaceFacts } from '../facts.ts'
import { dayText, headOf, keyText, rfc3339 } from '../show.ts'
import type { ComparisonDocument } from '../types.ts'

/** `state` is undefined where comparisons are not made, and until a policy was read. */
export function comparisonDocument({ view }: WorkspaceFacts, state: ComparisonState | undefined, showing: Showing): ComparisonDocument {
  const head = { ...headOf('Comparison', showing), workspace: view.workspace }
  if (!state) return { ...head, state: 'lacking', message: TOO_LITTLE['no-policy'] }
  const { made, since } = state
  const compared = made?.compared
  return {
    ...head,
    ...progressOf(compared, since !== undefined, showing),
    ...(since !== undefined && { since: rfc3339(since) }),
    ...(made && { madeAt: rfc3339(made.at) }),
    ...(compared && 'wholeAt' in compared && compared.wholeAt !== undefined && { wholeFrom: dayText(compared.wholeAt) }),
    ...(compared?.kind === 'made' && { figures: figuresOf(compared.simulation, showing) }),
  }
}

const TOO_LITTLE = {
  'no-policy': 'no policies have been read yet',
  'no-days': 'no day of anybody’s use is recorded yet; days are recorded while the daemon runs',
  'no-cycle': 'the service names no billing cycle',
} as const

function progressOf(
  compared: Compared | undefined,
  isRunning: boolean,
  { people }: Showing,
): Pick<ComparisonDocument, 'state' | 'message'> {
  if (isRunning || !compared) return { state: 'running' }
  if (compared.kind === 'made') return { state: 'made' }
  return compared.kind === 'failed'
    ? { state: 'failed', message: people.text(compared.message) }
    : { state: 'lacking', message: TOO_LITTLE[compared.kind] }
}

function figuresOf(simulation: ComparedPolicies, showing: Showing): NonNullable<ComparisonDocument['figures']> {
  const { policy, addOn, creditsPerSeat, pricePerCredit, recorded, cycles, blocked, gains, losses, unreached, capsReached } = simulation
  const { people } = showing
  return {
    policy,
    addOn,
    ...(creditsPerSeat !== undefined && { creditsPerSeat }),
    ...(pricePerCredit !== undefined && { pricePerCredit }),
    recorded: { from: dayText(recorded.firstAt), through: dayText(recorded.lastAt) },
    cycles: cycles.map((one) => ({ ...cycleOf(one, showing), groupsOmitted: one.groupsOmitted })),
    blocked: blocked.items.map((one) => blockedOf(one, showing)),
    blockedOmitted: blocked.omitted,
    gains: gains.items.map((one) => changeOf(one, showing)),
    gainsOmitted: gains.omitted,
    losses: losses.items.map((one) => changeOf(one, showing)),
    lossesOmitted: losses.omitted,
    unreached: unreached.items.map(({ scope, cap, highest }) => ({ scope: keyText(scope, showing), cap, highest })),
    unreachedOmitted: unreached.omitted,
    capsReached,
    notes: simulation.notes.map(people.text),
  }
}

const cycleOf = ({ startAt, endAt, isWhole, total, groups, pools }: SimulatedCycle, { people }: Showing) => {
  const named = <R extends SimulationRow>(row: R): R => ({ ...row, key: people.text(row.key), name: people.text(row.name) })
  return { start: rfc3339(startAt), end: rfc3339(endAt), whole: isWhole, total, groups: groups.map(named), pools: pools.map(named) }
}

const blockedOf = ({ email, cycleStartAt, workingDays, policy, beside }: BlockedPerson, { people }: Showing) => {
  const stopped = (one: NonNullable<BlockedPerson['policy']>) => ({ from: dayText(one.fromAt), days: one.days, cap: one.cap })
  return {
    person: people.label(email),
    cycleStart: rfc3339(cycleStartAt),
    workingDays,
    ...(policy && { policy: stopped(policy) }),
    ...(beside && { beside: stopped(beside) }),
  }
}

const changeOf = ({ email, credits, blockedDays }: PersonChange, { people }: Showing) => ({
  person: people.label(email),
  credits,
  blockedDays,
})
