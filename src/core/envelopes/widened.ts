// The bounds of envelopes as figures that can be compared, so that a plan can say which of them are wider than before.
import type { Delegated } from '../model/policy.ts'

/** By name, as `envelopes.payments.maxCap`: more is wider. */
export type Bounds = Readonly<Record<string, number>>

const UNBOUNDED = Number.MAX_SAFE_INTEGER

/** Without envelopes it is empty. */
export function boundsOf(delegated: Delegated | undefined): Bounds {
  const bounds: Record<string, number> = {}
  for (const { name, groups, maxCap, sum, maxPeople, grants } of delegated?.envelopes ?? []) {
    const at = `envelopes.${name}`
    bounds[at] = 1
    for (const id of groups) bounds[`${at}.groups.${id}`] = 1
    bounds[`${at}.maxCap`] = maxCap
    bounds[`${at}.sum`] = sum ?? UNBOUNDED
    bounds[`${at}.maxPeople`] = maxPeople ?? UNBOUNDED
    bounds[`${at}.grants.maxDays`] = grants?.maxDays ?? 0
    bounds[`${at}.grants.maxAdd`] = grants?.maxAdd ?? 0
  }
  return bounds
}

/** The bounds of `before` that are narrower than now. An envelope that is gone leaves its files to platform, without any bound. */
export function narrowerThan(now: Bounds, before: Bounds): Bounds {
  const names = new Set([...Object.keys(before), ...Object.keys(now)].filter((key) => isWider(key, now, before)))
  return Object.fromEntries([...names].map((key) => [key, before[key] ?? 0]))
}

const isEnvelope = (key: string): boolean => !/\.(maxCap|sum|maxPeople|maxDays|maxAdd)$|\.groups\./.test(key)

function isWider(key: string, now: Bounds, before: Bounds): boolean {
  if (isEnvelope(key)) return (now[key] ?? 0) !== (before[key] ?? 0)
  const envelope = key.replace(/\.(groups\..*|grants\..*|maxCap|sum|maxPeople)$/, '')
  // Of an envelope that is new or gone its own line says it.
  if (!now[envelope] || !before[envelope]) return false
  return (now[key] ?? 0) > (before[key] ?? 0)
}

/** Those of `before`, which has only bounds that were narrower, that are still narrower than now. */
export const stillNarrower = (now: Bounds, before: Bounds): Bounds =>
  Object.fromEntries(Object.entries(before).filter(([key]) => isWider(key, now, { ...now, ...before })))

/** The lines of a plan; `before` has only bounds that are narrower than now. */
export const widenings = (now: Bounds, before: Bounds) =>
  Object.keys(stillNarrower(now, before))
    .sort()
    .map((rule) => ({ rule, from: textOf(rule, before[rule] ?? 0), to: textOf(rule, now[rule] ?? 0) }))

function textOf(key: string, value: number): string {
  if (isEnvelope(key)) return value > 0 ? 'an envelope' : 'no envelope'
  if (/\.groups\./.test(key)) return value > 0 ? 'inside' : 'not inside'
  return value === UNBOUNDED ? 'no bound' : `${value}`
}
