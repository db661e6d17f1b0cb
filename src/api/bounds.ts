// How much of what a service says is taken, in named constants, and the error of what is past one (product.md, section 11). All of it holds
// after decompression, in bytes. Nothing here waits, reads or decides about a cap.
import type { Operation } from '../ports.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** What holds one value, whatever it says; and what lists everybody or every run. */
export const MAX_SMALL_ANSWER_BYTES = 64 * KIB
const MAX_LISTING_BYTES = 64 * MIB

/** The largest answer that is taken. */
export const MAX_ANSWER_BYTES: Readonly<Record<Operation, number>> = {
  Analytics: MAX_LISTING_BYTES,
  UserPageAnalytics: MAX_LISTING_BYTES,
  CascadeAnalytics: MAX_LISTING_BYTES,
  GetUsageConfig: MAX_SMALL_ANSWER_BYTES,
  UsageConfig: MAX_SMALL_ANSWER_BYTES,
  GetTeamCreditBalance: MAX_SMALL_ANSWER_BYTES,
}

/** One row of a listing; real ones have some hundred bytes. */
export const MAX_ROW_BYTES = 16 * KIB
/** Rows of one listing: ten times the people that capkeeper is measured with, and more runs than a listing of real ones can hold. */
export const MAX_ROWS = 500_000
/** Objects and arrays within each other; the deepest answer of the interface has six. */
export const MAX_NESTING = 32
/** A connection, TLS included, has to stand by then. */
export const CONNECT_TIMEOUT_MS = 10_000

/** A bound was hit: the message names it, and holds nothing of the answer. */
export class BoundError extends Error {
  override readonly name = 'BoundError'
}

export const tooLarge = (limitBytes: number): string => `the answer is larger than ${sizeText(limitBytes)} and was dropped`

export const TOO_DEEP = `the answer is nested more than ${MAX_NESTING} deep and was dropped`

/** `64 KiB`, `12.5 MiB`. */
export const sizeText = (bytes: number): string =>
  bytes >= MIB ? `${Math.round((bytes / MIB) * 10) / 10} MiB` : `${Math.round(bytes / KIB)} KiB`

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d]

/** Whether a text of JSON is nested deeper than it may be: looked at before it is parsed, because parsing it takes the memory. */
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

/** Where the string that begins here ends; the end of the text when it never does. */
function endOfString(text: string, begin: number): number {
  for (let at = begin + 1; at < text.length; at += 1) {
    const sign = text.charCodeAt(at)
    if (sign === BACKSLASH) at += 1
    else if (sign === QUOTE) return at
  }
  return text.length
}
