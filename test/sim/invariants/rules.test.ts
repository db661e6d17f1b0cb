// The invariant of rules, shown to be able to fail on steps that break it, and to be silent on steps that do not.
import { expect, it } from 'vitest'
import { emptyModel, type ModelRule } from '../lives/policy-model.ts'
import type { Scene, Step } from '../steps.ts'
import { rulesAgree } from './rules.ts'
import { ADA, ADA_SCOPE } from './sketch.ts'

const rule = { role: 'admin', cap: 600 } as ModelRule

const given: Step = {
  ...{ kind: 'recorded', process: 1, method: 'recordIntent' },
  values: [{ id: 1, planId: 'p', change: { scope: ADA_SCOPE, to: 600 }, entry: { kind: 'people' } }],
}

/** What is said where ADA gets what the rule gives after readings of her role, `r` for the one that it asks for. */
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
  ['holds by one reading', 'nnr'],
  ['holds by one reading, and by one before that another followed', 'nnrnr'],
  ['holds no more by two readings', 'rrnn'],
])('a rule that %s moves nobody', (_title, readings) => expect(said(readings)).toHaveLength(1))

it.each([
  ['holds by two readings', 'nnrr'],
  ['holds no more by one reading', 'rrn'],
  ['was settled by what nobody heard, and of which no two readings have agreed since', 'nrn'],
])('a rule that %s may give its cap', (_title, readings) => expect(said(readings)).toEqual([]))
