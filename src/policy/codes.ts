// The codes of problems in policies and config, with their meanings; and what bounds policies and config. A code is never reused for another meaning, because scripts that read
// `--output json` rely on it.

// The version and the kinds of policy and config files, and the bounds on them (docs/operations.md, Bounds): whatever a file holds, it must not end the
// process or fill its memory. Input beyond a bound is an error like any other.

export const API_VERSION = 'capkeeper/v1'
export const POLICY_KIND = 'CapPolicy'
export const CONFIG_KIND = 'Config'

/** So many files of at most so many bytes together are read on the calling thread; more or larger ones in a thread with its own bounds. */
export const SMALL_BYTES = 64 * 1024
export const SMALL_FILES = 64

/** Characters that all policy sets together may hold: four times as many as 20,000 scopes need. */
export const MAX_SET_TEXT = 8 * 1024 * 1024

/** Problems shown of all files together. */
export const MAX_PROBLEMS_TOGETHER = 2_000

/** Memory of the thread that reads policies or config, in MiB; a smaller `--max-old-space-size` of the process applies to it as well. */
export const THREAD_MEMORY_MIB = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 } as const

/** How long all files together may take to read. */
export const READING_DEADLINE_MS = 20_000

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
