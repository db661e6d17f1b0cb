// One entry of `spec.rules` or of `spec.pools`: what the schema cannot say of it, which is whether two of its numbers go together. Whether it
// fits what else is declared (groups, names, people in two pools) is checked in `join-people.ts`. It never looks at a roster.
import type { PeopleRule, Pool, PoolMembers, When } from '../core/model/policy.ts'
import type { Position } from '../core/model/problem.ts'
import { credits } from '../core/model/units.ts'
import { capOf } from './schema/kinds.ts'
import type { PeopleRuleText, PoolText, WhenText } from './schema/source.ts'
import { type Branch, field, good, items, nameOf, type Placed, placed, placeOf, report } from './tree.ts'

/** A rule, where it is named, and the groups that it names. */
export interface PlacedRule extends Placed<PeopleRule> {
  readonly groups: readonly Placed<string>[]
  /** Of its pattern for e-mail addresses. */
  readonly emailAt?: Position
}

/** A pool, where it is named, and the groups and people that it names. */
export interface PlacedPool extends Placed<Pool> {
  readonly groups: readonly Placed<string>[]
  readonly emails: readonly Placed<string>[]
  readonly minAt?: Position
}

/** Reads a rule; undefined when something in it is wrong, which is reported. */
export function readPeopleRule(branch: Branch<PeopleRuleText>, document: string): PlacedRule | undefined {
  const [name, when, cap] = [field(branch, 'name'), field(branch, 'when'), field(branch, 'cap')]
  if (when) checkActiveDays(when)
  const rule = good(branch)
  if (!rule || !name || !when || !cap) return undefined
  const email = field(when, 'email')
  return {
    value: {
      name: rule.name,
      when: whenOf(rule.when),
      cap: capOf(rule.cap),
      ...(rule.reason === undefined ? {} : { reason: rule.reason }),
      at: placeOf(cap),
      document,
    },
    at: placeOf(name),
    groups: placedItems(field(when, 'groups')),
    ...(email ? { emailAt: placeOf(email) } : {}),
  }
}

/** Reads a pool; undefined when something in it is wrong, which is reported. */
export function readPool(branch: Branch<PoolText>, document: string): PlacedPool | undefined {
  const [name, members, amount, min] = [field(branch, 'name'), field(branch, 'members'), field(branch, 'credits'), field(branch, 'min')]
  const when = members && field(members, 'when')
  if (when) checkActiveDays(when)
  checkBounds(branch)
  const pool = good(branch)
  if (!pool || !name || !members || !amount) return undefined
  return {
    value: {
      name: pool.name,
      members: membersOf(pool.members),
      credits: credits(pool.credits),
      share: pool.share ?? 'need',
      min: credits(pool.min ?? 0),
      ...(pool.max === undefined ? {} : { max: credits(pool.max) }),
      at: placeOf(amount),
      document,
    },
    at: placeOf(name),
    groups: placedItems(field(members, 'groups') ?? (when && field(when, 'groups'))),
    emails: placedItems(field(members, 'emails')),
    ...(min ? { minAt: placeOf(min) } : {}),
  }
}

const placedItems = (list: Branch<readonly string[]> | undefined): readonly Placed<string>[] =>
  items(list).flatMap((item) => placed(item) ?? [])

/** Keys in one order, ids sorted and once: two ways to write one condition are the same condition. */
function whenOf({ email, role, groups, inactiveDays, joinedWithinDays, activeDays }: WhenText): When {
  return {
    ...(email === undefined ? {} : { email }),
    ...(role === undefined ? {} : { role }),
    ...(groups === undefined ? {} : { groups: sorted(groups) }),
    ...(inactiveDays === undefined ? {} : { inactiveDays }),
    ...(joinedWithinDays === undefined ? {} : { joinedWithinDays }),
    ...(activeDays === undefined ? {} : { activeDays: { below: activeDays.below, within: activeDays.within } }),
  }
}

function membersOf({ groups, emails, when }: PoolText['members']): PoolMembers {
  if (groups) return { kind: 'groups', ids: sorted(groups) }
  return when ? { kind: 'when', when: whenOf(when) } : { kind: 'emails', emails: sorted(emails ?? []) }
}

const sorted = (texts: readonly string[]): readonly string[] => [...new Set(texts)].sort()

/** Nobody can be active on more days than there are. */
function checkActiveDays(when: Branch<WhenText>): void {
  const days = field(when, 'activeDays')
  const value = good(days)
  if (!days || !value || value.below <= value.within) return
  const message = `${nameOf(days)} is always so: of ${value.within} days nobody is active on ${value.below} or more`
  report(days, 'RULE_WHEN', message, { hint: `write below: ${value.within} or less` })
}

function checkBounds(branch: Branch<PoolText>): void {
  const [min, max, amount] = [field(branch, 'min'), field(branch, 'max'), field(branch, 'credits')]
  const [least, most, all] = [good(min), good(max), good(amount)]
  if (!min || least === undefined) return
  if (max && most !== undefined && least > most) {
    const hint = 'write a min that is not above max'
    report(min, 'POOL_BOUNDS', `${nameOf(branch)} has a min of ${least}, above its max of ${most}`, { hint, other: placeOf(max) })
  } else if (amount && all !== undefined && least > all) {
    const hint = `write a min of ${all} or less, or more credits`
    const message = `${nameOf(branch)} has a min of ${least}, above its credits of ${all}`
    report(min, 'POOL_BOUNDS', message, { hint, other: placeOf(amount) })
  }
}
