// How commands without network find the ledger, and the workspace in it; and its check, its backup and the use recorded in it. No file is
// created before the workspace is certain, so that a `pause` typed in the wrong folder fails instead of pausing nothing.
import { plain } from '../../../core/escape/text.ts'
import { hasErrors, InputError } from '../../../core/model/problem.ts'
import { type LoadedConfig, loadConfigAside } from '../../../daemon/config/config.ts'
import { ledgerFault } from '../../../daemon/ledger/postgres/address.ts'
import type { LedgerStore } from '../../../daemon/ledger/store.ts'
import { type RecordedUse, recordedUseOf } from '../../../daemon/replay/gather.ts'
import { loadPoliciesAside } from '../../../policy/load/load.ts'
import { didYouMean } from '../../../policy/suggest.ts'
import type { Ledger } from '../../../ports.ts'
import { type NetworkFlags, sameArgs } from '../command.ts'
import { type Cli, CommandError, EXIT, UsageError } from '../context.ts'
import { isLedgerUrl } from '../remote.ts'
import { count, present, tellLine } from '../text.ts'
import { shownLedger } from './address.ts'
import { currentWorkspaces, mustBeKept, mustExist, withStore } from './store.ts'

/**
 * Reads these workspaces, with the number of people who were forgotten, and the salt of people's hashes, which is absent until a daemon has made it.
 * Throws a `CommandError` when the ledger has records of none, and a `LedgerError` when it cannot be read.
 */
export async function readRecordedUse(cli: Cli, file: string, names: readonly string[], flags: NetworkFlags) {
  if (isLedgerUrl(file)) {
    throw new UsageError(
      `${shownLedger(file)} is the address of a daemon, which hands out no use by day; name the ledger itself, or a copy of it (\`capkeeper ledger backup FILE\`), with --ledger`,
    )
  }
  mustBeKept(file)
  return withStore(cli, file, 'read', async (store) => {
    const known = await currentWorkspaces(store)
    const found = names.filter((name) => known.includes(name))
    if (found.length === 0) throw nothingKnown(file, names, known, flags)
    let salt: string | undefined
    const workspaces: (RecordedUse & { readonly forgotten: number })[] = []
    for (const workspace of found) {
      const ledger = await store.workspace(workspace, undefined)
      salt ??= ledger.fact('peopleSalt')
      workspaces.push({ ...(await recordedUseOf(workspace, ledger)), forgotten: ledger.fact('forgottenHashes')?.length ?? 0 })
    }
    return { workspaces, salt }
  })
}

/** The command that gets past days into the same ledger; into a file to be named, where that is in memory. */
export const collectLine = (flags: NetworkFlags): string =>
  ['capkeeper collect', ...sameArgs(flags.ledger === ':memory:' ? { ...flags, ledger: 'FILE' } : flags)].join(' ')

function nothingKnown(file: string, names: readonly string[], known: readonly string[], flags: NetworkFlags): CommandError {
  if (known.length === 0)
    return new CommandError(`${file} has no records; type: ${collectLine(flags)}, or name another ledger with --ledger`)
  return new CommandError(
    `${file} knows nothing of ${names.join(', ')}; it knows ${known.join(', ')}: choose with --workspace, or name another ledger with --ledger`,
  )
}

/** `note` is for small writes beside a running daemon. `prefers` chooses among several workspaces. */
interface AccessOptions {
  readonly mode: 'note' | 'read'
  readonly prefers?: (ledger: Ledger) => boolean
}

/** Opens the ledger that flags, environment and config name, hands one workspace of it to `use`, and closes it. */
export async function withLedger(
  flags: NetworkFlags,
  cli: Cli,
  options: AccessOptions,
  use: (open: { readonly workspace: string; readonly ledger: Ledger }) => Promise<void>,
): Promise<void> {
  const { file, names } = await ledgerFile(flags, cli)
  const chosen = await withStore(cli, file, 'read', async (store) => {
    if (options.mode === 'read') mustExist(store)
    return chooseWorkspace(store, names, options)
  })
  if (!chosen.known) {
    const consequence = options.mode === 'note' ? '; this takes effect when a daemon does' : ''
    tellLine(cli, `warning: nothing has used ${shownLedger(file)} for ${chosen.workspace} yet${consequence}`)
  }
  await withStore(cli, file, options.mode, async (store) =>
    use({ workspace: chosen.workspace, ledger: await store.workspace(chosen.workspace, undefined) }),
  )
}

/** `ledger backup FILE`. */
export async function backupLedger(target: string, flags: NetworkFlags, cli: Cli): Promise<void> {
  const { file } = await ledgerFile(flags, cli)
  await withStore(cli, file, 'read', (store) => store.backup(target))
  cli.stdout.write(`${plain(`${file}: copied to ${target}`)}\n`)
  cli.finish(EXIT.done)
}

/** `ledger check`; exits 1 when the ledger is missing or damaged. */
export async function checkLedger(flags: NetworkFlags, cli: Cli): Promise<void> {
  const { file } = await ledgerFile(flags, cli)
  const report = await withStore(cli, file, 'read', async (store) => {
    mustExist(store)
    return store.check()
  })
  for (const problem of report.problems) tellLine(cli, `error: ${problem}`)
  const verdict = report.problems.length > 0 ? `not whole, ${count(report.problems.length, 'problem')}` : 'whole'
  const lines = present(`${report.file}: ${verdict}, schema version ${report.schemaVersion}`, report.note)
  cli.stdout.write(`${lines.join('\n')}\n`)
  cli.finish(report.problems.length > 0 ? EXIT.failed : EXIT.done)
}

/** Where the name of the workspace may come from. */
type Names = Awaited<ReturnType<typeof ledgerFile>>['names']

/** The file, and the names in config and policies. A broken config is an error only when nothing else names the file: a pause must always work. */
async function ledgerFile(flags: NetworkFlags, cli: Cli) {
  const given = { config: flags.config, ledger: flags.ledger, policies: flags.policies }
  const loaded = await loadConfigAside({ env: cli.env, flags: given }, cli.clock)
  const file = flags.ledger ?? (cli.env['CAPKEEPER_LEDGER'] || loaded.config?.ledger)
  if (file === undefined || ledgerFault(file) !== undefined) throw new InputError(loaded.problems.filter((problem) => hasErrors([problem])))
  mustBeKept(file)
  const configured = loaded.configured?.map(({ name }) => name) ?? []
  return {
    file,
    names: {
      asked: flags.workspace,
      configured,
      inPolicies: flags.workspace === undefined ? await nameInPolicies(loaded, cli) : undefined,
    },
  }
}

/** Without a config file the workspace has the name in the policies, as in `plan`. */
async function nameInPolicies({ config, configured }: LoadedConfig, { clock }: Cli): Promise<string | undefined> {
  const paths = config?.workspaces.flatMap((one) => one.policies) ?? []
  return configured || paths.length === 0 ? undefined : (await loadPoliciesAside(paths, {}, clock)).workspace
}

/** A workspace, and whether the ledger has records of it. */
async function chooseWorkspace(store: LedgerStore, { asked, configured, inPolicies: declared }: Names, options: AccessOptions) {
  const bound = await currentWorkspaces(store)
  const chosen = (workspace: string) => ({ workspace, known: bound.includes(workspace) })
  if (asked !== undefined) {
    const known = [...new Set([...bound, ...configured])]
    if (known.length > 0 && !known.includes(asked)) throw new UsageError(`there is no workspace "${asked}"; ${didYouMean(asked, known)}`)
    return chosen(asked)
  }
  // The ledger may also have workspaces that the config no longer has: those must be named with --workspace.
  const names = configured.length > 0 ? configured : bound
  const [only, ...others] = names
  if (others.length === 0 && only !== undefined) return chosen(only)
  if (only === undefined && declared !== undefined) return chosen(declared)
  if (only === undefined)
    throw new UsageError(`${store.file} knows no workspace yet; name one with --workspace, or another file with --ledger`)
  const preferred: string[] = []
  for (const name of names) if (bound.includes(name) && options.prefers?.(await store.workspace(name, undefined))) preferred.push(name)
  const [best, ...rivals] = preferred
  if (best !== undefined && rivals.length === 0) return chosen(best)
  if (declared !== undefined && names.includes(declared)) return chosen(declared)
  throw new UsageError(`there are several workspaces: ${names.join(', ')}; choose one with --workspace`)
}
