// How new text is written: keys and scalars in the style of their neighbours, quoted where they must be. The text it makes reads back as the value
// that was given.
import { isMap, isScalar, type Node, type Pair, type Scalar, type YAMLMap } from 'yaml'
import { textOf } from '../tree.ts'
import { NULLS, type YamlNode } from '../yaml.ts'
import type { EntryText } from './splice.ts'

/** Plain, or in single or double quotes. */
export type Quotes = '' | "'" | '"'

/** A value to be written: numbers and words of the format are never quoted. */
export type Value = { readonly text: string } | { readonly word: string }

export type Fields = readonly (readonly [key: string, value: Value])[]

export interface Style {
  readonly isFlow: boolean
  /** Blanks within `{ }`. */
  readonly padding: string
  /** Between a dash and what follows it. */
  readonly gap: string
  readonly keys: Quotes
  /** Of the value of a key; '' stands for any other text. */
  readonly quotes: ReadonlyMap<string, Quotes>
}

export const PLAIN_STYLE: Style = { isFlow: false, padding: '', gap: ' ', keys: '', quotes: new Map() }

/** The quotes of a scalar. A block scalar, and what is no scalar, counts as plain. */
export const quotesOf = (node: YamlNode): Quotes =>
  isScalar(node) && node.type === 'QUOTE_DOUBLE' ? '"' : isScalar(node) && node.type === 'QUOTE_SINGLE' ? "'" : ''

/** The style of an entry: a mapping, in a list or as a value. `dash`: the offset of its dash. */
export function styleOf(text: string, node: YAMLMap, dash?: number): Style {
  const isFlow = node.flow === true
  const pairs = node.items as readonly Pair<Scalar, YamlNode>[]
  const quotes = new Map(pairs.flatMap(({ key, value }) => (isScalar(value) ? [[textOf(key), quotesOf(value)] as const] : [])))
  const first = pairs.find(({ value }) => isScalar(value) && quotesOf(value) !== '')
  const start = node.range?.[0] ?? 0
  const between = dash === undefined ? '' : text.slice(dash + 1, start)
  return {
    isFlow,
    padding: isFlow && text[start + 1] === ' ' ? ' ' : '',
    gap: /^ +$/.test(between) ? between : ' ',
    keys: quotesOf(pairs[0]?.key ?? null),
    quotes: new Map([['', first?.value ? quotesOf(first.value) : ''], ...quotes]),
  }
}

/** Fields as a mapping. */
export function mappingText(fields: Fields, style: Style): EntryText {
  const write = (inFlow: boolean): readonly string[] =>
    fields.map(([key, value]) => `${written(key, style.keys, inFlow)}: ${valueText(value, quotesFor(style, key), inFlow)}`)
  const flow = `{${style.padding}${write(true).join(', ')}${style.padding}}`
  return { lines: style.isFlow ? [flow] : write(false), flow }
}

/** The same as an item of a list: behind a dash. */
export function itemText({ lines, flow }: EntryText, { gap }: Pick<Style, 'gap'>): EntryText {
  const indent = ' '.repeat(gap.length + 1)
  return { lines: lines.map((line, index) => `${index === 0 ? `-${gap}` : indent}${line}`), flow }
}

/** A key that is not quoted elsewhere takes the quotes of the other texts. */
const quotesFor = ({ quotes }: Style, key: string): Quotes => quotes.get(key) ?? quotes.get('') ?? ''

export const valueText = (value: Value, quotes: Quotes, inFlow: boolean): string =>
  'word' in value ? value.word : written(value.text, quotes, inFlow)

/** A text as a scalar, plain where the neighbours are and where it may be. */
function written(text: string, quotes: Quotes, inFlow: boolean): string {
  if (quotes === '' && mayBePlain(text, inFlow)) return text
  if (quotes !== '"' && !/[^\x20-\x7e\xa0-\ud7ff]/.test(text) && quotes === "'") return `'${text.replaceAll("'", "''")}'`
  return inDoubleQuotes(text)
}

/** JSON is YAML, but for characters that YAML does not print. */
const inDoubleQuotes = (text: string): string =>
  JSON.stringify(text).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

const INDICATORS = /^[-?:,[\]{}#&*!|>'"%@`=~.]/
const WORDS = /^(true|false|yes|no|on|off|<<)$/i

function mayBePlain(text: string, inFlow: boolean): boolean {
  if (text === '' || NULLS.has(text) || WORDS.test(text) || INDICATORS.test(text) || text !== text.trim()) return false
  if (/[^\x20-\x7e\xa1-\ud7ff]|[\u2028\u2029]|: |:$| #/.test(text)) return false
  return !inFlow || !/[,[\]{}]|:(?=[,[\]{}])/.test(text)
}

/** The style of the last entry that is a mapping; undefined without one. */
export function lastStyle(text: string, nodes: readonly (readonly [node: YamlNode, dash: number | undefined])[]): Style | undefined {
  const found = nodes.findLast(([node]) => isMap(node) && node.items.length > 0)
  return found && styleOf(text, found[0] as YAMLMap & Node, found[1])
}
