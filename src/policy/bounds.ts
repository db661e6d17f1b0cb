// How much of what comes from outside is taken: policies and config are written by people, and must not end the process or fill its memory,
// whatever they hold. product.md, section 11. What is past a bound is an error like any other.

/** Files that have no more bytes than this together are read where they are needed; for the rest a thread with bounds of its own is started. */
export const SMALL_BYTES = 64 * 1024

/** What all sets together may say, in characters: four times what 20,000 scopes take. */
export const MAX_SET_TEXT = 8 * 1024 * 1024

/** Problems of all files together. */
export const MAX_PROBLEMS_TOGETHER = 2_000

/** Memory of the thread that reads policies or config, in MiB; a smaller `--max-old-space-size` of the process holds for it too. */
export const THREAD_MEMORY_MIB = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 } as const

/** How long all files together may take to read. */
export const READING_DEADLINE_MS = 20_000
