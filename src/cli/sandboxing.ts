// What `sandbox` does: serves until it is stopped.
import { SANDBOX_KEYS } from '../sandbox/sandbox.ts'
import { parseSettings } from '../sandbox/settings.ts'
import { parseSwitches } from '../sandbox/switches.ts'
import type { SandboxFlags } from './commands/sandbox.ts'
import { type Cli, UsageError } from './context.ts'
import { startEmbedded } from './embedded.ts'
import { EXIT } from './exit.ts'

/** Starts the service, says where it is and which keys it takes, and serves until an interrupt. */
export async function sandboxCommand(flags: SandboxFlags, cli: Cli): Promise<void> {
  const texts = Object.fromEntries(Object.entries(flags).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))
  const settings = parseSettings(texts)
  const switches = parseSwitches(texts)
  if (settings.kind === 'problems') throw new UsageError(settings.problems.join('; '))
  if (switches.kind === 'problems') throw new UsageError(switches.problems.join('; '))
  const { speed, ...company } = settings.settings
  const options = { clock: cli.clock, company, speed, switches: switches.switches, data: flags.data }
  const stopped = Promise.withResolvers<void>()
  const off = cli.signals.on('interrupt', stopped.resolve)
  try {
    const embedded = await startEmbedded(options, flags)
    cli.stdout.write(greeting(embedded.url))
    if (flags.somebodyElse !== undefined) {
      embedded.sandbox.foreignWriter({ everySeconds: flags.somebodyElse, say: (line) => cli.stderr.write(`${line}\n`) })
    }
    await stopped.promise
    await embedded.close()
  } finally {
    off()
  }
  cli.finish(EXIT.done)
}

function greeting(url: string): string {
  const keys = SANDBOX_KEYS.map(({ secret, permissions }) => `  ${secret.padEnd(24)}${permissions.join(', ')}`)
  return `${url}\n\nkeys:\n${keys.join('\n')}\n\ntry:\n  curl -s ${url}/api/v1/GetTeamCreditBalance -H 'Content-Type: application/json' -d '{"service_key":"sandbox-admin"}'\n`
}
