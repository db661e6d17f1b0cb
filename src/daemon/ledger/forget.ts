// Takes everything about one person out of a value that the ledger keeps: entries by their address, items that are about them, and their address
// in sentences. It knows no shape, so that no value of a later version can keep somebody who is to be forgotten. Whoever keeps the caps is told by
// a mark that names nobody, and that is gone once it has forgotten them as well.
import { createHash } from 'node:crypto'
import type { Instant } from '../../core/model/units.ts'
import type { LedgerFacts } from '../../ports.ts'

type ForgottenMark = LedgerFacts['forgotten'][number]

/**
 * The address as a word: no letter, digit or sign of an ordinary address goes on with it on either side, but a full stop or a quote may stand there.
 * Its own signs may be any.
 */
function wordOf(email: string): RegExp {
  const own = email.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`(?<![\\p{L}\\p{N}._%+@-]|[\\p{L}\\p{N}]')${own}(?![\\p{L}\\p{N}_@-]|\\.[\\p{L}\\p{N}])`, 'giu')
}

/** What may be an address in a text: whatever stands between spaces, quotes and the like, and the ordinary part of it. */
const WORDS = [/[^\s":,;()<>[\]]+/g, /[\p{L}\p{N}._%+'@-]+/gu]
/** What may stand around it there: nothing, quotes and the end of a sentence, or braces as well. */
const AROUND = [/^$/, /^['*_]+|['*_.!?]+$/g, /^['*_{]+|['*_.!?}]+$/g]

/** As it stands in sentences from now on. */
const SOMEBODY = '(forgotten)'

/** The value without the person; the same object when there was nothing of them. `email` is normalised. */
export function withoutPerson<T>(value: T, email: string): T
export function withoutPerson(value: unknown, email: string): unknown {
  if (typeof value === 'string') return mentions(value, email) ? value.replaceAll(wordOf(email), SOMEBODY) : value
  if (Array.isArray(value)) {
    const kept = value.filter((item) => !isAbout(item, email)).map((item) => withoutPerson(item, email))
    return kept.length === value.length && kept.every((item, index) => item === value[index]) ? value : kept
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const kept = entries.flatMap(([key, item]): readonly (readonly [string, unknown])[] =>
    mentions(key, email) || isAbout(item, email) ? [] : [[key, withoutPerson(item, email)]],
  )
  const isSame = kept.length === entries.length && kept.every(([, item], index) => item === entries[index]?.[1])
  return isSame ? value : Object.fromEntries(kept)
}

/** Who is meant shows only to those who have the address. */
export const markOf = (email: string, at: Instant): ForgottenMark => ({ at, hash: hashOf(at, email) })

const hashOf = (at: Instant, email: string): string => createHash('sha256').update(`${at}\n${email}`).digest('hex')

/** Whom the marks mean, of everybody who is named in these values. */
export function marked(marks: readonly ForgottenMark[], values: readonly unknown[]): readonly string[] {
  const words = new Set<string>()
  const note = (text: string): void => {
    if (!text.includes('@')) return
    for (const word of [text, ...WORDS.flatMap((one) => text.match(one) ?? [])])
      if (word.includes('@')) for (const around of AROUND) words.add(word.replace(around, '').toLowerCase())
  }
  const look = (name: string, value: unknown): unknown => {
    for (const text of [name, value]) if (typeof text === 'string') note(text)
    return value
  }
  JSON.stringify(values, look)
  return [...words].filter((word) => marks.some(({ at, hash }) => hashOf(at, word) === hash))
}

const isOf = (word: string, email: string): boolean => word.toLowerCase() === email

/** A word of the text is the address. */
const mentions = (text: string, email: string): boolean => text.includes('@') && wordOf(email).test(text)

/** The address itself, or something that names it as its person. */
function isAbout(item: unknown, email: string): boolean {
  if (typeof item === 'string') return isOf(item, email)
  if (typeof item !== 'object' || item === null) return false
  const { email: own, person, scope, key } = item as Readonly<Record<string, unknown>>
  return [own, person, scope, key].some((one) => (typeof one === 'string' ? isOf(one, email) : isAboutScope(one, email)))
}

const isAboutScope = (scope: unknown, email: string): boolean =>
  typeof scope === 'object' && scope !== null && 'email' in scope && typeof scope.email === 'string' && isOf(scope.email, email)
