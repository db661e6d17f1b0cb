// The invariants of pools and of caps on the way: violated by steps that break them, and not by others.
import { expect, it } from 'vitest'
import { type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import { cycleAt } from '../../../src/sandbox/time.ts'
import { emptyModel, type ModelCap, type PolicyModel } from '../lives/policy-model.ts'
import type { InForce, Invariant, Scene, Step } from '../steps.ts'
import { safeOnTheWay } from './people.ts'
import { poolSum } from './pools.ts'
import { ADA, ADA_SCOPE } from './sketch.ts'

const BOB = 'bob@example.com' as ScopeKey
const TEAM = scopeKey({ kind: 'team' })
const GROUP_SCOPE = { kind: 'group', id: 'g' } as const

function policyOf(credits: number): PolicyModel {
  return { ...emptyModel(), pools: [{ name: 'research', emails: [ADA, BOB], credits, share: 'equal', min: 0 }] }
}
const NAMED = new Map([
  ['before', policyOf(2000)],
  ['now', policyOf(1000)],
])

const caps = (ada: ModelCap, bob: ModelCap): InForce => new Map([ADA, BOB].map((email, place) => [email, place === 0 ? ada : bob]))

/** Both are members since the first deal. */
const dealt: Step = {
  ...{ kind: 'recorded', process: 1, method: 'saveFact' },
  values: ['pools', { research: { cycle: cycleAt(0), readAt: 0, members: { [ADA]: {}, [BOB]: {} } } }],
}
/** ADA is a member since the first deal, BOB joins later. */
const alone: Step = {
  ...{ kind: 'recorded', process: 1, method: 'saveFact' },
  values: ['pools', { research: { cycle: cycleAt(0), readAt: 0, members: { [ADA]: {} } } }],
}
const clearing: Step = { kind: 'request', process: 1, operation: 'UsageConfig', scope: TEAM, to: 'none' }
/** ADA has left, with a cap that another client had lowered. */
const left: Step = {
  ...{ kind: 'recorded', process: 1, method: 'saveFact' },
  values: [
    'pools',
    { research: { cycle: cycleAt(0), readAt: 0, members: { [ADA]: { dealt: 600, left: { at: 0, cap: 400 } }, [BOB]: {} } } },
  ],
}
/** ADA has left, with her dealt cap. */
const leftAs = (cap: ModelCap): Step => ({
  ...{ kind: 'recorded', process: 1, method: 'saveFact' },
  values: ['pools', { research: { cycle: cycleAt(0), readAt: 0, members: { [ADA]: { dealt: cap, left: { at: 0, cap } }, [BOB]: {} } } }],
})
const sending = (to: ModelCap, digest: string, kind = 'pool'): Step => ({
  ...{ kind: 'recorded', process: 1, method: 'recordIntent' },
  values: [{ id: 1, planId: 'p', digest, change: { scope: ADA_SCOPE, from: 400, to }, entry: { kind, cap: to } }],
})
const landed = (scope: ScopeKey, [from, to]: readonly [ModelCap, ModelCap], before: InForce, after: InForce): Step => ({
  ...{ kind: 'landed', process: 1, scope, from, to, late: false, before, after },
})
const raised = landed(ADA, [400, 600], caps(400, 600), caps(600, 600))
const bobRaised = landed(BOB, [400, 600], caps(500, 400), caps(500, 600))

const roster = { people: [{ email: ADA, status: 'approved' }], statusesAbsent: false }
const known = { kind: 'told', process: 1, event: { kind: 'usage-read', groups: [], roster } } as unknown as Step
const healing = {
  ...{ kind: 'told', process: 1 },
  event: { kind: 'planned', plan: { changes: [{ scope: ADA_SCOPE, from: 200, to: 500, healing: true }], holds: [] } },
} as unknown as Step
const finished = { kind: 'told', process: 1, event: { kind: 'cycle-finished', result: 'success' } } as unknown as Step
const fallsWithTeam = landed(TEAM, [500, 200], caps(500, 500), caps(200, 500))
const bobFollows = landed(TEAM, [400, 'none'], caps(500, 400), caps(500, 'none'))
const adaWithin = landed(ADA, [400, 500], caps(400, 400), caps(500, 400))
const ofHiddenZero = landed(ADA, ['none', 600], caps(0, 600), caps(600, 600))
const isPutBack = landed(ADA, [200, 500], caps(200, 500), caps(500, 500))

interface Sketch {
  /** BOB may be in a group whose cap the program manages, or does not. */
  readonly groupOfBob?: 'managed' | 'foreign'
  /** ADA has left the team, with a use of 700. */
  readonly adaIsGone?: boolean
}

/** The violations of an invariant by these steps. */
function said(invariant: Invariant, steps: readonly Step[], more: Sketch = {}): readonly string[] {
  const { groupOfBob, adaIsGone } = more
  const found: string[] = []
  let taken = 0
  const scene = {
    scenario: { pools: true, capSemantics: 'layered', switches: { capSemantics: 'layered' }, intervalMs: 1, usageIntervalMs: 1 },
    company: {
      approved: [ADA, BOB],
      people: new Map([...caps(0, 0)].filter(([email]) => !adaIsGone || email !== ADA)),
      dark: new Map(),
      groupsOf: (email: string) => (groupOfBob && email === BOB ? ['g'] : []),
    },
    ledger: () => undefined,
    view: () => ({ scopes: groupOfBob === 'managed' ? [{ scope: GROUP_SCOPE }] : [] }),
    elapsed: () => 1e9 + taken,
    inForce: () => caps(adaIsGone ? 'none' : 500, 500),
    stored: (scope: ScopeKey) => (scope === scopeKey(GROUP_SCOPE) ? 600 : adaIsGone && scope === ADA ? 400 : 'none'),
    used: (email: string) => (adaIsGone && email === ADA ? 700 : 0),
    policy: () => NAMED.get('now'),
    policyNamed: (digest: string) => NAMED.get(digest),
    now: () => 1e9 + taken,
    skewMs: () => 0,
  } as unknown as Scene
  const watch = invariant.watch(scene, { checked: () => undefined, violated: (message) => found.push(message) })
  for (const step of steps) {
    watch(step)
    taken += 1
  }
  return found
}

const BROKEN: readonly (readonly [title: string, invariant: Invariant, steps: readonly Step[]])[] = [
  ['a raise above credits that were cut before it was planned', poolSum, [dealt, sending(600, 'now'), raised]],
  ['a late landing of the cap that a pool dealt to a person who left', poolSum, [dealt, left, sending(600, 'now'), raised]],
  ['a raise beside a person who left with a dealt cap', poolSum, [dealt, sending(500, 'now'), leftAs(500), bobRaised]],
  ['a cleared group cap that lifts a member who was one when it was sent', poolSum, [alone, dealt, clearing, bobFollows]],
  ['the same, sent again after they joined', poolSum, [alone, clearing, dealt, clearing, bobFollows]],
  ['the same with another member raised since they joined', poolSum, [alone, clearing, dealt, adaWithin, bobFollows]],
  [
    'a person who falls with a group cap of ours until their own is restored',
    safeOnTheWay,
    [known, fallsWithTeam, healing, isPutBack, finished],
  ],
]

it.each(BROKEN)('%s is a violation', (_title, invariant, steps) => {
  expect(said(invariant, steps)).not.toEqual([])
})

const KEPT: readonly (readonly [title: string, invariant: Invariant, steps: readonly Step[]])[] = [
  ['a raise that was under way when credits were cut', poolSum, [dealt, sending(600, 'before'), raised]],
  ['a cleared group cap that was under way when a person joined', poolSum, [alone, clearing, dealt, bobFollows]],
  ['a cap by policy for a person who left, equal to the dealt one', poolSum, [dealt, left, sending(600, 'now', 'cap'), raised]],
  ['a raise beside a person who left with a foreign cap equal to the dealt one', poolSum, [dealt, leftAs(500), bobRaised]],
  ['a first cap that replaces a 0 that reads as unset', poolSum, [dealt, sending(600, 'now'), ofHiddenZero]],
  ['a raise that the credits pay for', poolSum, [dealt, sending(400, 'now'), landed(ADA, [300, 400], caps(300, 600), caps(400, 600))]],
  [
    'a person whose cap another client had changed, on the way back',
    safeOnTheWay,
    [{ kind: 'foreign', scopes: [ADA] }, known, fallsWithTeam, healing, isPutBack, finished],
  ],
]

it.each(KEPT)('%s is no violation', (_title, invariant, steps) => {
  expect(said(invariant, steps)).toEqual([])
})

const stillRaised = [dealt, sending(600, 'now'), raised]

it('a raise above the credits is a violation where a member has the cap of a managed group', () => {
  expect(said(poolSum, stillRaised, { groupOfBob: 'managed' })).not.toEqual([])
})

it('a raise is no violation while a member has the cap of a group that is not managed', () => {
  expect(said(poolSum, stillRaised, { groupOfBob: 'foreign' })).toEqual([])
})

it.each<readonly [ModelCap | 'unknown', number]>([
  ['unknown', 0],
  [600, 1],
])('a raise while the group of a member without a cap of their own read %s last gives %i violations', (observed, found) => {
  const group = scopeKey(GROUP_SCOPE)
  const look: Step = { kind: 'answered', process: 1, operation: 'GetUsageConfig', refused: false, scope: group, observed }
  expect(said(poolSum, [look, ...stillRaised], { groupOfBob: 'managed' })).toHaveLength(found)
})

/** The pool's record of ADA, whose use was read as 100, before and after she leaves. */
const adaLeaves = (before: object): readonly Step[] =>
  [before, { inForce: { cap: 400, at: 0 }, dealt: 400, left: { at: 0, cap: 400 } }].map((ada) => ({
    ...{ kind: 'recorded', process: 1, method: 'saveFact' },
    values: ['pools', { research: { cycle: cycleAt(0), readAt: 0, members: { [ADA]: { use: 100, ...ada }, [BOB]: {} } } }],
  }))
const bobRaisedBeside = landed(BOB, [400, 600], caps(400, 400), caps(400, 600))
const READ = { inForce: { cap: 400, at: 0 }, dealt: 400 }
const capsAda = landed(ADA, ['none', 400], caps('none', 400), caps(400, 400))

it('a raise is a violation beside a person who left the team with a bounded last use', () => {
  expect(said(poolSum, [...adaLeaves(READ), bobRaisedBeside], { adaIsGone: true })).not.toEqual([])
})

it.each<readonly [title: string, steps: readonly Step[]]>([
  ['whose cap was not read until shortly before', adaLeaves({})],
  ['who had none until shortly before', [{ kind: 'world', what: 'use' }, capsAda, ...adaLeaves(READ)]],
])('a raise is no violation beside a person who left the team, %s', (_title, steps) => {
  expect(said(poolSum, [...steps, bobRaisedBeside], { adaIsGone: true })).toEqual([])
})
