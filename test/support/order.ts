// The order of test files: those that take longest begin first, and those that wait for processes are spread over the first part of the run, larger ones
// first, so that others use the cores meanwhile and no worker ends with one alone. Else the order is vitest's: by their last duration, or by size.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const WAITING = /\/test\/(e2e|hostile|sim|adversary|replicas|console|deploy)\/|postgres/
/** Short texts that take longest. */
const LONGEST = /\/test\/(scenes\/scenes|e2e\/replicas|e2e\/quick-start|hostile\/files)\.test/
/** After this part of the other files none that waits begins. */
const FIRST_PART = 0.6

export class WaitingSpread extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const longest = sorted.filter(({ moduleId }) => LONGEST.test(moduleId))
    const rest = sorted.filter((file) => !longest.includes(file))
    const waiting = rest.filter(({ moduleId }) => WAITING.test(moduleId))
    const others = rest.filter(({ moduleId }) => !WAITING.test(moduleId))
    const between = Math.floor((FIRST_PART * others.length) / Math.max(1, waiting.length))
    return [
      ...longest,
      ...waiting.flatMap((file, place) => [file, ...others.slice(place * between, (place + 1) * between)]),
      ...others.slice(waiting.length * between),
    ]
  }
}
