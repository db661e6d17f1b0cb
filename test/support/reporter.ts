// Ends a run with the names of skipped tests: a test that did not run must not look as if it had passed.
import type { Reporter, TestModule } from 'vitest/node'

const skippedIn = (module: TestModule): readonly string[] =>
  [...module.children.allTests('skipped')].map((test) => `  ${module.relativeModuleId} > ${test.fullName}`)

/** Prints nothing when every test ran. */
export const skippedReporter: Reporter = {
  onTestRunEnd(modules) {
    const skipped = modules.flatMap(skippedIn)
    if (skipped.length > 0) console.log(`\nSkipped, ${skipped.length}:\n${skipped.join('\n')}\n`)
  },
}
