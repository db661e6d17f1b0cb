// The exit codes of all commands, and which one wins when several fit. No other code exists.

import type { Problem } from '../../core/model/problem.ts'

/** docs/commands.md. */
export const EXIT = {
  /** Done, nothing left. */
  done: 0,
  /** Failed, nothing could be done; or the prompt was declined. */
  failed: 1,
  /** Changes pending (`plan --detailed-exitcode`). */
  pending: 2,
  /** Held by a guard. */
  held: 3,
  /** Applied in part: something succeeded, something failed. */
  partial: 4,
  /** Wrong usage; also no terminal to ask on and no `--yes`. */
  usage: 64,
  /** Invalid policy or config. */
  input: 65,
} as const

/** The code for invalid input. An unknown workspace that only `--workspace` names is wrong usage, not a fault of a file. */
export const inputExit = (problems: readonly Problem[]): ExitCode =>
  problems.some(({ code, at }) => code === 'WORKSPACE_UNKNOWN' && !at) ? EXIT.usage : EXIT.input

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

const FIRST_THAT_FITS: readonly ExitCode[] = [EXIT.usage, EXIT.input, EXIT.failed, EXIT.partial, EXIT.held, EXIT.pending]

/**
 * The code of a command that ended in several ways, such as one per workspace: the first that fits of 64, 65, 1, 4, 3, 2, 0. Where some failed
 * and others did not, it was done in part (4).
 */
export function worstExit(codes: Iterable<ExitCode>): ExitCode {
  const seen = new Set(codes)
  const first = FIRST_THAT_FITS.find((code) => seen.has(code)) ?? EXIT.done
  return first === EXIT.failed && seen.size > 1 ? EXIT.partial : first
}
