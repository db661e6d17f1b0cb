// The invariant of guards that count people: violated by plans that break the guards, and not by others.
import { expect, it } from 'vitest'
import { DEFAULT_GUARDS, type Plan } from '../../../src/core/model/change.ts'
import { emptyModel } from '../lives/policy-model.ts'
import type { Scene, Step } from '../steps.ts'
import { countedPeople } from './counted.ts'

const EMAILS = ['ada', 'bob', 'cyd', 'dan'].map((name) => `${name}@example.com`)
const TEAM = { kind: 'team' } as const

const people = EMAILS.map((email) => ({ email, status: 'approved', used: 0 }))
const known = {
  kind: 'told',
  process: 1,
  event: { kind: 'usage-read', groups: [], roster: { people, statusesAbsent: false } },
} as unknown as Step
const read: Step = { kind: 'answered', process: 1, operation: 'GetUsageConfig', scope: 'team', observed: 1000 } as Step
const plan = { id: 'p', changes: [{ scope: TEAM, from: 1000, to: 500, disposition: { kind: 'ready' } }], holds: [] } as unknown as Plan
const planned = { kind: 'told', process: 1, event: { kind: 'planned', plan } } as unknown as Step
const sent = { kind: 'request', process: 1, operation: 'UsageConfig', scope: 'team', to: 500 } as Step
/** Add-on use of the previous cycle, as it was measured for all people. */
const measured = (credits: number): Step => ({
  ...{ kind: 'recorded', process: 1, method: 'saveFact' },
  values: ['addOn', { cycles: [{ people: {} }, { people: Object.fromEntries(EMAILS.map((email) => [email, credits])) }] }],
})

/** Violations where the team's cap falls from 1000 to 500 and 3 people may be lowered. */
function said(steps: readonly Step[]): readonly string[] {
  const found: string[] = []
  const scene = {
    scenario: { pools: false, capSemantics: 'layered', switches: { capSemantics: 'layered' } },
    company: { approved: EMAILS, groups: new Map(), groupsOf: () => [], dark: new Map(), caps: () => new Map([['team', 1000]]) },
    ledger: () => undefined,
    view: () => ({ scopes: [{ scope: TEAM }] }),
    stored: (scope: string) => (scope === 'team' ? 1000 : 'none'),
    shows: (scope: string) => (scope === 'team' ? 1000 : 'none'),
    settingsSince: () => [{ guards: { ...DEFAULT_GUARDS, maxAffected: 'off' } }],
    policy: emptyModel,
    elapsed: () => 0,
    now: () => 0,
  } as unknown as Scene
  const watch = countedPeople.watch(scene, { checked: () => undefined, violated: (message) => found.push(message) })
  for (const step of steps) watch(step)
  return found
}

const TOO_MANY = ['plan p takes from 4 of 4 people; maxLowered allows 3']

it.each<readonly [string, readonly Step[]]>([
  ['no use was measured', []],
  ['the measured use is below the new cap', [measured(400)]],
  ['the measured use was higher before', [measured(500), measured(400)]],
])('more people than may be lowered are found where %s', (_title, steps) => {
  expect(said([read, ...steps, known, planned, sent])).toEqual(TOO_MANY)
})

it('people whose measured use is the new cap are blocked, not lowered', () => {
  expect(said([read, measured(500), known, planned, sent])).toEqual([])
})
