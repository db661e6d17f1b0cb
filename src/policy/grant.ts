// Reads an entry of `spec.grants`, and checks what the schema cannot: that its days exist, and that it ends after it begins. `join.ts` checks it
// against other entries (a base for `add`, no overlap).
import type { Grant } from '../core/model/policy.ts'
import type { Position } from '../core/model/problem.ts'
import { groupScope, type Scope, TEAM, userScope } from '../core/model/scope.ts'
import { credits, type Instant } from '../core/model/units.ts'
import { readTime, type Zone } from './dates.ts'
import { refuse } from './schema/kinds.ts'
import type { GrantText } from './schema/source.ts'
import { type Branch, describe, field, good, keyPlaceOf, nameOf, type Placed, placed, placeOf, report } from './tree.ts'

/** The parts of a grant that could be read; `value` is the whole grant, when nothing in it is wrong. */
export interface PlacedGrant {
  readonly scope: Scope
  /** Where the scope is named. */
  readonly at: Position
  readonly amount?: Placed<Grant['amount']>
  readonly times?: Times
  readonly value?: Grant
}

export type Times = Pick<Grant, 'fromAt' | 'until'>

/** Reads a grant and reports its problems. Undefined when its scope cannot be read. */
export function readGrant(branch: Branch<GrantText>, document: string, zone: Zone | undefined): PlacedGrant | undefined {
  const times = zone && readTimes(branch, zone)
  const subject = subjectOf(branch)
  if (!subject) return undefined
  const amount = amountOf(branch)
  const known = { ...subject, ...(amount && { amount }), ...(times && { times }) }
  const grant = good(branch)
  if (!grant || !times || !amount) return known
  const { reason, ticket } = grant
  const rest = { reason, ...(ticket === undefined ? {} : { ticket }), at: amount.at, document }
  return { ...known, value: { scope: subject.scope, amount: amount.value, ...times, ...rest } }
}

/** A grant names exactly one of user, group and team. */
function subjectOf(branch: Branch<GrantText>): Pick<PlacedGrant, 'scope' | 'at'> | undefined {
  const [user, group, team] = [field(branch, 'user'), field(branch, 'group'), field(branch, 'team')]
  if ([user, group, team].filter((one) => one !== undefined).length !== 1) return undefined
  const [email, id] = [placed(user), placed(group)]
  if (email) return { scope: userScope(email.value), at: email.at }
  if (id) return { scope: groupScope(id.value), at: id.at }
  return team && good(team) ? { scope: TEAM, at: keyPlaceOf(team) } : undefined
}

function amountOf(branch: Branch<GrantText>): Placed<Grant['amount']> | undefined {
  const [cap, add] = [field(branch, 'cap'), field(branch, 'add')]
  if (cap && add) return undefined
  const [fixed, more] = [placed(cap), placed(add)]
  if (fixed) return { value: { kind: 'cap', credits: credits(fixed.value) }, at: fixed.at }
  return more && { value: { kind: 'add', credits: credits(more.value) }, at: more.at }
}

function readTimes(branch: Branch<GrantText>, zone: Zone): Times | undefined {
  const [fromField, untilField] = [field(branch, 'from'), field(branch, 'until')]
  const fromAt = instantOf(fromField, zone, 'start')
  const isCycleEnd = good(untilField) === 'cycleEnd'
  const untilAt = isCycleEnd ? undefined : instantOf(untilField, zone, 'end')
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

/** Reports a day that does not exist, which the pattern of the schema allows. */
function instantOf(branch: Branch<string> | undefined, zone: Zone, edge: 'start' | 'end'): Instant | undefined {
  const text = good(branch)
  return branch === undefined || text === undefined ? undefined : (readTime(text, zone, edge) ?? refuse(branch))
}
