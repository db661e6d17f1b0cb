// `import`: reads the roster, the groups and every cap in force, and prints a policy that asks for exactly that. A cap that could not be read is
// named in it, never guessed.
import { plain } from '../../core/escape/terminal.ts'
import { hasErrors, InputError } from '../../core/model/problem.ts'
import { scopeKey } from '../../core/model/scope.ts'
import type { Adopted } from '../../core/resolve/adopt.ts'
import { networkProblems } from '../../daemon/config/config.ts'
import { loadConfigAside } from '../../daemon/config/load-aside.ts'
import type { WorkspaceConfig } from '../../daemon/config/settings.ts'
import { printPolicy } from '../../policy/print.ts'
import { type Cli, UsageError } from '../shared/context.ts'
import { EXIT } from '../shared/exit.ts'
import { interruptible } from '../shared/interrupt.ts'
import { tellLine } from '../shared/tell.ts'
import { count } from '../shared/text.ts'
import { type ImportFlags, NO_GROUPS } from './command.ts'
import { openJournal } from './journal.ts'
import { type Live, readLive } from './live.ts'
import { adoptLive, notesOf, policyOf } from './policy.ts'

/** Imports one workspace. Exits 4 when some caps could not be read. */
export async function importCommand(flags: ImportFlags, cli: Cli): Promise<void> {
  const { config, isNamed } = await readWorkspace(flags, cli)
  const groups = flags.group ?? []
  if (groups.length === 0) cli.stderr.write(NO_GROUPS)
  const journal = openJournal(flags.journal, { workspace: config.name, baseUrl: config.baseUrl }, cli.clock.now())
  const interrupted = `interrupted; the readings are kept in ${flags.journal}: the same command continues within an hour`
  const live = await interruptible(cli, (signal) => readLive({ config, groups, journal, interrupted, cli, signal }))
  const adopted = adoptLive(live, groups)
  const notes = notesOf(config, adopted, live).map((line) => `# ${plain(line)}\n`)
  cli.stdout.write(`${notes.join('')}${printPolicy(policyOf(config.name, adopted), { name: config.name, workspace: isNamed })}`)
  tell(adopted, live, flags.journal, cli)
  if (live.unread.length === 0) journal.remove()
  cli.finish(live.unread.length > 0 ? EXIT.partial : EXIT.done)
}

async function readWorkspace(flags: ImportFlags, cli: Cli): Promise<{ readonly config: WorkspaceConfig; readonly isNamed: boolean }> {
  const loaded = await loadConfigAside({ env: cli.env, flags }, cli.clock)
  if (!loaded.config || hasErrors(loaded.problems)) throw new InputError(loaded.problems)
  const missing = networkProblems(loaded.config, { policies: false })
  const [config, ...others] = loaded.config.workspaces
  if (others.length > 0 || !config) {
    const names = loaded.config.workspaces.map(({ name }) => name).join(', ')
    throw new UsageError(`there are several workspaces: ${names}; choose one with --workspace`)
  }
  if (missing.length > 0) throw new InputError([...missing, ...loaded.problems])
  if (flags.workspace === undefined || loaded.configured) return { config, isNamed: loaded.configured !== undefined }
  return { config: { ...config, name: flags.workspace }, isNamed: true }
}

function tell(adopted: Adopted, live: Live, file: string, cli: Cli): void {
  const talk = (line: string): unknown => tellLine(cli, line)
  const [torn, ...others] = adopted.conflicts
  if (torn !== undefined) {
    const who = others.length > 0 ? `${torn} and ${others.length} more` : torn
    talk(`warning: ${who}: their groups have different caps; set spec.onGroupConflict to min or max, or give them a cap of their own`)
  }
  for (const { scope, message } of live.unread.slice(0, 10)) talk(`error: ${scopeKey(scope)} could not be read: ${message}`)
  if (live.unread.length > 0) {
    talk(`${count(live.unread.length, 'cap')} could not be read; the same command reads them again and keeps the rest (${file})`)
  }
}
