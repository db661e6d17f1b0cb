// Add-on use by person, day and model, from the data source of Analytics that some deployments have beside the four of the interface
// (docs/service.md, Add-on use per person): the question, the answer, and the sums that rows of use are reduced to while they arrive. Rows
// name people by a hash of their key. The hash never leaves this folder: results name people by e-mail. Pure.
import type { AddOnReading, AddOnRow, ApiError, Operation } from '../core/model/observed.ts'
import { compareText } from '../core/model/scope.ts'
import { cents, creditsOf, DAY_MS, type Instant } from '../core/model/units.ts'
import type { AddOnQuestion, RowPath } from '../ports.ts'
import {
  type Fields,
  isAbsent,
  MAX_CENTS,
  MAX_FIGURE,
  numberOf,
  objectOf,
  type Reading,
  type RosterRow,
  rowsOf,
  setAside,
} from './decode.ts'
import { BoundError, isObject, malformed } from './errors.ts'
import type { Wire } from './wire.ts'

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

/** Sums the rows at some paths while they arrive. Past the bound on sums taking a row throws a `BoundError`. */
export function readSums<Sum, Value>(
  at: readonly RowPath[],
  { of, most, judge, keyOf, add }: SumKind<Sum>,
  decode: (body: unknown, summed: Summed<Sum>) => Value,
): Reading<Value> {
  const sums = new Map<string, Sum>()
  let aside = 0
  let why: string | undefined
  const include = (sum: Sum): Sum | undefined => {
    const key = keyOf(sum)
    const known = sums.get(key)
    if (known) {
      add(known, sum)
      return undefined
    }
    if (sums.size >= most) throw new BoundError(`the answer has more than ${most} kinds of ${of} and was dropped`)
    sums.set(key, sum)
    return sum
  }
  return {
    rows: {
      at,
      take(row) {
        if (!isObject(row)) return undefined
        const judged = judge(row)
        if ('sum' in judged) return include(judged.sum)
        aside += 1
        why ??= judged.why
        return undefined
      },
    },
    decode: (body) => decode(body, { sums: [...sums].sort(([a], [b]) => compareText(a, b)).map(([, sum]) => sum), aside, why }),
  }
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

/** Sums of one answer: a day of 50,000 people with two models each. A bigger question is asked in smaller pieces. Choice. */
const MAX_ADD_ON_SUMS = 100_000

const FIELDS = ['api_key', 'date', 'model', 'prompts_used', 'flex_credits_used'] as const

const dayText = (at: Instant): string => new Date(at).toISOString().slice(0, 10)

// ---- the owner of each key

/** A bigger book is emptied before the next listing. Several times the people that capkeeper is measured with. Choice. */
const MAX_KEYS = 200_000

type KeyBook = ReturnType<typeof createKeyBook>

/** Who owns which key, as the listings of people say. It grows with each listing, so that people who left are still known. */
export function createKeyBook() {
  const emails = new Map<string, string>()
  let without: readonly string[] | undefined
  return {
    /** Takes a listing of the whole team. A person's address can change: the newest listing counts. */
    learn(rows: readonly RosterRow[]): void {
      if (emails.size > MAX_KEYS) emails.clear()
      const keyless = new Set<string>()
      for (const { email, fields } of rows) {
        const key = typeof fields['apiKey'] === 'string' ? fields['apiKey'].trim() : ''
        if (key === '') keyless.add(email)
        else emails.set(key, email)
      }
      without = [...keyless.difference(new Set(emails.values()))].sort(compareText)
    },
    forget(email: string): void {
      for (const [key, owner] of emails) if (owner === email) emails.delete(key)
      without = without?.filter((one) => one !== email)
    },
    emailOf: (key: string): string | undefined => emails.get(key),
    /** False before any listing. */
    isKnown: (): boolean => without !== undefined,
    /** People of the last listing who have no key. */
    unassignable: (): readonly string[] => without ?? [],
  }
}

// ---- the question

/** Asks for the raw rows of some days, of the whole team. */
export const encodeAddOn = ({ fromAt, untilAt }: AddOnQuestion): Wire<'AnalyticsRequest'> => ({
  query_requests: [
    {
      data_source: 'QUERY_DATA_SOURCE_CASCADE_DATA',
      selections: FIELDS.map((field) => ({ field, name: field })),
      filters: [
        { name: 'date', filter: 'QUERY_FILTER_GE', value: dayText(fromAt) },
        { name: 'date', filter: 'QUERY_FILTER_LE', value: dayText(untilAt - 1) },
      ],
    },
  ],
})

/** The service has no such data source; documented by its stem, "invalid query table:" (docs/service.md, Errors). */
export const lacksAddOn = ({ operation, kind, message }: ApiError): boolean =>
  operation === 'Analytics' && kind === 'invalid' && /query.?table|data.?source|UNSPECIFIED/i.test(message)

// ---- the answer

/** One person, day and model. */
interface AddOnSum {
  readonly key: string
  readonly dayAt: Instant
  readonly model: string
  cents: number
  addOnCents: number
  /** Whether a row told credits. */
  tells: boolean
}

const SUMS: SumKind<AddOnSum> = {
  operation: 'Analytics',
  of: 'add-on use',
  most: MAX_ADD_ON_SUMS,
  judge,
  keyOf: ({ key, dayAt, model }) => JSON.stringify([dayAt, key, model]),
  add(into, { cents: used, addOnCents, tells }) {
    into.tells ||= tells
    into.cents = Math.min(MAX_FIGURE, into.cents + used)
    into.addOnCents = Math.min(MAX_FIGURE, into.addOnCents + addOnCents)
  },
}

/** `<nil>` is a valid model, but no figure. No message holds a key. */
function judge(row: Fields): Judged<AddOnSum> {
  const item = isObject(row['item']) ? row['item'] : {}
  const [key = '', date = '', model = ''] = [item['api_key'], item['date'], item['model']].map(nameOf)
  const dayAt = dayAtOf(date)
  const [used, addOn] = [countOf(item['prompts_used']), countOf(item['flex_credits_used'])]
  if (key === '' || key.length > MAX_NAME) return { why: 'a row of add-on use has no key' }
  if (Number.isNaN(dayAt)) return { why: 'a row of add-on use has no day' }
  if (model.length > MAX_NAME) return { why: `the model of a row of add-on use has more than ${MAX_NAME} characters` }
  if (!isAmount(used)) return { why: `prompts_used of a row is ${shown(item['prompts_used'])}` }
  if (!isAmount(addOn)) return { why: `flex_credits_used of a row is ${shown(item['flex_credits_used'])}` }
  const tells = !isAbsent(item['prompts_used']) || !isAbsent(item['flex_credits_used'])
  return { sum: { key, dayAt, model, cents: used, addOnCents: addOn, tells } }
}

const isAmount = (amount: number): boolean => Math.abs(amount) <= MAX_CENTS

/**
 * The requested days, summed by person, day and model; rows of an unknown key have the e-mail ''. Rows that make no sense, or are later than
 * a day from now, are set aside and counted; malformed when nothing else is left, or no row tells credits.
 */
export const readAddOn = (
  { fromAt, untilAt, except = new Set() }: AddOnQuestion,
  book: KeyBook,
  now: () => Instant,
): Reading<AddOnReading> =>
  readSums([['queryResults', '*', 'responseItems', '*']], SUMS, (body, summed) => {
    for (const { responseItems } of rowsOf('Analytics', objectOf('Analytics', body)['queryResults'], 'queryResults'))
      rowsOf('Analytics', responseItems, 'responseItems')
    const { sums, aside } = withoutFuture(summed, now() + DAY_MS, 'Analytics')
    // Of a plan without credits.
    if (sums.length > 0 && !sums.some(({ tells }) => tells)) throw malformed('Analytics', 'no row of add-on use tells credits')
    const asked = sums.filter(({ dayAt }) => dayAt >= Math.floor(fromAt / DAY_MS) * DAY_MS && dayAt < untilAt)
    return { rows: byPerson(asked, book, except), unassignable: book.unassignable(), ...setAside(aside) }
  })

/** A person may have had several keys. */
function byPerson(sums: readonly AddOnSum[], book: KeyBook, except: ReadonlySet<string>): readonly AddOnRow[] {
  const rows = new Map<string, AddOnSum>()
  for (const sum of sums) {
    const owner = book.emailOf(sum.key) ?? ''
    const row = { ...sum, key: except.has(owner) ? '' : owner }
    const known = rows.get(SUMS.keyOf(row))
    if (known) SUMS.add(known, row)
    else rows.set(SUMS.keyOf(row), row)
  }
  return [...rows.values()].map(({ key: email, dayAt, model, cents: used, addOnCents }) => ({
    ...{ dayAt, email, model },
    ...{ used: creditsOf(cents(used)), addOn: creditsOf(cents(addOnCents)) },
  }))
}
