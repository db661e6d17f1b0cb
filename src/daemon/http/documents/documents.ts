// What every document is asked with and made from, and the error of a question without an answer. Parameters are declared, parsed and refused here; the
// OpenAPI document is made from the same declarations.
import type { HistoryEntry } from '../../../core/model/change.ts'
import type { Instant } from '../../../core/model/units.ts'
import type { GrantStatus } from '../../../core/resolve/grants.ts'
import { readTime } from '../../../policy/dates.ts'
import { didYouMean } from '../../../policy/suggest.ts'
import type { Clock } from '../../../ports.ts'
import type { PeopleIndex } from './people/roster.ts'
import type { Records, Showing, WorkspaceFacts } from './types.ts'

/** The parameters behind the `?` of an address. One that the document does not know is refused, by name. */
export type Query = Readonly<Record<string, string>>

/** What one reader may see of a workspace, and how it is shown. */
export interface Seen extends WorkspaceFacts, Showing {
  readonly clock: Clock
  readonly records: Records
  /** What a seat includes, of which add-on use is estimated. */
  readonly creditsPerSeat?: number
  /** Grants and writes of the scopes that are seen. */
  readonly grants: readonly GrantStatus[]
  writes(sinceAt: Instant): Promise<readonly HistoryEntry[]>
  /** The rows of the people who are seen. */
  index(): Promise<PeopleIndex>
}

/** 400: a parameter is invalid; 404: what was asked for does not exist; 503: too much is asked at once. The message is for the client. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError'
  readonly status: 400 | 404 | 503
  constructor(status: 400 | 404 | 503, message: string) {
    super(message)
    this.status = status
  }
}

export interface Parameter {
  readonly name: string
  readonly about: string
  readonly kind: 'text' | 'whole' | 'instant' | 'word'
  readonly words?: readonly string[]
  /** Of a text, for the OpenAPI document; the document itself refuses others. */
  readonly pattern?: RegExp
  readonly least?: number
  readonly most?: number
  /** Its default. */
  readonly usually?: string | number
}

/** Of one value. Choice. */
export const MOST_LETTERS = 320
const MOST_PAGES = 100_000

export const text = (name: string, about: string): Parameter => ({ name, about, kind: 'text' })
export const word = (name: string, words: readonly string[], about: string, usually?: string): Parameter => ({
  name,
  about,
  kind: 'word',
  words,
  usually,
})
export const whole = (name: string, about: string, range: { readonly least: number; readonly most: number; readonly usually: number }) =>
  ({ name, about, kind: 'whole', ...range }) satisfies Parameter

export const PAGE = whole('page', 'Which page, from 1.', { least: 1, most: MOST_PAGES, usually: 1 })
export const limitOf = (usually: number, most: number): Parameter => whole('limit', 'The most on one page.', { least: 1, most, usually })

/** Parsed parameters. */
export type Asked = ReturnType<typeof asked>

/** Parses a query, or throws a `DocumentError` 400 that names what is wrong. */
export function asked(query: Query, parameters: readonly Parameter[]) {
  const known = new Map(parameters.map((one) => [one.name, one]))
  const given = new Map<string, string>()
  for (const [name, value] of Object.entries(query)) {
    const parameter = known.get(name)
    if (!parameter) throw unknownParameter(name, [...known.keys()])
    checkValue(parameter, value)
    if (value !== '') given.set(name, value)
  }
  return {
    text: (name: string): string | undefined => given.get(name),
    word: <const T extends string>(name: string, words: readonly T[]): T | undefined =>
      words.find((one) => one === (given.get(name) ?? known.get(name)?.usually)),
    whole: (name: string): number => Number(given.get(name) ?? known.get(name)?.usually),
    instant: (name: string): Instant | undefined => instantOf(given.get(name) ?? ''),
  }
}

function unknownParameter(name: string, known: readonly string[]): DocumentError {
  const shown = JSON.stringify(name.slice(0, MOST_LETTERS))
  if (known.length === 0) return new DocumentError(400, `there is no parameter ${shown} here, and no other`)
  return new DocumentError(400, `there is no parameter ${shown} here; ${didYouMean(name, known)}`)
}

/** An empty value counts as absent, because forms send it so. */
function checkValue({ name, kind, words = [], least = 0, most = 0 }: Parameter, value: string): void {
  if (value === '') return
  const shown = JSON.stringify(value.slice(0, MOST_LETTERS))
  if (value.length > MOST_LETTERS) throw new DocumentError(400, `${name} is longer than ${MOST_LETTERS} characters`)
  if (kind === 'word' && !words.includes(value)) throw new DocumentError(400, `${name} cannot be ${shown}; ${didYouMean(value, words)}`)
  if (kind === 'whole' && !(/^\d{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most)) {
    throw new DocumentError(400, `${name} cannot be ${shown}; write a whole number from ${least} to ${most}`)
  }
  if (kind === 'instant' && instantOf(value) === undefined) {
    throw new DocumentError(400, `${name} cannot be ${shown}; write an instant such as 2026-11-20T12:00:00Z, or a day such as 2026-11-20`)
  }
}

/** A day begins at midnight in UTC. */
const instantOf = (value: string): Instant | undefined => readTime(value, (dayUtc) => dayUtc, 'start')

export type Page<T> = ReturnType<typeof pageOf<T>>

/** One page of a list. */
export function pageOf<T>(items: readonly T[], question: Asked) {
  const [page, limit] = [question.whole('page'), question.whole('limit')]
  return { total: items.length, page, limit, items: items.slice((page - 1) * limit, page * limit) }
}
