// Holds changes that would be decided on bad data: without a roster to count people by, after too many failed reads, or of a group whose
// members are not known.
import type { Difference } from '../diff.ts'
import { isRaise } from '../impact.ts'
import { type Guard, holdWhere, shareAbove } from './round.ts'

const NOT_READ = { never: 'never read', old: 'not read for 24 h', ahead: 'not read since the clock went back' } as const

export const rosterMissing: Guard = (round) => {
  const missing = round.inputs.facts.rosterMissing
  return missing
    ? holdWhere('readQuality', round, `the roster was ${NOT_READ[missing]}, so people cannot be counted`, () => true)
    : undefined
}

export const readQuality: Guard = (round) => badReads(round) ?? unlistedGroups(round)

const unlistedGroups: Guard = (round) => {
  const { unlistedGroups: groups, rosterMissing: isHeld } = round.inputs.facts
  // A group that policy no longer names is not listed any more, so its orphaned cap would be held for ever.
  const isUncounted = ({ key, source }: Difference): boolean => groups?.has(key) === true && source !== undefined
  const first = round.active.values().find(isUncounted)
  if (!first || isHeld) return undefined
  return holdWhere('readQuality', round, `${first.key}: its members are not known, so they cannot be counted`, isUncounted)
}

const badReads: Guard = (round) => {
  const { facts, settings } = round.inputs
  if (settings.readQuality === 'off' || facts.rosterMissing) return undefined
  const { failed, total, teamFailed, cause } = facts.reads
  const limit = settings.readQuality
  const many = failed >= limit.floor && failed * 100 > limit.percent * total
  if (!teamFailed && !many) return undefined
  const what = teamFailed
    ? 'the team cap could not be read'
    : `${failed} of ${total} reads failed (${shareAbove(limit.percent, failed, total)}), the limit is ${limit.percent} %`
  const why = cause ? `${what}: ${cause}` : what
  return holdWhere('readQuality', round, why, (one) => !(one.scope.kind === 'user' && isRaise(one)))
}
