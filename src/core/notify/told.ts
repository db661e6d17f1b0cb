// What was told, so that nobody is told twice: at most once per threshold and cycle, across restarts and crashes. A message counts as told from
// the moment it is about to be sent. Only one that certainly did not arrive is sent again, a bounded number of times.

import type { Kept, Told, ToldEntry } from '../model/facts.ts'
import type { Cycle } from '../model/observed.ts'
import { DAY_MS, type Instant, isAhead, isYounger } from '../model/units.ts'

/** What the last message that is not sent again left behind. */
export const lastKept = (entry: ToldEntry | undefined): Kept | undefined => (entry?.state === 'waiting' ? entry.before : entry?.kept)

/** What was told under this key, which may be called anything. */
export const entryOf = ({ entries }: Told, key: string): ToldEntry | undefined => (Object.hasOwn(entries, key) ? entries[key] : undefined)

/**
 * The outcome of a message. `refused`: it certainly did not arrive, and may the next time; `alone`: the receiver is reachable, and takes other
 * messages. `rejected`: it will never arrive.
 */
export type Delivery =
  | { readonly kind: 'sent' }
  | { readonly kind: 'refused'; readonly reason: string; readonly alone?: true }
  | { readonly kind: 'rejected' | 'unknown'; readonly reason: string }

const MOST_TRIES = 10
const FIRST_WAIT_MS = 60_000
const LONGEST_WAIT_MS = 3_600_000

/** The wait after so many tries. */
const waitMs = (tries: number): number => Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.max(0, tries - 1))

/** Digests and events go by days, not by billing cycles. */
const DIGEST_PREFIX = '["digest"'
const EVENT_PREFIX = '["event"'

/**
 * The record as of this cycle. A later cycle, by a day at least, drops the thresholds of the one before. An earlier cycle comes from an outdated
 * reading, by which nobody is told anything: undefined.
 */
export function toldIn(told: Told | undefined, { startAt }: Cycle): Told | undefined {
  if (!told) return { cycleStartAt: startAt, entries: {} }
  if (startAt - told.cycleStartAt <= -DAY_MS) return undefined
  if (startAt - told.cycleStartAt < DAY_MS) return told
  const lasting = Object.entries(told.entries).filter(([key]) => key.startsWith(DIGEST_PREFIX) || key.startsWith(EVENT_PREFIX))
  return { cycleStartAt: startAt, entries: Object.fromEntries(lasting) }
}

/** A message of which only the highest level counts. */
export interface Leveled {
  readonly key: string
  readonly level: number
  readonly kept?: Kept
}

/** Whether a message of this level is to be sent now. A digest that a clock which was ahead has recorded is sent again. */
export function isDue(told: Told, key: string, level: number, now: Instant): boolean {
  const entry = entryOf(told, key)
  if (!entry || level > entry.level || (key.startsWith(DIGEST_PREFIX) && isAhead(entry.at, now))) return true
  return level > (entry.beneath ?? 0) && entry.state === 'waiting' && !isYounger(entry.at, now, waitMs(entry.tries))
}

/** Records messages that are about to be sent. The record must be durable before the first of them leaves. */
export function markSending(told: Told, messages: readonly Leveled[], now: Instant): Told {
  const begun = messages.map(({ key, level, kept }): [string, ToldEntry] => {
    const last = entryOf(told, key)
    const tries = last?.level === level ? last.tries : 0
    const before = lastKept(last)
    const beneath = last?.state === 'waiting' ? last.beneath : last?.level
    return [key, { level, state: 'sending', at: now, tries: tries + 1, kept, before: kept && before ? before : undefined, beneath }]
  })
  return { ...told, entries: { ...told.entries, ...Object.fromEntries(begun) } }
}

/** Records outcomes. */
export function markEnded(told: Told, ended: ReadonlyMap<string, Delivery>, now: Instant): Told {
  const entries = ended.entries().flatMap(([key, delivery]): [string, ToldEntry][] => {
    const entry = told.entries[key]
    if (entry?.state !== 'sending') return []
    const { reason: _, before, beneath, ...rest } = entry
    if (delivery.kind === 'sent') return [[key, { ...rest, state: 'sent', at: now }]]
    const state = stateAfter(delivery.kind, rest.tries)
    // The next digest counts what one that was given up would have told.
    const kept = state === 'failed' && key.startsWith(DIGEST_PREFIX) ? before : rest.kept
    return [[key, { ...rest, kept, state, at: now, reason: delivery.reason, ...(state === 'waiting' && { before, beneath }) }]]
  })
  return { ...told, entries: { ...told.entries, ...Object.fromEntries(entries) } }
}

function stateAfter(kind: Exclude<Delivery['kind'], 'sent'>, tries: number): ToldEntry['state'] {
  if (kind === 'unknown') return 'unknown'
  return kind === 'refused' && tries < MOST_TRIES ? 'waiting' : 'failed'
}

/** What is held or rejected may come back, with the same id. */
const RETURNING = /^\["event","(held|rejected)"/

/** Once it has been over for so long, it is told again. It may be gone for less, as while a scope cannot be read. Choice. */
const OVER_MS = DAY_MS

/**
 * What a run begins with. Messages that were being sent when the previous process ended may have arrived, so they are not sent again; events that
 * have been over for long are forgotten. The same record where nothing has changed.
 */
export function settled(told: Told, now: Instant, happened: readonly { readonly id: string }[] = []): Told {
  const lasting = new Set(happened.map(({ id }) => id))
  const reason = 'the process ended before the answer'
  const changed = Object.entries(told.entries).flatMap(([key, entry]): [string, ToldEntry][] => {
    if (entry.state === 'sending') return [[key, { ...entry, state: 'unknown', at: now, reason }]]
    const { items = [], over = {} } = (RETURNING.test(key) && lastKept(entry)) || {}
    const isKept = (id: string): boolean => lasting.has(id) || now - (over[id] ?? now) < OVER_MS
    if (items.every((id) => isKept(id) && lasting.has(id) !== Object.hasOwn(over, id))) return []
    const left = items.filter(isKept)
    const kept = { items: left, over: Object.fromEntries(left.flatMap((id) => (lasting.has(id) ? [] : [[id, over[id] ?? now]]))) }
    return [[key, { ...entry, ...(entry.state === 'waiting' ? { before: kept } : { kept }) }]]
  })
  return changed.length === 0 ? told : { ...told, entries: { ...told.entries, ...Object.fromEntries(changed) } }
}
