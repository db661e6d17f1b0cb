// What is asked of each scope, what is rejected or left alone, and why: the tables beside this file have what is declared and known, and what comes of it.
// `CAPKEEPER_TESTS=test/core/resolve/decisions.test.ts npx vitest run -u` writes what came of it into them, for review as a change of text.
// Caps stand on lines 1, 2, 3 of the policy, grants on 101 and after, rules on 201, pools on 301.
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { poolNotes } from '../../../src/core/pools/deal.ts'
import { declaredIn, isReached, resolveDesired, resolvePerson } from '../../../src/core/resolve/desired.ts'
import {
  CYCLE,
  type desiredInputs,
  email,
  inputsWithNearest,
  members,
  NOW,
  type OwnedSketch,
  ownedCaps,
  type PolicySketch,
  type PoolSketch,
  type RowSketch,
  rosterRows,
  short,
} from '../../support/declare.ts'
import { explained } from '../../support/explained.ts'
import { clause, fromNow, type Named, playTables } from '../../support/tables.ts'

type Inputs = ReturnType<typeof desiredInputs>
type Resolution = ReturnType<typeof resolveDesired>
type Rule = NonNullable<PolicySketch['rules']>[number]
type State = NonNullable<Inputs['pools']>[string]

/** What an entry says: a policy, what is known, and what to tell in the place of what is asked of all scopes. */
interface Part extends Omit<PolicySketch, 'pools'> {
  readonly pools?: readonly (Omit<PoolSketch, 'members'> & { readonly members: PoolSketch['members'] | readonly string[] })[]
  readonly people?: Named<RowSketch | NonNullable<RowSketch['status']>>
  readonly groups?: Named<readonly string[]>
  /** What the ledger says that we wrote. */
  readonly owned?: Named<OwnedSketch>
  /** What it says of members by pool, and of each deal where that is not of now. */
  readonly dealt?: Named<Named<State['members'][string]>>
  readonly deal?: Partial<State>
  /** Why pools are frozen. */
  readonly frozen?: Named<string>
  readonly inputs?: Partial<Inputs>
  /** What each of these conditions is for everybody. */
  readonly judge?: readonly Rule['when'][]
  /** What each rule is for these people. */
  readonly why?: readonly string[]
  /** Which cap is declared for them. */
  readonly chain?: readonly string[]
  readonly explain?: readonly string[]
}

const names = (people: readonly string[]): string => people.map((one) => one.replace('@example.com', '')).join(' ')
const mapped = <A, B>(record: Named<A>, to: (one: A) => B, key: (name: string) => string = (name) => name): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([name, one]) => [key(name), to(one)]))
/** A null says that something is not there. */
const withoutNulls = <T extends object>(record: T): T => mapped(record as Named<unknown>, (one) => one ?? undefined) as T

function inputsOf({ people, groups, owned, dealt, deal, pools, inputs, ...sketch }: Part): Inputs {
  const dealers = pools?.map(({ members: of, ...pool }): PoolSketch => {
    return { ...pool, members: 'kind' in of ? of : { kind: 'emails', emails: of.map(email) } }
  })
  const state = { cycle: CYCLE, readAt: NOW, dealtAt: NOW, ...(deal && withoutNulls(deal)) }
  return inputsWithNearest({ ...sketch, pools: dealers }, {
    ...(people && { roster: rosterRows(mapped(people, (row) => (typeof row === 'string' ? { status: row } : row))) }),
    ...(groups && { groups: members(groups) }),
    ...(owned && { owned: ownedCaps(owned) }),
    ...(dealt && {
      pools: mapped(dealt, (of) => ({
        ...state,
        members: mapped(of, (one) => ({ ...{ base: 0, sent: [], lowered: [] }, ...one }), email),
      })),
    }),
    ...(inputs && withoutNulls(inputs)),
  } as Partial<Inputs>)
}

const OWNERS: Named<string> = { cap: 'policy', restore: 'grant' }
const line = (at: { readonly line: number } | undefined): string => (at ? ` ${at.line}` : '')

function askedOf({ scope: on, cap, owner, entry, origin, losers, base, waits }: Resolution['desired'][number]): string {
  const { kind, reason, at, ticket, fromAt, untilAt, add, grant } = origin
  const beaten = losers.map((one) => `${one.kind} ${short(one.scope)} ${one.cap}`).join(', ')
  const told = 'cap' in entry ? `${entry.kind} ${entry.cap}` : entry.kind
  const clauses = [
    ...[
      clause('line', at?.line),
      clause('adds', add),
      clause('from', fromAt && fromNow(fromAt)),
      clause('until', untilAt && fromNow(untilAt)),
    ],
    ...[clause('ticket', ticket), kind === 'grant' ? '' : clause('of', grant)],
    ...[owner === (OWNERS[kind] ?? kind) ? '' : clause('kept of', owner), told === `${kind} ${cap}` ? '' : `, entry ${told}`],
    ...[clause('on', base), clause('beats', beaten || undefined), waits === undefined ? '' : `, ${waits}`],
  ]
  return `${short(on)} ${cap} ${kind}${clauses.join('')}${reason === undefined ? '' : `: ${reason}`}`
}

function told({ desired, rejected, skipped, ...rest }: Resolution, states: Inputs['pools'], frozen: Part['frozen']): readonly string[] {
  return [
    ...desired.map(askedOf),
    ...rejected.map((one) => `${short(one.scope)} rejected${line(one.at)} ${one.code} ${one.message}`),
    ...skipped.map((one) => `${short(one.scope)} left alone${line(one.at)}: ${one.why}`),
    ...rest.grants.map(({ grant, state, note }) => `grant${line(grant.at)} on ${short(grant.scope)} is ${state}${note ? `: ${note}` : ''}`),
    ...rest.rules.map(
      ({ rule, people, holds, unknown }) => `rule ${rule.name} counts for ${people}, holds for ${holds}, is not known for ${unknown}`,
    ),
    ...rest.pools.map(({ pool, members: all, unknown }) => {
      const each = all.map(({ email: person, fixed, protected: isProtected }) => {
        return `${names([person])}${isProtected ? ' protected' : ''}${fixed === undefined ? '' : ` ${fixed}`}`
      })
      return `pool ${pool.name}: ${each.join(', ') || 'nobody'}${unknown ? `; not known of ${names(unknown.emails)}: ${unknown.why}` : ''}`
    }),
    ...rest.ruleNotes.map(({ code, message, at }) => `note${line(at)} ${code} ${message}`),
    ...poolNotes(rest.pools, states ?? {}, frozen ?? {}).map(({ code, message, at, version }) => {
      return `note${line(at)} ${code} ${message}${version === '' ? '' : ` (told again when this changes: ${version})`}`
    }),
    ...Object.entries(rest.conflictsGone).map(([person, times]) => `conflict of ${names([person])} gone ${times}`),
    ...Object.entries(rest.conflictGroups).map(([person, ids]) => `groups of ${names([person])} differ: ${ids.join(' ')}`),
  ]
}

const SIGNS = { match: 'yes', none: 'no', unknown: 'not known' }

function judged(when: Rule['when'], part: Part): readonly string[] {
  const rule = { when, cap: 5 }
  const inputs = inputsOf({ ...part, rules: [rule] })
  const { rules } = declaredIn(inputs)
  const answers = inputs.roster?.people.map(({ email: person }) => {
    return `  ${names([person])} ${SIGNS[rules.verdictOf(person).kind]}, ${rules.whyOf(rule, person)}`
  })
  return [stringify(when, { collectionStyle: 'flow', lineWidth: 0 }).trim(), ...(answers ?? [])]
}

function matched(name: string, inputs: Inputs): readonly string[] {
  const { rules } = declaredIn(inputs)
  const verdict = rules.verdictOf(email(name))
  const match = verdict.kind === 'match' ? `is of ${verdict.rule.name}` : verdict.kind === 'none' ? 'is of no rule' : 'may be of a rule'
  return [`${name} ${match}`, ...inputs.set.peopleRules.map((rule) => `  ${rule.name}: ${rules.whyOf(rule, email(name))}`)]
}

function declared(name: string, inputs: Inputs): string {
  const found = resolvePerson(email(name), inputs)
  if (!found) return `${name} ${isReached(email(name), inputs) ? 'not decided' : 'not reached'}`
  return `${name} ${found.cap} by ${found.chain.map((one) => `${one.kind} ${short(one.scope)} ${one.cap}`).join(', ')}`
}

function story(name: string, inputs: Inputs): readonly string[] {
  const { cap, chain, pool, stopsFirst } = explained(name, {}, inputs)
  return [
    `${name} ${cap ?? 'not decided'}`,
    ...chain.map(({ candidate, wins, why, state }) => {
      const what = `${candidate.kind}${state ? ` (${state})` : ''} ${short(candidate.scope)} ${candidate.cap}`
      return `  ${wins ? '> ' : ''}${what}${clause('line', candidate.at?.line)}: ${why}`
    }),
    ...(pool?.lines.map((one) => `  ${one}`) ?? []),
    ...(stopsFirst ? [`  stops first: ${stopsFirst.what}${clause('at', stopsFirst.at && fromNow(stopsFirst.at))}`] : []),
  ]
}

function toldOf(part: Part, inputs: Inputs, resolution: Resolution): readonly string[] {
  if (part.judge) return part.judge.flatMap((when) => judged(when, part))
  if (part.why) {
    const { matched: all } = declaredIn(inputs).rules
    return [`matched: ${names(all) || 'nobody'}`, ...part.why.flatMap((name) => matched(name, inputs))]
  }
  if (part.chain) return part.chain.map((name) => declared(name, inputs))
  return part.explain?.flatMap((name) => story(name, inputs)) ?? told(resolution, inputs.pools, part.frozen)
}

type Memory = Pick<Resolution, 'conditions' | 'conflictsGone' | 'conflictGroups'>

playTables<Part, Memory>(import.meta.dirname, (part, before) => {
  const inputs = inputsOf({ ...part, inputs: { ...before, ...part.inputs } })
  const resolution = resolveDesired(inputs)
  const { conditions, conflictsGone, conflictGroups } = resolution
  return [toldOf(part, inputs, resolution), { conditions, conflictsGone, conflictGroups }]
})

test('a pattern takes no longer than the product of the lengths', () => {
  const inputs = inputsOf({ rules: [{ when: { email: `${'*a'.repeat(100)}b` }, cap: 5 }], people: { [`${'a'.repeat(320)}@x`]: {} } })
  expect(resolveDesired(inputs).rules).toMatchObject([{ holds: 0 }])
})

test('what is declared is found once for the same inputs, however many people are asked about', () => {
  const inputs = inputsOf({ caps: { ada: 5 } })
  const found = declaredIn(inputs)
  expect(declaredIn(inputs)).toBe(found)
  expect(declaredIn({ ...inputs })).not.toBe(found)
})

test('a scope that is declared twice has the first place, whatever the order', () => {
  const inputs = inputsOf({ caps: { ada: 5 } })
  const later = inputs.set.rules.map((rule) => ({ ...rule, cap: 'none' as const, at: { ...rule.at, line: 9 } }))
  for (const rules of [
    [...inputs.set.rules, ...later],
    [...later, ...inputs.set.rules],
  ])
    expect(resolvePerson(email('ada'), { ...inputs, set: { ...inputs.set, rules } })?.cap).toBe(5)
})

test('a group that the service does not know is placed at its name', () => {
  const inputs = inputsOf({ caps: { 'group:b': 6, 'group:a': 5 }, inputs: { unknownGroups: ['a'] } })
  const groups = inputs.set.groups.map((group) => ({ ...group, nameAt: { ...group.at, line: group.scope.id === 'a' ? 7 : 8 } }))
  expect(resolveDesired({ ...inputs, set: { ...inputs.set, groups } }).skipped).toMatchObject([{ at: { line: 7 } }])
})
