// Finds the imports of a source: every form that Node or the type checker follows.
import { parseSync } from 'rolldown/utils'
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
export const importsOf = (source: string): readonly Import[] => importsIn(source, tokensOf(source))

/** The same for a source that is already cut into tokens. */
export function importsIn(source: string, tokens: readonly Token[]): readonly Import[] {
  const { module, errors } = parseSync('x.ts', source)
  const [wrong] = errors
  if (wrong) throw new Error(wrong.message)
  const lineOf = (at: number): number => source.slice(0, at).split('\n').length
  const statements = [
    ...module.staticImports.map((one) => ({ ...one, how: 'import' as const, from: one.moduleRequest.value })),
    // What an import brings and another statement exports has the place of the import.
    ...module.staticExports.flatMap((one) => {
      const from = one.entries[0]?.moduleRequest
      return from && source.startsWith('export', one.start) ? [{ ...one, how: 'export' as const, from: from.value }] : []
    }),
  ]
  const imports = statements.map(({ how, from, start, entries }) => {
    const typeOnly = /^\w+ type\b/.test(source.slice(start)) && entries.every(({ isType }) => isType) && entries.length > 0
    const names = entries.map(({ importName, isType }) => ({ name: nameOf(importName), typeOnly: isType && !typeOnly }))
    return { how, specifier: from, typeOnly, names, line: lineOf(start) }
  })
  const code = tokens.filter(({ kind }) => kind !== 'comment')
  return [...imports, ...code.flatMap((token, index) => call(code, index, token) ?? [])].sort((a, b) => a.line - b.line)
}

const nameOf = ({ kind, name }: { readonly kind: string; readonly name?: string | null }): string =>
  kind === 'Name' ? (name ?? '') : kind === 'Default' ? 'default' : '*'

const CALLS = new Set(['import', 'require', 'getBuiltinModule'])

function call(tokens: readonly Token[], index: number, { text, line }: Token): Import | undefined {
  const before = tokens[index - 1]?.text
  const isMember = before === '.' && text !== 'getBuiltinModule'
  if (!CALLS.has(text) || isMember || tokens[index + 1]?.text !== '(') return undefined
  const argument = tokens[index + 2]
  const isWhole = argument?.kind === 'string' && [')', ','].includes(tokens[index + 3]?.text ?? '')
  return { how: 'dynamic', ...(isWhole && { specifier: argument.text.slice(1, -1) }), typeOnly: before === 'typeof', names: [], line }
}
