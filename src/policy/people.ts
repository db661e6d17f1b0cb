// Reads an entry of `spec.rules` or `spec.pools`, and checks what the schema cannot: that its numbers fit together. Then it is checked
// against other declarations. Neither knows a roster.
import type { Attributes, CapRule, PeopleRule, Pool, PoolMembers, When } from '../core/model/policy.ts'
import type { Position, ProblemCode } from '../core/model/problem.ts'
import { comparePositions, compareText } from '../core/model/scope.ts'
import { credits } from '../core/model/units.ts'
import { capOf } from './schema/kinds.ts'
import type { PeopleRuleText, PoolText, WhenText } from './schema/texts.ts'
import { meant } from './suggest.ts'
import { type Branch, field, good, keyPlaceOf, nameOf, type Placed, placed, placedItems, placeOf, repeated, report } from './tree.ts'
import { type ProblemExtra, quoted } from './yaml.ts'

interface Named {
  /** Undefined as a value when the name is wrong. */
  readonly name: Placed<string | undefined>
  /** Also the groups of its condition. */
  readonly groups: readonly Placed<string>[]
  /** Columns of the people file. */
  readonly columns: readonly Placed<string>[]
}

/** The parts of a rule that could be read; `value` is the whole rule, when nothing in it is wrong. */
export interface PlacedRule extends Named {
  /** The place of its pattern for e-mail addresses. */
  readonly emailAt?: Position
  readonly value?: PeopleRule
}

/** The parts of a pool that could be read; `value` is the whole pool, when nothing in it is wrong. */
export interface PlacedPool extends Named {
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
  const email = when && field(when, 'email')
  const named = {
    name: { value: good(name), at: placeOf(name ?? branch) },
    groups: placedItems(when && field(when, 'groups')),
    columns: columnsOf(when),
    emailAt: email ? placeOf(email) : undefined,
  }
  const rule = good(branch)
  if (!rule || !cap) return named
  const value = { name: rule.name, when: whenOf(rule.when), cap: capOf(rule.cap), reason: rule.reason, at: placeOf(cap), document }
  return { ...named, value }
}

/** Reads a pool and reports its problems. */
export function readPool(branch: Branch<PoolText>, document: string): PlacedPool {
  const [name, who] = [field(branch, 'name'), field(branch, 'members')]
  const when = who && field(who, 'when')
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

// Checks rules and pools across all documents of a workspace: duplicate names, undeclared groups, people in two pools, and minimum caps that the
// credits cannot pay. It knows no roster, so the members of groups and conditions are checked later.

interface PeopleInput {
  /** In the order in which they apply. */
  readonly rules: readonly PlacedRule[]
  readonly pools: readonly PlacedPool[]
  /** Ids of declared groups; undefined while a file is broken that may declare some. */
  readonly groups: ReadonlySet<string> | undefined
  /** The columns of the people file; undefined while no config says. */
  readonly columns: readonly string[] | undefined
  /** The cap that the policies declare for a person. */
  readonly capOf: (email: string) => CapRule | undefined
  /** The service copies the caps of team and groups to people. */
  readonly copied: boolean
}

type Tell = (at: Position, code: ProblemCode, message: string, extra?: ProblemExtra & { readonly warning?: true }) => void

/** Checks the rules and pools of one workspace. */
export function checkPeople(input: PeopleInput, tell: Tell): void {
  for (const [what, code, all] of [
    ['rule', 'DUPLICATE_RULE', input.rules],
    ['pool', 'DUPLICATE_POOL', input.pools],
  ] as const) {
    checkNames(all, what, code, tell)
    for (const one of all) checkGroups(titleOf(what, one), one.groups, input, tell)
    for (const one of all) checkColumns(titleOf(what, one), one.columns, input, tell)
  }
  for (const rule of input.rules) warnAboutEverybody(rule, tell)
  checkShared(input.pools, tell)
  for (const pool of input.pools) checkPool(pool, input, tell)
}

const titleOf = (what: string, { name }: Named): string => (name.value === undefined ? `a ${what}` : `${what} ${quoted(name.value)}`)

function checkNames(all: readonly Named[], what: string, code: 'DUPLICATE_RULE' | 'DUPLICATE_POOL', tell: Tell): void {
  for (const { one, first } of repeated(all.toSorted(byPlace), ({ name }) => name.value)) {
    const { value = '', at } = one.name
    const hint = `give each ${what} a name of its own`
    tell(at, code, `the name ${quoted(value)} is taken by another ${what}`, { hint, other: first.name.at })
  }
}

/** A group must be declared, because its members are listed by its name. */
function checkGroups(who: string, groups: readonly Placed<string>[], { groups: declared }: PeopleInput, tell: Tell): void {
  for (const { value, at } of groups) {
    if (!declared || declared.has(value)) continue
    tell(at, 'UNDECLARED_GROUP', `${who} names group ${value}, which is not declared in groups`, { hint: undeclaredHint(value, declared) })
  }
}

/** A column that is not listed in the config is never read. */
function checkColumns(who: string, named: readonly Placed<string>[], { columns }: PeopleInput, tell: Tell): void {
  for (const { value, at } of named) {
    if (!columns || columns.includes(value)) continue
    const hint = meant(value, columns) ?? 'list it in directory.columns of the workspace in the config'
    tell(at, 'UNDECLARED_COLUMN', `${who} names the column ${quoted(value)}, which the config does not list in directory`, { hint })
  }
}

/** What to do where a group is named and not declared. */
export const undeclaredHint = (id: string, declared: ReadonlySet<string>): string =>
  meant(id, [...declared].sort()) ?? 'declare it there with id and name; its cap may be left out'

/** A pattern that matches every address. Whether another one matches everybody on the roster is not known here. */
function warnAboutEverybody({ value, emailAt }: PlacedRule, tell: Tell): void {
  if (value === undefined || emailAt === undefined) return
  const { name, when } = value
  if (!['*', '*@*'].includes(when.email ?? '') || Object.keys(when).length > 1) return
  const hint = 'that is what the cap of the team is for; the rules after this one never apply'
  tell(emailAt, 'RULE_EVERYBODY', `rule ${quoted(name)} matches every e-mail address`, { hint, warning: true })
}

/** A person, or a whole group, in two pools. */
function checkShared(pools: readonly PlacedPool[], tell: Tell): void {
  for (const kind of ['emails', 'wholeGroups'] as const) {
    const seats = pools.toSorted(byPlace).flatMap((pool) => pool[kind].map(({ value, at }) => ({ pool, value, at })))
    for (const { one, first } of repeated(seats, ({ value }) => value)) {
      const names = [first, one].map(({ pool: { name } }) => (name.value === undefined ? 'one without a name' : quoted(name.value)))
      const where = one.pool === first.pool ? `twice in ${titleOf('pool', one.pool)}` : `in pools ${names.join(' and ')}`
      const who = kind === 'wholeGroups' ? `group ${one.value}` : one.value
      tell(one.at, 'POOL_TWICE', `${who} is ${where}`, { hint: 'keep one of the two', other: first.at })
    }
  }
}

function checkPool(pool: PlacedPool, { capOf, copied }: PeopleInput, tell: Tell): void {
  const { emails, min, credits, name: called } = pool
  const people = new Set(emails.map(({ value }) => value)).size
  const name = titleOf('pool', pool)
  if (copied) {
    const hint = 'take the pool out, or set capSemantics: layered if the service keeps a cap for each scope'
    const message = `${name} cannot be kept where capSemantics is copied: a write for the team or a group would undo its deal`
    tell(called.at, 'POOL_COPIED', message, { hint })
  }
  // A min above the credits was reported with the pool itself.
  if (min && credits && people > 1 && min.value <= credits.value && people * min.value > credits.value) {
    const sum = people * min.value
    const hint = `write a min of ${Math.floor(credits.value / people)} or less, or credits of ${sum} or more`
    const message = `${name} cannot pay its min: ${people} members at ${min.value} are ${sum} credits, it has ${credits.value}`
    tell(min.at, 'POOL_BOUNDS', message, { hint, other: credits.at })
  }
  for (const { value, at: place } of emails) {
    const own = capOf(value)
    if (own?.cap !== 'none') continue
    const hint = 'give the person a number, or take either line out'
    tell(place, 'POOL_NONE', `${value} is a member of ${name} and has the cap none, which a pool cannot count`, { hint, other: own.at })
  }
}

const byPlace = (a: Named, b: Named): number => comparePositions(a.name.at, b.name.at)
