// A YAML document beside its schema: plain values for the validator, and for each value its node, so that every problem has a place. A scalar is
// judged by the text that was written, quotes included. Nothing here throws for bad input.
import { type Alias, isAlias, isMap, isScalar, isSeq, type Node, type Scalar, visit, type YAMLMap, type YAMLSeq } from 'yaml'
import type { Position, Problem, ProblemCode } from '../core/model/problem.ts'
import type { AnnotatedSchema } from './schema/check.ts'
import { templateHint } from './suggest.ts'
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

/** One value of a document with its place and its schema. It has the type `T` unless it is faulty. */
export interface Branch<T = unknown> {
  readonly reader: Reader
  readonly parent: Branch | undefined
  /** Its key, its index in a list, or the document's name in messages. */
  readonly key: string | number
  readonly keyNode: Node
  /** Null where nothing was written. */
  readonly node: YamlNode
  /** The alias by which the value came here; its node stands elsewhere. */
  readonly alias: Alias | undefined
  readonly schema: AnnotatedSchema
  readonly value: T
  readonly children: ReadonlyMap<string | number, Branch>
  /** It or a part of it is wrong. */
  faulty: boolean
  /** More was written here than its value holds: a key that is no word, or the same key again. */
  partial: boolean
}

/** Reads one document and collects its problems. */
interface Reader {
  readonly source: Source
  readonly document: YamlDocument
  readonly problems: Problem[]
  readonly convert: Convert
  readonly says: Says
  /** The node behind each alias, once one was met. */
  anchors?: ReadonlyMap<Alias, Node>
  aliasCount: number
  /** The nodes and the text behind the aliases that were followed. */
  aliasedNodes: number
  aliasedText: number
  readonly sizes: Map<Node, { readonly nodes: number; readonly text: number }>
}

/** Messages about wrong values, by kind; each takes the text that was written. */
export type Says = Readonly<Record<string, (text: string) => string>>

/** The value of a scalar, under the schema of its place. */
type Convert = (scalar: Scalar, schema: AnnotatedSchema) => unknown

/** Bounds on aliases in one document: a few lines must not expand to gigabytes. */
const MAX_ALIASES = 10_000
const MAX_ALIASED_NODES = 200_000
const MAX_ALIASED_TEXT = 1024 * 1024

/** A longer value is not looked through for what a template should have filled in. */
const MAX_PLACEHOLDER = 200

/** Problems that are kept of one document. */
const MAX_PROBLEMS = 1_000

/** The tree of a document; `name` is its name in messages. */
export function growTree(given: Pick<Reader, 'source' | 'document' | 'convert' | 'says'>, schema: AnnotatedSchema, name: string): Branch {
  const { document } = given
  const reader: Reader = { ...given, problems: [], aliasCount: 0, aliasedNodes: 0, aliasedText: 0, sizes: new Map() }
  return grow(reader, { parent: undefined, key: name, keyNode: document.root, given: document.root, schema })
}

/** A value that is about to become a branch. */
interface Seed extends Pick<Branch, 'parent' | 'key' | 'keyNode' | 'schema'> {
  readonly given: YamlNode
}

/** Shared by all scalars. */
const NO_CHILDREN: Branch['children'] = new Map()

function grow(reader: Reader, { parent, key, keyNode, given, schema: asked }: Seed): Branch {
  const node = resolve(reader, given)
  const schema = fitting(asked, node ?? null)
  // Written key by key: there may be hundreds of thousands of branches, and spreading objects would be slow.
  const branch = (value: unknown, children: Branch['children']): Branch => ({
    reader,
    parent,
    key,
    keyNode,
    node: node ?? given,
    alias: parent?.alias ?? (isAlias(given) ? given : undefined),
    schema,
    value,
    children,
    // A dangling alias has been reported already.
    faulty: node === undefined,
    partial: false,
  })
  if (isMap(node) && (schema.properties ?? schema.additionalProperties)) {
    const [value, children] = [Object.create(null), new Map<string | number, Branch>()]
    return growMap(branch(value, children), node, value, children)
  }
  if (isSeq(node) && schema.items) {
    const [value, children] = [[] as unknown[], new Map<string | number, Branch>()]
    return growList(branch(value, children), node, value, children)
  }
  return branch(plainValue(reader, node, schema), NO_CHILDREN)
}

/** The value of a scalar, or of a collection without a schema. */
function plainValue(reader: Reader, node: YamlNode | undefined, schema: AnnotatedSchema): unknown {
  if (isScalar(node)) return isNothing(node) ? null : reader.convert(node, schema)
  return node === undefined ? undefined : isMap(node) ? {} : isSeq(node) ? [] : null
}

/** For a mapping, the alternative of the schema that is for mappings. */
function fitting(schema: AnnotatedSchema, node: YamlNode): AnnotatedSchema {
  const form = isMap(node) ? schema.anyOf?.find(({ properties }) => properties) : undefined
  return form ? { ...schema, ...form } : schema
}

/** Whether a key without a value counts as left out. */
const admitsNothing = ({ type, enum: words }: AnnotatedSchema): boolean => (type?.includes('null') || words?.includes(null)) ?? false

function growMap(branch: Branch, node: YAMLMap, value: Record<string, unknown>, children: Map<string | number, Branch>): Branch {
  const { reader, schema } = branch
  const { properties = {}, additionalProperties } = schema
  const others = typeof additionalProperties === 'object' ? additionalProperties : undefined
  for (const pair of node.items) {
    const keyNode = pair.key as Node
    const key = isScalar(keyNode) ? textOf(keyNode) : undefined
    if (key === undefined) {
      reportAt(branch, keyNode, 'UNKNOWN_KEY', `a key of ${nameOf(branch)} is ${describe(keyNode)}, not a word`)
      branch.partial = true
      continue
    }
    const first = children.get(key)
    if (first) {
      const extra = { hint: 'keep one of the two', other: positionOf(reader, first.keyNode) }
      reportAt(branch, keyNode, 'YAML_DUPLICATE_KEY', `${quoted(key)} stands twice in ${nameOf(branch)}`, extra)
      first.faulty = true
      first.partial = true
      continue
    }
    const known = Object.hasOwn(properties, key) ? properties[key] : others
    const given = known ? ((pair.value as YamlNode | undefined) ?? null) : null
    const child = grow(reader, { parent: branch, key, keyNode, given, schema: known ?? {} })
    children.set(key, child)
    if (child.faulty) markFaulty(branch)
    if (child.value === null && known && admitsNothing(known)) continue
    value[key] = child.value
  }
  return branch
}

function growList(branch: Branch, node: YAMLSeq, value: unknown[], children: Map<string | number, Branch>): Branch {
  for (const [index, item] of node.items.entries()) {
    const seed = { parent: branch, key: index, keyNode: branch.keyNode, given: item as YamlNode, schema: branch.schema.items ?? {} }
    const child = grow(branch.reader, seed)
    children.set(index, child)
    if (child.faulty) markFaulty(branch)
    value.push(child.value)
  }
  return branch
}

/** The node that an alias stands for; any other node as it is. An alias without an anchor is reported. */
function resolve(reader: Reader, node: YamlNode): YamlNode | undefined {
  if (!isAlias(node)) return node
  const refuse = (message: string, hint?: string): undefined =>
    push(reader, problemAt(reader.source, rangeOf(node), 'error', 'YAML_ALIAS', message, { hint }))
  reader.aliasCount += 1
  if (reader.aliasCount > MAX_ALIASES) {
    if (reader.aliasCount > MAX_ALIASES + 1) return undefined
    return refuse(`more than ${MAX_ALIASES} aliases in one document`, 'write the values out')
  }
  reader.anchors ??= collectAnchors(reader.document)
  const target = reader.anchors.get(node)
  if (target && !affords(reader, target)) {
    const most = `more than ${MAX_ALIASED_NODES} values or ${MAX_ALIASED_TEXT} characters`
    return refuse(`the aliases of this document stand for ${most}`, 'write the values out')
  }
  if (target) return target
  // A person who writes *@example.com most likely means the text.
  const hint = node.source.includes('@') ? `write "*${node.source}" in quotes` : undefined
  return refuse(`the alias *${node.source} has no anchor &${node.source} above it`, hint)
}

/** Counts the nodes and the text behind an alias; aliases within it are counted when they are followed. */
function affords(reader: Reader, target: Node): boolean {
  const size = reader.sizes.get(target) ?? sizeOf(target)
  reader.sizes.set(target, size)
  reader.aliasedNodes += size.nodes
  reader.aliasedText += size.text
  return reader.aliasedNodes <= MAX_ALIASED_NODES && reader.aliasedText <= MAX_ALIASED_TEXT
}

function sizeOf(target: Node): { readonly nodes: number; readonly text: number } {
  let [nodes, text] = [0, 0]
  visit(target, {
    Node(_key, node) {
      nodes += 1
      if (isScalar(node)) text += textOf(node).length
    },
  })
  return { nodes, text }
}

/** An alias refers to the last anchor of its name before it. */
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

/** A branch in messages: `spec.users[3].cap`. Keys at the top of a document need no path. */
export function nameOf({ parent, key }: Branch): string {
  if (typeof key === 'number') return `${parent ? nameOf(parent) : ''}[${key}]`
  return parent?.parent ? `${nameOf(parent)}.${key}` : key
}

/** The value of a key in a mapping; undefined when the key is absent or counts as left out. */
export function field<T extends object, K extends keyof T & string>(branch: Branch<T>, key: K): Branch<NonNullable<T[K]>> | undefined {
  const child = branch.children.get(key)
  // The validator has compared the value with the schema that `T` was made of.
  return child && !(child.value === null && admitsNothing(child.schema)) ? (child as Branch<NonNullable<T[K]>>) : undefined
}

/** The items of a list; none when it is absent, empty or no list. */
export const items = <T>(branch: Branch<readonly T[]> | undefined): readonly Branch<T>[] =>
  [...(branch?.children.values() ?? [])] as Branch<T>[]

/** Those of which an earlier one has the key, each with the first that has it. */
export function repeated<T>(all: Iterable<T>, keyOf: (one: T) => string | undefined): readonly { readonly one: T; readonly first: T }[] {
  const firsts = new Map<string, T>()
  return [...all].flatMap((one) => {
    const key = keyOf(one)
    const first = key === undefined ? undefined : firsts.get(key)
    if (key !== undefined && first === undefined) firsts.set(key, one)
    return first === undefined ? [] : [{ one, first }]
  })
}

/** Whether a mapping was written. */
export const isMapping = ({ node }: Branch): boolean => isMap(node)

/** The value, unless it is faulty. */
export const good = <T>(branch: Branch<T> | undefined): T | undefined => (branch && !branch.faulty ? branch.value : undefined)

/** A declared value, and the place that names its subject (the e-mail, the id, the key `team`). */
export interface Placed<T> {
  readonly value: T
  readonly at: Position
}

/** A value with its place; undefined when it is faulty or absent. */
export function placed<T>(branch: Branch<T> | undefined): Placed<T> | undefined {
  const value = good(branch)
  return branch === undefined || value === undefined ? undefined : { value, at: placeOf(branch) }
}

/** The items of a list that are not faulty, with their places. */
export const placedItems = <T>(list: Branch<readonly T[]> | undefined): readonly Placed<T>[] =>
  items(list).flatMap((item) => placed(item) ?? [])

/** The place of a branch's value: of the alias by which it came. */
export const placeOf = ({ reader, alias, node, keyNode }: Branch): Position => positionOf(reader, alias ?? node ?? keyNode)

/** The place of a branch's key: of the alias by which it came with its mapping. */
export const keyPlaceOf = ({ reader, parent, keyNode }: Branch): Position => positionOf(reader, parent?.alias ?? keyNode)

/** The place of a branch's value with its source line, for a problem that is found later. */
export const shownPlaceOf = ({ reader, node, keyNode }: Branch): Place => placeAt(reader.source, rangeOf(node ?? keyNode))

const positionOf = (reader: Reader, node: Node): Position => positionAt(reader.source, rangeOf(node)[0])

const rangeOf = (node: Node): readonly [number, number] => [node.range?.[0] ?? 0, node.range?.[1] ?? 0]

/** Reports an error about a branch: at its value, or at its key. */
export const report = (
  branch: Branch,
  code: ProblemCode,
  message: string,
  extra: ProblemExtra & { readonly on?: 'key' } = {},
): undefined => {
  const { on, ...rest } = extra
  return reportAt(branch, on === 'key' ? branch.keyNode : (branch.node ?? branch.keyNode), code, message, rest)
}

function reportAt(branch: Branch, node: Node, code: ProblemCode, message: string, extra: ProblemExtra = {}): undefined {
  markFaulty(branch)
  const { reader } = branch
  const [start, end] = rangeOf(node)
  const hint = end - start <= MAX_PLACEHOLDER ? templateHint(reader.source.text.slice(start, end)) : undefined
  const problem = problemAt(reader.source, [start, end], 'error', code, message, { ...extra, ...(hint !== undefined && { hint }) })
  push(reader, isSecret(branch) ? withoutLine(problem) : problem)
}

/** A place of which the line is not shown. */
export function withoutLine<T extends Place>(place: T): Omit<T, 'sourceLine' | 'sourceColumn'> {
  const { sourceLine: _line, sourceColumn: _column, ...rest } = place
  return rest
}

/** Problems beyond `MAX_PROBLEMS` are replaced by one that says so. */
function push({ problems }: Reader, problem: Problem): undefined {
  if (problems.length < MAX_PROBLEMS) problems.push(problem)
  else if (problems.length === MAX_PROBLEMS) {
    const { hint: _hint, other: _other, ...place } = problem
    const message = `more than ${MAX_PROBLEMS} problems in this document; the rest is not shown`
    problems.push({ ...place, code: 'TOO_LARGE', message })
  }
}

/** Marks a branch and its parents as faulty. */
function markFaulty(branch: Branch): void {
  for (let at: Branch | undefined = branch; at && !at.faulty; at = at.parent) at.faulty = true
}

const isSecret = (branch: Branch): boolean => branch.schema['x-secret'] === true || (branch.parent !== undefined && isSecret(branch.parent))

/** The text of a scalar, not interpreted by YAML. */
export const textOf = (node: Scalar): string => (typeof node.value === 'string' ? node.value : (node.source ?? ''))

const TEXT_TAG = 'tag:yaml.org,2002:str'

/** Written without quotes, so it may mean a number or a boolean. The tag `!!str` makes it a text; other tags are an error of their own. */
export const isPlain = (node: Scalar): boolean => (node.type === 'PLAIN' || node.type === undefined) && node.tag !== TEXT_TAG

/** A scalar in messages: quoted texts keep their quotes. */
export const written = (node: Scalar): string => (isPlain(node) ? quoted(textOf(node)).slice(1, -1) : quoted(textOf(node)))

/** Nothing was written: no value, `~` or `null`. */
export const isNothing = (node: YamlNode): boolean => node === null || (isScalar(node) && isPlain(node) && NULLS.has(textOf(node)))

/** A node in messages. */
export function describe(node: YamlNode): string {
  if (isNothing(node)) return 'empty'
  if (isScalar(node)) return written(node)
  return isMap(node) ? 'a mapping' : isSeq(node) ? 'a list' : 'an alias'
}
