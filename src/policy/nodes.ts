// Readers of YAML nodes: each takes a node and what it should be, and gives the value with its place, or reports what is wrong and gives
// undefined. A reader never throws and never guesses: a scalar is judged by the text that was written, quotes included.
import { type Alias, isAlias, isMap, isScalar, isSeq, type Node, type Scalar, visit } from 'yaml'
import type { Position, Problem } from '../core/model/problem.ts'
import type { ProblemCode } from './codes.ts'
import { didYouMean } from './suggest.ts'
import {
  NULLS,
  type Place,
  type ProblemExtra,
  placeAt,
  positionAt,
  problemAt,
  quoted,
  type Source,
  type YamlDocument,
  type YamlNode,
} from './yaml.ts'

/** Reads one document and collects its problems. */
export interface Reader {
  readonly source: Source
  readonly document: YamlDocument
  readonly problems: Problem[]
  anchors?: ReadonlyMap<Alias, Node>
  aliasCount: number
  /** How many nodes the aliases that were followed stand for. */
  aliasedNodes: number
  readonly sizes: Map<Node, number>
}

/** One key of a mapping. `of` names the mapping it stands in, for messages: `spec.team`. */
export interface Field {
  readonly key: string
  readonly name: string
  readonly keyNode: Node
  readonly value: YamlNode
}

export type Fields = ReadonlyMap<string, Field>

/** A value with its place and the node it came from. */
export interface Read<T> {
  readonly value: T
  readonly node: Node
  readonly at: Position
}

/** Something declared, and where its subject (the e-mail, the id, the key `team`) is named. */
export type Placed<T> = Pick<Read<T>, 'value' | 'at'>

export const placed = <T>({ value, at }: Read<T>): Placed<T> => ({ value, at })

/** Aliases that one document may use, and what they may stand for together: a few lines must not become gigabytes. */
const MAX_ALIASES = 10_000
const MAX_ALIASED_NODES = 200_000

/** Problems that are kept of one document; who sees so many repairs the first ones first. */
export const MAX_PROBLEMS = 1_000

export const openReader = (source: Source, document: YamlDocument): Reader => ({
  source,
  document,
  problems: [],
  aliasCount: 0,
  aliasedNodes: 0,
  sizes: new Map(),
})

/** Reports an error about a node; of more than `MAX_PROBLEMS` the rest is only said to be. */
export function report(reader: Reader, node: Node, code: ProblemCode, message: string, extra: ProblemExtra = {}): undefined {
  const { length } = reader.problems
  if (length < MAX_PROBLEMS) reader.problems.push(problemAt(reader.source, rangeOf(node), 'error', code, message, extra))
  if (length === MAX_PROBLEMS) {
    const more = `more than ${MAX_PROBLEMS} problems in this document; the rest is not shown`
    reader.problems.push(problemAt(reader.source, rangeOf(node), 'error', 'TOO_LARGE', more))
  }
  return undefined
}

/** The place of a node. */
export const placeOf = (reader: Reader, node: Node): Position => positionAt(reader.source, rangeOf(node)[0])

/** The same with its line, for a problem that is found only later. */
export const shownPlaceOf = (reader: Reader, node: Node): Place => placeAt(reader.source, rangeOf(node))

const rangeOf = (node: Node): readonly [number, number] => [node.range?.[0] ?? 0, node.range?.[1] ?? 0]

/** The node that an alias stands for; any other node as it is. An alias without an anchor is reported. */
export function resolve(reader: Reader, node: YamlNode): YamlNode | undefined {
  if (!isAlias(node)) return node
  reader.aliasCount += 1
  if (reader.aliasCount > MAX_ALIASES) {
    if (reader.aliasCount > MAX_ALIASES + 1) return undefined
    return report(reader, node, 'YAML_ALIAS', `more than ${MAX_ALIASES} aliases in one document`, { hint: 'write the values out' })
  }
  reader.anchors ??= collectAnchors(reader.document)
  const target = reader.anchors.get(node)
  if (target && !affords(reader, target)) {
    const message = `the aliases of this document stand for more than ${MAX_ALIASED_NODES} values`
    return report(reader, node, 'YAML_ALIAS', message, { hint: 'write the values out' })
  }
  return target ?? report(reader, node, 'YAML_ALIAS', `the alias *${node.source} has no anchor &${node.source} above it`)
}

/** Counts what an alias stands for; aliases within it are counted when they are followed themselves. */
function affords(reader: Reader, target: Node): boolean {
  let size = reader.sizes.get(target) ?? 0
  if (size === 0) {
    const count = (): void => {
      size += 1
    }
    visit(target, { Node: count })
    reader.sizes.set(target, size)
  }
  reader.aliasedNodes += size
  return reader.aliasedNodes <= MAX_ALIASED_NODES
}

/** An alias means the last node of that name above it. */
function collectAnchors({ root }: YamlDocument): ReadonlyMap<Alias, Node> {
  const named = new Map<string, Node>()
  const targets = new Map<Alias, Node>()
  visit(root, {
    Node(_key, node) {
      if (isAlias(node)) {
        const target = named.get(node.source)
        if (target) targets.set(node, target)
      } else if (node.anchor !== undefined) named.set(node.anchor, node)
    },
  })
  return targets
}

/** A mapping with only known keys, each once; `known` undefined: any keys. `name` is what messages call it. */
export function readMap(reader: Reader, given: YamlNode, name: string, known?: readonly string[]): Fields | undefined {
  const node = resolve(reader, given)
  if (node === undefined) return undefined
  if (!isMap(node))
    return report(reader, node ?? reader.document.root, 'NOT_A_MAPPING', `${name} is ${describe(node)}, not a mapping of keys`)
  const fields = new Map<string, Field>()
  for (const pair of node.items) {
    const keyNode = pair.key as Node
    const key = isScalar(keyNode) ? textOf(keyNode) : undefined
    if (key === undefined) {
      report(reader, keyNode, 'UNKNOWN_KEY', `a key of ${name} is ${describe(keyNode)}, not a word`)
      continue
    }
    const first = fields.get(key)
    if (first) {
      const other = placeOf(reader, first.keyNode)
      report(reader, keyNode, 'YAML_DUPLICATE_KEY', `${quoted(key)} stands twice in ${name}`, { hint: 'keep one of the two', other })
    } else if (known && !known.includes(key)) reportUnknownKey(reader, keyNode, key, name, known)
    else fields.set(key, { key, name: `${name}.${key}`, keyNode, value: (pair.value as YamlNode | undefined) ?? null })
  }
  return fields
}

function reportUnknownKey(reader: Reader, node: Node, key: string, name: string, known: readonly string[]): void {
  const hint = key === '<<' ? 'merge keys are not read: write the keys out' : didYouMean(key, known)
  report(reader, node, 'UNKNOWN_KEY', `unknown key ${quoted(key)} in ${name}`, { hint })
}

/** The items of a list; nothing at all is an empty list, so that all items can be commented out. */
export function readList(reader: Reader, field: Field | undefined): readonly YamlNode[] {
  const node = field && resolve(reader, field.value)
  if (!field || node === undefined || isNothing(node)) return []
  if (isSeq(node)) return node.items as YamlNode[]
  report(reader, node ?? field.keyNode, 'NOT_A_LIST', `${field.name} is ${describe(node)}, not a list`, {
    hint: `write one item per line, each after "- ", or [ ] around them`,
  })
  return []
}

/** A scalar that says something; `what` tells what belongs there, for the message. */
export function readScalar(reader: Reader, field: Field, code: ProblemCode, what: string, hint?: string): Read<Scalar> | undefined {
  const node = resolve(reader, field.value)
  if (node === undefined) return undefined
  if (isNothing(node)) return report(reader, field.keyNode, code, `${field.name} is empty, ${what}`, hint === undefined ? {} : { hint })
  if (!isScalar(node)) return report(reader, node ?? field.keyNode, code, `${field.name} is ${describe(node)}, ${what}`)
  return { value: node, node, at: placeOf(reader, node) }
}

/** A text: trimmed, not empty; numbers are taken as written, `true` and `false` are not texts. */
export function readText(reader: Reader, field: Field): Read<string> | undefined {
  const read = readScalar(reader, field, 'NOT_TEXT', 'not a text')
  if (!read) return undefined
  const value = textOf(read.value).trim()
  if (value === '') return report(reader, read.node, 'NOT_TEXT', `${field.name} is empty, not a text`)
  if (isPlain(read.value) && /^(true|false)$/i.test(value)) {
    return report(reader, read.node, 'NOT_TEXT', `${field.name} is ${value}, not a text`, {
      hint: `write "${value}" in quotes if it is meant`,
    })
  }
  return { ...read, value }
}

/** `true` or `false`, without quotes. */
export function readFlag(reader: Reader, field: Field): Read<boolean> | undefined {
  const read = readScalar(reader, field, 'NOT_BOOLEAN', 'not true or false')
  if (!read) return undefined
  const text = textOf(read.value)
  if (isPlain(read.value) && (text === 'true' || text === 'false')) return { ...read, value: text === 'true' }
  return report(reader, read.node, 'NOT_BOOLEAN', `${field.name} is ${written(read.value)}, not true or false`, {
    hint: 'write true or false, without quotes',
  })
}

/** One of a few words. */
export function readChoice<T extends string>(reader: Reader, field: Field, choices: readonly T[]): Read<T> | undefined {
  const what = `not one of ${choices.join(', ')}`
  const read = readScalar(reader, field, 'UNKNOWN_VALUE', what)
  if (!read) return undefined
  const text = textOf(read.value)
  const value = choices.find((choice) => choice === text)
  if (value !== undefined) return { ...read, value }
  return report(reader, read.node, 'UNKNOWN_VALUE', `${field.name} is ${written(read.value)}, ${what}`, { hint: didYouMean(text, choices) })
}

/** The text of a scalar, whatever YAML would take it for. */
export const textOf = (node: Scalar): string => (typeof node.value === 'string' ? node.value : (node.source ?? ''))

/** Written without quotes and without a tag, so YAML may take it for a number or a boolean. */
export const isPlain = (node: Scalar): boolean => (node.type === 'PLAIN' || node.type === undefined) && node.tag === undefined

/** A scalar as it stands in a message: quoted texts keep their quotes. */
export const written = (node: Scalar): string => (isPlain(node) ? quoted(textOf(node)).slice(1, -1) : quoted(textOf(node)))

/** Nothing was written: no value, `~` or `null`. */
export const isNothing = (node: YamlNode): boolean => node === null || (isScalar(node) && isPlain(node) && NULLS.has(textOf(node)))

/** What a node is, for messages. */
export function describe(node: YamlNode): string {
  if (isNothing(node)) return 'empty'
  if (isScalar(node)) return written(node)
  return isMap(node) ? 'a mapping' : isSeq(node) ? 'a list' : 'an alias'
}

/** A key that must be there and say something; `where` names the mapping. */
export function requireField(reader: Reader, at: Node, field: Field | undefined, key: string, where: string): Field | undefined {
  if (field && !isNothing(field.value)) return field
  if (field) return report(reader, field.keyNode, 'MISSING', `${field.name} is empty`)
  return report(reader, at, 'MISSING', `${where} has no ${key}`, { hint: `write ${key}: …` })
}

/** An item of a list, read like the value of a key; never nothing. */
export type Item = Field & { readonly value: NonNullable<Field['value']> }

/** Reads each item of a list with `read`; items that say nothing are reported. */
export function readItems<T>(
  reader: Reader,
  list: Field | undefined,
  read: (item: Item, node: Item['value']) => T | undefined,
): readonly T[] {
  const found: T[] = []
  if (!list) return found
  for (const [index, value] of readList(reader, list).entries()) {
    const name = `${list.name}[${index}]`
    if (value === null || isNothing(value)) {
      report(reader, value ?? list.keyNode, 'MISSING', `${name} is empty`, { hint: 'fill it in or leave it out' })
      continue
    }
    const one = read({ ...list, name, value }, value)
    if (one !== undefined) found.push(one)
  }
  return found
}
