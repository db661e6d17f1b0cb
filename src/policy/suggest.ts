// "Did you mean": the known word nearest to a typed one, and what a line of YAML was probably meant to be. It only suggests and never decides.
import { closestMatch } from 'leven'
import { nameOf } from './schema/check.ts'

/** What is wrong with a line: a column from 0, and the length of what is marked. */
export interface Slip {
  readonly column: number
  readonly length: number
  readonly message: string
  readonly hint: string
  /** What follows is wrong only because of it. */
  readonly isCause: boolean
}

/** `${NAME}` or `{{ .Values.name }}`, whole or as a part. */
const PLACEHOLDER = /\$\{[^}\n]*\}|\{\{[^\n]*?\}\}/

const NO_TEMPLATE = 'this file is not a template: write the value itself, or fill the file in before capkeeper reads it'

/** The hint for a value that was meant to be filled in. */
export const templateHint = (text: string): string | undefined => (PLACEHOLDER.test(text) ? NO_TEMPLATE : undefined)

const MARKER = /^(<{7}|={7}|>{7}|\|{7})(?=[ \r]|$)/

/** A line that a merge has left. */
export function mergeSlip(line: string): Slip | undefined {
  const marker = MARKER.exec(line)?.[1]
  if (marker === undefined) return undefined
  const hint = 'keep one of the two sides, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>'
  return { column: 0, length: marker.length, message: `${marker} is a mark of a merge conflict that is not resolved`, hint, isCause: true }
}

/** Blanks other than spaces. */
const BLANK = /[\t\u00a0\u2000-\u200d\u202f\u205f\u2060\u3000\ufeff]/

/** Something other than spaces before the first word of a line. */
export function blankSlip(line: string): Slip | undefined {
  const indentation = /^[\s\u200b-\u200d\u2060]*/.exec(line)?.[0] ?? ''
  const blank = BLANK.exec(indentation)
  if (!blank || indentation.length === line.length) return undefined
  const message = `the indentation has ${nameOf(blank[0])}`
  return { column: blank.index, length: 1, message, hint: 'indent with spaces', isCause: false }
}

export function templateSlip(line: string): Slip | undefined {
  const found = PLACEHOLDER.exec(line)
  if (!found) return undefined
  return { column: found.index, length: found[0].length, message: `${found[0]} is not filled in`, hint: NO_TEMPLATE, isCause: true }
}

const ITEM = '-'

interface Level {
  readonly column: number
  readonly word: string
}

/** A key or an item that begins in a column where nothing above it does. `above`: the lines before it, the nearest last. */
export function columnSlip(line: string, above: readonly string[]): Slip | undefined {
  const own = levelsOf(line)[0]
  const levels = levelsAbove(above)
  const nearest = levels[0]
  if (!own || !nearest || levels.some(({ column }) => column === own.column)) return undefined
  // A deeper level may begin below a key without a value.
  if (own.column > nearest.column && /[:\-|>]\s*(#.*)?$/.test(lastOf(above))) return undefined
  // A key cannot stand beside the dash of an item.
  const fitting = levels.filter(({ word }) => own.word === ITEM || word !== ITEM)
  const deeper = fitting.findLast(({ column }) => column > own.column)
  const outer = fitting.find(({ column }) => column < own.column)
  const ways = [deeper, outer].flatMap((level) => (level ? `${level.column}, as "${level.word}" is` : []))
  const message = `"${own.word}" is indented by ${spaces(own.column)}, and nothing above it is`
  return { column: own.column, length: own.word.length, message, hint: `indent it by ${ways.join(', or by ')}`, isCause: false }
}

const spaces = (count: number): string => `${count} ${count === 1 ? 'space' : 'spaces'}`

const isContent = (line: string): boolean => !/^\s*(#|$)/.test(line)

const lastOf = (above: readonly string[]): string => above.findLast(isContent) ?? ''

/** The columns in which the entries begin to which the next line may belong, the deepest first. */
function levelsAbove(above: readonly string[]): readonly Level[] {
  const levels: Level[] = []
  for (const line of above.toReversed()) {
    if (/^(---|\.\.\.)/.test(line)) break
    for (const level of levelsOf(line).toReversed())
      if (level.column < (levels.at(-1)?.column ?? Number.POSITIVE_INFINITY)) levels.push(level)
    if (levels.at(-1)?.column === 0) break
  }
  return levels
}

/** The columns of a line in which an entry begins: `  - email: a` has two, 2 and 4. */
function levelsOf(line: string): readonly Level[] {
  if (!isContent(line)) return []
  const levels: Level[] = []
  let column = /^ */.exec(line)?.[0].length ?? 0
  for (let item = /^-( +)/.exec(line.slice(column)); item; item = /^-( +)/.exec(line.slice(column))) {
    levels.push({ column, word: ITEM })
    column += item[0].length
  }
  const word = /^[^\s:]+(?=:(\s|$))/.exec(line.slice(column))?.[0]
  return word === undefined ? levels : [...levels, { column, word }]
}

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
