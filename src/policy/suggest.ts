// "Did you mean": the known word nearest to a typed one. It only suggests and never decides.
import { closestMatch } from 'leven'

/** Longer words, and parts of addresses, are not compared, because no known word is near them. */
const MOST_LETTERS = 64

/**
 * The nearest of `known` within two edits (one for words of up to three letters), whatever the case; undefined when none is near. Of an address
 * the parts before and after the @ are compared apart.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const typed = word.toLowerCase()
  const at = typed.lastIndexOf('@')
  return at < 0 ? nearestBy(typed, known, (one) => one) : nearestAddress(typed.slice(0, at), typed.slice(at + 1), known)
}

/** The people of the nearest domain, and of them the one with the nearest name; one of the two parts may be as it is known. */
function nearestAddress(name: string, domain: string, known: readonly string[]): string | undefined {
  const addresses = known.filter((one) => one.includes('@'))
  const near = nearestBy(domain, [...new Set(addresses.map(domainOf))], (one) => one)
  return nearestBy(
    name,
    addresses.filter((one) => domainOf(one) === near),
    (one) => one.slice(0, one.lastIndexOf('@')),
  )
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase()

function nearestBy(word: string, known: readonly string[], partOf: (one: string) => string): string | undefined {
  if (word.length > MOST_LETTERS) return undefined
  const inLowerCase = known.map((one) => partOf(one).toLowerCase())
  const near = closestMatch(word, inLowerCase, { maxDistance: word.length <= 3 ? 1 : 2 })
  return near === undefined ? undefined : known[inLowerCase.indexOf(near)]
}

/** `did you mean "cap"?`, or the whole list when nothing is near. */
export function didYouMean(word: string, known: readonly string[]): string {
  return meant(word, known) ?? `known here: ${known.join(', ')}`
}

/** `did you mean "cap"?`, or nothing when nothing is near. */
export function meant(word: string, known: readonly string[]): string | undefined {
  const near = nearest(word, known)
  return near === undefined ? undefined : `did you mean "${near}"?`
}
