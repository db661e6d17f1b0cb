// The pace of each key of one workspace. It outlives the clients: a reload of the configuration makes a new client, which continues at the
// pace of the last one and so never sends too early. It never holds a key, only its identity.
import type { LearnedRate, Pace, RateSettings } from '../../core/pace/pace.ts'
import { currentRate, learnedRate, startPace, succeeding, withSettings } from '../../core/pace/pacing.ts'

/** One key's pace. All names of the same key share it. */
export interface KeyPace {
  readonly names: Set<string>
  pace: Pace
  /** What was last reported as learned. */
  known: LearnedRate
}

/** Opaque: made once for each workspace of a process, and handed to every client of it. */
export interface Paces {
  readonly ofKey: Map<string, KeyPace>
  readonly ofName: Map<string, KeyPace>
}

export const createPaces = (): Paces => ({ ofKey: new Map(), ofName: new Map() })

interface PaceWish {
  readonly key: { readonly id: string; readonly name: string }
  readonly settings: RateSettings
  /** The stored result of `learnedRate`, for a name that is new to this process; any other value is ignored. */
  readonly learned: unknown
  readonly nowMs: number
}

/** The pace of a key under the current settings. A changed key continues at the pace of its predecessor: the service is the same. */
export function paceOf(paces: Paces, { key, settings, learned, nowMs }: PaceWish): KeyPace {
  const before = paces.ofName.get(key.name)
  const known = paces.ofKey.get(key.id)
  const own = known ?? opened(before ? succeeding(before.pace, nowMs) : startPace(settings, nowMs, learned))
  own.pace = withSettings(own.pace, settings)
  if (before === own) return own
  before?.names.delete(key.name)
  own.names.add(key.name)
  paces.ofKey.set(key.id, own)
  paces.ofName.set(key.name, own)
  for (const [id, { names }] of paces.ofKey) if (names.size === 0) paces.ofKey.delete(id)
  return own
}

const opened = (pace: Pace): KeyPace => ({ names: new Set(), pace, known: learnedRate(pace) })

/** Requests per second that the key may send now; undefined before its first use. */
export function rateOf(paces: Paces, keyName: string): number | undefined {
  const own = paces.ofName.get(keyName)
  return own && currentRate(own.pace)
}
