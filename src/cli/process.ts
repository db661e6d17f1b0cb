// The process around the CLI: its streams, its environment, its signals and uncaught errors. Nothing else in src/cli uses `process`, except
// the progress bar, which cleans up when the process ends.

import { isReading } from '../files.ts'
import type { Clock } from '../ports.ts'
import { runCli } from './program.ts'
import { createSecrets, EXIT, type ExitCode, type Output, type World } from './shared/context.ts'
import { reportFailure } from './shared/each.ts'

/** Runs the command line of this process; resolves with its exit code and never rejects. */
export async function main(host: NodeJS.Process): Promise<ExitCode> {
  const { systemClock } = await import('../daemon/schedule/system.ts')
  const world = processWorld(host, systemClock)
  let isOutputLost = false
  const failOutput = (why: string): void => {
    isOutputLost = true
    host.exitCode = EXIT.failed
    world.stderr.write(`error: the output could not be written (${why})\n`)
  }
  ignoreClosedPipe(world.stdout, failOutput)
  ignoreClosedPipe(world.stderr, () => undefined)
  const crash = (error: unknown): void => {
    reportFailure(error, world).finally(() => leave(host, EXIT.failed))
  }
  host.on('uncaughtException', crash)
  host.on('unhandledRejection', crash)
  const ran = await runCli(host.argv.slice(2), world)
  const code = isOutputLost && ran === EXIT.done ? EXIT.failed : ran
  return isReading() ? leave(host, code) : code
}

/** Ends the process at once. Its exit waits for every read of a file, also for one that never ends; another program in its place waits for none. */
function leave(host: NodeJS.Process, code: ExitCode): never {
  if (isReading()) host.execve?.(host.execPath, [host.execPath, '-e', `process.exitCode = ${code}`], {})
  return host.exit(code)
}

function processWorld(host: NodeJS.Process, clock: Clock): World {
  const secrets = createSecrets()
  secrets.add(host.env['CAPKEEPER_SERVICE_KEY'] ?? '')
  secrets.add(host.env['PGPASSWORD'] ?? '')
  return { stdin: host.stdin, stdout: host.stdout, stderr: host.stderr, env: host.env, clock, secrets, signals: processSignals(host) }
}

const SIGNALS = { interrupt: ['SIGINT', 'SIGTERM'], hangup: ['SIGHUP'] } as const

const processSignals = (host: NodeJS.Process): World['signals'] => ({
  on(kind, handler) {
    for (const name of SIGNALS[kind]) host.on(name, handler)
    return () => {
      for (const name of SIGNALS[kind]) host.off(name, handler)
    }
  },
  exit: (code) => leave(host, code),
})

/** `capkeeper plan | head` closes the pipe early: the rest of the output is dropped, and the command still does its work and keeps its exit code. */
function ignoreClosedPipe(stream: Output, onFailure: (why: string) => void): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') onFailure(error.code ?? error.message)
  })
}
