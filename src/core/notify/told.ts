// What was told, so that nobody is told twice: at most once a threshold and cycle, over restarts and crashes. A message counts as told
// from the moment it is about to be sent; only one that surely did not arrive is tried again, a bounded number of times.
import { isAhead, isYounger } from '../model/age.ts'
import type { Cycle } from '../model/observed.ts'
import { DAY_MS, type Instant } from '../model/units.ts'

/**
 * `asked`: a digest that was due before anybody asked for digests, and is not sent. `sending`: recorded, and nothing heard of it yet. `waiting`:
 * it surely did not arrive and is tried again. `failed`: given up. `unknown`: it may have arrived, and is not sent again.
 */
export const TOLD_STATES = ['asked', 'sending', 'sent', 'waiting', 'failed', 'unknown'] as const
export type ToldState = (typeof TOLD_STATES)[number]

export interface ToldEntry {
  /** The highest threshold that was begun with, or the day of a digest. Whoever was told of it was told of all below. */
  readonly level: number
  readonly state: ToldState
  /** When it was begun, or ended, last. */
  readonly at: Instant
  readonly tries: number
  /** Why it did not arrive; never an address of a webhook, and no text of a server. */
  readonly reason?: string
}

/** By `Message.key`. */
export interface Told {
  readonly cycleStartAt: Instant
  readonly entries: Readonly<Record<string, ToldEntry>>
}

/**
 * How a message ended. `refused`: it surely did not arrive, and may the next time; `alone`: what took it is there, and takes others. `rejected`:
 * it never will.
 */
export type Delivery =
  | { readonly kind: 'sent' }
  | { readonly kind: 'refused'; readonly reason: string; readonly alone?: true }
  | { readonly kind: 'rejected' | 'unknown'; readonly reason: string }

export const MOST_TRIES = 10
const FIRST_WAIT_MS = 60_000
const LONGEST_WAIT_MS = 3_600_000

/** How long to wait after so many tries. */
export const waitMs = (tries: number): number => Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.max(0, tries - 1))

/** Digests go by days, not by billing cycles. */
const DIGEST_PREFIX = '["digest"'

/**
 * What still counts in this cycle. A later cycle, by a day at least, forgets the thresholds of the one before; an earlier one is a reading
 * that is out of date, and nobody is told anything by it: undefined.
 */
export function toldIn(told: Told | undefined, { startAt }: Cycle): Told | undefined {
  if (!told) return { cycleStartAt: startAt, entries: {} }
  if (startAt - told.cycleStartAt <= -DAY_MS) return undefined
  if (startAt - told.cycleStartAt < DAY_MS) return told
  const digests = Object.entries(told.entries).filter(([key]) => key.startsWith(DIGEST_PREFIX))
  return { cycleStartAt: startAt, entries: Object.fromEntries(digests) }
}

/** A message of which only the highest level counts. */
export interface Leveled {
  readonly key: string
  readonly level: number
}

/**
 * With the digests that are asked for now, each at the level that is past already: who asks for a digest is sent the next one. Those that are
 * not asked for any more are forgotten. The same object where nothing is new.
 */
export function asked(told: Told, digests: readonly Leveled[], now: Instant): Told {
  const wanted = new Map(digests.map(({ key, level }) => [key, level]))
  const kept = Object.entries(told.entries).filter(([key, { state, at }]) =>
    key.startsWith(DIGEST_PREFIX) ? wanted.has(key) && !(state === 'asked' && isAhead(at, now)) : true,
  )
  const known = new Set(kept.map(([key]) => key))
  const added = [...wanted].flatMap(([key, level]): [string, ToldEntry][] =>
    known.has(key) ? [] : [[key, { level, state: 'asked', at: now, tries: 0 }]],
  )
  const isSame = added.length === 0 && known.size === Object.keys(told.entries).length
  return isSame ? told : { ...told, entries: Object.fromEntries([...kept, ...added]) }
}

/** Whether a message of this level is to be sent now. The day of a digest that a clock ahead has sent is yet to come. */
export function isDue(told: Told, key: string, level: number, now: Instant): boolean {
  const entry = Object.hasOwn(told.entries, key) ? told.entries[key] : undefined
  if (!entry || level > entry.level || (key.startsWith(DIGEST_PREFIX) && isAhead(entry.at, now))) return true
  return level === entry.level && entry.state === 'waiting' && !isYounger(entry.at, now, waitMs(entry.tries))
}

/** Messages that are about to be sent. It must be on the disk before the first of them leaves. */
export function begin(told: Told, messages: readonly Leveled[], now: Instant): Told {
  const begun = messages.map(({ key, level }): [string, ToldEntry] => {
    const before = Object.hasOwn(told.entries, key) ? told.entries[key] : undefined
    const tries = before?.level === level ? before.tries : 0
    return [key, { level, state: 'sending', at: now, tries: tries + 1 }]
  })
  return { ...told, entries: { ...told.entries, ...Object.fromEntries(begun) } }
}

/** How they ended. */
export function end(told: Told, ended: ReadonlyMap<string, Delivery>, now: Instant): Told {
  const entries = ended.entries().flatMap(([key, delivery]): [string, ToldEntry][] => {
    const entry = told.entries[key]
    if (entry?.state !== 'sending') return []
    const { reason: _, ...before } = entry
    if (delivery.kind === 'sent') return [[key, { ...before, state: 'sent', at: now }]]
    return [[key, { ...before, state: stateAfter(delivery.kind, before.tries), at: now, reason: delivery.reason }]]
  })
  return { ...told, entries: { ...told.entries, ...Object.fromEntries(entries) } }
}

function stateAfter(kind: Exclude<Delivery['kind'], 'sent'>, tries: number): ToldState {
  if (kind === 'unknown') return 'unknown'
  return kind === 'refused' && tries < MOST_TRIES ? 'waiting' : 'failed'
}

/** What was under way when the process before this one ended: it may have arrived, so it is not sent again. */
export function withoutOpen(told: Told, now: Instant): Told {
  const open = Object.entries(told.entries).filter(([, { state }]) => state === 'sending')
  if (open.length === 0) return told
  const reason = 'the process ended before the answer'
  const settled = open.map(([key, entry]): [string, ToldEntry] => [key, { ...entry, state: 'unknown', at: now, reason }])
  return { ...told, entries: { ...told.entries, ...Object.fromEntries(settled) } }
}
