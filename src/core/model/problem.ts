// Errors in the user's input: positioned, collected, and reported all at once. A Problem is data; it is never thrown one at a time. And the codes of
// problems in policies and config, on which scripts that read `--output json` rely.
import { number, type Of, shape, text } from './shape.ts'

/** A place in a source text; line and column count from 1. */
export const POSITION = shape({ file: text, line: number, column: number })
export type Position = Of<typeof POSITION>

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

/** Of policies and config; their meanings are in docs/codes.md. A code is never reused for another meaning. */
const PROBLEM_CODES = [
  ...(['YAML_SYNTAX', 'YAML_TAG', 'YAML_ALIAS', 'YAML_DUPLICATE_KEY'] as const),
  ...(['TOO_LARGE', 'FILE_UNREADABLE', 'NOT_A_FILE', 'FILE_STALLED', 'EMPTY_FILE', 'BEYOND_LIMIT', 'LINK_OUTSIDE'] as const),
  ...(['NOT_A_MAPPING', 'NOT_A_LIST', 'NOT_TEXT', 'NOT_BOOLEAN', 'UNKNOWN_KEY', 'UNKNOWN_VALUE', 'MISSING', 'KIND'] as const),
  ...(['CAP', 'CAP_ZERO', 'EMAIL', 'EMAIL_PATTERN', 'TIMEZONE', 'TIME', 'NUMBER', 'DURATION'] as const),
  ...(['GRANT_SCOPE', 'GRANT_AMOUNT', 'GRANT_TIMES', 'GRANT_ADD_BASE', 'GRANT_GROUP', 'GRANT_OVERLAP', 'GRANT_ENDED'] as const),
  ...(['RULE_WHEN', 'RULE_EVERYBODY', 'UNDECLARED_GROUP', 'UNDECLARED_COLUMN'] as const),
  ...(['POOL_MEMBERS', 'POOL_BOUNDS', 'POOL_TWICE', 'POOL_NONE', 'POOL_COPIED'] as const),
  ...(['APPROVAL', 'EDIT_BY_HAND', 'EDIT_UNPROVEN'] as const),
  ...(['DUPLICATE_NAME', 'DUPLICATE_SCOPE', 'DUPLICATE_RULE', 'DUPLICATE_POOL', 'DUPLICATE_GROUP_NAME'] as const),
  ...(['ENVELOPE', 'ENVELOPE_OUTSIDE', 'ENVELOPE_BOUND', 'CONFLICT_RULES', 'NONE_FALLS_BACK'] as const),
  ...(['WORKSPACE_UNKNOWN', 'WORKSPACE_MISSING', 'NOTIFY_OWNER', 'NOTIFY_CHANNEL', 'NOTIFY_PLACEHOLDER'] as const),
  ...(['ADDRESS', 'URL', 'PLAIN_HTTP', 'KEY_REFERENCE', 'AUTH', 'DIRECTORY'] as const),
  ...(['NEEDS_WORKSPACE', 'NO_BASE_URL', 'NO_KEY', 'NO_POLICIES', 'SAME_TEAM'] as const),
]

export type ProblemCode = (typeof PROBLEM_CODES)[number]
