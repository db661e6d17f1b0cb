// `edit tidy`: removes what the ledger shows to be over: grants whose end was verified long ago, and approvals that are spent or void. What the
// ledger does not tell of stays.

import { declaredPeople, type Grant, type PolicySet } from '../../core/model/policy.ts'
import { hasErrors, InputError } from '../../core/model/problem.ts'
import { scopeKey } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import { grantId, hasEnded } from '../../core/resolve/grants.ts'
import { cycleOf } from '../../daemon/cycle/state.ts'
import type { SharedLedger } from '../../daemon/ledger/share.ts'
import type { WorkspaceEdit } from '../../policy/edit/plan.ts'
import type { Cli } from '../shared/context.ts'
import { interruptible } from '../shared/each.ts'
import { policyPaths, problemsBeside, readPolicies } from '../shared/problems.ts'
import { isLedgerUrl, ledgerToken } from '../shared/remote.ts'
import { dayText, span } from '../shared/text.ts'
import type { TidyFlags } from './command.ts'
import { editedConfig, makeEdits } from './run.ts'

/** Removes grants and approvals that are over. */
export async function tidyCommand(flags: TidyFlags, cli: Cli): Promise<void> {
  const config = await editedConfig(flags, cli)
  const loaded = await readPolicies(policyPaths(config.config), config, { ...flags, asWritten: true }, cli)
  if (hasErrors(problemsBeside(loaded))) throw new InputError(loaded.problems)
  const chosen = [...loaded.sets].flatMap(([name, { set }]) => (flags.workspace === undefined || flags.workspace === name ? [set] : []))
  const address = config.config?.ledger ?? ''
  const found = await interruptible(cli, (signal) =>
    withLedgers(flags, address, cli, signal, (of) => everything(chosen, of, flags.ended, cli.clock.now())),
  )
  if (found.length > 0) return makeEdits(found, { config, flags, cli })
  await makeEdits([], { config, flags, cli })
  cli.stderr.write('nothing to do: no grant or approval is over\n')
}

/** The records of a workspace; undefined where the ledger has none. */
type LedgerOf = (set: PolicySet) => Promise<Pick<SharedLedger, 'approvals' | 'fact' | 'history' | 'owned'> | undefined>

/** Loaded here, so that the other edits start without a database and without the network. */
async function withLedgers<T>(
  flags: TidyFlags,
  address: string,
  cli: Cli,
  signal: AbortSignal,
  use: (of: LedgerOf) => Promise<T>,
): Promise<T> {
  if (!isLedgerUrl(address)) {
    const { currentWorkspaces, mustBeKept, mustExist, withStore } = await import('../shared/ledger/store.ts')
    mustBeKept(address)
    return withStore(cli, address, 'read', async (store) => {
      mustExist(store)
      const known = await currentWorkspaces(store)
      return use(async ({ workspace }) => (known.includes(workspace) ? store.workspace(workspace, undefined) : undefined))
    })
  }
  const [{ sharedAt }, { readShared }, { sha256 }] = await Promise.all([
    import('../shared/ledger/ledgers.ts'),
    import('../../daemon/ledger/share.ts'),
    import('../../daemon/schedule/system.ts'),
  ])
  const { document } = await sharedAt(address, { clock: cli.clock, token: ledgerToken(flags, cli), signal })
  const emailsIn = (set: PolicySet): readonly string[] => declaredPeople(set).map(({ email }) => email)
  return use(async (set) => readShared(document, set.workspace, emailsIn(set), sha256))
}

async function everything(sets: readonly PolicySet[], of: LedgerOf, endedMs: number, now: Instant): Promise<readonly WorkspaceEdit[]> {
  const edits: WorkspaceEdit[] = []
  for (const set of sets) {
    const ledger = await of(set)
    if (!ledger) continue
    for (const grant of set.grants) {
      const endedAt = await verifiedEnd(grant, set, ledger, now)
      if (endedAt === undefined || now - endedAt < endedMs) continue
      const { scope, fromAt, until } = grant
      const times = { fromAt, until }
      const because = `its end was verified on ${dayText(endedAt)}, ${span(now - endedAt)} ago`
      edits.push({ kind: 'remove', target: { kind: 'grant', scope, times }, workspace: set.workspace, because })
    }
    // A withdrawn one left the policy: listed again, it is a new approval, also before a plan has seen it.
    const states = new Map(ledger.approvals().map(({ id, state, withdrawn }) => [id, withdrawn ? 'pending' : state]))
    for (const { id } of set.approvals) {
      const state = states.get(id)
      if (state !== 'spent' && state !== 'void') continue
      const because = `it is ${state}, and releases nothing any more`
      edits.push({ kind: 'remove', target: { kind: 'approval', id }, workspace: set.workspace, because })
    }
  }
  return edits
}

/**
 * When the ledger first shows that a grant is over: its end was written and read back, or the cap behind it was found in force. In the billing
 * cycle of a grant until `cycleEnd`, what ended is another one.
 */
async function verifiedEnd(
  grant: Grant,
  set: PolicySet,
  ledger: Pick<SharedLedger, 'fact' | 'history' | 'owned'>,
  now: Instant,
): Promise<Instant | undefined> {
  const { scope, fromAt = 0, until } = grant
  const [id, key] = [grantId(grant), scopeKey(scope)]
  const ours = ledger.owned().find((one) => scopeKey(one.scope) === key)
  if (ours?.grant === id || !hasEnded(id, { cycle: cycleOf(ledger.fact('usage')), now, grantsFrozen: false })) return undefined
  const endAt = until.kind === 'instant' ? until.at : fromAt + 1
  // The next grant on the scope has an end of its own.
  const next = set.grants
    .filter((one) => one !== grant && scopeKey(one.scope) === key && (one.fromAt ?? 0) >= endAt)
    .map((one) => one.fromAt ?? 0)
  const isIts = (at: Instant): boolean => at >= endAt && at < Math.min(Number.POSITIVE_INFINITY, ...next)
  const written = (await ledger.history({ scope, sinceAt: endAt })).filter(
    ({ cause, result, at }) => cause === 'expired' && result === 'applied' && isIts(at),
  )
  const inForce = ours && ours.owner !== 'grant' && until.kind === 'instant' && ours.verifiedAt >= endAt ? [ours.verifiedAt] : []
  const [first] = [...written.map(({ at }) => at), ...inForce].toSorted((a, b) => a - b)
  return first
}
