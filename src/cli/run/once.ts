// `run --once`: one cycle of all workspaces side by side, with the exit codes of `apply`. Invalid policies are an error, as in `apply`.
import { keptRevision } from '../../core/model/policy.ts'
import { hasErrors, InputError, messageOf } from '../../core/model/problem.ts'
import { reconcile } from '../../daemon/cycle/run.ts'
import { recall } from '../../daemon/cycle/state.ts'
import { createWorkspace } from '../../daemon/workspace.ts'
import { type Done, exitOfAll, reportsOf } from '../apply/run.ts'
import type { Embedded } from '../sandbox/embedded.ts'
import { type Cli, CommandError } from '../shared/context.ts'
import { interruptible } from '../shared/each.ts'
import { openForCommand } from '../shared/ledger/replica.ts'
import { problemsBeside } from '../shared/problems.ts'
import type { RunFlags } from './command.ts'
import { createHost, type Host, openWorkspace, tellErrors } from './host.ts'
import type { Reader } from './run.ts'

/** Runs one cycle and sets the exit code. */
export async function runOnce(flags: RunFlags, cli: Cli, reader: Reader, embedded: Embedded | undefined): Promise<void> {
  const config = await reader.read()
  const policies = await reader.policies(config)
  const problems = problemsBeside(policies)
  if (hasErrors(problems)) throw new InputError(problems)
  await using opened = new AsyncDisposableStack()
  const store = opened.adopt(await openForCommand(cli, config, 'run --once'), (one) => one.close())
  const host = await createHost({ cli, flags, config, store, leases: store.held, isEmbedded: embedded !== undefined })
  tellErrors(policies, host)
  const done = await interruptible(cli, (stop, cut) =>
    Promise.all(config.workspaces.map((one) => cycle(one, policies.sets.get(one.name), host, { stop, cut }))),
  )
  host.atEnd.dispose()
  reportsOf(done)
  cli.finish(exitOfAll(done))
}

async function cycle(
  config: Parameters<typeof openWorkspace>[0],
  policy: Parameters<typeof recall>[0] | undefined,
  host: Host,
  signals: { readonly stop: AbortSignal; readonly cut: AbortSignal },
): Promise<Done> {
  // A failure must not stop the others, which are in the middle of their cycles on the same ledger.
  try {
    if (!policy) throw new CommandError(`${config.name}: there is no policy`)
    const opened = await openWorkspace(config, host)
    try {
      const state = recall(policy, opened.parts.ledger)
      opened.parts.ledger.saveFact('policy', keptRevision(state.policy))
      return { report: await reconcile(createWorkspace(opened.parts), state, { alone: true, ...signals }) }
    } finally {
      await opened.finish?.()
      opened.close()
    }
  } catch (error) {
    const message = messageOf(error)
    host.logger.error({ workspace: config.name, error: message }, 'the cycle failed')
    return { failure: error }
  }
}
