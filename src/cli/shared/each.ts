// The work of a command in each workspace. A workspace that fails does not stop the others.
import type { Cli } from './context.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { tellLine } from './tell.ts'
import { messageOf } from './text.ts'

export interface Answers<T> {
  readonly done: readonly T[]
  /** `failed` where some workspaces failed: for `worstExit`, with the codes of the others. */
  readonly codes: readonly ExitCode[]
}

/**
 * Waits for all workspaces, so that shared parts can be closed afterwards, and prints each failure once. Throws the first failure where all
 * failed, and throws when it was interrupted.
 */
export async function inEach<W, T>(
  cli: Cli,
  workspaces: readonly W[],
  work: (one: W) => T | Promise<T>,
  signal?: AbortSignal,
): Promise<Answers<T>> {
  const ended = await Promise.allSettled(workspaces.map(async (one) => work(one)))
  const done = ended.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const failures: readonly unknown[] = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  if (failures.length === 0) return { done, codes: [] }
  signal?.throwIfAborted()
  const [first, ...others] = [...new Map(failures.map((failure) => [messageOf(failure), failure]))]
  for (const [message] of done.length > 0 && first ? [first, ...others] : others) tellLine(cli, `error: ${message}`)
  if (done.length === 0) throw first?.[1]
  return { done, codes: [EXIT.failed] }
}
