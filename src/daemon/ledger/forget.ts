// Removes a person from any value of the ledger: entries under their address, items about them, and their address in sentences. It depends on
// no schema, so that it works for values of later versions too. The daemon learns of it by a mark, which holds only a hash and is removed
// once the daemon has forgotten the person as well.
import { createHash, createHmac } from 'node:crypto'
import type { LedgerFacts } from '../../core/model/facts.ts'
import { normaliseEmail } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'

type ForgottenMark = LedgerFacts['forgotten'][number]

/**
 * Matches the address as a word: no letter, digit or sign of an ordinary address may adjoin it, but a full stop or a quote may. The address
 * itself may have any signs.
 */
function wordOf(email: string): RegExp {
  const own = email.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`(?<![\\p{L}\\p{N}._%+@-]|[\\p{L}\\p{N}]')${own}(?![\\p{L}\\p{N}_@-]|\\.[\\p{L}\\p{N}])`, 'giu')
}

/** Possible addresses in a text: the parts between spaces, quotes and the like, and the ordinary signs of them. */
const WORDS = [/[^\s":,;()<>[\]]+/g, /[\p{L}\p{N}._%+'@-]+/gu]
/** Signs around such a part that are removed: none, quotes and the end of a sentence, or also braces. */
const AROUND = [/^$/, /^['*_]+|['*_.!?]+$/g, /^['*_{]+|['*_.!?}]+$/g]

const REPLACEMENT = '(forgotten)'

/** The value without the person; the same object when it had nothing about them. `email` is normalised. */
export function withoutPerson<T>(value: T, email: string): T
export function withoutPerson(value: unknown, email: string): unknown {
  if (typeof value === 'string') return mentions(value, email) ? value.replaceAll(wordOf(email), REPLACEMENT) : value
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

/** A mark shows its person only to a process that knows the address. */
export const markOf = (email: string, at: Instant): ForgottenMark => ({ at, hash: hashOf(at, email) })

/** Names a forgotten person to processes that know both the key and the address. */
export const keyedHash = (salt: string, email: string): string => createHmac('sha256', salt).update(email).digest('hex')

const hashOf = (at: Instant, email: string): string => createHash('sha256').update(`${at}\n${email}`).digest('hex')

/** The addresses in these values that the marks mean. */
export function marked(marks: readonly ForgottenMark[], values: readonly unknown[]): readonly string[] {
  const words = new Set<string>()
  const note = (text: string): void => {
    if (!text.includes('@')) return
    for (const word of [text, ...WORDS.flatMap((one) => text.match(one) ?? [])])
      if (word.includes('@')) for (const around of AROUND) words.add(normaliseEmail(word.replace(around, '')))
  }
  const visit = (name: string, value: unknown): unknown => {
    for (const text of [name, value]) if (typeof text === 'string') note(text)
    return value
  }
  JSON.stringify(values, visit)
  return [...words].filter((word) => marks.some(({ at, hash }) => hashOf(at, word) === hash))
}

const isOf = (word: string, email: string): boolean => normaliseEmail(word) === email

/** Whether a word of the text is the address. */
const mentions = (text: string, email: string): boolean => text.includes('@') && wordOf(email).test(text)

/** Whether an item is the address, or has it as its person. */
function isAbout(item: unknown, email: string): boolean {
  if (typeof item === 'string') return isOf(item, email)
  if (typeof item !== 'object' || item === null) return false
  const { email: own, person, scope, key } = item as Readonly<Record<string, unknown>>
  return [own, person, scope, key].some((one) => (typeof one === 'string' ? isOf(one, email) : isAboutScope(one, email)))
}

const isAboutScope = (scope: unknown, email: string): boolean =>
  typeof scope === 'object' && scope !== null && 'email' in scope && typeof scope.email === 'string' && isOf(scope.email, email)
