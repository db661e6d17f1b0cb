// Sums rows of analytics as they arrive, because a team may have hundreds of thousands in a month and a handful of sums. A row that makes
// no sense is set aside and counted, with the first reason; sums can be summed again, as they come back out of an answer. Pure.
import { compareText } from '../core/model/order.ts'
import type { Instant } from '../core/model/units.ts'
import { BoundError } from './bounds.ts'
import { type Fields, numberOf } from './decode.ts'

/** JSON has no such key: what carries it was summed here. */
const SUM = Symbol('a sum of rows')

/** What was set aside, beside the sums. */
interface Aside {
  readonly [SUM]: true
  readonly why: string
  rows: number
}

type Marked<Sum> = Sum & { readonly [SUM]: true }

/** One row as a sum of one, or why it makes no sense. */
export type Judged<Sum> = { readonly sum: Sum } | { readonly why: string }

export interface SumKind<Sum> {
  /** What the rows are, for messages: such as `runs`. */
  readonly of: string
  /** Sums of one answer; each becomes a record. */
  readonly most: number
  judge(row: Fields): Judged<Sum>
  keyOf(sum: Sum): string
  add(into: Sum, sum: Sum): void
}

export interface RowSums<Sum> {
  /** Returns what is new to be kept, undefined when the row went into a sum that is there. Throws a `BoundError`. */
  take(row: Fields): object | undefined
  /** All sums in the order of their keys, how many rows were set aside, and why the first was. */
  all(): { readonly sums: readonly Sum[]; readonly aside: number; readonly why?: string }
}

export function createRowSums<Sum extends object>({ of, most, judge, keyOf, add }: SumKind<Sum>): RowSums<Sum> {
  const sums = new Map<string, Marked<Sum>>()
  let aside: Aside | undefined
  const isOurs = (row: object): row is Marked<Sum> | Aside => SUM in row
  const isAside = (ours: Marked<Sum> | Aside): ours is Aside => 'why' in ours
  function leave(why: string, rows: number): Aside | undefined {
    if (aside) aside.rows += rows
    else {
      aside = { [SUM]: true, why, rows }
      return aside
    }
    return undefined
  }
  function include(sum: Sum): Marked<Sum> | undefined {
    const key = keyOf(sum)
    const known = sums.get(key)
    if (known) {
      add(known, sum)
      return undefined
    }
    if (sums.size >= most) throw new BoundError(`the answer has more than ${most} kinds of ${of} and was dropped`)
    const marked: Marked<Sum> = { ...sum, [SUM]: true }
    sums.set(key, marked)
    return marked
  }
  return {
    take(row) {
      if (isOurs(row)) return isAside(row) ? leave(row.why, row.rows) : include(row)
      const judged = judge(row)
      return 'why' in judged ? leave(judged.why, 1) : include(judged.sum)
    },
    all: () => ({
      sums: [...sums].sort(([a], [b]) => compareText(a, b)).map(([, sum]) => sum),
      aside: aside?.rows ?? 0,
      ...(aside && { why: aside.why }),
    }),
  }
}

/** Names of models and modes are short; what is longer is no name. */
export const MAX_NAME = 200

export const isAbsent = (value: unknown): boolean => value === undefined || value === null

/** Absent and null count 0; what is no number is NaN. */
export const countOf = (value: unknown): number => (isAbsent(value) ? 0 : (numberOf(value) ?? Number.NaN))

/** Midnight of a day such as `2026-02-03T00:00:00Z` or `2026-02-03`; NaN for anything else. */
export const dayAtOf = (text: string): Instant => (/^\s*\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text.trim().slice(0, 10)) : Number.NaN)

/** Models and modes are open data; anything but text reads as none, or as it would be written. */
export function nameOf(value: unknown): string {
  // As a record can hold it: one that it would change could meet another in the same place.
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '')
  return value === null || value === undefined || typeof value === 'object' ? '' : String(value)
}

/** A piece of an answer that may be shown. */
export const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 40) ?? 'nothing'
