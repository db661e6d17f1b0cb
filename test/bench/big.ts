// A big company as plain data, for what is measured without any service: a policy text, a roster, groups, readings and a ledger's memory
// that all fit together. `drifted` people read another cap than the one declared.

import { countPeople } from '../../src/core/interpret/effective.ts'
import { DEFAULT_GUARDS } from '../../src/core/model/change.ts'
import type { CapReading, GroupMembers, OwnedCap, Roster } from '../../src/core/model/observed.ts'
import type { Cap, PolicyRevision } from '../../src/core/model/policy.ts'
import { groupScope, type Scope, type ScopeKey, scopeKey, TEAM, userScope } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { buildPlan } from '../../src/core/plan/plan.ts'
import type { Snapshot } from '../../src/core/plan/snapshot.ts'
import { type Resolution, resolveDesired } from '../../src/core/resolve/desired.ts'
import { sha256 } from '../../src/daemon/schedule/system.ts'
import { joinDocuments } from '../../src/policy/join.ts'
import { digestOf } from '../../src/policy/load/digest.ts'
import { parsePolicyText } from '../../src/policy/parse.ts'
import { entryOf, NOW } from '../support/declare.ts'
import { policyText } from './world.ts'

const GROUPS = 500
/** The rest of the people are in no declared group, so that the team cap reaches somebody. */
const GROUPED = 0.8

export interface Size {
  readonly scopes: number
  readonly people: number
  readonly drifted: number
}

export interface BigWorld {
  readonly now: number
  /** Policy documents, each within the bound of a file. */
  readonly texts: readonly string[]
  readonly roster: Roster
  readonly groups: readonly GroupMembers[]
  readonly readings: Map<ScopeKey, CapReading>
  readonly owned: Map<ScopeKey, OwnedCap>
}

export const emailOf = (index: number): string => `person.${String(index).padStart(6, '0')}@example.com`
export const groupOf = (index: number): string => `grp_${String(index).padStart(4, '0')}`
export const capOf = (index: number): number => 1000 + (index % 700)

/** The team, 500 groups, and people; most people on the roster are in one group. */
export function bigWorld({ scopes, people, drifted }: Size): BigWorld {
  const ids = Array.from({ length: GROUPS }, (_, index) => groupOf(index))
  const users = Array.from({ length: scopes - GROUPS - 1 }, (_, index) => index)
  const emails = Array.from({ length: people }, (_, index) => emailOf(index))
  const declared: readonly (readonly [Scope, number])[] = [
    [TEAM, 500],
    ...ids.map((id) => [groupScope(id), 800] as const),
    ...users.map((index) => [userScope(emailOf(index)), capOf(index)] as const),
  ]
  const readings = declared.map(([scope, cap], at): [ScopeKey, CapReading] => {
    const observed: Cap =
      scope.kind === 'user' && at % Math.floor(scopes / (drifted || 1)) === 0 && drifted > 0 ? credits(cap + 50) : credits(cap)
    return [scopeKey(scope), { scope, observed, readAt: NOW }]
  })
  const owned = declared.map(([scope, cap]): [ScopeKey, OwnedCap] => [
    scopeKey(scope),
    { scope, cap: credits(cap), owner: 'policy', entry: entryOf('cap', cap), verifiedAt: NOW },
  ])
  return {
    now: NOW,
    texts: textsOf('bench', ids, users),
    roster: rosterOf(emails),
    groups: ids.map((id, at) => ({
      id,
      name: `Group ${id}`,
      emails: emails.filter((_, index) => index % GROUPS === at && index < people * GROUPED),
      readAt: NOW,
    })),
    readings: new Map(readings),
    owned: new Map(owned),
  }
}

const rosterOf = (emails: readonly string[]): Roster => ({
  people: emails.map((email, index) => ({ email, name: email, status: 'approved', disabled: false, used: credits(index % 900) })),
  readAt: NOW,
  statusesAbsent: false,
  duplicates: [],
})

const USERS_OF_A_FILE = 10_000

/** A policy with a cap for the team, these groups and these people. */
export function textsOf(workspace: string, ids: readonly string[], users: readonly number[]): readonly string[] {
  const wide = { team: { cap: 500 }, groups: ids.map((id) => ({ id, name: `Group ${id}`, cap: 800 })) }
  return Array.from({ length: Math.ceil(users.length / USERS_OF_A_FILE) }, (_, part) => {
    const own = users.slice(part * USERS_OF_A_FILE, (part + 1) * USERS_OF_A_FILE)
    const entries = own.map((index) => ({ email: emailOf(index), cap: capOf(index), reason: 'by role' }))
    return policyText(workspace, { ...(part === 0 && wide), users: entries }, `${workspace}-${part}`)
  })
}

/** The policy texts as the set that they declare. */
export function policyIn({ texts }: Pick<BigWorld, 'texts'>, workspace = 'bench'): PolicyRevision {
  const parsed = texts.map((text, part) => parsePolicyText(`policy${part}.yaml`, text))
  const documents = parsed.flatMap((one) => one.documents)
  const sources = new Map(parsed.map(({ source }) => [source.file, source]))
  const { set, problems } = joinDocuments({ workspace, documents, sources, incomplete: false })
  const [problem] = [...parsed.flatMap((one) => one.problems), ...problems]
  if (problem) throw new Error(`the policy has a problem: ${problem.message}`)
  return { set, digest: digestOf({ set }), revision: '' }
}

/** What the policy asks of the company. */
export const resolveAll = (world: BigWorld, policy: PolicyRevision): Resolution =>
  resolveDesired({
    set: policy.set,
    roster: world.roster,
    groups: world.groups,
    unknownGroups: [],
    now: world.now,
    capSemantics: 'layered',
    owned: world.owned,
    prune: true,
    conflictsGone: {},
    newReading: undefined,
    grantsFrozen: false,
  })

/** What a plan of the company is made from. */
export const inputsOf = (world: BigWorld, policy: PolicyRevision, resolution: Resolution): Snapshot => ({
  workspace: 'bench',
  policy,
  resolution,
  readings: world.readings,
  owned: world.owned,
  people: countPeople({ roster: world.roster, groups: world.groups, now: world.now }),
  skipped: new Set(),
  poolReviews: new Map(),
  quarantined: new Map(),
  approvals: [],
  approve: [],
  holdsShown: {},
  changesShown: {},
  driftSince: {},
  facts: {
    reads: { failed: 0, total: world.readings.size, teamFailed: false },
    rosterMissing: false,
    verifiedDeclared: policy.set.rules.length,
  },
  guards: DEFAULT_GUARDS,
  model: { layers: 'layered', layersProven: true, reads: 'explicit', zero: 'stored' },
  prune: true,
  now: world.now,
  digest: sha256,
  contests: { known: {}, written: () => [] },
})

export const planOf = (world: BigWorld, policy: PolicyRevision, resolution: Resolution) => buildPlan(inputsOf(world, policy, resolution))
