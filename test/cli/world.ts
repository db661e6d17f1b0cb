// A command line run inside the test: captured streams, a given environment, a clock that stands still.
import { PassThrough } from 'node:stream'
import { runCli } from '../../src/cli/program.ts'
import { createSecrets, NO_SIGNALS, type World } from '../../src/cli/shared/context.ts'
import { fakeClock } from '../support/clock.ts'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs `capkeeper …argv` and returns what it said. */
export async function run(
  argv: readonly string[],
  options: { readonly env?: World['env']; readonly clock?: World['clock'] } = {},
): Promise<Ran> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const read = (stream: PassThrough): string => String(stream.read() ?? '')
  const secrets = createSecrets()
  secrets.add(options.env?.['CAPKEEPER_SERVICE_KEY'] ?? '')
  const code = await runCli(argv, {
    stdin: new PassThrough(),
    stdout,
    stderr,
    env: options.env ?? {},
    clock: options.clock ?? fakeClock(),
    secrets,
    signals: NO_SIGNALS,
  })
  return { code, stdout: read(stdout), stderr: read(stderr) }
}
