// The invariant of successful cycles: violated by steps that break it, and not by others.
import { expect, it } from 'vitest'
import type { Plan } from '../../../src/core/model/change.ts'
import type { Scene, Step } from '../steps.ts'
import { ADA_SCOPE } from './sketch.ts'
import { completeCycle } from './tries.ts'

const told = (event: object): Step => ({ kind: 'told', process: 1, event: { workspace: 'acme', at: 0, ...event } }) as unknown as Step
const planning = (disposition: object): Step =>
  told({ kind: 'planned', plan: { changes: [{ scope: ADA_SCOPE, from: 500, to: 350, disposition }] } as unknown as Plan })
const planned = planning({ kind: 'ready' })
const onlyShown = planning({ kind: 'excluded', code: 'onDrift' })
const loaded = told({ kind: 'policy-loaded' })
const ended = told({ kind: 'cycle-finished', result: 'success' })
const believed: Step = { kind: 'recorded', process: 1, method: 'saveFact', values: ['usage', {}] }

/** The violations by these steps after a first cycle, while the stored cap is 500. */
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
  const watch = completeCycle.watch(scene, { checked: () => undefined, violated: (message) => found.push(message) })
  for (const step of [ended, ...steps]) watch(step)
  return found
}

it.each<readonly [string, readonly Step[], number, number]>([
  ['leaves a change that it was free to write', [planned, ended], 350, 1],
  ['leaves it, though policy asks for the stored cap, without an event in the cycle', [planned, ended], 500, 1],
  ['leaves a change that a roster approved in the cycle no longer asks for', [planned, believed, ended], 500, 0],
  ['leaves a change that such a roster still asks for', [planned, believed, ended], 350, 1],
  ['leaves it after a roster was believed before the plan', [believed, planned, ended], 500, 1],
  ['leaves it after a roster was believed in the previous cycle', [planned, believed, ended, planned, ended], 500, 1],
])('a cycle %s', (_name, steps, desired, violations) => expect(said(steps, desired)).toHaveLength(violations))

it.each<readonly [string, readonly Step[], 'layered' | 'copied', number]>([
  ['leaves it as a foreign change where caps are layered', [planned, onlyShown, ended], 'layered', 1],
  ['leaves it as a foreign change where a group write was not copied over it', [planned, onlyShown, ended], 'copied', 0],
  ['leaves a change that it planned before policies were loaded', [planned, loaded, ended], 'layered', 0],
  ['leaves a change that it planned after policies were loaded', [loaded, planned, ended], 'layered', 1],
])('a cycle %s', (_name, steps, semantics, violations) => expect(said(steps, 350, semantics)).toHaveLength(violations))
