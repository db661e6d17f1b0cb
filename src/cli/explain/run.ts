// What `explain` does: reads the roster and the few scopes that bear on the one asked about, managed or not; every other cap only when that
// scope differs from what is asked, because only the whole plan tells whether a guard holds it.

import { groupScope, parseScope, type Scope, scopeKey, TEAM } from '../../core/model/scope.ts'
import { type Rhythm, type RhythmBound, rhythmBound, rhythmOf, sweepRate } from '../../core/pace/rhythm.ts'
import { explain } from '../../core/plan/explain.ts'
import type { Planned } from '../../core/plan/plan.ts'
import { type Preview, preview } from '../../daemon/cycle/preview.ts'
import { sweep } from '../../daemon/cycle/read.ts'
import { desiredInputs } from '../../daemon/cycle/state.ts'
import type { SharedLedger } from '../../daemon/ledger/share.ts'
import { declaredIn, slicingOf } from '../../daemon/schedule/slice.ts'
import { sha256 } from '../../daemon/schedule/system.ts'
import type { Ledger } from '../../ports.ts'
import { connectReader, readSetup, type Setup, type WorkspaceSetup } from '../compose.ts'
import { tellReading, unreadBecause } from '../plan/unread.ts'
import { type Cli, painter, UsageError } from '../shared/context.ts'
import { type Answers, inEach } from '../shared/each.ts'
import { EXIT, type ExitCode, worstExit } from '../shared/exit.ts'
import { interruptible } from '../shared/interrupt.ts'
import { learnedPaces } from '../shared/ledger/learned-pace.ts'
import { type Ledgers, openLedgers } from '../shared/ledger/ledgers.ts'
import { type SweepProgress, sweepProgress } from '../shared/progress.ts'
import type { ExplainFlags } from './command.ts'
import { type Explained, renderExplainJson, renderExplainTexts } from './render.ts'

/** Explains one scope in every workspace asked for that can be. */
export async function explainCommand(text: string, flags: ExplainFlags, cli: Cli): Promise<void> {
  const scope = parseScope(text)
  if (!scope) throw new UsageError(`'${text}' is not a scope: write an e-mail, group:ID or team`)
  const setup = await readSetup(cli, flags)
  const { done: all, codes } = await interruptible(cli, (signal) => explainAll(scope, setup, flags, cli, signal))
  cli.stdout.write(flags.output === 'json' ? renderExplainJson(all, setup.workspaces.length) : renderExplainTexts(all, painter(cli.stdout)))
  cli.finish(worstExit([...all.map(({ code }) => code), ...codes]))
}

interface Ended extends Explained {
  readonly code: ExitCode
}

async function explainAll(scope: Scope, setup: Setup, flags: ExplainFlags, cli: Cli, signal: AbortSignal): Promise<Answers<Ended>> {
  const ledgers = await openLedgers(cli, setup, signal, flags)
  const progress = await sweepProgress('reading caps', cli.stderr, signal)
  try {
    return await inEach(cli, setup.workspaces, (one) => explainOne(scope, one, { cli, signal, ledgers, progress }), signal)
  } finally {
    progress.stop()
    await ledgers.close()
  }
}

interface Shared {
  readonly cli: Cli
  readonly signal: AbortSignal
  readonly ledgers: Ledgers
  readonly progress: SweepProgress
}

async function explainOne(scope: Scope, one: WorkspaceSetup, { cli, signal, ledgers, progress }: Shared): Promise<Ended> {
  const { config, policy } = one
  const { client, close } = connectReader(cli, config, { signal })
  try {
    const ledger = await ledgers.of(one, client, signal)
    const parts = { settings: config, ledger, clock: cli.clock, digest: sha256, client }
    const options = { signal, onSweep: progress.expect, onReading: progress.one }
    const near = await preview(parts, policy, { ...options, only: () => (seen) => isNear(scope, seen, policy) })
    const full = isPending(scope, near.planned) ? await preview(parts, policy, options) : near
    const { usage, readings } = full.state
    const scopes = unmanagedNear(scope, full).filter((other) => !readings.has(scopeKey(other)))
    await sweep({ client, scopes, concurrency: config.rate.concurrency, readings, signal })
    tellReading(cli, config.name, full)
    const { plan } = full.planned
    const explanation = explain(
      {
        ...desiredInputs(full.state, parts),
        readings,
        history: await ledger.history({ scope, limit: 1 }),
        holds: plan.holds,
        plan,
        ...(usage?.balance && { balance: usage.balance }),
        ...(full.state.measured && { measured: full.state.measured }),
      },
      scope,
    )
    const rhythm = await rhythmAt(scope, full, { ledger, settings: config, now: cli.clock.now() })
    const code = unreadBecause(full) === undefined ? EXIT.done : EXIT.failed
    return { workspace: config.name, explanation, reading: rhythm, code }
  } finally {
    close()
  }
}

interface RhythmFrom {
  readonly ledger: SharedLedger & Partial<Pick<Ledger, 'useByPerson'>>
  readonly settings: WorkspaceSetup['config']
  readonly now: number
}

/** As a daemon with the pace that was learned would read it, or with `rate.max` where none was. */
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
  // A daemon's ledger tells a plan elsewhere of no use by day.
  if (isSliced && !useByPerson) return rhythmBound(asked, readsPerSecond)
  const slicing =
    isSliced && useByPerson
      ? await slicingOf({
          view: desiredState,
          readings: state.readings,
          ledger: { useByPerson, writtenLately },
          readsPerSecond,
          now,
          useWhenRead: new Map(),
        })
      : undefined
  return rhythmOf({ ...asked, intervalMs, slicing })
}

/** The scope itself, and every wider one that may bear on it. */
function isNear(scope: Scope, seen: Scope, policy: WorkspaceSetup['policy']): boolean {
  const near = [scope, TEAM, ...(scope.kind === 'user' ? policy.set.groups.map((group) => groupScope(group.scope.id)) : [])]
  return near.some((one) => scopeKey(one) === scopeKey(seen))
}

/** Caps that nobody declared are in force all the same. Of people, only the approved are read. */
const unmanagedNear = (scope: Scope, { desiredState }: Preview): readonly Scope[] =>
  scope.kind === 'user' && desiredState.people.byKey.has(scopeKey(scope)) ? [scope, TEAM] : scope.kind === 'team' ? [scope] : []

const isPending = (scope: Scope, { plan }: Planned): boolean => plan.changes.some((change) => scopeKey(change.scope) === scopeKey(scope))
