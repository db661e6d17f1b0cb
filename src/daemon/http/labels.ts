// How people are shown outside the process: by e-mail, or by a hash of it. This is the one place that finds e-mails in text: what leaves the process goes
// through `all` as a whole, so no field can be forgotten. Text is read as any reader could decode it (percent, HTML, JavaScript, quoted-printable, base64,
// one inside the other), and with hashes nothing with an @ in it leaves unchanged. Logs stay on the machine of the operator and name people.
import { normaliseEmail } from '../../core/model/scope.ts'
import type { Digest } from '../../ports.ts'

export type PeopleShown = 'hash' | 'email'

/** A function that leaves absent what is absent. */
type Lifted<A, B> = <T extends A | undefined>(value: T) => B | Extract<T, undefined>

export const lifted = <A, B>(make: (value: A) => B): Lifted<A, B> =>
  ((value) => (value === undefined ? undefined : make(value))) as Lifted<A, B>

export interface PeopleLabels {
  readonly shown: PeopleShown
  /** The label of one person: the e-mail, or 12 hex digits. */
  label(email: string): string
  /** A text with every e-mail in it replaced by its label. */
  readonly text: Lifted<string, string>
  /** A copy with every text in it as `text` gives it, names of fields too; a field `email` is one person. */
  all<T>(value: T): T
}

/** E-mails as they are. */
export const EMAIL_LABELS: PeopleLabels = { shown: 'email', label: (email) => email, text: lifted((text) => text), all: (value) => value }

/**
 * E-mails as 12 hex digits. `salt` belongs to one installation, so the same person has the same hash in it: an e-mail cannot be read, but one that is known
 * can be found. `form` makes the label from the hash and the text in place of which it stands; default: the hash itself. Choice.
 */
export function hashLabels(digest: Digest, salt: string, form: (hash: string, raw: string) => string = (hash) => hash): PeopleLabels {
  const hash = (email: string): string => digest(`${salt}\n${normaliseEmail(email)}`).slice(0, 12)
  const label = (email: string): string => form(hash(email), email)
  const text = lifted((raw: string): string => {
    if (!SUSPECT.test(raw)) return raw
    let [shown, from] = ['', 0]
    for (const { email, start, end } of emailsIn(raw)) {
      shown += raw.slice(from, start) + form(hash(email), raw.slice(start, end))
      from = end
    }
    return (shown + raw.slice(from)).replace(BASE64, (run) => (isEncodedEmail(run) ? label(run) : run))
  })
  return { shown: 'hash', label, text, all: (value) => mapTexts(value, text, label) }
}

/** A copy with `text` applied to every text, names of fields too, and `person` to every field `email`. */
export function mapTexts<T>(value: T, text: (text: string) => string, person = text): T {
  const mapped = (one: unknown, change: (text: string) => string): unknown => {
    if (typeof one === 'string') return change(one)
    if (Array.isArray(one)) return one.map((item) => mapped(item, change))
    if (one instanceof Map) return new Map([...one].map(([key, inside]) => [mapped(key, change), mapped(inside, change)]))
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(
      Object.entries(one).flatMap(([key, inside]) =>
        inside === undefined ? [] : [[text(key), mapped(inside, key === 'email' ? person : text)] as const],
      ),
    )
  }
  return mapped(value, text) as T
}

interface FoundEmail {
  readonly email: string
  /** Where its text is, as it was given. */
  readonly start: number
  readonly end: number
}

/** What a text without any of these cannot hold: an @ however encoded. */
const SUSPECT = /[@%\\&\uFE6B\uFF20]|=40|=3D|[\w+-]{12}/
/** A run of characters that may have an e-mail in it, up to what usually quotes or separates one. */
const RUN = /[^\s"`<>()[\],;:\\]+/gu
/** Characters that may be before the @ of an e-mail, and end it after the @. */
const END = /[{}|=/]/g
/** `=40` is also an ordinary figure; it is an @ only before the name of a host. */
const WEAK_AT = '\uE040'
const HOST = /^[^@{}|=/]*[^@{}|=/.]\.\p{L}[\p{L}\d-]+/u
/** `name@sha256:…` is the digest of an image: what has a colon in it is no e-mail. */
const DIGEST = /^@sha\d+:[0-9a-f]{32}/

/** The e-mails in a text, in order, decoded, and where each is. */
export function emailsIn(raw: string): readonly FoundEmail[] {
  const { text, at } = decoded(raw)
  const found: FoundEmail[] = []
  for (const { 0: run, index } of text.matchAll(RUN)) {
    let from = 0
    for (let sign = signAfter(run, from); sign !== -1; sign = signAfter(run, from)) {
      END.lastIndex = sign
      const end = END.exec(run)?.index ?? run.length
      const [start, stop] = trimmed(run, from, end)
      from = end
      if (DIGEST.test(text.slice(index + sign, index + sign + 64))) continue
      const email = run.slice(start, stop).replaceAll(WEAK_AT, '@')
      found.push({ email, start: at(index + start), end: at(index + stop) })
    }
  }
  return found
}

function signAfter(run: string, from: number): number {
  const strong = run.indexOf('@', from)
  for (let weak = run.indexOf(WEAK_AT, from); weak !== -1 && (strong === -1 || weak < strong); weak = run.indexOf(WEAK_AT, weak + 1)) {
    if (HOST.test(run.slice(weak + 1))) return weak
  }
  return strong
}

/** The part without the quotes and punctuation of the sentence around it. */
function trimmed(run: string, from: number, to: number): readonly [number, number] {
  let [start, end] = [from, to]
  while (start < end && /^['*_/=|]|^\{(?![^{}]*\})/.test(run.slice(start, to))) start += 1
  while (end > start && "'*_.!?".includes(run.charAt(end - 1))) end -= 1
  return [start, end]
}

/** One encoded character: percent, JavaScript, HTML by number and by name, quoted-printable; and characters that show as nothing or as an @. */
const ENCODED =
  /%([0-9a-f]{2})|[\\%]{1,8}u\{?0{0,6}([0-9a-f]{2,4})\}?|\\{1,8}x([0-9a-f]{2})|&#x0{0,6}([0-9a-f]{2,4});?|&#0{0,6}(\d{2,5});?|&(commat|quot|apos|lt|gt|amp|period|nbsp);|\\{1,8}[nrt]|=\r?\n|[\u00AD\u200B-\u200F\u2060\uFE6B\uFEFF\uFF20]/gi
const QUOTED_PRINTABLE = /=([2-7][0-9A-F])/g
const NAMED: Readonly<Record<string, string>> = { commat: '@', quot: '"', apos: "'", lt: '<', gt: '>', amp: '&', period: '.', nbsp: ' ' }
/** How often an encoded text may be encoded again. Choice. */
const MOST_LAYERS = 6

interface Decoded {
  readonly text: string
  /** Where a character of `text` begins in the text as it was given. */
  at(index: number): number
}

function decoded(raw: string): Decoded {
  let one: Decoded = { text: raw, at: (index) => index }
  for (let layer = 0; layer < MOST_LAYERS; layer += 1) {
    const next = replaced(/=40|=3D/.test(one.text) ? replaced(one, QUOTED_PRINTABLE, ([, hex = '']) => quoted(hex)) : one, ENCODED, signOf)
    if (next === one) break
    one = next
  }
  return one
}

const quoted = (hex: string): string => (hex === '40' ? WEAK_AT : character(Number.parseInt(hex, 16)))

function signOf([all, percent, script, short, hex, number, name]: RegExpExecArray): string {
  const digits = percent ?? script ?? short ?? hex
  if (digits !== undefined) return character(Number.parseInt(digits, 16))
  if (number !== undefined) return character(Number(number))
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? ' '
  if (/^\\/.test(all)) return ' '
  return '\uFE6B\uFF20'.includes(all) ? '@' : ''
}

/** Bytes of UTF-8 stand for letters. */
const character = (code: number): string => String.fromCharCode(code >= 0x80 && code <= 0xff ? code + 0x100 : code)

function replaced(before: Decoded, pattern: RegExp, sign: (match: RegExpExecArray) => string): Decoded {
  const places: number[] = []
  let [text, from] = ['', 0]
  for (const match of before.text.matchAll(pattern)) {
    text += before.text.slice(from, match.index)
    for (; from < match.index; from += 1) places.push(before.at(from))
    const read = sign(match)
    text += read
    if (read !== '') places.push(before.at(from))
    from += match[0].length
  }
  if (from === 0) return before
  text += before.text.slice(from)
  for (; from <= before.text.length; from += 1) places.push(before.at(from))
  return { text, at: (index) => places[index] ?? 0 }
}

/** An e-mail in base64 is one that every reader can read; a run that holds anything but printable text is something else. */
const BASE64 = /[\w+/-]{12,}={0,2}/g
const isEncodedEmail = (run: string): boolean => {
  if (/^[\da-f-]+$/.test(run)) return false
  const text = Buffer.from(run, 'base64').toString('utf8')
  return /@./.test(text) && !/[\p{Cc}\uFFFD]/u.test(text.replaceAll(/\s/g, ''))
}
