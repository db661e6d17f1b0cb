// The invariant of rules: violated by steps that break it, and not by others.
import { expect, it } from 'vitest'
import { emptyModel, type ModelRule } from '../lives/policy-model.ts'
import type { Scene, Step } from '../steps.ts'
import { rulesAgree } from './rules.ts'
import { ADA, ADA_SCOPE } from './sketch.ts'

const rule = { role: 'admin', cap: 600 } as ModelRule

const given: Step = {
  ...{ kind: 'recorded', process: 1, method: 'recordIntent' },
  values: [{ id: 1, planId: 'p', change: { scope: ADA_SCOPE, to: 600 }, entry: { kind: 'rule' } }],
}

/** Violations where ADA gets the cap of a rule after readings of her role; `r` is the role that the rule asks for. */
function said(readings: string): readonly string[] {
  const found: string[] = []
  const policy = { ...emptyModel(), rules: [rule] }
  const scene = { scenario: { rules: true }, policy: () => policy, ledger: () => undefined } as unknown as Scene
  const watch = rulesAgree.watch(scene, { checked: () => undefined, violated: (message) => found.push(message) })
  for (const [place, one] of [...readings].entries()) {
    const roster = { readAt: place + 1, people: [{ email: ADA, role: one === 'r' ? 'admin' : 'member' }] }
    watch({ kind: 'told', process: 1, event: { kind: 'usage-read', groups: [], roster } } as unknown as Step)
  }
  watch(given)
  return found
}

it.each([
  ['matches by one reading', 'nnr'],
  ['matches by one reading, and by an earlier one that the next contradicts', 'nnrnr'],
  ['no longer matches by two readings', 'rrnn'],
])('a rule that %s changes no cap', (_title, readings) => expect(said(readings)).toHaveLength(1))

it.each([
  ['matches by two readings', 'nnrr'],
  ['no longer matches by one reading', 'rrn'],
  ['was decided by unknown readings, without two agreeing ones since', 'nrn'],
])('a rule that %s may give its cap', (_title, readings) => expect(said(readings)).toEqual([]))
