// How often one cycle may try the same: what has failed in it waits for the next one, however many passes are still to come.
import { scopeKey } from '../../../src/core/model/scope.ts'
import type { Invariant } from '../steps.ts'
import { intentOf } from './looks.ts'

/** A cycle that an edit or a stop cuts short does not say so, and the next one tries again. */
const MOST_TRIES = 3

export const fewTries: Invariant = {
  name: 'what has failed is not tried again in the same cycle',
  watch(_scene, checker) {
    let tries = new Map<string, number>()
    return (step) => {
      if (step.kind === 'started' || step.kind === 'foreign' || step.kind === 'world') tries = new Map()
      if (step.kind === 'told' && step.event.kind === 'cycle-finished') tries = new Map()
      const change = step.kind === 'recorded' && step.method === 'recordIntent' ? intentOf(step)?.change : undefined
      if (!change) return
      checker.checked()
      const what = `${scopeKey(change.scope)} to ${change.to}`
      const count = (tries.get(what) ?? 0) + 1
      tries.set(what, count)
      if (count > MOST_TRIES) checker.violated(`${what} is tried ${count} times in one cycle`)
    }
  },
}
