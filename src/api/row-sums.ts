// Sums rows of analytics while they arrive: a team may have hundreds of thousands of rows in a month, but few sums. A row that makes no
// sense is set aside and counted, with the first reason. Sums come out of an answer as its rows, and can be summed again. Pure.
import { compareText } from '../core/model/order.ts'
import type { Instant } from '../core/model/units.ts'
import type { Operation, RowPath, RowPlan } from '../ports.ts'
import { BoundError } from './bounds.ts'
import { type Fields, isAbsent, numberOf } from './decode.ts'
import { isObject, malformed } from './errors.ts'

/** Marks a row that is already a sum: no JSON has a symbol as key. */
const SUM = Symbol('a sum of rows')

/** How many rows were set aside, and why the first one was. */
interface Aside {
  readonly [SUM]: true
  readonly why: string
  rows: number
}

type Marked<Sum> = Sum & { readonly [SUM]: true }

/** One row as a sum of one, or why it makes no sense. */
export type Judged<Sum> = { readonly sum: Sum } | { readonly why: string }

export interface SumKind<Sum> {
  readonly operation: Operation
  /** The plural of a row for messages, such as `runs`. */
  readonly of: string
  /** The most sums of one answer; each becomes a record. */
  readonly most: number
  judge(row: Fields): Judged<Sum>
  keyOf(sum: Sum): string
  add(into: Sum, sum: Sum): void
}

interface Summed<Sum> {
  /** In the order of their keys. */
  readonly sums: readonly Sum[]
  /** How many rows were set aside. */
  readonly aside: number
  readonly why?: string
}

/** Reads the rows at some paths as sums. */
export const summingRows = <Sum extends object>(at: readonly RowPath[], kind: SumKind<Sum>): RowPlan => ({
  at,
  keeper() {
    const tally = createTally(kind)
    return (row) => (isObject(row) ? tally.take(row) : undefined)
  },
})

/** Sums the rows of an answer. Throws `malformed` past the bound on sums. */
export function sumRows<Sum extends object>(rows: readonly Fields[], kind: SumKind<Sum>): Summed<Sum> {
  const tally = createTally(kind)
  try {
    for (const row of rows) tally.take(row)
  } catch (error) {
    throw error instanceof BoundError ? malformed(kind.operation, error.message) : error
  }
  return tally.all()
}

/** Sets aside the sums of days after `latestAt`. Throws `malformed` when that leaves nothing. */
export function withoutFuture<Sum extends { readonly dayAt: Instant }>(
  { sums, aside, why }: Summed<Sum>,
  latestAt: Instant,
  operation: Operation,
): Summed<Sum> {
  const past = sums.filter(({ dayAt }) => dayAt <= latestAt)
  const allAside = aside + sums.length - past.length
  if (past.length === 0 && allAside > 0) throw malformed(operation, why ?? 'every row of the answer is of a future day')
  return { sums: past, aside: allAside }
}

function createTally<Sum extends object>({ of, most, judge, keyOf, add }: SumKind<Sum>) {
  const sums = new Map<string, Marked<Sum>>()
  let aside: Aside | undefined
  const isOurs = (row: object): row is Marked<Sum> | Aside => SUM in row
  const isAside = (ours: Marked<Sum> | Aside): ours is Aside => 'why' in ours
  function putAside(why: string, rows: number): Aside | undefined {
    if (aside) {
      aside.rows += rows
      return undefined
    }
    aside = { [SUM]: true, why, rows }
    return aside
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
    /** Returns the new object to keep; undefined when the row went into one that is already kept. Throws a `BoundError`. */
    take(row: Fields): object | undefined {
      if (isOurs(row)) return isAside(row) ? putAside(row.why, row.rows) : include(row)
      const judged = judge(row)
      return 'why' in judged ? putAside(judged.why, 1) : include(judged.sum)
    },
    all: (): Summed<Sum> => ({
      sums: [...sums].sort(([a], [b]) => compareText(a, b)).map(([, sum]) => sum),
      aside: aside?.rows ?? 0,
      ...(aside && { why: aside.why }),
    }),
  }
}

/** Names of models and modes are short; a longer text is no name. */
export const MAX_NAME = 200

/** Absent and null count 0; anything else that is no number is NaN. */
export const countOf = (value: unknown): number => (isAbsent(value) ? 0 : (numberOf(value) ?? Number.NaN))

/** Midnight of a day such as `2026-02-03T00:00:00Z` or `2026-02-03`; NaN for anything else. */
export const dayAtOf = (text: string): Instant => (/^\s*\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text.trim().slice(0, 10)) : Number.NaN)

/** Models and modes are open data: an object reads as '', any other value as its text. */
export function nameOf(value: unknown): string {
  // As the ledger can store it: two names that it would store alike would collide there.
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '')
  return value === null || value === undefined || typeof value === 'object' ? '' : String(value)
}

/** A piece of an answer that may be shown. */
export const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 40) ?? 'nothing'
