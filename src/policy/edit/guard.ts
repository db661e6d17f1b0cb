// What an edit leaves to a person: text that has another meaning elsewhere (aliases and anchors), and files that a program writes or fills in.
import { type Alias, isNode, type Node, visit } from 'yaml'
import { InputError, type Position, type Problem } from '../../core/model/problem.ts'
import { type Branch, nameOf } from '../tree.ts'
import { positionAt, problemAt, type Source, sourceOf, type YamlNode } from '../yaml.ts'

/** Refuses an edit at a place, with what to do by hand. Throws an `InputError`. */
export function byHand(source: Source, at: number, message: string, hint: string, other?: Position): never {
  throw new InputError([problemAt(source, [at, at + 1], 'error', 'EDIT_BY_HAND', message, { hint, ...(other && { other }) })])
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

/** Whether a text of the edit itself would make a file look like a template. */
export const looksLikeTemplate = (text: string): boolean => TEMPLATE.test(text)

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
