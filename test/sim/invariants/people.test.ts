// The invariant of protected people: violated by writes that lower them, and not by writes whose effect the program could not know.
import { expect, it } from 'vitest'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { emptyModel } from '../lives/policy-model.ts'
import type { Invariant, Scene, Step } from '../steps.ts'
import { protectedPeople, safeOnTheWay } from './people.ts'
import { ADA, ADA_SCOPE } from './sketch.ts'

const TEAM = { kind: 'team' } as const

const rosterOf = (...emails: readonly string[]) => ({
  people: emails.map((email) => ({ email, status: 'approved', used: 0 })),
  statusesAbsent: false,
})
const told = (...emails: readonly string[]): Step =>
  ({ kind: 'told', process: 1, event: { kind: 'usage-read', groups: [], roster: rosterOf(...emails) } }) as unknown as Step
const kept = (...emails: readonly string[]): Step => ({
  ...{ kind: 'recorded', process: 1, method: 'saveFact' },
  values: ['usage', { roster: rosterOf(...emails) }],
})
const changes = [{ scope: TEAM, from: 1000, to: 500, disposition: { kind: 'ready' } }]
const lowering: readonly Step[] = [
  { kind: 'answered', process: 1, operation: 'GetUsageConfig', scope: 'team', observed: 1000 } as Step,
  { kind: 'told', process: 1, event: { kind: 'planned', plan: { id: 'p', changes, holds: [] } } } as unknown as Step,
  {
    ...{ kind: 'landed', process: 1, scope: scopeKey(TEAM), from: 1000, to: 500, late: false },
    ...{ before: new Map([[ADA, 1000]]), after: new Map([[ADA, 500]]) },
  },
]

const GRANT_AT = 60_000

/** Violations where ADA is protected and has 1000 from the team, which falls to 500; a grant starts at `GRANT_AT`. */
function said(steps: readonly Step[], { watch: watchOf }: Invariant = protectedPeople): readonly string[] {
  const found: string[] = []
  let now = 0
  const scene = {
    scenario: { capSemantics: 'layered', switches: { capSemantics: 'layered', capReads: 'explicit' } },
    company: { approved: [ADA], groups: new Map(), groupsOf: () => [], dark: new Map() },
    ledger: () => undefined,
    view: () => ({ scopes: [{ scope: TEAM }, { scope: ADA_SCOPE }] }),
    stored: (scope: string) => (scope === 'team' ? 1000 : 'none'),
    shows: (scope: string) => (scope === 'team' ? 1000 : 'none'),
    inForce: () => new Map([[ADA, 1000]]),
    policyNamed: () => undefined,
    policy: () => ({ ...emptyModel(), protectedPeople: new Set([ADA]), grants: [{ fromAt: GRANT_AT }] }),
    now: () => now,
    skewMs: () => 0,
  } as unknown as Scene
  const watch = watchOf(scene, { checked: () => undefined, violated: (message) => found.push(message) })
  for (const step of steps) {
    if (step.kind === 'calm') now = GRANT_AT
    watch(step)
  }
  return found
}

it.each<readonly [string, readonly Step[]]>([
  ['who was listed', [told(ADA)]],
  ['who is still on the believed roster', [told(ADA), kept(ADA)]],
])('the lowering of a protected person %s is a violation', (_title, steps) => {
  expect(said([...steps, ...lowering])).toEqual([`${ADA} is protected and falls from 1000 to 500 with team`])
})

it('a person who is missing on an approved shorter roster is unknown to the program', () => {
  expect(said([told(ADA, 'bob@example.com'), kept('bob@example.com'), ...lowering])).toEqual([])
})

const planned = { kind: 'told', process: 1, event: { kind: 'planned', plan: { id: 'p', changes: [], holds: [] } } } as unknown as Step
const landed = (from: number, to: number): Step => ({
  ...{ kind: 'landed', process: 1, scope: scopeKey(ADA_SCOPE), from, to, late: false },
  ...{ before: new Map([[ADA, from]]), after: new Map([[ADA, to]]) },
})
const finished = { kind: 'told', process: 1, event: { kind: 'cycle-finished', result: 'success' } } as unknown as Step

it('a person who is lowered and then raised in one cycle is below the lesser, but not with a grant or a deal in between', () => {
  const begun = [told(ADA), planned, landed(1000, 500)]
  expect(said([...begun, planned, landed(500, 6000), finished], safeOnTheWay)).toEqual([`${ADA} has 500 on the way from 1000 to 6000`])
  expect(said([...begun, { kind: 'calm' }, planned, landed(500, 6000), finished], safeOnTheWay)).toEqual([])
  const dealt: Step = { kind: 'recorded', process: 1, method: 'saveFact', values: ['pools', { research: { dealtAt: 2 } }] }
  expect(said([...begun, planned, dealt, landed(500, 6000), finished], safeOnTheWay)).toEqual([])
})
