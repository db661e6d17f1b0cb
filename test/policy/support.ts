// Policy texts and folders for the tests of this directory.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { formatPosition, type Problem } from '../../src/core/model/problem.ts'
import { temporaryFolder } from '../support/temporary.ts'

/** A document whose spec is `spec`, which starts at line 6, indented by two. */
export const policyText = (spec: string, name = 'test'): string =>
  `apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata:\n  name: ${name}\nspec:\n${spec
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')}\n`

/** Whether the input cannot be used. */
export const hasErrors = (problems: readonly Problem[]): boolean => problems.some(({ severity }) => severity === 'error')

/** `line:column code` of each problem, in the order given. */
export const places = (problems: readonly Problem[]): readonly string[] =>
  problems.map(({ at, code }) => `${at ? `${at.line}:${at.column}` : '-'} ${code}`)

export const placesWithFiles = (problems: readonly Problem[]): readonly string[] =>
  problems.map(({ at, code, other }) => `${at ? formatPosition(at) : '-'} ${code}${other ? ` (${formatPosition(other)})` : ''}`)

/** A folder with these files, which is removed with the test. */
export function folder(files: Readonly<Record<string, string>>): string {
  const root = temporaryFolder()
  writeFiles(root, files)
  return root
}

export function writeFiles(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}
