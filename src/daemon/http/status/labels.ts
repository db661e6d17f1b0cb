// How people are shown outside the process: by e-mail, or by a hash of it. Free text goes through here too, because messages, reasons and quoted policy
// lines have e-mails in them; with hashes, no text with an @ leaves unchanged.
import { normaliseEmail } from '../../../core/model/scope.ts'
import type { Digest } from '../../../ports.ts'

export type PeopleShown = 'hash' | 'email'

export interface PeopleLabels {
  readonly shown: PeopleShown
  /** The label of one person: the e-mail, or 12 hex digits. */
  label(email: string): string
  /** A text with every e-mail in it replaced by its label. */
  text(text: string): string
}

/** E-mails as they are. */
export const EMAIL_LABELS: PeopleLabels = { shown: 'email', label: (email) => email, text: (text) => text }

/** A run of characters that may have an e-mail in it, up to what usually quotes or separates one. */
const RUN = /[^\s"`<>()[\],;:\\]+/gu
/** Characters that may be before the @ of an e-mail, and end it after the @. */
const END = /[{}|=/]/g

/**
 * E-mails as 12 hex digits. `salt` belongs to one installation, so the same person has the same hash in it: an e-mail cannot be read, but one that is known
 * can be found. `form` makes the label from the hash; default: the hash itself. Choice.
 */
export function hashLabels(digest: Digest, salt: string, form: (hash: string) => string = (hash) => hash): PeopleLabels {
  const label = (email: string) => form(digest(`${salt}\n${normaliseEmail(email)}`).slice(0, 12))
  const masked = (run: string): string => {
    let [text, from] = ['', 0]
    for (let at = run.indexOf('@'); at !== -1; at = run.indexOf('@', from)) {
      END.lastIndex = at
      const end = END.exec(run)?.index ?? run.length
      const email = trimmed(run.slice(from, end))
      text += run.slice(from, end).replace(email, () => label(email))
      from = end
    }
    return text + run.slice(from)
  }
  return { shown: 'hash', label, text: (text) => text.replace(RUN, masked) }
}

/** Without the quotes and punctuation of the sentence around it. */
function trimmed(run: string): string {
  let start = 0
  let end = run.length
  while (start < end && /^['*_/=|]|^\{(?![^{}]*\})/.test(run.slice(start))) start += 1
  while (end > start && "'*_.!?".includes(run.charAt(end - 1))) end -= 1
  return run.slice(start, end)
}
