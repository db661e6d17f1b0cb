// G25: the house in figures. It counts what is in git; nobody types these figures into a document.
import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type SourceFile, sourceFiles } from '../support/house.ts'
import { isRelative, targetOf } from '../support/import-rules.ts'
import { judged, publish, type Row } from './bench.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const inGit = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')
const isGenerated = (path: string): boolean => /\.generated\./.test(path)
const tree = sourceFiles(ROOT).filter(({ path }) => inGit.includes(path))
const src = tree.filter(({ path }) => path.startsWith('src/') && !isGenerated(path))
const tests = tree.filter(({ path }) => path.startsWith('test/'))
const byPath = new Map(tree.map((file) => [file.path, file]))

/** Lines that are neither blank nor a comment. */
function codeLines({ text }: Pick<SourceFile, 'text'>): number {
  let [count, isComment] = [0, false]
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (isComment || line.startsWith('/*')) isComment = !line.includes('*/')
    else if (line !== '' && !line.startsWith('//')) count += 1
  }
  return count
}

const lines = (files: readonly SourceFile[]): number => files.reduce((sum, file) => sum + codeLines(file), 0)
const count = (files: readonly SourceFile[], pattern: RegExp): number =>
  files.reduce((sum, { text }) => sum + [...text.matchAll(pattern)].length, 0)

/** The files of `src` that a file loads, types left out, whether at once or later. */
function reached(path: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(path) || isGenerated(path)) return found
  found.add(path)
  for (const { specifier = '', typeOnly } of byPath.get(path)?.imports ?? []) {
    const to = isRelative(specifier) ? targetOf({ path }, specifier) : ''
    if (to.startsWith('src/') && !typeOnly) reached(to, found)
  }
  return found
}

const row = (figure: string, measured: number, most: number): Row => judged('G25', figure, String(most), String(measured), measured <= most)

function reach(name: string, path: string, files: number, most: number): readonly Row[] {
  if (!byPath.has(path)) throw new Error(`there is no ${path}`)
  const all = [...reached(path)].flatMap((one) => byPath.get(one) ?? [])
  return [row(`files that ${name} reaches`, all.length, files), row('their lines of code', lines(all), most)]
}

const doors = tests
  .filter(({ path }) => path.endsWith('.test.ts'))
  .flatMap(({ path, imports }) =>
    imports.flatMap(({ specifier = '', names }) => (isRelative(specifier) ? [{ to: targetOf({ path }, specifier), names }] : [])),
  )
  .filter(({ to }) => to.startsWith('src/'))
const symbols = new Set(doors.flatMap(({ to, names }) => names.map(({ name }) => `${to}#${name}`)))

publish('The house', [
  row('lines of code in src', lines(src), 40_000),
  row('files in src', src.length, 340),
  ...reach('reconcile', 'src/daemon/cycle/run.ts', 90, 11_000),
  ...reach('plan', 'src/cli/plan/run.ts', 150, 15_000),
  ...reach('validate', 'src/cli/validate.ts', 60, 6_000),
  row('conditional spreads in src', count(src, /\.\.\.\([^()]*&& \{/g), 100),
  row(
    'bytes of generated files in git',
    inGit.filter(isGenerated).reduce((sum, path) => sum + statSync(join(ROOT, path)).size, 0),
    51_200,
  ),
  row('lines of code in test', lines(tests), 52_000),
  row('files of src that tests import', new Set(doors.map(({ to }) => to)).size, 60),
  row('symbols of src that tests import', symbols.size, 300),
  row('lines of README.md', readFileSync(join(ROOT, 'README.md'), 'utf8').trimEnd().split('\n').length, 200),
])
