// House rules, and the tree that they are applied to.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Import, importsIn } from './imports.ts'
import { type Token, tokensOf } from './tokens.ts'

export interface SourceFile {
  /** Relative to the root of the repository, with slashes: `src/core/plan/plan.ts`. */
  readonly path: string
  readonly text: string
  /** Without comments. */
  readonly code: readonly Token[]
  readonly comments: readonly Token[]
  readonly imports: readonly Import[]
}

/** By sentence, what finds lines such as `src/core/plan/plan.ts:12 has Date.now`. */
export type Rules = Readonly<Record<string, (files: readonly SourceFile[]) => readonly string[]>>

/** Cuts a source into tokens once for all rules; an unreadable source is named. */
export function sourceFile(path: string, text: string): SourceFile {
  try {
    const tokens = tokensOf(text)
    const code = tokens.filter((token) => token.kind !== 'comment')
    return { path, text, code, comments: tokens.filter((token) => token.kind === 'comment'), imports: importsIn(text, tokens) }
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Whether a path is one of the files or in one of the folders; `*` stands for the rest of a file's name. */
export const isIn = (path: string, places: readonly string[]): boolean =>
  places.some((place) => {
    const [start = '', end] = place.split('*')
    if (end !== undefined) return path.startsWith(start) && path.endsWith(end) && !path.slice(start.length).includes('/')
    return place.endsWith('/') ? path.startsWith(place) : path === place
  })

/** The places of a run of tokens, written with spaces between them: `Date . now`. */
export function places(file: SourceFile, run: string): readonly string[] {
  const parts = run.split(' ')
  return file.code
    .filter((_, index) => parts.every((part, offset) => file.code[index + offset]?.text === part))
    .map((token) => `${file.path}:${token.line} has ${parts.join(' ')}`)
}

const NOT_OURS = new Set(['node_modules', '.git', 'dist', 'coverage'])

/** The paths of all files in a folder, without installed and built ones. */
function filesUnder(root: string, folder = ''): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => !NOT_OURS.has(entry.name) && !/\.db(-|\.|$)/.test(entry.name))
    .flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) return filesUnder(root, path)
      return entry.isFile() ? [path] : []
    })
    .sort()
}

/** The paths of all files that git tracks; without git, of all that look like it. */
export function trackedFiles(root: string): readonly string[] {
  try {
    const list = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    return list.split('\0').filter((path) => path !== '' && existsSync(join(root, path)))
  } catch {
    return filesUnder(root)
  }
}

/** All hand-written TypeScript of `src` and `test`. */
export const sourceFiles = (root: string): readonly SourceFile[] =>
  ['src', 'test'].flatMap((folder) =>
    filesUnder(root, folder)
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.generated.ts'))
      .map((path) => sourceFile(path, readFileSync(join(root, path), 'utf8'))),
  )
