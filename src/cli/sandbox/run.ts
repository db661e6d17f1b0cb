// `sandbox`: serves until it is stopped, or exports its state as a fixture file. Its flags come from the service's tables of settings and
// switches. All input is checked before anything is created.

import { existsSync } from 'node:fs'
import { Option } from 'commander'
import { plain } from '../../core/escape/text.ts'
import { InputError } from '../../core/model/problem.ts'
import { readText, whyUnreadAndCode } from '../../files.ts'
import { addedKeys, exportFixture, readFixture } from '../../sandbox/fixture/file.ts'
import { createSandbox, SANDBOX_KEYS, type SandboxOptions } from '../../sandbox/sandbox.ts'
import { openStore, type Store } from '../../sandbox/store.ts'
import { parseSettings, parseSwitches, SETTINGS, SWITCHES } from '../../sandbox/switches.ts'
import { action, COMMANDS, type FlagsOf, type Register } from '../shared/command.ts'
import { type Cli, EXIT, UsageError } from '../shared/context.ts'
import { saveWhole } from '../shared/reader.ts'
import type { Embedded } from './embedded.ts'

/** Also all settings and switches as texts, by their names. */
type SandboxFlags = FlagsOf<typeof COMMANDS.sandbox> & Readonly<Record<string, unknown>>

export const register: Register = (command, cli) => {
  action(COMMANDS.sandbox, sandboxCommand)(command, cli)
  for (const { flag, values, default: preset, help } of SETTINGS) {
    command.addOption(new Option(`${flag} <n>`, `${help}; ${values} (default: ${preset})`).default(undefined, preset))
  }
  for (const { flag, values, choices, default: preset, help } of SWITCHES) {
    const option = new Option(`${flag} <value>`, `${help} (${choices ? '' : `${values}; `}default: ${preset})`).default(undefined, preset)
    // For the help and completion alone: the sandbox reads the text itself, and tells of all wrong ones at once.
    option.argChoices = choices && [...choices]
    command.addOption(option)
  }
}

const MAX_FIXTURE_BYTES = 512 * 1024 * 1024

function textOf(file: string): string {
  try {
    return readText(file, MAX_FIXTURE_BYTES)
  } catch (error) {
    const message = `the fixture ${file} ${whyUnreadAndCode(error)}`
    throw new InputError([{ severity: 'error', code: 'FIXTURE_UNREADABLE', message }])
  }
}

/** Writes the state to `to`, or to stdout for `-`. Throws a `CommandError` and leaves nothing behind when that fails. */
function exportState(options: SandboxOptions, to: string, cli: Cli): void {
  using opened = new DisposableStack()
  const store = opened.adopt(stateOf(options), (one) => one.close())
  // In one transaction, because another process may have the file open.
  const text = store.transaction(() => exportFixture(store))
  if (to === '-') cli.stdout.write(text)
  else saveWhole(to, text)
}

/** The data as it is: only a running sandbox, which may have the same file open, advances its time. Without data, a fresh company. */
function stateOf(options: SandboxOptions): Store {
  const kept = openStore(options.data ?? ':memory:')
  if (kept.meta('grownUntil') !== undefined && !options.fixture) return kept
  kept.close()
  return createSandbox(options).store
}

/** Serves, or exports. Throws a `UsageError` for a wrong flag, and an `InputError` for a wrong file. */
async function sandboxCommand(flags: SandboxFlags, cli: Cli): Promise<void> {
  const options = await optionsOf(flags, cli)
  if (flags.export !== undefined) exportState(options, flags.export, cli)
  else await serve(options, flags, cli)
  cli.finish(EXIT.done)
}

async function optionsOf(flags: SandboxFlags, cli: Cli): Promise<SandboxOptions> {
  const texts = Object.fromEntries(Object.entries(flags).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))
  const settings = parseSettings(texts)
  const switches = parseSwitches(texts)
  if (settings.kind === 'problems') throw new UsageError(settings.problems.join('; '))
  if (switches.kind === 'problems') throw new UsageError(switches.problems.join('; '))
  const { speed, ...company } = settings.values
  const options = { clock: cli.clock, company, speed, switches: switches.values, data: flags.data }
  if (flags.fixture === undefined) return options
  const seeding = seedingFlags(flags)
  if (seeding.length > 0) throw new UsageError(`${seeding.join(', ')}: a fixture has its own people; leave out either this or --fixture`)
  return { ...options, fixture: readFixture(flags.fixture, textOf(flags.fixture), cli.clock.now()) }
}

/** The given flags that shape a seeded company. */
const seedingFlags = (flags: SandboxFlags): readonly string[] =>
  ['people', 'groups', 'days'].filter((name) => flags[name] !== undefined).map((name) => `--${name}`)

async function serve(options: SandboxOptions, flags: SandboxFlags, cli: Cli): Promise<void> {
  const unused = existsSync(flags.data) ? seedingFlags(flags) : []
  using opened = new DisposableStack()
  const stopped = Promise.withResolvers<void>()
  opened.defer(cli.signals.on('interrupt', stopped.resolve))
  const { startEmbedded } = await import('./embedded.ts')
  const embedded = await startEmbedded(options, flags)
  cli.stdout.write(greeting(embedded))
  if (unused.length > 0) cli.stderr.write(`${flags.data} holds a company already: ${unused.join(', ')} change nothing\n`)
  if (flags.somebodyElse !== undefined) {
    embedded.sandbox.foreignWriter({ everySeconds: flags.somebodyElse, say: (line) => cli.stderr.write(`${line}\n`) })
  }
  await stopped.promise
  await embedded.close()
}

function greeting({ url, sandbox }: Embedded): string {
  const keys = [...SANDBOX_KEYS, ...addedKeys(sandbox.store)].map(
    ({ secret, permissions }) => `  ${plain(secret).padEnd(24)}${permissions.join(', ')}`,
  )
  return `${url}\n\nkeys:\n${keys.join('\n')}\n\ntry:\n  curl -s ${url}/api/v1/GetTeamCreditBalance -H 'Content-Type: application/json' -d '{"service_key":"sandbox-admin"}'\n`
}
