// "Did you mean": the known word nearest to a typed one. It only suggests and never decides.
import { closestMatch } from 'leven'

/** Longer words are not compared, because no known word is near them. */
const MOST_LETTERS = 40

/** The nearest of `known` within two edits (one for words of up to three letters), whatever the case; undefined when none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > MOST_LETTERS) return undefined
  const inLowerCase = known.map((one) => one.toLowerCase())
  const near = closestMatch(word.toLowerCase(), inLowerCase, { maxDistance: word.length <= 3 ? 1 : 2 })
  return near === undefined ? undefined : known[inLowerCase.indexOf(near)]
}

/** `did you mean "cap"?`, or the whole list when nothing is near. */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = nearest(word, known)
  return near === undefined ? `known here: ${known.join(', ')}` : `did you mean "${near}"?`
}
