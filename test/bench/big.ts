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
import { resolveDesired } from '../../src/core/resolve/desired.ts'
import type { Resolution } from '../../src/core/resolve/resolution.ts'
import { sha256 } from '../../src/daemon/schedule/system.ts'
import { parsePolicyText } from '../../src/policy/parse.ts'
import { entryOf } from '../support/declare.ts'

const GROUPS = 500
/** The rest of the people are in no declared group, so that the team cap reaches somebody. */
const GROUPED = 0.8
const NOW = Date.UTC(2026, 10, 20, 12)

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

const emailOf = (index: number): string => `person.${String(index).padStart(6, '0')}@example.com`
const groupOf = (index: number): string => `grp_${String(index % GROUPS).padStart(4, '0')}`
const capOf = (index: number): number => 1000 + (index % 700)

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
    texts: textsOf(ids, users),
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

function textsOf(ids: readonly string[], users: readonly number[]): readonly string[] {
  const wide = ['  team:', '    cap: 500', '  groups:', ...ids.map((id) => `    - id: ${id}\n      name: Group ${id}\n      cap: 800`)]
  return Array.from({ length: Math.ceil(users.length / USERS_OF_A_FILE) }, (_, part) => {
    const own = users.slice(part * USERS_OF_A_FILE, (part + 1) * USERS_OF_A_FILE)
    return [
      'apiVersion: capkeeper/v1',
      'kind: CapPolicy',
      'metadata:',
      `  name: big${part}`,
      'spec:',
      '  workspace: bench',
      ...(part === 0 ? wide : []),
      '  users:',
      ...own.map((index) => `    - email: ${emailOf(index)}\n      cap: ${capOf(index)}\n      reason: by role`),
      '',
    ].join('\n')
  })
}

/** The policy texts as the set that they declare. */
export function policyIn({ texts }: BigWorld): PolicyRevision {
  const documents = texts.flatMap((text, part) => parsePolicyText(`policy${part}.yaml`, text).documents)
  if (documents.length !== texts.length) throw new Error('the policy cannot be read')
  const set = {
    workspace: 'bench',
    rules: documents.flatMap(({ rules }) => rules.map(({ value }) => value)),
    grants: [],
    groups: documents.flatMap(({ groups }) => groups),
    protectedPeople: documents.flatMap(({ protectedPeople }) => protectedPeople),
    approvals: documents.flatMap(({ approvals }) => approvals),
    peopleRules: [],
    pools: [],
    documents: documents.map(({ name }) => name.value),
  }
  return { set, digest: '0'.repeat(12), revision: '' }
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
