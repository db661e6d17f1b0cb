// Finds the imports of a source: every form that Node or the type checker follows. It reads tokens, so that an import in a comment or a
// text does not count.
import { type Token, tokensOf } from './tokens.ts'

interface ImportedName {
  /** The name in the other file; `default` and `*` for those. */
  readonly name: string
  /** Marked `type` itself: `import { type A }`. Node still loads the file. */
  readonly typeOnly: boolean
}

export interface Import {
  /** `export`: re-exported from there. `dynamic`: import(), require() or process.getBuiltinModule(). */
  readonly how: 'import' | 'export' | 'dynamic'
  /** Absent when it is computed at run time. */
  readonly specifier?: string
  /** `import type`, `export type` and `typeof import()`: gone at run time. */
  readonly typeOnly: boolean
  /** Empty for a side effect or a dynamic import. */
  readonly names: readonly ImportedName[]
  readonly line: number
}

/** The imports of a source, in its order. */
export const importsOf = (source: string): readonly Import[] => importsIn(tokensOf(source).filter((token) => token.kind !== 'comment'))

/** The same for a source that is already cut into tokens; comments are ignored. */
export const importsIn = (code: readonly Token[]): readonly Import[] => code.flatMap((token, index) => importAt(code, index, token) ?? [])

const CALLS = new Set(['import', 'require', 'getBuiltinModule'])

function importAt(tokens: readonly Token[], index: number, token: Token): Import | undefined {
  if (token.kind !== 'word') return undefined
  const before = tokens[index - 1]?.text
  const isMember = before === '.' && token.text !== 'getBuiltinModule'
  if (isMember) return undefined
  const next = tokens[index + 1]
  if (CALLS.has(token.text) && next?.text === '(') return call(tokens, index, before === 'typeof')
  if (token.text === 'import' && next?.kind === 'string') return statement(tokens, index, index + 1)
  if (token.text === 'import' && next !== undefined && !'.:,=;?)'.includes(next.text)) return upToFrom(tokens, index)
  const afterType = next?.text === 'type' ? tokens[index + 2] : next
  if (token.text === 'export' && afterType !== undefined && '{*'.includes(afterType.text)) return upToFrom(tokens, index)
  return undefined
}

function call(tokens: readonly Token[], index: number, typeOnly: boolean): Import {
  const argument = tokens[index + 2]
  const isWhole = argument?.kind === 'string' && [')', ','].includes(tokens[index + 3]?.text ?? '')
  const line = tokens[index]?.line ?? 0
  return { how: 'dynamic', ...(isWhole && { specifier: content(argument) }), typeOnly, names: [], line }
}

/** `export { a }` without a `from` is no import. */
function upToFrom(tokens: readonly Token[], index: number): Import | undefined {
  for (let at = index + 1; at < tokens.length; at += 1) {
    const text = tokens[at]?.text
    if (text === 'from' && tokens[at + 1]?.kind === 'string') return statement(tokens, index, at + 1)
    if (text === ';' || text === '=' || (text === '}' && tokens[at + 1]?.text !== 'from')) return undefined
  }
  return undefined
}

/** `at` is the index of the specifier. */
function statement(tokens: readonly Token[], index: number, at: number): Import {
  const clause = tokens.slice(index + 1, Math.max(index + 1, at - 1))
  const typeOnly = clause[0]?.text === 'type' && clause.length > 1 && clause[1]?.text !== ','
  const how = tokens[index]?.text === 'export' ? 'export' : 'import'
  const names = namesOf(typeOnly ? clause.slice(1) : clause)
  return { how, specifier: content(tokens[at]), typeOnly, names, line: tokens[index]?.line ?? 0 }
}

function namesOf(clause: readonly Token[]): readonly ImportedName[] {
  const names: ImportedName[] = []
  let isInBraces = false
  let parts: string[] = []
  for (const text of [...clause.map((token) => token.text), ',']) {
    if (text !== '{' && text !== '}' && text !== ',') {
      parts.push(text)
      continue
    }
    const found = nameOf(parts, isInBraces)
    if (found) names.push(found)
    parts = []
    if (text !== ',') isInBraces = text === '{'
  }
  return names
}

function nameOf(parts: readonly string[], isInBraces: boolean): ImportedName | undefined {
  const [first, second] = parts
  if (first === undefined) return undefined
  if (!isInBraces) return { name: first === '*' ? '*' : 'default', typeOnly: false }
  const isMarked = first === 'type' && second !== undefined && (second !== 'as' || parts[2] === 'as')
  return { name: isMarked ? second : first, typeOnly: isMarked }
}

const content = (token: Token | undefined): string => token?.text.slice(1, -1) ?? ''
