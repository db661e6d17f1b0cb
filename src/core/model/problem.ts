// Errors in the user's input: positioned, collected, and reported all at once. A Problem is data; it is never thrown one at a time. And the codes of
// problems in policies and config, with their meanings, because scripts that read `--output json` rely on them.

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

/** A code is never reused for another meaning. */
export const PROBLEM_CODES = {
  YAML_SYNTAX: 'the text is not YAML',
  YAML_TAG: 'a YAML tag such as !!int',
  YAML_ALIAS: 'an alias without its anchor, or too many of them',
  YAML_DUPLICATE_KEY: 'one key twice in a mapping',
  TOO_LARGE: 'more text or more files than are read',
  FILE_UNREADABLE: 'a path that is missing or cannot be read',
  NOT_A_FILE: 'a folder, pipe, device or socket where a regular file belongs',
  FILE_STALLED: 'a file on a file system that does not answer within 5 s',
  EMPTY_FILE: 'a file that holds no policy, or no file at all; an error where a file held one',
  BEYOND_LIMIT: 'more scopes, groups or workspaces than capkeeper is measured with',
  LINK_OUTSIDE: 'a link that leaves the policy folder',
  NOT_A_MAPPING: 'something else where keys and values belong',
  NOT_A_LIST: 'something else where a list belongs',
  NOT_TEXT: 'something else where a text belongs',
  NOT_BOOLEAN: 'something else where true or false belongs',
  UNKNOWN_KEY: 'a key that does not exist here',
  UNKNOWN_VALUE: 'a word that is none of the choices',
  MISSING: 'something required is not there',
  KIND: 'apiVersion or kind is not the expected one',
  CAP: 'not a cap: a whole number from 0 to 2147483647, or none',
  CAP_ZERO: 'a cap of 0 without allowZero: true',
  EMAIL: 'not an e-mail address',
  EMAIL_PATTERN: 'not a pattern for e-mail addresses',
  TIMEZONE: 'not a time zone of the IANA database',
  TIME: 'not a date, an RFC 3339 instant or cycleEnd',
  GRANT_SCOPE: 'a grant for none or for several scopes',
  GRANT_AMOUNT: 'a grant with neither or both of cap and add',
  GRANT_TIMES: 'a grant that ends before it begins, or cycleEnd without from',
  GRANT_ADD_BASE: 'add without a cap that it could be added to',
  GRANT_GROUP: 'a grant for a group that is not declared',
  GRANT_OVERLAP: 'two grants on one scope at the same time',
  GRANT_ENDED: 'a grant that is over and can be removed',
  RULE_WHEN: 'a rule or pool whose condition is empty, or always true',
  RULE_EVERYBODY: 'a rule that matches everybody',
  UNDECLARED_GROUP: 'a rule or pool that names a group which is not declared',
  POOL_MEMBERS: 'a pool with none or several of groups, emails and when',
  POOL_BOUNDS: 'a pool whose min is above its max, or cannot be paid from its credits',
  POOL_TWICE: 'a person or a group in two pools',
  POOL_NONE: 'a member of a pool whose own cap is none',
  POOL_COPIED: 'a pool where caps are copied',
  APPROVAL: 'not a hold id',
  EDIT_BY_HAND: 'a change that `edit` cannot make without touching anything else',
  EDIT_UNPROVEN: 'an edit after which the policies would not say exactly what was asked for',
  DUPLICATE_NAME: 'one metadata.name on two documents',
  DUPLICATE_SCOPE: 'one scope declared twice',
  DUPLICATE_RULE: 'one name on two rules',
  DUPLICATE_POOL: 'one name on two pools',
  DUPLICATE_GROUP_NAME: 'one group name for two ids',
  ENVELOPE: 'an envelope of the config that holds nothing, or takes what is of another; a file of one that cannot be used',
  ENVELOPE_OUTSIDE: 'an entry of a team beside its envelope: not its people, or not a team’s to say',
  ENVELOPE_BOUND: 'an entry of a team beyond a bound of its envelope',
  CONFLICT_RULES: 'documents of one workspace with different onGroupConflict',
  WORKSPACE_UNKNOWN: 'spec.workspace names no workspace that reads this file',
  WORKSPACE_MISSING: 'spec.workspace is needed to tell several workspaces apart',
  NONE_FALLS_BACK: 'none at a scope whose wider scope has a cap',
  NUMBER: 'not a number within its bounds',
  DURATION: 'not a duration within its bounds',
  ADDRESS: 'not an address to listen on, or not the address of a ledger',
  URL: 'not a base URL',
  PLAIN_HTTP: 'http to another machine, which would carry the key unencrypted',
  KEY_REFERENCE: 'not a reference to a key',
  NOTIFY_OWNER: 'an owner of neither or both of group and pool, or one who cannot be reached',
  NOTIFY_CHANNEL: 'somebody to be told by a channel that is not configured, or would show a password',
  NOTIFY_PLACEHOLDER: 'a placeholder that this kind of message or link does not have',
  AUTH: 'who may look is not said in a way that can be checked',
  DIRECTORY: 'columns of the people file that cannot be told apart',
  UNDECLARED_COLUMN: 'a rule or pool that names a column which the config does not list in directory',
  NEEDS_WORKSPACE: 'a setting of one workspace, and several are configured',
  NO_BASE_URL: 'no address of the service',
  NO_KEY: 'no service key',
  NO_POLICIES: 'no policy path',
  SAME_TEAM: 'two workspaces that write to one team',
  SWEEP_TOO_LONG: 'more scopes than can be read within the interval at rate.max',
} as const

export type ProblemCode = keyof typeof PROBLEM_CODES
