// The edits that `capkeeper edit` knows, as plain data, and how each is named to people; what it refuses and leaves to a person's hand (templates,
// encrypted texts, anchors that are used elsewhere); and the style in which new text is written, which is that of the text around it.

import { type Alias, isNode, isScalar, type Node, type Pair, Scalar, stringify, visit, type YAMLMap } from 'yaml'
import type { Cap } from '../../core/model/policy.ts'
import { InputError, type Position, type Problem } from '../../core/model/problem.ts'
import { type Scope, scopeKey } from '../../core/model/scope.ts'
import type { Times } from '../dates.ts'
import { type Branch, nameOf, textOf } from '../tree.ts'
import { positionAt, problemAt, type Source, sourceOf, type YamlNode } from '../yaml.ts'
import type { EntryText } from './layout.ts'

/** Refuses an edit at a place, with what to do by hand. Throws an `InputError`. */
export function byHand(source: Source, at: number, message: string, hint: string, other?: Position): never {
  throw new InputError([problemAt(source, [at, at + 1], 'error', 'EDIT_BY_HAND', message, { hint, other })])
}

/** Marks of templates; in a comment they are filled in as well. */
const TEMPLATE = /\{\{.*?\}\}|\{%.*?%\}|<%.*?%>/s

/** What sops writes: its own key, and encrypted values. */
const ENCRYPTED = /^(?:sops|"sops"):|\bENC\[[A-Z0-9_]+,data:/m

const withoutMark = (text: string): string => (text.startsWith('\uFEFF') ? text.slice(1) : text)

/** Why a text is not edited: another program fills it in or encrypts it. Undefined for any other text. */
export function foreignTo(file: string, text: string): Problem | undefined {
  const source = sourceOf(file, withoutMark(text))
  const template = TEMPLATE.exec(source.text)
  const encrypted = ENCRYPTED.exec(source.text)
  if (!template && !encrypted) return undefined
  const [found, what, hint] = template
    ? ([template, 'is a template', 'edit it by hand, or edit what is made of it'] as const)
    : ([encrypted as RegExpExecArray, 'is encrypted', 'edit it with sops'] as const)
  return problemAt(source, [found.index, found.index + found[0].length], 'error', 'EDIT_BY_HAND', `${file} ${what} here`, { hint })
}

/** Refuses a place that aliases give another meaning: it came by one, or its anchor, or one around it, is used elsewhere. */
export function guardPlace(branch: Branch): void {
  const { source } = branch.reader
  const users = usersOf(branch)
  for (let at: Branch | undefined = branch; at; at = at.parent) {
    const place = at.alias?.range?.[0]
    if (at.alias && place !== undefined) {
      const message = `${nameOf(branch)} comes from the alias *${at.alias.source}`
      byHand(source, place, message, 'write it out here by hand, or change it where the anchor is', placeOfNode(source, branch.node))
    }
    const { node } = at
    const user = users.find(([, target]) => target === node)
    if (user) refuseShared(source, user)
  }
}

/** Refuses to take out a node that has an anchor which is used outside of it. */
export function guardRemoval(branch: Branch): void {
  guardPlace(branch)
  const users = usersOf(branch)
  const inside = new Set<unknown>()
  if (users.length === 0 || !isNode(branch.node)) return
  visit(branch.node, { Node: (_key, node) => void inside.add(node) })
  const user = users.find(([alias, target]) => inside.has(target) && !inside.has(alias))
  if (user) refuseShared(branch.reader.source, user)
}

type User = readonly [alias: Alias, target: Node]

/** The aliases of the document; they were followed when its tree was made. */
const usersOf = ({ reader }: Branch): readonly User[] => [...(reader.anchors ?? [])]

function refuseShared(source: Source, [alias, target]: User): never {
  const message = `the anchor &${alias.source} here is used elsewhere`
  byHand(source, target.range?.[0] ?? 0, message, 'change it by hand, so that the alias keeps its meaning', placeOfNode(source, alias))
}

const placeOfNode = (source: Source, node: YamlNode): Position => positionAt(source, node?.range?.[0] ?? 0)

/** Plain, or in single or double quotes. */
export type Quotes = '' | "'" | '"'

export type Value = string | number | true

/** The keys of an entry with their values; a key without a value is left out. */
export type Fields = Readonly<Record<string, Value | undefined>>

export const givenIn = (fields: Fields): readonly (readonly [key: string, value: Value])[] =>
  Object.entries(fields).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]))

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
    givenIn(fields).map(([key, value]) => `${scalarText(key, style.keys, inFlow)}: ${valueText(key, value, quotesFor(style, key), inFlow)}`)
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

/** Numbers, and words of the format, are never quoted. */
export const valueText = (key: string | number, value: Value, quotes: Quotes, inFlow: boolean): string =>
  typeof value === 'string' && key !== 'cap' ? scalarText(value, quotes, inFlow) : String(value)

const TYPES = { '': 'PLAIN', "'": 'QUOTE_SINGLE', '"': 'QUOTE_DOUBLE' } as const

/** What other programs may not show, or take for a line end. */
const UNPRINTED = /[\p{C}\p{Zl}\p{Zp}]/gu

/** A text as a scalar on one line, plain where the neighbours are and where it may be. */
export function scalarText(text: string, quotes: Quotes = '', inFlow = false): string {
  const scalar = new Scalar(text)
  scalar.type = TYPES[text.search(UNPRINTED) < 0 ? quotes : '"']
  const collectionStyle = inFlow ? 'flow' : 'block'
  const list = stringify([scalar], { collectionStyle, flowCollectionPadding: false, lineWidth: 0, doubleQuotedAsJSON: true })
  return (inFlow ? list.slice(1, -2) : list.slice(2, -1)).replace(UNPRINTED, escaped)
}

function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16)
  return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`
}

/** Sets the cap of a scope. `name`: of a group that is not declared yet. */
export interface CapEdit {
  readonly kind: 'cap'
  readonly scope: Scope
  readonly cap: Cap
  readonly reason?: string
  readonly name?: string
}

/** Adds a grant. Times are as they are written in a policy. */
export interface GrantEdit {
  readonly kind: 'grant'
  readonly scope: Scope
  readonly amount: { readonly kind: 'cap' | 'add'; readonly credits: number }
  readonly from?: string
  readonly until: string
  readonly reason: string
  readonly ticket?: string
}

/** Moves the end of a grant later; of several, `from` names one. */
export interface ExtendEdit {
  readonly kind: 'extend'
  readonly scope: Scope
  readonly until: string
  readonly from?: string
}

export type Target =
  | { readonly kind: 'scope'; readonly scope: Scope }
  | { readonly kind: 'protect'; readonly email: string }
  | { readonly kind: 'approval'; readonly id: string }
  /** Of several grants `from` names one, or `times` do. */
  | { readonly kind: 'grant'; readonly scope: Scope; readonly from?: string; readonly times?: Times }

export type Edit =
  | CapEdit
  | GrantEdit
  | ExtendEdit
  | { readonly kind: 'protect'; readonly email: string }
  /** Adds the id of a hold. */
  | { readonly kind: 'approve'; readonly id: string }
  | { readonly kind: 'remove'; readonly target: Target }

const NAMES = {
  ...{ cap: 'the cap of', grant: 'the grant of', extend: 'the grant of', protect: 'the protection of', approve: 'the approval' },
  ...{ scope: 'the entry of', approval: 'the approval' },
} as const

/** What an edit is about, in messages. */
export function subjectOf(edit: Edit): string {
  const subject = edit.kind === 'remove' ? edit.target : edit
  const name = 'scope' in subject ? scopeKey(subject.scope) : 'email' in subject ? subject.email : subject.id
  return `${NAMES[subject.kind]} ${name}`
}
