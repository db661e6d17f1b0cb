// The sizes that capkeeper was measured with. Larger ones are not refused, but cause a warning. The bound of a loop is where the loop is.

/** Per workspace, except `workspaces`, which is per process. The figures are in deploy/README.md. Choice. */
export const MEASURED_LIMITS = { people: 50_000, groups: 500, scopes: 20_000, workspaces: 100 } as const

const WORDS: Readonly<Record<keyof typeof MEASURED_LIMITS, string>> = {
  people: 'people on the roster',
  groups: 'declared groups',
  scopes: 'declared scopes',
  workspaces: 'configured workspaces',
}

/** The warning for a number above the measured one; undefined below it. */
export function beyondLimit(what: keyof typeof MEASURED_LIMITS, count: number): string | undefined {
  const limit = MEASURED_LIMITS[what]
  if (count <= limit) return undefined
  const wayOut = what === 'workspaces' ? 'spread them over several daemons' : 'watch memory and the length of cycles, and give more memory'
  return `${count} ${WORDS[what]}, and capkeeper is measured with up to ${limit}; ${wayOut}`
}

/** The warning for a sweep that cannot finish within its interval; undefined when it can. `ratePerSecond` is the maximum rate. */
export function sweepTooLong(scopes: number, ratePerSecond: number, intervalMs: number): string | undefined {
  const sweepMs = (scopes / ratePerSecond) * 1000
  if (sweepMs <= intervalMs) return undefined
  const minutes = (ms: number): string => `${Math.round(ms / 6_000) / 10} min`
  return (
    `${scopes} declared scopes take ${minutes(sweepMs)} to read at rate.max ${ratePerSecond} requests per second, longer than the interval of ` +
    `${minutes(intervalMs)}, so drift is seen only that late; raise rate.max if the service allows it, or the interval`
  )
}

/** The most passes of a cycle; what remains after them is reported (docs/operations.md). */
export const MOST_PASSES = 8
