// Errors in the user's input: positioned, collected, and reported all at once. A Problem is data; it is never thrown one at a time.

/** A place in a source text; line and column count from 1. */
export interface Position {
  readonly file: string
  readonly line: number
  readonly column: number
}

export interface Problem {
  readonly severity: 'error' | 'warning'
  /** UPPER_SNAKE, from the table in `PROBLEM_CODES`; never reused for another meaning. */
  readonly code: string
  readonly message: string
  readonly at?: Position
  /** The text of the line `at.line`, shown above the caret; of a very long line the part around the place. */
  readonly sourceLine?: string
  /** The column at which `sourceLine` begins; absent: 1. */
  readonly sourceColumn?: number
  /** How many characters the caret line underlines; at least 1. */
  readonly length?: number
  /** How to fix it: "did you mean …", "write 500". */
  readonly hint?: string
  /** A second place, such as the first declaration of a scope. */
  readonly other?: Position
}

export const formatPosition = (at: Position): string => `${at.file}:${at.line}:${at.column}`

export const hasErrors = (problems: readonly Problem[]): boolean => problems.some((problem) => problem.severity === 'error')

/** The message of whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** A bug of capkeeper itself: an invariant that does not hold. Never thrown for bad input or a failing service. */
export class BugError extends Error {
  override readonly name = 'BugError'
}

/** Input that cannot be used, with every problem found in it. */
export class InputError extends Error {
  override readonly name = 'InputError'
  readonly problems: readonly Problem[]
  constructor(problems: readonly Problem[]) {
    super(problems.map((problem) => problem.message).join('; '))
    this.problems = problems
  }
}
