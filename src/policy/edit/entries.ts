// The edits of one document as splices: which entry changes, where a new one goes, and what is left for a person. The text around stays as it is.
import { isMap, isScalar, isSeq, type Pair, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml'
import { type Scope, scopeKey } from '../../core/model/scope.ts'
import type { PolicyText } from '../load/files.ts'
import type { PolicyDocument } from '../parse.ts'
import type { PolicyText as Policy, SpecText } from '../schema/source.ts'
import { type Branch, field, good, items, nameOf, textOf } from '../tree.ts'
import type { YamlNode } from '../yaml.ts'
import {
  byHand,
  type Edit,
  type Fields,
  guardPlace,
  guardRemoval,
  itemText,
  lastStyle,
  mappingText,
  PLAIN_STYLE,
  type Quotes,
  quotesOf,
  type Style,
  styleOf,
  type Value,
  valueText,
} from './edit.ts'
import {
  columnOf,
  type EntryText,
  fillMarked,
  hasComment,
  indented,
  insertAfter,
  type Layout,
  layoutOf,
  linesAt,
  linesOf,
  nextLine,
  removeAt,
  type Splice,
  wholeLines,
} from './layout.ts'

type Spec = Branch<SpecText>
type ListKey = 'groups' | 'users' | 'grants' | 'protected' | 'approvals'

const textIn = ({ reader }: Branch): string => reader.source.text

const endOf = (node: YamlNode): number => node?.range?.[1] ?? 0

/** A mapping with the layout of its keys. */
function keysOf(branch: Branch): { readonly node: YAMLMap; readonly layout: Layout } {
  guardPlace(branch)
  const node = branch.node as YAMLMap
  return { node, layout: layoutOf(textIn(branch), node, branch.parent ? endOf(branch.keyNode) : 0) }
}

const indexOf = (node: YAMLMap, { keyNode }: Branch): number => node.items.findIndex(({ key }) => key === keyNode)

/** Replaces the value of a key by a scalar, in the quotes that it has. */
export function setScalar(branch: Branch, value: Value): readonly Splice[] {
  guardPlace(branch)
  const { node } = branch
  if (!isScalar(node)) return byHand(branch.reader.source, endOf(branch.keyNode), `${nameOf(branch)} is no scalar`, 'change it by hand')
  const { parent } = branch
  const written = valueText(value, quotesOf(node), isMap(parent?.node) && parent.node.flow === true)
  const [start, end] = [node.range?.[0] ?? 0, endOf(node)]
  if (node.type !== 'BLOCK_LITERAL' && node.type !== 'BLOCK_FOLDED') return [{ start, end, text: written }]
  // A comment behind its header stays.
  const body = nextLine(textIn(branch), start)
  const header = /^\S+/.exec(textIn(branch).slice(start, body))?.[0].length ?? 0
  const top = { start, end: start + header, text: written }
  return [top, { start: body, end: Math.max(body, end), text: '' }]
}

/** Inserts keys into a mapping, after one of its keys. */
export function addKeys(branch: Branch, after: Branch, fields: Fields): readonly Splice[] {
  const { node, layout } = keysOf(branch)
  const style = { ...styleOf(layout.text, node), padding: '' }
  const { lines, flow } = mappingText(fields, style)
  return insertAfter(layout, indexOf(node, after), { lines, flow: flow.slice(1, -1) })
}

/** Takes a key out of a mapping; the last one of a spec leaves `{}`. */
export function removeKey(branch: Branch, key: Branch): readonly Splice[] {
  guardRemoval(key)
  const { node, layout } = keysOf(branch)
  const index = indexOf(node, key)
  if (layout.isFlow || node.items.length > 1) return removeAt(layout, index)
  const { start, end } = linesOf(layout, index)
  const colon = layout.text.indexOf(':', endOf(branch.keyNode)) + 1
  return [{ start: colon, end: colon, text: ' {}' }, wholeLines(layout.text, start, end)]
}

/** Appends a mapping to a list. */
export function addEntry(spec: Spec, key: ListKey, fields: Fields): readonly Splice[] {
  const style = neighbourStyle(spec, key)
  return append(spec, key, (inFlow) => itemText(mappingText(fields, inFlow ? { ...style, isFlow: true } : style), style))
}

/** Appends a text to a list of texts. */
export function addText(spec: Spec, key: 'protected' | 'approvals', text: string): readonly Splice[] {
  const last = items<unknown>(field(spec, key)).at(-1)
  const quotes = last ? quotesOf(last.node) : keyQuotes(spec)
  return append(spec, key, (inFlow) => {
    const written = valueText({ text }, quotes, inFlow)
    return { lines: [`- ${written}`], flow: written }
  })
}

/** Puts `team` into a spec. */
export function addTeam(spec: Spec, fields: Fields): readonly Splice[] {
  const { lines, flow } = mappingText(fields, neighbourStyle(spec, 'users'))
  const name = keyText(spec, 'team')
  const body = lines.length === 1 && lines[0]?.startsWith('{') ? [`${name}: ${lines[0]}`] : [`${name}:`, ...indented(lines, stepOf(spec))]
  return addToSpec(spec, 'team', body, `${name}: ${flow}`)
}

/** The style of the last entry of the list, else of the lists beside it. */
function neighbourStyle(spec: Spec, key: ListKey): Style {
  const text = textIn(spec)
  for (const one of [key, 'users', 'grants', 'groups', 'rules'] as const) {
    const list = field(spec, one)
    if (!list || !isSeq(list.node) || list.alias) continue
    const { entries } = layoutOf(text, list.node, endOf(list.keyNode))
    const found = lastStyle(
      text,
      list.node.items.map((item, index) => [item as YamlNode, entries[index]?.start] as const),
    )
    if (found) return one === key ? found : { ...found, quotes: new Map([['', found.quotes.get('') ?? '']]) }
  }
  const quotes = keyQuotes(spec)
  return { ...PLAIN_STYLE, keys: quotes, quotes: new Map([['', quotes]]) }
}

/** The quotes of the first key of a spec, or of its own. Programs write all texts in double ones. */
const keyQuotes = ({ node, keyNode }: Spec): Quotes =>
  quotesOf((isMap(node) && (node.items[0] as Pair<Scalar> | undefined)?.key) || keyNode)

const keyText = (spec: Spec, key: string): string => `${keyQuotes(spec)}${key}${keyQuotes(spec)}`

/** `write`: the entry, in brackets or behind a dash. */
function append(spec: Spec, key: ListKey, write: (inFlow: boolean) => EntryText): readonly Splice[] {
  const text = textIn(spec)
  const branch = spec.children.get(key)
  if (!branch) {
    const [{ lines }, name] = [write(false), keyText(spec, key)]
    return addToSpec(spec, key, [`${name}:`, ...indented(lines, offsetIn(spec, key))], `${name}: [${write(true).flow}]`)
  }
  guardPlace(branch)
  if (!isSeq(branch.node)) return fillNothing(spec, branch, write(false).lines)
  const layout = layoutOf(text, branch.node, endOf(branch.keyNode))
  if (layout.isFlow && layout.entries.length === 0 && isFlow(spec)) return [fillMarked(layout, write(true).flow)]
  return insertAfter(layout, layout.entries.length - 1, write(layout.isFlow))
}

const isFlow = ({ node }: Branch): boolean => isMap(node) && node.flow === true

/** Puts a key into a spec, behind those that come before it in the manual. */
function addToSpec(spec: Spec, key: string, lines: readonly string[], flow: string): readonly Splice[] {
  const { node, layout } = keysOf(spec)
  const order = Object.keys(spec.schema.properties ?? {})
  const keys = (node.items as readonly Pair<Scalar, YamlNode>[]).map((pair) => order.indexOf(textOf(pair.key)))
  const before = keys.filter((one) => one < order.indexOf(key))
  const index = before.length > 0 ? keys.indexOf(Math.max(...before)) : keys.length - 1
  return insertAfter(layout, index, { lines, flow })
}

/** Entries under a key without a value. Where no comment marks the place, they are indented unlike others: see `keepsKey`. */
function fillNothing(spec: Spec, branch: Branch, lines: readonly string[]): readonly Splice[] {
  const { node, layout } = keysOf(spec)
  const { text } = layout
  const { source } = spec.reader
  const key = endOf(branch.keyNode)
  const value = branch.node && isScalar(branch.node) ? text.slice(branch.node.range?.[0] ?? 0, endOf(branch.node)) : ''
  if (layout.isFlow || value !== '' || /[&!]/.test(text.slice(key, nextLine(text, key)).split('#')[0] ?? ''))
    return byHand(source, key, `${nameOf(branch)} is written without a value`, 'write [] there, or leave the key out')
  const around = linesOf(layout, indexOf(node, branch))
  const below = nextLine(text, key)
  const comment = /^[ \t]*(?=#)/.exec(text.slice(below, around.end).trimStart() === '' ? '' : firstLine(text.slice(below, around.end)))
  const column = columnOf(text, branch.keyNode.range?.[0] ?? 0)
  const offset = hasComment(text.slice(around.start, around.end)) ? offsetIn(spec, branch.key) : markedOffset(offsetIn(spec, branch.key))
  const indent = ' '.repeat(Math.max(column + offset.length, comment?.[0].length ?? 0))
  return [linesAt(text, below, indented(lines, indent))]
}

const firstLine = (text: string): string => text.split('\n').find((line) => line.trim() !== '') ?? ''

/** The blanks by which the entries of lists are indented from their keys: as in the other lists of the spec. */
function offsetIn(spec: Spec, except: string | number): string {
  for (const [key, branch] of spec.children) {
    if (key === except || branch.alias || !isSeq(branch.node) || branch.node.flow === true) continue
    return ' '.repeat(Math.max(0, dashOffset(spec, branch)))
  }
  return stepOf(spec)
}

/** How far the entries of a list in block style are indented from its key. */
const dashOffset = (spec: Spec, list: Branch): number => {
  const text = textIn(spec)
  const [first] = layoutOf(text, list.node as YAMLSeq, endOf(list.keyNode)).entries
  return columnOf(text, first?.start ?? 0) - columnOf(text, list.keyNode.range?.[0] ?? 0)
}

/** An indentation that marks entries under a key that was there: one that no other list has. */
const markedOffset = (usual: string): string => (usual === ' ' ? '   ' : ' ')

/** The blanks by which `spec` indents its keys. */
function stepOf(spec: Spec): string {
  const text = textIn(spec)
  const [own, inside] = [spec.keyNode.range?.[0] ?? 0, spec.node?.range?.[0] ?? 0]
  return isFlow(spec) ? '  ' : ' '.repeat(Math.max(2, columnOf(text, inside) - columnOf(text, own)))
}

/** Takes an entry out of a list; with the last one its key goes, unless something else marks its place. */
export function removeEntry(spec: Spec, list: Branch, index: number): readonly Splice[] {
  const entry = list.children.get(index)
  if (!entry || !isSeq(list.node)) return []
  guardRemoval(entry)
  const text = textIn(spec)
  const layout = layoutOf(text, list.node, endOf(list.keyNode))
  if (layout.entries.length > 1 || (layout.isFlow && !isFlow(spec))) return removeAt(layout, index)
  if (layout.isFlow) return text[layout.close - 1] === ' ' ? removeAt(layout, index) : removeKey(spec, list)
  const own = linesOf(layout, index)
  return keepsKey(spec, list, own) ? [wholeLines(text, own.start, own.end)] : removeKey(spec, list)
}

/**
 * Whether a list's key stays when its last entry goes: it has a comment that is not the entry's, or the entries were put under a key that was
 * there (`fillNothing`).
 */
function keepsKey(spec: Spec, list: Branch, own: { readonly start: number; readonly end: number }): boolean {
  const { node, layout } = keysOf(spec)
  const all = linesOf(layout, indexOf(node, list))
  const others = layout.text.slice(all.start, own.start) + layout.text.slice(own.end, Math.max(own.end, all.end))
  return hasComment(others) || dashOffset(spec, list) === markedOffset(offsetIn(spec, list.key)).length
}

// Chooses the document that an edit goes to: the one that declares the subject, else the only one that may hold it. With several it never guesses.

/** A document of a workspace, with its file. */
export interface Place {
  readonly workspace: string
  readonly file: PolicyText
  readonly document: PolicyDocument & { readonly root: Branch<Policy> }
}

/** Wrong usage: several documents, or none that is named. Its message lists what may be chosen. */
export class ChoiceError extends Error {
  override readonly name = 'ChoiceError'
}

/** The spec of a place. */
export const specOf = ({ document }: Place): Spec => field(document.root, 'spec') as Spec

/** The list, and the index in it, of an entry; `team` has no list. */
export interface Found {
  readonly list?: Branch<readonly unknown[]>
  readonly index: number
  readonly entry: Branch
}

/** The entry that declares a scope in a document. */
export function entryOf(place: Place, scope: Scope): Found | undefined {
  const spec = specOf(place)
  if (scope.kind === 'team') {
    const team = field(spec, 'team')
    return team && { index: 0, entry: team }
  }
  const list = scope.kind === 'group' ? field(spec, 'groups') : field(spec, 'users')
  const key = scopeKey(scope)
  const found = items<object>(list).findIndex((item) => {
    const value = good(item.children.get(scope.kind === 'group' ? 'id' : 'email'))
    return (scope.kind === 'group' ? `group:${value}` : value) === key
  })
  return foundIn(list, found)
}

/** The item of a list of texts. */
export function textItem(place: Place, key: 'protected' | 'approvals', text: string): Found | undefined {
  const list = field(specOf(place), key)
  return foundIn(
    list,
    items<unknown>(list).findIndex((item) => String(good(item)) === text),
  )
}

/** The entries of the grants of a scope, by their index. */
export function grantsOf(place: Place, scope: Scope): readonly Found[] {
  const list = field(specOf(place), 'grants')
  return place.document.grants.flatMap((grant, index) => (scopeKey(grant.scope) === scopeKey(scope) ? (foundIn(list, index) ?? []) : []))
}

const foundIn = (list: Branch<readonly unknown[]> | undefined, index: number): Found | undefined => {
  const entry = list?.children.get(index)
  return list && entry && { list, index, entry }
}

/** Whether a document declares what an edit is about. */
function declares(place: Place, edit: Edit): boolean {
  switch (edit.kind) {
    case 'approve':
      return textItem(place, 'approvals', edit.id) !== undefined
    case 'protect':
      return textItem(place, 'protected', edit.email) !== undefined
    case 'cap':
    case 'grant':
      return entryOf(place, edit.scope) !== undefined
    case 'extend':
      return grantsOf(place, edit.scope).length > 0
    case 'remove':
      return false
  }
}

/** Of several documents of a workspace that name a group, those that give it a cap: where a team decides about it, the other only names it. */
function giving(found: readonly Place[], edit: Edit): readonly Place[] {
  if ((edit.kind !== 'cap' && edit.kind !== 'grant') || !areOfOne(found)) return found
  const capped = found.filter((place) => entryOf(place, edit.scope)?.entry.children.has('cap') === true)
  return capped.length > 0 ? capped : found
}

/** Whether documents are of one workspace. */
export const areOfOne = (places: readonly Place[]): boolean => new Set(places.map(({ workspace }) => workspace)).size <= 1

/** A second way to be about it: the person's own entry, or another grant of the scope. */
function isNear(place: Place, edit: Edit): boolean {
  if (edit.kind === 'protect') return entryOf(place, { kind: 'user', email: edit.email }) !== undefined
  return edit.kind === 'grant' && grantsOf(place, edit.scope).length > 0
}

/** The document that an edit goes to. Throws a `ChoiceError` with several, or none. */
export function placeFor(edit: Edit, places: readonly Place[]): Place {
  for (const fits of edit.kind === 'extend' ? [declares] : [declares, isNear, () => true]) {
    const found = giving(
      places.filter((place) => fits(place, edit)),
      edit,
    )
    const [only, ...others] = found
    if (only && others.length === 0) return only
    if (only) refuseSeveral(found, places)
  }
  if (edit.kind === 'extend') throw new ChoiceError(`${scopeKey(edit.scope)} has no grant to extend`)
  throw new ChoiceError('there is no policy document to edit; write one first, such as with `capkeeper init`')
}

/** Of several documents none is chosen. Throws a `ChoiceError`. */
export function refuseSeveral(found: readonly Place[], places: readonly Place[]): never {
  throw new ChoiceError(`${found.length} documents may hold it; choose one with --file: ${namesOf(found, places).join(', ')}`)
}

/** The documents that `--file` may mean: those of a file, or with `#NAME` the one of that name in it. Throws a `ChoiceError` with none. */
export function placesIn(wanted: string | undefined, places: readonly Place[], isFile: (place: Place, path: string) => boolean) {
  if (wanted === undefined) return places
  const whole = places.filter((place) => isFile(place, wanted))
  if (whole.length > 0) return whole
  const at = wanted.lastIndexOf('#')
  const named = places.filter((place) => at > 0 && isFile(place, wanted.slice(0, at)) && nameIn(place) === wanted.slice(at + 1))
  if (named.length > 0) return named
  throw new ChoiceError(
    `--file ${wanted} is no file that is loaded with a policy; there are ${namesOf(places, places).join(', ') || 'none'}`,
  )
}

const nameIn = ({ document }: Place): string => document.name.value

/** How `--file` names each place. */
const namesOf = (found: readonly Place[], places: readonly Place[]): readonly string[] =>
  found.map((place) => {
    const { shown } = place.file
    const isShared = places.filter(({ file }) => file.shown === shown).length > 1
    return isShared ? `${shown}#${nameIn(place)}` : shown
  })
