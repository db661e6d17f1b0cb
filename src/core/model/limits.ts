// How much capkeeper was measured with. Beyond it nothing is refused: it works on, and says that nobody has tried. What bounds a loop stands
// where the loop is.

/** Per workspace, but `workspaces`, which is per process. The figures are in deploy/README.md. Choice. */
export const MEASURED_LIMITS = { people: 50_000, groups: 500, scopes: 20_000, workspaces: 100 } as const

const WORDS: Readonly<Record<keyof typeof MEASURED_LIMITS, string>> = {
  people: 'people on the roster',
  groups: 'declared groups',
  scopes: 'declared scopes',
  workspaces: 'configured workspaces',
}

/** Why a number is more than was measured, with both numbers and the way out; undefined when it is not. */
export function beyondLimit(what: keyof typeof MEASURED_LIMITS, count: number): string | undefined {
  const limit = MEASURED_LIMITS[what]
  if (count <= limit) return undefined
  const wayOut = what === 'workspaces' ? 'spread them over several daemons' : 'watch memory and the length of cycles, and give more memory'
  return `${count} ${WORDS[what]}, and capkeeper is measured with up to ${limit}; ${wayOut}`
}

/** Why a sweep over so many scopes cannot be through within its interval; undefined when it can. `ratePerSecond` is the most that is ever sent. */
export function sweepTooLong(scopes: number, ratePerSecond: number, intervalMs: number): string | undefined {
  const sweepMs = (scopes / ratePerSecond) * 1000
  if (sweepMs <= intervalMs) return undefined
  const minutes = (ms: number): string => `${Math.round(ms / 6_000) / 10} min`
  return (
    `${scopes} declared scopes take ${minutes(sweepMs)} to read at rate.max ${ratePerSecond} requests per second, longer than the interval of ` +
    `${minutes(intervalMs)}, so drift is seen only that late; raise rate.max if the service allows it, or the interval`
  )
}

/** So often a cycle plans and writes; what then remains is reported (product.md, section 6). */
export const MOST_PASSES = 8
