// Figures and sentences of a simulation, for text and Markdown.

import type { Banded, BlockedPerson, PersonChange, Simulation, SimulationRow } from '../../core/use/replay/document.ts'
import { count, dayText, people } from '../shared/text.ts'

/** Whole credits or days with separators: `12,400`; below ten with one digit behind the point where there is one. */
export function figure(value: number): string {
  const rounded = Math.abs(value) < 10 ? Math.round(value * 10) / 10 : Math.round(value)
  return String(rounded === 0 ? 0 : rounded).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** Money to a hundredth. */
export const money = (value: number): string => {
  const [whole = '', cents = ''] = Math.abs(value).toFixed(2).split('.')
  return `${value < 0 ? '-' : ''}${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${cents}`
}

/** `9,500 to 10,400`; undefined when both ends read the same. */
export const range = ({ low, high }: Banded): string | undefined =>
  figure(low) === figure(high) ? undefined : `${figure(low)} to ${figure(high)}`

/** The other side of the comparison. */
export const besideText = ({ beside }: Simulation): string => (beside.kind === 'inForce' ? 'what was in force' : `policy ${beside.digest}`)

/** The same as a column's title. */
export const besideTitle = ({ beside }: Simulation): string => (beside.kind === 'inForce' ? 'in force' : 'against')

/** The span of all cycles. */
export function spanText({ cycles }: Simulation): string {
  const [first, last] = [cycles[0], cycles.at(-1)]
  return first && last ? `${dayText(first.startAt)} to ${dayText(last.endAt)}` : ''
}

export const cyclesText = ({ cycles }: Simulation): string => count(cycles.length, 'cycle')

/** Sums of all cycles; people are those of the cycle with the most. */
export function totalsOf({ cycles }: Simulation) {
  const sum = (of: (row: SimulationRow) => number): number => cycles.reduce((all, { total }) => all + of(total), 0)
  return {
    people: Math.max(0, ...cycles.map(({ total }) => total.people)),
    workingDays: sum(({ workingDays }) => workingDays),
    kept: sum(({ kept }) => kept),
    keptMoney: cycles.some(({ total }) => total.keptMoney !== undefined) ? sum(({ keptMoney }) => keptMoney ?? 0) : undefined,
    credits: { policy: sum(({ policy }) => policy.credits.middle), beside: sum(({ beside }) => beside.credits.middle) },
    blockedDays: { policy: sum(({ policy }) => policy.blockedDays.middle), beside: sum(({ beside }) => beside.blockedDays.middle) },
  }
}

/** How many different people were blocked. */
export const blockedPeople = ({ blocked }: Simulation, side: 'policy' | 'beside'): number =>
  new Set(blocked.flatMap((one) => (one[side] ? [one.email] : []))).size

/** `blocked 4 of 21 days from 2026-10-12`, or that they were not. */
export const blockedText = ({ workingDays, ...sides }: BlockedPerson, side: 'policy' | 'beside'): string => {
  const one = sides[side]
  return one ? `${figure(one.days)} of ${figure(workingDays)} days from ${dayText(one.fromAt)}` : 'not blocked'
}

/** What changes for one person: `12 blocked days fewer, 340 credits more`. */
export function changeText({ credits, blockedDays }: PersonChange): string {
  const [days, more] = [blockedDays.policy - blockedDays.beside, credits.policy - credits.beside]
  const parts = [
    ...(figure(days) === '0'
      ? []
      : [`${figure(Math.abs(days))} blocked ${figure(Math.abs(days)) === '1' ? 'day' : 'days'} ${days < 0 ? 'fewer' : 'more'}`]),
    ...(figure(more) === '0' ? [] : [`${figure(Math.abs(more))} credits ${more < 0 ? 'less' : 'more'}`]),
  ]
  return parts.length === 0 ? 'less than a credit' : parts.join(', ')
}

/** Caps that nobody has reached, the least used first. */
export const neverReached = ({ caps }: Simulation): Simulation['caps'] =>
  caps.filter(({ isReached }) => !isReached).toSorted((a, b) => a.highest * b.cap - b.highest * a.cap)

/** The result in one sentence. */
export function verdictOf(simulation: Simulation): string {
  const { credits, kept, keptMoney, blockedDays, workingDays } = totalsOf(simulation)
  const cycles = simulation.cycles.length
  const over = simulation.cycles.every(({ isWhole }) => isWhole)
    ? `Over the last ${cycles === 1 ? 'cycle' : `${cycles} cycles`}`
    : 'Over the days recorded so far'
  const amount = keptMoney === undefined ? '' : ` (${money(Math.abs(keptMoney))})`
  const spent =
    Math.round(kept) === 0
      ? `spent the same ${figure(credits.policy)} add-on credits`
      : `${kept > 0 ? 'kept' : 'spent'} ${figure(Math.abs(kept))}${kept > 0 ? ` of ${figure(credits.beside)}` : ' more'} add-on credits${amount}`
  const then = simulation.beside.kind === 'inForce' ? 'in force' : 'under the other policy'
  return (
    `${over} this policy would have ${spent}, and blocked ${people(blockedPeople(simulation, 'policy'))} on ${figure(blockedDays.policy)} of ` +
    `${figure(workingDays)} working days; ${then} it was ${people(blockedPeople(simulation, 'beside'))} on ${figure(blockedDays.beside)}.`
  )
}
