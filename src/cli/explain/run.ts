// `explain`: reads the roster, the scope and its ancestors, managed or not. All other caps are read only when the scope has a pending change,
// because only the whole plan tells whether a guard holds it.

import { groupScope, parseScope, type Scope, scopeKey, TEAM } from '../../core/model/scope.ts'
import { type Rhythm, type RhythmBound, rhythmBound, rhythmOf, sweepRate } from '../../core/pace/rhythm.ts'
import { explain } from '../../core/plan/explain.ts'
import type { Planned } from '../../core/plan/plan.ts'
import type { Preview } from '../../daemon/cycle/preview.ts'
import { sweep } from '../../daemon/cycle/read.ts'
import { desiredInputs } from '../../daemon/cycle/state.ts'
import { declaredIn, slicingOf } from '../../daemon/schedule/slice.ts'
import { readSetup, type WorkspaceSetup } from '../compose.ts'
import { tellReading, unreadBecause } from '../plan/unread.ts'
import { type Cli, painter, UsageError } from '../shared/context.ts'
import { EXIT, type ExitCode, worstExit } from '../shared/exit.ts'
import { learnedPaces } from '../shared/ledger/learned-pace.ts'
import { openLedgers, type PlanLedger } from '../shared/ledger/ledgers.ts'
import { readEach, type WorkspaceReader, withReader } from '../shared/reader.ts'
import type { ExplainFlags } from './command.ts'
import { type Explained, renderExplainJson, renderExplainTexts } from './render.ts'

/** Explains one scope in all workspaces. */
export async function explainCommand(text: string, flags: ExplainFlags, cli: Cli): Promise<void> {
  const scope = parseScope(text)
  if (!scope) throw new UsageError(`'${text}' is not a scope: write an e-mail, group:ID or team`)
  const setup = await readSetup(cli, flags)
  const open = (signal: AbortSignal) => openLedgers(cli, setup, signal, flags)
  const { done: all, codes } = await readEach(cli, setup, open, (workspace, session) =>
    withReader(workspace, session, (reader) => explainOne(scope, reader, cli)),
  )
  cli.stdout.write(flags.output === 'json' ? renderExplainJson(all, setup.workspaces.length) : renderExplainTexts(all, painter(cli.stdout)))
  cli.finish(worstExit([...all.map(({ code }) => code), ...codes]))
}

async function explainOne(scope: Scope, reader: WorkspaceReader<PlanLedger>, cli: Cli): Promise<Explained & { readonly code: ExitCode }> {
  const { config, policy, client, ledger, signal } = reader
  const near = await reader.preview(() => (seen) => isNear(scope, seen, policy))
  const full = isPending(scope, near.planned) ? await reader.preview() : near
  const { usage, readings, measured } = full.state
  const scopes = unmanagedNear(scope, full).filter((other) => !readings.has(scopeKey(other)))
  await sweep({ client, scopes, concurrency: config.rate.concurrency, readings, signal })
  tellReading(cli, config.name, full)
  const { plan } = full.planned
  const explanation = explain(
    {
      ...desiredInputs(full.state, reader),
      readings,
      history: await ledger.history({ scope, limit: 1 }),
      holds: plan.holds,
      plan,
      ...(usage?.balance && { balance: usage.balance }),
      ...(measured && { measured }),
    },
    scope,
  )
  const reading = await rhythmAt(scope, full, { ledger, settings: config, now: cli.clock.now() })
  const code = unreadBecause(full) === undefined ? EXIT.done : EXIT.failed
  return { workspace: config.name, explanation, reading, code }
}

interface RhythmFrom {
  readonly ledger: PlanLedger
  readonly settings: WorkspaceSetup['config']
  readonly now: number
}

/** How often a daemon would read the scope, at the learned pace or else at `rate.max`. */
async function rhythmAt(
  scope: Scope,
  { desiredState, state }: Preview,
  { ledger, settings, now }: RhythmFrom,
): Promise<Rhythm | RhythmBound | undefined> {
  const { intervalMs, rate } = settings
  const learned = learnedPaces(ledger.fact('pace')).map((one) => one.rate)
  const { readsPerSecond, count } = sweepRate(Math.min(rate.max, ...learned), intervalMs)
  const { toRead, people } = desiredState
  const { useByPerson, writtenLately } = ledger
  const isSliced = toRead.length > count
  const asked = { scope, toRead, people, declared: declaredIn(desiredState) }
  // A remote daemon does not share the use by day.
  if (isSliced && !useByPerson) return rhythmBound(asked, readsPerSecond)
  const slicing =
    isSliced && useByPerson
      ? await slicingOf({
          desired: desiredState,
          readings: state.readings,
          ledger: { useByPerson, writtenLately },
          readsPerSecond,
          now,
          useWhenRead: new Map(),
        })
      : undefined
  return rhythmOf({ ...asked, intervalMs, slicing })
}

/** Whether a scope is the explained one or may be its ancestor. */
function isNear(scope: Scope, seen: Scope, policy: WorkspaceSetup['policy']): boolean {
  const near = [scope, TEAM, ...(scope.kind === 'user' ? policy.set.groups.map((group) => groupScope(group.scope.id)) : [])]
  return near.some((one) => scopeKey(one) === scopeKey(seen))
}

/** Caps that no policy declares are in force all the same. Of people, only those who are approved are read. */
const unmanagedNear = (scope: Scope, { desiredState }: Preview): readonly Scope[] =>
  scope.kind === 'user' && desiredState.people.byKey.has(scopeKey(scope)) ? [scope, TEAM] : scope.kind === 'team' ? [scope] : []

const isPending = (scope: Scope, { plan }: Planned): boolean => plan.changes.some((change) => scopeKey(change.scope) === scopeKey(scope))
