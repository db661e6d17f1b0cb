// The order of test files: those that wait for processes are spread over the first part of the run, larger ones first, so that others use
// the cores meanwhile and no worker ends with one alone. Within both kinds the order is vitest's: by their last duration, or by size.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const WAITING = /\/test\/(e2e|hostile|sim|adversary|replicas|console|deploy)\/|postgres/
/** After this part of the other files none that waits begins. */
const FIRST_PART = 0.6

export class WaitingSpread extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const waiting = sorted.filter(({ moduleId }) => WAITING.test(moduleId))
    const others = sorted.filter(({ moduleId }) => !WAITING.test(moduleId))
    const between = Math.floor((FIRST_PART * others.length) / Math.max(1, waiting.length))
    return [
      ...waiting.flatMap((file, place) => [file, ...others.slice(place * between, (place + 1) * between)]),
      ...others.slice(waiting.length * between),
    ]
  }
}
