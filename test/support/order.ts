// In which order test files run: those that start processes and wait for them first, so that no worker is left alone with one at the end.
// Within both halves as vitest has it: by what they took before, or by size.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const LONG = /\/test\/(e2e|hostile|sim|adversary)\//

export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return [...sorted.filter(({ moduleId }) => LONG.test(moduleId)), ...sorted.filter(({ moduleId }) => !LONG.test(moduleId))]
  }
}
