// How collecting asks the service: an answer or why there is none, and days of use chunk by chunk, forward to now and back from the first one.
// Each chunk is recorded with how far the answers reach before the next one is asked for, so that a process that ends goes on from there.

import { ApiError } from '../../core/model/observed.ts'
import type { RunsAsked } from '../../core/model/past.ts'
import type { ScopeKey } from '../../core/model/scope.ts'
import { DAY_MS, HOUR_MS, type Instant, isAhead, isYounger, midnight } from '../../core/model/units.ts'
import type { DayRange } from '../../ports.ts'

/** Why something could not be read. */
export type Failure = Pick<ApiError, 'kind' | 'message' | 'unsent'>

/** The failure of the service; rethrows everything else. */
export function failureOf(error: unknown): Failure {
  if (error instanceof ApiError) return error
  throw error
}

export type Answer<T> = { readonly value: T; readonly failure?: undefined } | { readonly failure: Failure }

/** The value, or why the service gave none; rethrows everything else. Rejects once `signal` aborts. */
export async function answerOf<T>(request: () => Promise<T>, signal: AbortSignal | undefined): Promise<Answer<T>> {
  try {
    return { value: await request() }
  } catch (error) {
    signal?.throwIfAborted()
    return { failure: failureOf(error) }
  }
}

/** Days of one request, unless that is too much for the service. */
export const CHUNK_DAYS = 30
/** Older days are not kept. */
export const LONGEST_BACK_DAYS = 400
/** How often earlier days are read again, and how many, because the service may amend them. Choice. */
export const AMEND_EVERY_MS = 6 * HOUR_MS
const AMENDED_DAYS = 2

/**
 * `asked` if it can be believed. A clock that was ahead has asked for days in the future, so that an unknown part of the days is missing: all are
 * asked for again.
 */
export function believed<T extends RunsAsked>(asked: T | undefined, now: Instant): T | undefined {
  // In some time zones the next day has begun.
  return asked && isAhead(Math.max(asked.readAt, asked.throughAt - DAY_MS), now) ? undefined : asked
}

/** The days of one request for each source, where it is not `CHUNK_DAYS`. */
export type ChunkDays = Map<ScopeKey | 'addOn', number>

/** Use by day, as the service tells it to one kind of question. */
interface Source<Reading, Asked> {
  readonly key: ScopeKey | 'addOn'
  readonly chunkDays: ChunkDays
  ask(days: DayRange): Promise<Answer<Reading>>
  /** Records a chunk; `asked` says how far the answers reach with it. */
  save(days: DayRange, reading: Reading, asked: Asked): Promise<void>
}

interface Forward<Reading> extends Source<Reading, RunsAsked> {
  readonly now: Instant
  readonly before: RunsAsked | undefined
  /** The first day, where none was read before. */
  readonly firstAt: Instant
  /** The first day to read again with every reading. Default: the last one that was read. */
  readonly openAt?: Instant | undefined
  readonly amendEveryMs?: number
}

/** Reads from the last days that were read up to now. Returns the failure that ended it, if any; after one that took too long the next reading asks for less. */
export async function readForward<Reading>(source: Forward<Reading>): Promise<Failure | undefined> {
  const { now, before, firstAt, openAt, amendEveryMs = AMEND_EVERY_MS } = source
  const isAmending = !before || !isYounger(before.wideAt, now, amendEveryMs)
  let fromAt = firstAt
  if (before) {
    // Rows of a day that has begun elsewhere, or a clock that was put back: the day that is read last may be yet to come.
    const lastAt = Math.min(before.throughAt, midnight(now))
    const amendedAt = isAmending ? lastAt - AMENDED_DAYS * DAY_MS : lastAt
    fromAt = Math.max(before.fromAt, Math.min(amendedAt, openAt ?? amendedAt))
  }
  const startAt = before?.fromAt ?? fromAt
  while (fromAt <= now) {
    const chunkDays = daysOf(source)
    // In some time zones the next day has begun.
    const days = { fromAt, untilAt: Math.min(fromAt + chunkDays * DAY_MS, midnight(now) + 2 * DAY_MS) }
    const answer = await ask(source, days)
    // A refusal costs little, so that less is asked for at once.
    if (answer.failure?.kind === 'invalid' && daysOf(source) < chunkDays) continue
    if (answer.failure) return answer.failure
    const throughAt = Math.max(Math.min(days.untilAt - DAY_MS, midnight(now)), before?.throughAt ?? startAt)
    const wideAt = days.untilAt > now && isAmending ? now : (before?.wideAt ?? startAt)
    await source.save(days, answer.value, { fromAt: startAt, throughAt, readAt: now, wideAt })
    fromAt = days.untilAt
  }
  return undefined
}

interface Back<Reading, Asked> extends Source<Reading, Asked> {
  /** How far back the answers reach by now; undefined when there is nothing to read before them. */
  reached(): Asked | undefined
}

/** Reads the days before those that are known, the latest first. Returns the failure that ended it, if any; what was too much is asked for in smaller chunks. */
export async function readBack<Reading, Asked extends RunsAsked>(
  source: Back<Reading, Asked>,
  backTo: Instant,
): Promise<Failure | undefined> {
  for (let asked = source.reached(); asked && asked.fromAt > backTo; asked = source.reached()) {
    const chunkDays = daysOf(source)
    const days = { fromAt: Math.max(backTo, asked.fromAt - chunkDays * DAY_MS), untilAt: asked.fromAt }
    const answer = await ask(source, days)
    if (!answer.failure) await source.save(days, answer.value, { ...asked, fromAt: days.fromAt })
    else if (!isTooMuch(answer.failure) || chunkDays === 1) return answer.failure
  }
  return undefined
}

const daysOf = ({ chunkDays, key }: Pick<Source<unknown, unknown>, 'chunkDays' | 'key'>): number => chunkDays.get(key) ?? CHUNK_DAYS

/** Asks for a chunk. One that was too much for the service makes the next one smaller; when not even a day can be read, its length was not the reason. */
async function ask<Reading>(source: Pick<Source<Reading, never>, 'key' | 'chunkDays' | 'ask'>, days: DayRange): Promise<Answer<Reading>> {
  const { key, chunkDays } = source
  const answer = await source.ask(days)
  if (!answer.failure || !isTooMuch(answer.failure)) return answer
  if (daysOf(source) === 1) chunkDays.delete(key)
  else chunkDays.set(key, Math.floor(daysOf(source) / 2))
  return answer
}

/** The answer may be too long for the service, for its time or for the wire. */
const isTooMuch = ({ kind, unsent }: Failure): boolean => !unsent && (kind === 'invalid' || kind === 'malformed' || kind === 'timeout')
