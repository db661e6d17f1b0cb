// The version and the kinds of policy and config files, and the bounds on them (docs/operations.md, Bounds): whatever a file holds, it must not end the
// process or fill its memory. Input beyond a bound is an error like any other.

export const API_VERSION = 'capkeeper/v1'
export const POLICY_KIND = 'CapPolicy'
export const CONFIG_KIND = 'Config'

/** The name of a workspace that nothing names. */
export const DEFAULT_WORKSPACE = 'default'

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
