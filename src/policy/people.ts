// Reads an entry of `spec.rules` or `spec.pools`, and checks what the schema cannot: that its numbers fit together. `join-people.ts` checks it
// against other declarations. Neither knows a roster.

import type { Attributes, PeopleRule, Pool, PoolMembers, When } from '../core/model/policy.ts'
import type { Position } from '../core/model/problem.ts'
import { compareText } from '../core/model/scope.ts'
import { credits } from '../core/model/units.ts'
import { capOf } from './schema/kinds.ts'
import type { PeopleRuleText, PoolText, WhenText } from './schema/source.ts'
import { type Branch, field, good, items, keyPlaceOf, nameOf, type Placed, placed, placeOf, report } from './tree.ts'

/** The parts of a rule that could be read; `value` is the whole rule, when nothing in it is wrong. */
export interface PlacedRule {
  /** Undefined as a value when the name is wrong. */
  readonly name: Placed<string | undefined>
  readonly groups: readonly Placed<string>[]
  /** Columns of the people file. */
  readonly columns: readonly Placed<string>[]
  /** The place of its pattern for e-mail addresses. */
  readonly emailAt?: Position
  readonly value?: PeopleRule
}

/** The parts of a pool that could be read; `value` is the whole pool, when nothing in it is wrong. */
export interface PlacedPool {
  readonly name: Placed<string | undefined>
  /** Also the groups of its condition. */
  readonly groups: readonly Placed<string>[]
  readonly columns: readonly Placed<string>[]
  /** Groups of which everybody is a member. */
  readonly wholeGroups: readonly Placed<string>[]
  readonly emails: readonly Placed<string>[]
  readonly credits?: Placed<number>
  readonly min?: Placed<number>
  readonly value?: Pool
}

/** Reads a rule and reports its problems. */
export function readPeopleRule(branch: Branch<PeopleRuleText>, document: string): PlacedRule {
  const [name, when, cap] = [field(branch, 'name'), field(branch, 'when'), field(branch, 'cap')]
  if (when) checkActiveDays(when)
  const email = when && field(when, 'email')
  const named = {
    name: { value: good(name), at: placeOf(name ?? branch) },
    groups: placedItems(when && field(when, 'groups')),
    columns: columnsOf(when),
    emailAt: email ? placeOf(email) : undefined,
  }
  const rule = good(branch)
  if (!rule || !cap) return named
  const reason = rule.reason === undefined ? {} : { reason: rule.reason }
  return { ...named, value: { name: rule.name, when: whenOf(rule.when), cap: capOf(rule.cap), ...reason, at: placeOf(cap), document } }
}

/** Reads a pool and reports its problems. */
export function readPool(branch: Branch<PoolText>, document: string): PlacedPool {
  const [name, who] = [field(branch, 'name'), field(branch, 'members')]
  const when = who && field(who, 'when')
  if (when) checkActiveDays(when)
  checkBounds(branch)
  const [amount, min] = [placed(field(branch, 'credits')), placed(field(branch, 'min'))]
  const wholeGroups = placedItems(who && field(who, 'groups'))
  const named = {
    name: { value: good(name), at: placeOf(name ?? branch) },
    groups: [...wholeGroups, ...placedItems(when && field(when, 'groups'))],
    columns: [...columnsOf(when), ...columnsOf(who)],
    wholeGroups,
    emails: placedItems(who && field(who, 'emails')),
    credits: amount,
    min,
  }
  const pool = good(branch)
  if (!pool || !amount) return named
  const bounds = { min: credits(pool.min ?? 0), max: pool.max === undefined ? undefined : credits(pool.max) }
  const members = membersOf(pool.members)
  const value = {
    name: pool.name,
    members,
    credits: credits(pool.credits),
    share: pool.share ?? 'need',
    ...bounds,
    at: amount.at,
    document,
  }
  return { ...named, value }
}

/** The columns that a condition names, at their keys. */
function columnsOf(branch: Branch<Pick<WhenText, 'attributes'>> | undefined): readonly Placed<string>[] {
  const attributes = branch && field(branch, 'attributes')
  return [...(attributes?.children ?? [])].flatMap(([name, child]) =>
    name === 'listed' ? [] : [{ value: String(name), at: keyPlaceOf(child) }],
  )
}

const placedItems = (list: Branch<readonly string[]> | undefined): readonly Placed<string>[] =>
  items(list).flatMap((item) => placed(item) ?? [])

/** Keys in one order, ids sorted and once, so that the order in the file makes no difference. */
function whenOf({ email, role, groups, inactiveDays, joinedWithinDays, activeDays, attributes }: WhenText): When {
  return {
    ...(email === undefined ? {} : { email }),
    ...(role === undefined ? {} : { role }),
    ...(groups === undefined ? {} : { groups: sorted(groups) }),
    ...(inactiveDays === undefined ? {} : { inactiveDays }),
    ...(joinedWithinDays === undefined ? {} : { joinedWithinDays }),
    ...(activeDays === undefined ? {} : { activeDays: { below: activeDays.below, within: activeDays.within } }),
    ...(attributes === undefined ? {} : { attributes: attributesOf(attributes) }),
  }
}

function attributesOf({ listed, ...columns }: NonNullable<WhenText['attributes']>): Attributes {
  const entries = Object.entries(columns).sort(([a], [b]) => compareText(a, b))
  return { listed, columns: entries.length > 0 ? Object.fromEntries(entries) : undefined }
}

function membersOf({ groups, emails, when, attributes }: PoolText['members']): PoolMembers {
  if (attributes) return { kind: 'when', when: whenOf({ attributes }) }
  if (groups) return { kind: 'groups', ids: sorted(groups) }
  return when ? { kind: 'when', when: whenOf(when) } : { kind: 'emails', emails: sorted(emails ?? []) }
}

const sorted = (texts: readonly string[]): readonly string[] => [...new Set(texts)].sort()

/** Below more days than there are, the condition would always hold. */
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
