// Three guards that need more than the plan: raises beyond the credits that are left, writes that fail for a shared cause, and scopes that
// somebody else keeps changing.
import { CONTEST_MS } from './contested.ts'
import type { Difference } from './diff.ts'
import { counts, type Finding, type Guard, holdWhere, type Round } from './guard-round.ts'
import type { Impact } from './impact.ts'

/**
 * Raises that together could use more than is left. A first cap has no `from` and raises nobody: before it there was no limit at all
 * (choice). What an interrupted plan had already raised counts too. Without a known balance there is nothing to measure by.
 */
export const maxRaise: Guard = (round) => {
  const { facts, settings, impact } = round.inputs
  const remaining = facts.creditsRemaining
  if (settings.maxRaise === 'off' || remaining === undefined) return undefined
  const raised = round.impacts.filter((one) => one.effect === 'raised' && isJudged(one, round))
  const sum = raised.reduce((total, one) => total + raiseOf(one), 0)
  const limit = (remaining * settings.maxRaise) / 100
  if (sum <= limit) return undefined
  const held = new Set(raised.flatMap((one) => one.changes).filter((key) => counts(key, round, 'maxRaise')))
  const who = `${raised.length} of ${impact.people.total} people would be raised by ${sum} credits in all`
  const why = `${who}, the limit is ${Math.floor(limit)} (${settings.maxRaise} % of the ${remaining} add-on credits remaining)`
  return { guard: 'maxRaise', held: [...held], why }
}

const isJudged = (one: Impact, round: Round): boolean =>
  one.changes.length === 0 || one.changes.some((key) => counts(key, round, 'maxRaise'))

const raiseOf = ({ before, after }: Impact): number => (typeof before === 'number' && typeof after === 'number' ? after - before : 0)

/**
 * No write is tried until the time is up, but for what was released since it opened: that gets one try (choice). What was merely turned down
 * holds up nobody else: caps that others open must be closed meanwhile.
 */
export const breaker: Guard = (round) => {
  const { facts, settings, tryAnyway, instantText } = round.inputs
  const open = facts.breaker
  if (settings.breaker === 'off' || !open) return undefined
  const { inARow, percent } = settings.breaker
  const only = open.refused ? new Set<string>(open.scopes) : undefined
  // What our own wide write took from people is given back as soon as a write goes through, unless that very write is turned down.
  const overwritten = only ? undefined : round.inputs.impact.overwritten
  const held = [...round.active.keys()].filter((key) => !tryAnyway?.has(key) && only?.has(key) !== false && !overwritten?.has(key))
  const limits = `the limit is ${inARow} in a row or ${percent} %`
  const why = `${open.failed} of ${open.planned} changes failed (${open.cause}), ${limits}; writes are tried again at ${instantText(open.retryAt)}`
  return { guard: 'breaker', held, why }
}

/** Others write there again and again: it is shown, and not fought over. */
export const contested: Guard = (round): Finding | undefined => {
  const { facts, settings } = round.inputs
  const known = facts.contested
  const hit = known ? [...round.active.values()].filter((one) => known.has(one.key)) : []
  if (settings.contested === 'off' || !known || hit.length === 0) return undefined
  const named = hit.slice(0, 3).map((one) => describe(one, round))
  const more = hit.length > named.length ? ` and ${hit.length - named.length} more` : ''
  const why = `${named.join(', ')}${more}; the limit is ${settings.contested} in 24 h, so they are not healed for 24 h`
  return holdWhere('contested', round, why, (one) => known.has(one.key))
}

function describe({ key, from, to }: Difference, { inputs }: Round): string {
  const contest = inputs.facts.contested?.get(key)
  const until = contest ? `, left alone until ${inputs.instantText(contest.at + CONTEST_MS)}` : ''
  return `${key} was changed by others ${contest?.changes ?? 0} times (now ${from}, not ${to}${until})`
}
