// Bounds on the answers of a service, and the error past one (docs/operations.md, Bounds). Sizes are in bytes, after decompression.
import type { Operation } from '../core/model/observed.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** An answer of one value; and a listing of people or runs. */
export const MAX_SMALL_ANSWER_BYTES = 64 * KIB
const MAX_LISTING_BYTES = 64 * MIB

/** The largest answer that is accepted. */
export const MAX_ANSWER_BYTES: Readonly<Record<Operation, number>> = {
  Analytics: MAX_LISTING_BYTES,
  UserPageAnalytics: MAX_LISTING_BYTES,
  CascadeAnalytics: MAX_LISTING_BYTES,
  GetUsageConfig: MAX_SMALL_ANSWER_BYTES,
  UsageConfig: MAX_SMALL_ANSWER_BYTES,
  GetTeamCreditBalance: MAX_SMALL_ANSWER_BYTES,
}

/** One row of a listing; real rows have a few hundred bytes. */
export const MAX_ROW_BYTES = 16 * KIB
/** Rows of one listing: ten times the people that capkeeper is measured with, and more real runs than 64 MiB can hold. */
export const MAX_ROWS = 500_000
/** Objects and arrays within each other; the deepest answer of the interface has six levels. */
export const MAX_NESTING = 32
/** The time to open a connection, TLS included. */
export const CONNECT_TIMEOUT_MS = 10_000

/** A bound was exceeded. The message names the bound, and quotes nothing of the answer. */
export class BoundError extends Error {
  override readonly name = 'BoundError'
}

export const tooLarge = (limitBytes: number): string => `the answer is larger than ${sizeText(limitBytes)} and was dropped`

export const TOO_DEEP = `the answer is nested more than ${MAX_NESTING} deep and was dropped`

/** `64 KiB`, `12.5 MiB`. */
export const sizeText = (bytes: number): string =>
  bytes >= MIB ? `${Math.round((bytes / MIB) * 10) / 10} MiB` : `${Math.round(bytes / KIB)} KiB`

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d]

/** Whether a JSON text is nested too deep. Asked before parsing, because parsing takes the memory. */
export function isTooDeep(text: string): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charCodeAt(at)
    if (sign === QUOTE) at = endOfString(text, at)
    else if (sign === OPEN_LIST || sign === OPEN_MAP) depth += 1
    else if (sign === CLOSE_LIST || sign === CLOSE_MAP) depth -= 1
    if (depth > MAX_NESTING) return true
  }
  return false
}

/** The index of the closing quote, or the end of the text. */
function endOfString(text: string, begin: number): number {
  for (let at = begin + 1; at < text.length; at += 1) {
    const sign = text.charCodeAt(at)
    if (sign === BACKSLASH) at += 1
    else if (sign === QUOTE) return at
  }
  return text.length
}

/** The JSON value of a body; undefined when it is not JSON (so also for zero bytes) or nested too deep. */
export function parseJson(text: string): unknown {
  try {
    return isTooDeep(text) ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
