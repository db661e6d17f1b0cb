// Compares a saved plan with the present state: it is applied as it was reviewed, or refused as a whole, with all workspaces in its file.

import { type Change, holdOf, type Plan } from '../../core/model/change.ts'
import type { Cap } from '../../core/model/policy.ts'
import { byScope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import { CLOCKS_APART_MS, type Instant } from '../../core/model/units.ts'
import type { LedgerStore } from '../../daemon/ledger/store.ts'
import { readText, whyUnreadAndCode } from '../../files.ts'
import type { Setup, WorkspaceSetup } from '../compose.ts'
import { plansFromJson } from '../plan/file.ts'
import { type Cli, CommandError } from '../shared/context.ts'
import { ledgerOf } from '../shared/ledger/store.ts'
import { sweepProgress } from '../shared/progress.ts'
import { withReader } from '../shared/reader.ts'
import type { ApplyFlags } from './command.ts'

/** A plan older than this is refused. */
const PLAN_LIFE_MS = 24 * 3_600_000

const MAX_PLAN_BYTES = 256 * 1024 * 1024

/** Reads the plans of a file. Throws a `CommandError` when it cannot be read, and an `InputError` when it is no plan. */
export function readPlans(file: string): readonly Plan[] {
  try {
    return plansFromJson(readText(file, MAX_PLAN_BYTES), file)
  } catch (error) {
    if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
      throw new CommandError(`${file} ${whyUnreadAndCode(error)}`)
    }
    throw error
  }
}

interface Admitting {
  readonly store: LedgerStore
  readonly flags: Pick<ApplyFlags, 'rebind'>
  readonly cli: Cli
  readonly signal: AbortSignal
}

/**
 * Reads every workspace of a file of several plans before the first of them is written. Throws a `CommandError` that says why none is written.
 * One plan alone is admitted when it is shown.
 */
export async function admitAll(saved: ReadonlyMap<string, Plan>, setup: Setup, { store, flags, cli, signal }: Admitting): Promise<void> {
  if (saved.size < 2) return
  const progress = await sweepProgress('reading caps', cli.stderr, signal)
  const session = { cli, signal, progress, ledgerOf: (one: WorkspaceSetup) => ledgerOf(store, one.config, flags.rebind) }
  try {
    for (const one of setup.workspaces) {
      const plan = saved.get(one.config.name)
      if (plan)
        await withReader(one, session, async ({ preview }) => admit(plan, (await preview()).planned.plan, cli.clock.now())).catch(
          named(one),
        )
    }
  } finally {
    progress.stop()
  }
}

/** Names the workspace in the refusal of one of several plans. */
const named =
  ({ config }: WorkspaceSetup) =>
  (error: unknown): never => {
    throw error instanceof CommandError ? new CommandError(`${config.name}: ${error.message}`) : error
  }

/**
 * The caps of a saved plan that may be written now, by scope. Throws a `CommandError` when the plan is refused: it is too old, the policies are
 * others, or a scope has changed since.
 */
export function admit(saved: Plan, fresh: Plan, now: Instant): ReadonlyMap<ScopeKey, Cap> {
  const refuse = (why: string): never => {
    throw new CommandError(`the saved plan ${saved.id} is refused, and nothing was written: ${why}; plan again`)
  }
  if (now - saved.createdAt > PLAN_LIFE_MS) refuse(`it is ${Math.floor((now - saved.createdAt) / 3_600_000)} h old, the limit is 24 h`)
  if (saved.createdAt - now > CLOCKS_APART_MS) refuse(`it is from the future (${new Date(saved.createdAt).toISOString()})`)
  if (saved.policyDigest !== fresh.policyDigest)
    refuse(`it was made for policies ${saved.policyDigest}, and these are ${fresh.policyDigest}`)
  const present = byScope(fresh.changes)
  const wanted = saved.changes.filter((change) => holdOf(change) === undefined || !isHeldNow(present.get(scopeKey(change.scope))))
  for (const change of saved.changes) {
    const now = present.get(scopeKey(change.scope))
    if (!now || !isSame(now, change)) refuse(mismatch(change, now))
  }
  return new Map(wanted.map((change) => [scopeKey(change.scope), change.to]))
}

const isHeldNow = (change: Change | undefined): boolean => change !== undefined && holdOf(change) !== undefined

const isSame = (a: Change, b: Change): boolean => a.from === b.from && a.to === b.to

function mismatch(saved: Change, now: Change | undefined): string {
  const asked = `${scopeKey(saved.scope)} was to go from ${saved.from} to ${saved.to}`
  return now ? `${asked}, and now it is ${now.from} and would go to ${now.to}` : `${asked}, and that is not so any more`
}
