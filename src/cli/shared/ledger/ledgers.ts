// Ledgers for commands that only read: from a file or a database, or from a running daemon (`--ledger http://daemon:9464`), so that a plan on a
// pull request knows the same ownership, baselines and approvals. A daemon is never asked to change anything.

import { declaredPeople } from '../../../core/model/policy.ts'
import { Undecodable } from '../../../core/model/shape.ts'
import { failureOf } from '../../../daemon/collect/asking.ts'
import type { WorkspaceConfig } from '../../../daemon/config/settings.ts'
import { LedgerError } from '../../../daemon/ledger/error.ts'
import { readShared, type SharedLedger, type SharedWorkspace, sharedLedger } from '../../../daemon/ledger/share.ts'
import type { LedgerDocument } from '../../../daemon/ledger/values/values.ts'
import { sha256 } from '../../../daemon/schedule/system.ts'
import type { Ledger, ReadClient } from '../../../ports.ts'
import type { Setup, WorkspaceSetup } from '../../compose.ts'
import type { NetworkFlags } from '../command.ts'
import { type Cli, CommandError } from '../context.ts'
import { askFor, type DaemonQuestion, isLedgerUrl, ledgerToken, pageAt } from '../remote.ts'
import { currentWorkspaces, ledgerOf, openStore } from './store.ts'

/** A daemon elsewhere does not share what each person used by day. */
export type PlanLedger = SharedLedger & Partial<Pick<Ledger, 'useByPerson'>>

/** The ledgers of a command, open for reading. */
export interface Ledgers<L = PlanLedger> {
  /** Workspaces that have records. */
  readonly known: readonly string[]
  of(workspace: WorkspaceSetup, client: ReadClient, signal: AbortSignal): Promise<L>
  close(): Promise<void>
}

/** Opens the file, or asks the daemon. Throws a `LedgerError`, or a `CommandError` when no daemon answers. */
export const openLedgers =
  (cli: Cli, setup: Setup, flags: Pick<NetworkFlags, 'ledgerTokenFile'> & { readonly rebind?: boolean } = {}) =>
  (signal: AbortSignal): Promise<Ledgers> => {
    const { ledger } = setup.config
    return isLedgerUrl(ledger) ? remoteLedgers(ledger, cli, ledgerToken(flags, cli), signal) : openOwnLedgers(cli, setup, flags.rebind)
  }

/** Opens the file or the database. Throws a `LedgerError`, or a `UsageError` for the address of a daemon. */
export async function openOwnLedgers(cli: Cli, { config }: Setup, rebind = false): Promise<Ledgers<Ledger>> {
  const store = await openStore(cli, config.ledger, 'read')
  return {
    known: await currentWorkspaces(store),
    of: (one) => ledgerOf(store, one.config, rebind),
    close: () => store.close(),
  }
}

const TIMEOUT_MS = 30_000

async function remoteLedgers(address: string, { clock }: Cli, token: string | undefined, signal: AbortSignal): Promise<Ledgers> {
  const { url, document } = await sharedAt(address, { clock, token, signal })
  return {
    known: document.workspaces.map((one) => one.workspace),
    async of({ config, policy }, client, stop) {
      mustServe(url, config, document.workspaces)
      const { peopleRules, pools } = policy.set
      // Patterns and names of rules and pools may have addresses in them.
      const named = JSON.stringify([peopleRules, pools])
      const said = [...declaredPeople(policy.set).map(({ email }) => email), ...(await rosterEmails(client, config, stop)), named]
      const ledger = readShared(document, config.name, said, sha256)
      if (!ledger) throw new CommandError(`${url} knows no workspace ${config.name}`)
      return ledger
    },
    close: async () => undefined,
  }
}

/** What a running daemon shares, by the address in `--ledger`. Throws a `CommandError` when no daemon answers. */
export async function sharedAt(
  address: string,
  asking: Pick<DaemonQuestion, 'clock' | 'token' | 'signal'>,
): Promise<{ readonly url: string; readonly document: LedgerDocument }> {
  const url = pageAt(address, '/ledger', '--ledger')
  const way = 'give --ledger-token-file FILE, or set CAPKEEPER_LEDGER_TOKEN'
  const { value } = await askFor({ ...asking, url, timeoutMs: TIMEOUT_MS }, way, '; is `capkeeper run` running there?')
  if (value === undefined) throw new CommandError(`${url} did not answer with a ledger; is that a capkeeper daemon of this version?`)
  try {
    return { url, document: sharedLedger(value) }
  } catch (error) {
    if (!(error instanceof Undecodable)) throw error
    throw new CommandError(`the ledger at ${url} cannot be understood (${error.message}); do both run the same version?`)
  }
}

/** A workspace of the same name at another address has other caps. */
function mustServe(
  url: string,
  { name, baseUrl }: WorkspaceConfig,
  workspaces: readonly Pick<SharedWorkspace, 'workspace' | 'baseUrl'>[],
): void {
  const found = workspaces.find((one) => one.workspace === name)
  if (!found) {
    const names = workspaces.map((one) => one.workspace).join(', ')
    throw new CommandError(`the daemon at ${url} has no workspace ${name}; it has ${names === '' ? 'none' : names}`)
  }
  if (found.baseUrl !== baseUrl) {
    throw new LedgerError(
      'LEDGER_BOUND',
      `${name}: the daemon at ${url} works on ${found.baseUrl}, and the address here is ${baseUrl}; correct --base-url`,
    )
  }
}

/** The daemon's ledger has people as hashes: without the roster none could be matched, and all caps of ours would look foreign. */
async function rosterEmails(client: ReadClient, { name }: WorkspaceConfig, signal: AbortSignal): Promise<readonly string[]> {
  try {
    return (await client.readRoster(signal)).people.map(({ email }) => email)
  } catch (error) {
    signal.throwIfAborted()
    throw new CommandError(
      `${name}: the roster could not be read, and without it the daemon's ledger tells nothing: ${failureOf(error).message}`,
    )
  }
}
