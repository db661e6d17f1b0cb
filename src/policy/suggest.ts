// "Did you mean": the known word nearest to a typed one, and what a line of YAML was probably meant to be. It only suggests and never decides.
import { closestMatch } from 'leven'
import { domainIn, nameIn } from '../core/model/scope.ts'
import { nameOf } from './schema/check.ts'

/** What is wrong with a line: a column from 0, and the length of what is marked. */
export interface Slip {
  readonly column: number
  readonly length: number
  readonly message: string
  readonly hint: string
}

/** `${NAME}` or `{{ .Values.name }}`, whole or as a part. */
const PLACEHOLDER = /\$\{[^}\n]*\}|\{\{[^\n]*?\}\}/

const NO_TEMPLATE = 'this file is not a template: write the value itself, or fill the file in before capkeeper reads it'

/** The hint for a value that was meant to be filled in. */
export const templateHint = (text: string): string | undefined => (PLACEHOLDER.test(text) ? NO_TEMPLATE : undefined)

/** Something other than spaces before the first word of a line. */
const BLANK = /(?<=^ *)[\t\u00a0\u2000-\u200d\u202f\u205f\u2060\u3000\ufeff](?=.*[^\s\u200b-\u200d\u2060])/

/** The hint for a key that begins with such a blank, which YAML takes for a letter. */
export const blankHint = (key: string): string | undefined => {
  const [blank] = BLANK.exec(key) ?? []
  return blank === undefined ? undefined : `the indentation has ${nameOf(blank)}: indent with spaces`
}

const MERGE = {
  pattern: /^(<{7}|={7}|>{7}|\|{7})(?=[ \r]|$)/,
  says: (mark: string) => `${mark} is a mark of a merge conflict that is not resolved`,
  hint: 'keep one of the two sides, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>',
}
const INDENTATION = { pattern: BLANK, says: (blank: string) => `the indentation has ${nameOf(blank)}`, hint: 'indent with spaces' }
const TEMPLATE = { pattern: PLACEHOLDER, says: (found: string) => `${found} is not filled in`, hint: NO_TEMPLATE }

/** What a line that is no YAML was meant to be, or the line behind one, which YAML has taken for a part of it. */
export function slipIn(line: string, isBehind: boolean): Slip | undefined {
  for (const { pattern, says, hint } of isBehind ? [MERGE, INDENTATION] : [MERGE, INDENTATION, TEMPLATE]) {
    const found = pattern.exec(line)
    if (found) return { column: found.index, length: found[0].length, message: says(found[0]), hint }
  }
  return undefined
}

/** A key that is indented deeper than the key above it, which has a value. */
export function deeperSlip(line: string, above: string): Slip | undefined {
  const [, indent = '', word = ''] = /^( *)([^\s:#-][^\s:]*):(?:\s|$)/.exec(line) ?? []
  const column = /^ *(?:- +)*/.exec(above)?.[0].length ?? 0
  if (word === '' || indent.length <= column) return undefined
  const message = `"${word}" is indented deeper than the key above it, which has a value`
  return { column: indent.length, length: word.length, message, hint: `indent it by ${column}` }
}

/** A key or item in a column between those of the lines above it, of which the nearest comes first. */
export function betweenSlip(line: string, above: readonly string[]): Slip | undefined {
  const [, indent = '', word = ''] = /^( *)(-(?= )|[^\s:#-][^\s:]*(?=:(?:\s|$)))/.exec(line) ?? []
  const start = word === '-' ? /^ */ : /^ *(?:- +)*/
  const columns = above.filter((one) => !/^\s*(#|$)/.test(one)).map((one) => start.exec(one)?.[0].length ?? 0)
  const outer = columns.findIndex((column) => column <= indent.length)
  if (word === '' || outer < 1 || columns[outer] === indent.length) return undefined
  const message = `"${word}" is indented by ${indent.length}, and nothing above it is`
  const hint = `indent it by ${Math.min(...columns.slice(0, outer))} or by ${columns[outer]}, as the lines above it`
  return { column: indent.length, length: word.length, message, hint }
}

/** Longer words, and parts of addresses, are not compared, because no known word is near them. */
const MOST_LETTERS = 64

/**
 * The nearest of `known` within two edits (one for words of up to three letters), whatever the case; undefined when none is near. Of an address
 * the nearest domain is searched first, then the nearest name there: both may be misspelt.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (!word.includes('@')) return nearestBy(word, known, (one) => one)
  const addresses = known.filter((one) => one.includes('@'))
  const domain = nearestBy(domainOf(word), [...new Set(addresses.map(domainOf))], (one) => one)
  const there = addresses.filter((one) => domainOf(one) === domain)
  return nearestBy(nameIn(word), there, nameIn)
}

const domainOf = (address: string): string => domainIn(address).toLowerCase()

function nearestBy(word: string, known: readonly string[], partOf: (one: string) => string): string | undefined {
  if (word.length > MOST_LETTERS) return undefined
  const inLowerCase = known.map((one) => partOf(one).toLowerCase())
  const near = closestMatch(word.toLowerCase(), inLowerCase, { maxDistance: word.length <= 3 ? 1 : 2 })
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
