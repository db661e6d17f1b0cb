// The edits of one document, in its text as splices and in its value: which entry changes, where a new one goes, and what is left for a person. The text
// around stays as it is. Also which document an edit goes to.
import { isMap, isScalar, isSeq, type Pair, type Scalar, type YAMLMap } from 'yaml'
import { type Scope, scopeKey } from '../../core/model/scope.ts'
import type { PolicyText } from '../load/files.ts'
import type { PolicyDocument } from '../parse.ts'
import type { PolicyText as Policy, SpecText } from '../schema/texts.ts'
import { type Branch, field, good, items, nameOf } from '../tree.ts'
import type { YamlNode } from '../yaml.ts'
import {
  byHand,
  type Edit,
  type Fields,
  givenIn,
  guardPlace,
  guardRemoval,
  itemText,
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
  endOfProperties,
  fillMarked,
  hasComment,
  indented,
  insertAfter,
  layoutOf,
  linesOf,
  nextLine,
  removeAt,
  type Splice,
  wholeLines,
} from './layout.ts'

type Spec = Branch<SpecText>
type ListKey = 'groups' | 'users' | 'grants' | 'protected' | 'approvals'

/** What an edit does to a text, and what the document says afterwards; worked out apart from each other, so that the proof can compare them. */
export interface Change {
  readonly splices: readonly Splice[]
  readonly wanted: unknown
}

/** The value of the whole document with another one in the place of a branch; `undefined` takes it out. */
function documentWith({ parent, key }: Branch, value: unknown): unknown {
  if (!parent) return value
  const { value: around } = parent
  if (!Array.isArray(around)) return documentWith(parent, Object.assign({}, around, { [key]: value }))
  return documentWith(parent, around.toSpliced(Number(key), 1, ...(value === undefined ? [] : [value])))
}

/** A value as it is read. */
const readAs = (value: Value): Value => (typeof value === 'string' ? value.trim() : value)

const readFields = (fields: Fields): Fields => Object.fromEntries(givenIn(fields).map(([key, value]) => [key, readAs(value)]))

const textIn = ({ reader }: Branch): string => reader.source.text

const endOf = (node: YamlNode): number => node?.range?.[1] ?? 0

/** The index of a branch in its list or mapping. */
const indexIn = ({ node }: Branch, { key, keyNode }: Branch): number =>
  isMap(node) ? node.items.findIndex((pair) => pair.key === keyNode) : Number(key)

/** Gives keys of an entry their values, where they have others. Undefined when there is nothing to do. */
export function put(entry: Branch<object>, fields: Fields): Change | undefined {
  const { children } = entry
  const differing = givenIn(fields).filter(([key, value]) => good(children.get(key)) !== readAs(value))
  if (differing.length === 0) return undefined
  const splices = differing.flatMap(([key, value]) => {
    const own = children.get(key)
    return own ? setScalar(own, value) : []
  })
  const more = differing.filter(([key]) => !children.has(key))
  if (more.length > 0) splices.push(...addKeys(entry, Object.fromEntries(more)))
  return { splices, wanted: documentWith(entry, { ...entry.value, ...readFields(Object.fromEntries(differing)) }) }
}

/** Replaces the value of a key by a scalar, in the quotes that it has. */
function setScalar(branch: Branch, value: Value): readonly Splice[] {
  guardPlace(branch)
  const { node } = branch
  if (!isScalar(node)) return byHand(branch.reader.source, endOf(branch.keyNode), `${nameOf(branch)} is no scalar`, 'change it by hand')
  const written = valueText(branch.key, value, quotesOf(node), isInBrackets(branch.parent))
  const [start, end] = [node.range?.[0] ?? 0, endOf(node)]
  if (node.type !== 'BLOCK_LITERAL' && node.type !== 'BLOCK_FOLDED') return [{ start, end, text: written }]
  // A comment behind its header stays.
  const body = nextLine(textIn(branch), start)
  const header = /^\S+/.exec(textIn(branch).slice(start, body))?.[0].length ?? 0
  const top = { start, end: start + header, text: written }
  return [top, { start: body, end: Math.max(body, end), text: '' }]
}

/** Inserts keys into an entry, behind its cap or else its name. */
function addKeys(entry: Branch, fields: Fields): readonly Splice[] {
  guardPlace(entry)
  const layout = layoutOf(entry)
  const [after] = ['cap', 'name', 'id'].flatMap((key) => entry.children.get(key) ?? [])
  const style = { ...styleOf(layout.text, entry.node as YAMLMap), padding: '' }
  const { lines, flow } = mappingText(fields, style)
  return after ? insertAfter(layout, indexIn(entry, after), { lines, flow: flow.slice(1, -1) }) : []
}

/** Takes a key, or an item of a list, out. */
export const drop = (branch: Branch): Change => ({ splices: removed(branch), wanted: documentWith(branch, undefined) })

function removed(branch: Branch): readonly Splice[] {
  const { parent } = branch
  guardRemoval(branch)
  if (!parent) return []
  const layout = layoutOf(parent)
  const { text, isFlow, entries } = layout
  const index = indexIn(parent, branch)
  if (entries.length > 1) return removeAt(layout, index)
  const own = linesOf(layout, index)
  if (isSeq(parent.node)) {
    // With its last entry a list's key goes, unless brackets mark its place, or it has a comment that is not the entry's.
    if (isFlow) return isInBrackets(parent.parent) && text[layout.close - 1] !== ' ' ? removed(parent) : removeAt(layout, index)
    if (!hasOwnComment(parent, own)) return removed(parent)
  } else if (isFlow) return removeAt(layout, index)
  // A key that stays has `[]` or `{}`, so that it can be edited again.
  const start = endOfProperties(parent)
  return [{ start, end: start, text: isSeq(parent.node) ? ' []' : ' {}' }, wholeLines(text, own.start, own.end)]
}

/** Appends a mapping, or a text, to a list. */
export function append(spec: Spec, key: ListKey, item: Fields | string): Change {
  const items = [...(spec.value[key] ?? []), typeof item === 'string' ? item : readFields(item)]
  const write = typeof item === 'string' ? textWriter(spec, key, item) : entryWriter(spec, key, item)
  return { splices: appended(spec, key, write), wanted: documentWith(spec, { ...spec.value, [key]: items }) }
}

function entryWriter(spec: Spec, key: ListKey, fields: Fields): Write {
  const style = neighbourStyle(spec, key)
  return (inFlow) => itemText(mappingText(fields, inFlow ? { ...style, isFlow: true } : style), style)
}

function textWriter(spec: Spec, key: ListKey, text: string): Write {
  const last = items<unknown>(field(spec, key)).at(-1)
  const quotes = last ? quotesOf(last.node) : keyQuotes(spec)
  return (inFlow) => {
    const flow = valueText(key, text, quotes, inFlow)
    return { lines: [`- ${flow}`], flow }
  }
}

/** Puts `team` into a spec. */
export function addTeam(spec: Spec, fields: Fields): Change {
  const { lines, flow } = mappingText(fields, neighbourStyle(spec, 'users'))
  const name = keyText(spec, 'team')
  const body = lines.length === 1 && lines[0]?.startsWith('{') ? [`${name}: ${lines[0]}`] : [`${name}:`, ...indented(lines, stepOf(spec))]
  return {
    splices: addToSpec(spec, 'team', body, `${name}: ${flow}`),
    wanted: documentWith(spec, { ...spec.value, team: readFields(fields) }),
  }
}

/** The style of the last entry of the list, else of the lists beside it. */
function neighbourStyle(spec: Spec, key: ListKey): Style {
  for (const one of [key, 'users', 'grants', 'groups', 'rules'] as const) {
    const list = field(spec, one)
    if (!list || !isSeq(list.node) || list.alias) continue
    const index = list.node.items.findLastIndex((item) => isMap(item) && item.items.length > 0)
    const last = list.node.items[index]
    if (!isMap(last)) continue
    const found = styleOf(textIn(spec), last as YAMLMap, layoutOf(list).entries[index]?.start)
    return one === key ? found : { ...found, quotes: new Map([['', found.quotes.get('') ?? '']]) }
  }
  const quotes = keyQuotes(spec)
  return { ...PLAIN_STYLE, keys: quotes, quotes: new Map([['', quotes]]) }
}

/** The quotes of the first key of a spec, or of its own. Programs write all texts in double ones. */
const keyQuotes = ({ node, keyNode }: Spec): Quotes =>
  quotesOf((isMap(node) && (node.items[0] as Pair<Scalar> | undefined)?.key) || keyNode)

const keyText = (spec: Spec, key: string): string => `${keyQuotes(spec)}${key}${keyQuotes(spec)}`

/** Writes an entry, in brackets or behind a dash. */
type Write = (inFlow: boolean) => EntryText

function appended(spec: Spec, key: ListKey, write: Write): readonly Splice[] {
  const branch = spec.children.get(key)
  if (!branch) {
    const [{ lines }, name] = [write(false), keyText(spec, key)]
    return addToSpec(spec, key, [`${name}:`, ...indented(lines, offsetIn(spec, key))], `${name}: [${write(true).flow}]`)
  }
  guardPlace(branch)
  if (!isSeq(branch.node)) {
    const { reader, keyNode } = branch
    return byHand(reader.source, endOf(keyNode), `${nameOf(branch)} is written without a value`, 'write [] there, or leave the key out')
  }
  const layout = layoutOf(branch)
  if (layout.isFlow && layout.entries.length === 0 && isInBrackets(spec)) return [fillMarked(layout, write(true).flow)]
  return insertAfter(layout, layout.entries.length - 1, write(layout.isFlow))
}

const isInBrackets = (branch: Branch | undefined): boolean => isMap(branch?.node) && branch.node.flow === true

/** Puts a key into a spec, behind those that come before it in the manual. */
function addToSpec(spec: Spec, key: string, lines: readonly string[], flow: string): readonly Splice[] {
  const order = Object.keys(spec.schema.properties ?? {})
  const keys = [...spec.children.keys()].map((one) => order.indexOf(String(one)))
  const before = keys.filter((one) => one < order.indexOf(key))
  const index = before.length > 0 ? keys.indexOf(Math.max(...before)) : keys.length - 1
  guardPlace(spec)
  return insertAfter(layoutOf(spec), index, { lines, flow })
}

/** The blanks by which the entries of lists are indented from their keys: as in the other lists of the spec. */
function offsetIn(spec: Spec, except: string | number): string {
  for (const [key, branch] of spec.children) {
    if (key === except || branch.alias || !isSeq(branch.node) || branch.node.flow === true) continue
    const { text, entries } = layoutOf(branch)
    return ' '.repeat(Math.max(0, columnOf(text, entries[0]?.start ?? 0) - columnOf(text, branch.keyNode.range?.[0] ?? 0)))
  }
  return stepOf(spec)
}

/** The blanks by which `spec` indents its keys. */
function stepOf(spec: Spec): string {
  const text = textIn(spec)
  const [own, inside] = [spec.keyNode.range?.[0] ?? 0, spec.node?.range?.[0] ?? 0]
  return isInBrackets(spec) ? '  ' : ' '.repeat(Math.max(2, columnOf(text, inside) - columnOf(text, own)))
}

function hasOwnComment(list: Branch, own: { readonly start: number; readonly end: number }): boolean {
  const layout = layoutOf(list.parent as Spec)
  const all = linesOf(layout, indexIn(list.parent as Spec, list))
  return hasComment(layout.text.slice(all.start, own.start) + layout.text.slice(own.end, Math.max(own.end, all.end)))
}

// Chooses the document that an edit goes to: the one that declares the subject, else the only one that may hold it. With several it never guesses.

/** A document of a workspace, with its file. */
export interface Place {
  readonly workspace: string
  readonly file: PolicyText
  readonly document: PolicyDocument & { readonly root: Branch<Policy> }
  /** What the document is to say, as `meaningOf` gives it. */
  readonly wanted: string
}

/** Wrong usage: several documents, or none that is named. Its message lists what may be chosen. */
export class ChoiceError extends Error {
  override readonly name = 'ChoiceError'
}

/** The spec of a place. */
export const specOf = ({ document }: Place): Spec => field(document.root, 'spec') as Spec

/** The entry that declares a scope in a document. */
export function entryOf(place: Place, scope: Scope): Branch<object> | undefined {
  const spec = specOf(place)
  if (scope.kind === 'team') return field(spec, 'team')
  const isOf = (item: Branch, key: string, id: string): boolean => String(good(item.children.get(key))) === id
  return scope.kind === 'group'
    ? items(field(spec, 'groups')).find((item) => isOf(item, 'id', scope.id))
    : items(field(spec, 'users')).find((item) => isOf(item, 'email', scope.email))
}

/** The item of a list of texts. */
export const textItem = (place: Place, key: 'protected' | 'approvals', text: string): Branch<string> | undefined =>
  items<string>(field(specOf(place), key)).find((item) => String(good(item)) === text)

export type GrantFound = ReturnType<typeof grantsIn>[number]

/** The grants of a scope in a document, with their entries. */
export function grantsIn(place: Place, scope: Scope) {
  const entries = items(field(specOf(place), 'grants'))
  return place.document.grants.flatMap((grant) => {
    const entry = entries[grant.index]
    return entry && scopeKey(grant.scope) === scopeKey(scope) ? [{ entry, grant, place }] : []
  })
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
      return grantsIn(place, edit.scope).length > 0
    case 'remove':
      return false
  }
}

/** Of several documents of a workspace that name a group, those that give it a cap: where a team decides about it, the other only names it. */
function giving(found: readonly Place[], edit: Edit): readonly Place[] {
  if ((edit.kind !== 'cap' && edit.kind !== 'grant') || !areOfOne(found)) return found
  const capped = found.filter((place) => entryOf(place, edit.scope)?.children.has('cap') === true)
  return capped.length > 0 ? capped : found
}

/** Whether documents are of one workspace. */
export const areOfOne = (places: readonly Place[]): boolean => new Set(places.map(({ workspace }) => workspace)).size <= 1

/** A second way to be about it: the person's own entry, or another grant of the scope. */
function isNear(place: Place, edit: Edit): boolean {
  if (edit.kind === 'protect') return entryOf(place, { kind: 'user', email: edit.email }) !== undefined
  return edit.kind === 'grant' && grantsIn(place, edit.scope).length > 0
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
function refuseSeveral(found: readonly Place[], places: readonly Place[]): never {
  throw new ChoiceError(`${found.length} documents may hold it; choose one with --file: ${namesOf(found, places).join(', ')}`)
}

/** The documents that fit. In several workspaces none is chosen, also where something else, such as the beginning of a grant, tells them apart. */
export function ofOneWorkspace(places: readonly Place[], fits: (place: Place) => boolean): readonly Place[] {
  const found = places.filter(fits)
  if (!areOfOne(found)) refuseSeveral(found, places)
  return found
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
