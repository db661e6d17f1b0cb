// How the tests run: all together within five minutes on two cores, failures told in full, and nothing skipped in silence. With
// CAPKEEPER_TEST_REPORT=FILE the counts go to that file as JSON too; CAPKEEPER_TESTS=GLOBS names the tests to run.
import { defineConfig } from 'vitest/config'
import { WaitingSpread } from './test/support/order.ts'
import { skippedReporter } from './test/support/reporter.ts'

const report = process.env['CAPKEEPER_TEST_REPORT']

export default defineConfig({
  test: {
    include: process.env['CAPKEEPER_TESTS']?.split(' ') ?? ['test/**/*.test.ts'],
    globalSetup: ['test/support/program.ts'],
    setupFiles: ['test/support/setup.ts'],
    pool: 'forks',
    // More than the two cores that are promised: the files that come first wait for daemons and services for half of their time.
    maxWorkers: 5,
    // What a test makes lives shortly, beside modules that stay: room for it spares a twentieth of the work, which would be looking through it (MiB).
    execArgv: ['--min-semi-space-size=16', '--max-semi-space-size=64'],
    sequence: { sequencer: WaitingSpread },
    // No test changes what another one imports, so a worker keeps its modules: loading them for each file would take longer than the tests.
    isolate: false,
    // For what hangs. A machine that is ten times slower than that of the authors comes to its end with each test.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    allowOnly: false,
    // Node loads the files itself, and nothing reads each of them once more on the way: no test puts another module in the place of one.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    silent: 'passed-only',
    reporters: ['default', skippedReporter, ...(report ? [['json', { outputFile: report }] as ['json', { outputFile: string }]] : [])],
  },
})
