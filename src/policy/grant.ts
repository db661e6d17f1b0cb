// One entry of `spec.grants`: what the schema cannot say of it, which is whether its days exist, and whether it ends after it begins. Whether
// it fits the other entries (a base for `add`, no other grant at the same time) is checked in `join.ts`.
import type { Grant } from '../core/model/policy.ts'
import { groupScope, type Scope, TEAM, userScope } from '../core/model/scope.ts'
import { credits, type Instant } from '../core/model/units.ts'
import { readDate, readInstant, type Zone } from './dates.ts'
import { refuse } from './schema/kinds.ts'
import type { GrantText } from './schema/source.ts'
import { type Branch, describe, field, good, keyPlaceOf, nameOf, type Placed, placeOf, report } from './tree.ts'

/** Reads a grant; undefined when something in it is wrong, which is reported. */
export function readGrant(branch: Branch<GrantText>, document: string, zone: Zone | undefined): Placed<Grant> | undefined {
  const times = zone && readTimes(branch, zone)
  const grant = good(branch)
  const amount = field(branch, 'cap') ?? field(branch, 'add')
  const subject = field(branch, 'user') ?? field(branch, 'group') ?? field(branch, 'team')
  if (!grant || !times || !amount || !subject) return undefined
  return {
    value: {
      scope: scopeOf(grant),
      amount: grant.cap === undefined ? { kind: 'add', credits: credits(grant.add ?? 0) } : { kind: 'cap', credits: credits(grant.cap) },
      ...times,
      reason: grant.reason,
      ...(grant.ticket === undefined ? {} : { ticket: grant.ticket }),
      at: placeOf(amount),
      document,
    },
    at: grant.team ? keyPlaceOf(subject) : placeOf(subject),
  }
}

const scopeOf = ({ user, group }: GrantText): Scope =>
  user !== undefined ? userScope(user) : group !== undefined ? groupScope(group) : TEAM

function readTimes(branch: Branch<GrantText>, zone: Zone): Pick<Grant, 'fromAt' | 'until'> | undefined {
  const [fromField, untilField] = [field(branch, 'from'), field(branch, 'until')]
  const fromAt = instantOf(fromField, (day) => zone.startOfDay(day))
  const isCycleEnd = good(untilField) === 'cycleEnd'
  const untilAt = isCycleEnd ? undefined : instantOf(untilField, (day) => zone.endOfDay(day))
  if (fromField?.faulty || !untilField || untilField.faulty) return undefined
  const from = fromAt === undefined ? {} : { fromAt }
  if (isCycleEnd) return { ...from, until: { kind: 'cycleEnd' } }
  if (untilAt === undefined) return undefined
  if (fromField && fromAt !== undefined && fromAt >= untilAt) {
    const [until, start] = [describe(untilField.node), describe(fromField.node)]
    return report(untilField, 'GRANT_TIMES', `${nameOf(branch)} ends before it begins: until ${until}, from ${start}`, {
      hint: 'write an until that is after from',
      other: placeOf(fromField),
    })
  }
  return { ...from, until: { kind: 'instant', at: untilAt } }
}

/** A day by its place in the zone, or an instant as it is; the pattern lets through days that do not exist. */
function instantOf(branch: Branch<string> | undefined, ofDay: (day: Instant) => Instant): Instant | undefined {
  const text = good(branch)
  if (branch === undefined || text === undefined) return undefined
  const day = readDate(text)
  return (day === undefined ? readInstant(text) : ofDay(day)) ?? refuse(branch)
}
