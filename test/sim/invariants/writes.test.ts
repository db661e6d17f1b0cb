// The invariants of single writes and of the whole: violated by steps that break them, and not by others.
import { expect, it } from 'vitest'
import type { Hold, Plan } from '../../../src/core/model/change.ts'
import { emptyModel, type ModelCap, type PolicyModel } from '../lives/policy-model.ts'
import type { Invariant, Scene, Step } from '../steps.ts'
import { ADA, ADA_SCOPE, read } from './sketch.ts'
import { alertOnly } from './standstill.ts'
import { completeCycle, fewTries, zeroGivenBack } from './tries.ts'
import { approvals, nothingUnexpected, pace, secrecy } from './whole.ts'
import { heldStays, intents, knownReading, notOurs, oneWriter } from './writes.ts'

const write = (to: number | 'none', process = 1): Step => ({ kind: 'request', process, operation: 'UsageConfig', scope: ADA, to })
const refused: Step = { kind: 'answered', process: 1, operation: 'UsageConfig', scope: ADA, refused: true }
const started = (process: number): Step => ({ kind: 'started', process })
const intent = (to: number): Step => ({
  kind: 'recorded',
  process: 1,
  method: 'recordIntent',
  values: [{ id: 1, change: { scope: ADA_SCOPE, to } }],
})

const recorded = (more: object): Step => ({
  kind: 'recorded',
  process: 1,
  method: 'recordIntent',
  values: [{ id: 1, planId: 'p', change: { scope: ADA_SCOPE, from: 100, to: 200, healing: false, ...more } }],
})

const finished = (): Step => ({ kind: 'told', process: 1, event: { kind: 'cycle-finished', result: 'success' } }) as unknown as Step

const landed = (from: number, to: number): Step => ({
  ...{ kind: 'landed', process: 1, scope: ADA, from, to, late: false, before: new Map(), after: new Map() },
})

function planned(to: number, hold?: string): Step {
  const change = { scope: ADA_SCOPE, from: 100, to, disposition: hold === undefined ? { kind: 'ready' } : { kind: 'held', hold } }
  const plan = { changes: [change], holds: [] as Hold[] } as unknown as Plan
  return { kind: 'told', process: 1, event: { kind: 'planned', workspace: 'acme', at: 0, plan } }
}

const saved = (state: string): Step => ({
  kind: 'recorded',
  process: 1,
  method: 'saveApproval',
  values: [{ id: 'a1', state, released: [] }],
})

const group = (cap: number) => ({ name: 'G', cap })

/** The third group cannot be listed. */
const CONFLICT: PolicyModel = {
  ...emptyModel(),
  groups: new Map([
    ['g0', group(400)],
    ['g1', group(800)],
    ['g2', group(100)],
  ]),
  onGroupConflict: 'min',
}

/** The violations of an invariant by these steps, with the scope left alone or not. */
function said(invariant: Invariant, steps: readonly Step[], isLeftAlone = true): readonly string[] {
  const found: string[] = []
  let stored: ModelCap = 100
  const scene = {
    scenario: { capSemantics: 'layered', switches: { zeroCap: 'omitted' }, onDrift: 'alert' },
    stored: () => stored,
    shows: () => stored,
    view: () => ({ scopes: [{ scope: ADA_SCOPE, state: 'rejected' }] }),
    settingsSince: () => [{ rate: { max: 1 } }],
    company: { groupsOf: () => ['g0', 'g1', 'g2'], gone: new Set(['g2']), dark: new Map() },
    elapsed: () => 0,
    now: () => 0,
    policy: () => CONFLICT,
    policies: () => [CONFLICT],
    ledger: () => ({ pause: () => undefined, fact: () => undefined, quarantined: () => (isLeftAlone ? [{ scope: ADA_SCOPE }] : []) }),
  } as unknown as Scene
  const watch = invariant.watch(scene, { checked: () => undefined, violated: (message) => found.push(message) })
  for (const step of steps) {
    if (step.kind === 'landed') stored = step.to
    watch(step)
  }
  return found
}

const KEY = 'sk-"abcdefgh/ijkl"'

const mistake: Step = { kind: 'told', process: 1, event: { kind: 'bug', workspace: 'acme', at: 0, message: 'unexpected: it broke' } }

const BROKEN: readonly (readonly [title: string, invariant: Invariant, steps: readonly Step[]])[] = [
  ['a write after a failed read', knownReading, [read(100), ...Array.from({ length: 4 }, () => read('unknown')), write(200)]],
  ['a mistake of the program', nothingUnexpected, [mistake]],
  ['a write of the observed cap', knownReading, [read(200), write(200)]],
  ['a write without any reading', knownReading, [write(200)]],
  ['a write of a held change', heldStays, [planned(200, 'a1'), write(200)]],
  ['a write that is in no plan', heldStays, [write(200)]],
  ['a write of another cap than planned', heldStays, [planned(300), write(200)]],
  ['a write without an intent', intents, [write(200)]],
  ['a write with the intent of another cap', intents, [intent(300), write(200)]],
  ['two processes at once', oneWriter, [started(1), started(2)]],
  ['a request of a process that has died', oneWriter, [started(1), { kind: 'died', process: 1 }, write(200)]],
  ['a foreign cap that is cleared', notOurs, [read(700), write('none')]],
  ['a cleared foreign cap equal to a refused write', notOurs, [write(700), refused, read(700), write('none')]],
  ['an approval that was not given', approvals, [saved('pending')]],
  ['an approval that releases twice', approvals, [{ kind: 'approved', id: 'a1' }, saved('spent'), saved('pending')]],
  ['a reverted foreign change with onDrift: alert', alertOnly, [recorded({ cause: 'external' })]],
  ['a write that is tried in every pass', fewTries, Array.from({ length: 4 }, () => recorded({}))],
  ['a successful cycle without a write of its plan', completeCycle, [finished(), planned(200), finished()]],
  ['a cap that a 0 has replaced and that is not restored', zeroGivenBack, [recorded({ to: 0 }), landed(100, 0), { kind: 'settled' }]],
  ['too many requests', pace, Array.from({ length: 12 }, () => read(100)).map(() => write(1))],
  ['the key in a log line', secrecy([KEY]), [{ kind: 'output', where: 'log', text: `x ${KEY} y` }]],
  ['the key, quoted, in the ledger', secrecy([KEY]), [{ kind: 'recorded', process: 1, method: 'saveFact', values: ['pace', KEY] }]],
]

it.each(BROKEN)('%s is a violation', (_title, invariant, steps) => {
  expect(said(invariant, steps)).not.toEqual([])
})

const KEPT: readonly (readonly [title: string, invariant: Invariant, steps: readonly Step[]])[] = [
  ['a write after a good reading that differs', knownReading, [read('unknown'), read(100), write(200)]],
  ['a write by the reading before a read that was cut short', knownReading, [read(100), read('unknown'), read('unknown'), write(200)]],
  ['a write of the plan', heldStays, [planned(200), write(200)]],
  ['a plan that replaces another before any write', completeCycle, [finished(), planned(200), planned(100), finished()]],
  ['a write with its intent', intents, [intent(200), write(200)]],
  ['one process after the other', oneWriter, [started(1), { kind: 'died', process: 1 }, started(2), write(200, 2)]],
  [
    'a cap of ours that is cleared',
    notOurs,
    [
      { kind: 'landed', process: 1, scope: ADA, from: 'none', to: 700, late: false, before: new Map(), after: new Map() },
      read(700),
      write('none'),
    ],
  ],
  ['a cleared cap that the conflict rule asks for without a group that is gone', notOurs, [read(400), write('none')]],
  ['a cleared cap that may be ours, because its write was lost', notOurs, [write(700), read(700), write('none')]],
  [
    'a cap that came after the last look at it, and that a lost 0 has replaced',
    zeroGivenBack,
    [recorded({ from: 'none', to: 0 }), landed(100, 0), { kind: 'settled' }],
  ],
  ['a write that is tried in every cycle', fewTries, Array.from({ length: 8 }, () => [recorded({}), finished()]).flat()],
  ['a successful cycle with the writes of its plan', completeCycle, [finished(), planned(200), landed(100, 200), finished()]],
  ['a cycle with a foreign change', completeCycle, [finished(), planned(200), { kind: 'foreign', scopes: [ADA] }, finished()]],
  ['a cap that is restored after a lost 0', zeroGivenBack, [landed(100, 0), landed(0, 100), { kind: 'settled' }]],
  ['an edit of the policy with onDrift: alert', alertOnly, [recorded({ cause: 'policy' })]],
  ['an approval that is spent', approvals, [{ kind: 'approved', id: 'a1' }, saved('pending'), saved('spent')]],
  ['a log line without the key', secrecy([KEY]), [{ kind: 'output', where: 'log', text: 'all is well' }]],
]

it.each(KEPT)('%s is no violation', (_title, invariant, steps) => {
  expect(said(invariant, steps)).toEqual([])
})

it('does not ask to restore the cap of a person whom the policy makes impossible', () => {
  expect(said(zeroGivenBack, [recorded({ to: 0 }), landed(100, 0), { kind: 'settled' }], false)).toEqual([])
})
