// The exit codes of every command, and which one wins when several fit. Nothing else may invent a code.

import type { Problem } from '../../core/model/problem.ts'

/** product.md, section 3. */
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

/** The code of what was given: the first that fits. A workspace that only `--workspace` names is wrong usage, and no fault of a file. */
export const inputExit = (problems: readonly Problem[]): ExitCode =>
  problems.some(({ code, at }) => code === 'WORKSPACE_UNKNOWN' && !at) ? EXIT.usage : EXIT.input

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

const FIRST_THAT_FITS: readonly ExitCode[] = [EXIT.usage, EXIT.input, EXIT.failed, EXIT.partial, EXIT.held, EXIT.pending]

/**
 * The code of a command that ended in several ways, such as one per workspace: the first that fits of 64, 65, 1, 4, 3, 2, 0. Where one failed
 * and another did not, it was done in part.
 */
export function worstExit(codes: Iterable<ExitCode>): ExitCode {
  const seen = new Set(codes)
  const first = FIRST_THAT_FITS.find((code) => seen.has(code)) ?? EXIT.done
  return first === EXIT.failed && seen.size > 1 ? EXIT.partial : first
}
