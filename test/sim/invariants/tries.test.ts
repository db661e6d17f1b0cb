// The invariant of cycles that went well, shown to be able to fail on steps that break it, and to be silent on steps that do not.
import { expect, it } from 'vitest'
import type { Plan } from '../../../src/core/model/change.ts'
import type { Scene, Step } from '../steps.ts'
import { ADA_SCOPE } from './sketch.ts'
import { oneIsEnough } from './tries.ts'

const told = (event: object): Step => ({ kind: 'told', process: 1, event: { workspace: 'acme', at: 0, ...event } }) as unknown as Step
const planning = (disposition: object): Step =>
  told({ kind: 'planned', plan: { changes: [{ scope: ADA_SCOPE, from: 500, to: 350, disposition }] } as unknown as Plan })
const planned = planning({ kind: 'ready' })
const onlyShown = planning({ kind: 'excluded', code: 'onDrift' })
const loaded = told({ kind: 'policy-loaded' })
const ended = told({ kind: 'cycle-finished', result: 'success' })
const believed: Step = { kind: 'recorded', process: 1, method: 'saveFact', values: ['usage', {}] }

/** What is said of these steps after a first cycle, while the cap that stands is 500. */
function said(steps: readonly Step[], desired: number, capSemantics = 'layered'): readonly string[] {
  const found: string[] = []
  const scene = {
    scenario: { capSemantics, switches: { capSemantics: 'layered', zeroCap: 'stored' }, pools: false },
    company: { groupsOf: () => [] },
    policy: () => ({ groups: new Map(), pools: [] }),
    policies: () => [],
    stored: () => 500,
    shows: () => 500,
    view: () => ({ scopes: [{ scope: ADA_SCOPE, state: 'in_sync', desired }] }),
  } as unknown as Scene
  const watch = oneIsEnough.watch(scene, { checked: () => undefined, violated: (message) => found.push(message) })
  for (const step of [ended, ...steps]) watch(step)
  return found
}

it.each<readonly [string, readonly Step[], number, number]>([
  ['leaves a change that it might have written', [planned, ended], 350, 1],
  ['leaves it though policy asks for what stands there: nothing has said so in the cycle', [planned, ended], 500, 1],
  ['leaves nothing that is asked for no more by a roster that somebody approved in the cycle', [planned, believed, ended], 500, 0],
  ['leaves what such a roster asks for as well', [planned, believed, ended], 350, 1],
  ['leaves it also where a roster was believed before the plan', [believed, planned, ended], 500, 1],
  ['leaves it also where a roster was believed in the cycle before', [planned, believed, ended, planned, ended], 500, 1],
])('a cycle %s', (_name, steps, desired, violations) => expect(said(steps, desired)).toHaveLength(violations))

it.each<readonly [string, readonly Step[], 'layered' | 'copied', number]>([
  ['leaves it to others where nothing is copied', [planned, onlyShown, ended], 'layered', 1],
  ['leaves it to others when a wide write was not copied over it', [planned, onlyShown, ended], 'copied', 0],
  ['leaves what it planned before policies were loaded', [planned, loaded, ended], 'layered', 0],
  ['leaves what it planned after policies were loaded', [loaded, planned, ended], 'layered', 1],
])('a cycle %s', (_name, steps, semantics, violations) => expect(said(steps, 350, semantics)).toHaveLength(violations))
