// In which order test files run: those that wait for processes are spread over the first part of the run, the larger first, so that others
// use the cores meanwhile and no worker is left alone with one at the end. Within both kinds as vitest has it: by what they took before, or by size.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const WAITING = /\/test\/(e2e|hostile|sim|adversary|replicas|console|deploy)\/|postgres/
/** Behind this part of the others none that waits begins. */
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
