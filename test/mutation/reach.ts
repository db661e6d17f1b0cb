// Which test files can notice a break at all: those that load the broken file, through whatever other files.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { importsOf } from '../support/imports.ts'

/** Paths from the root; of the tests, those that import one of the files at run time, in the order of their names. */
export function testsThatReach(files: readonly string[], tests: readonly string[]): readonly string[] {
  const wanted = new Set(files)
  const known = new Map<string, readonly string[]>()
  const reaches = (test: string): boolean => {
    const seen = new Set([test])
    for (const path of seen) {
      if (wanted.has(path)) return true
      const next = known.get(path) ?? loadedBy(path)
      known.set(path, next)
      for (const one of next) seen.add(one)
    }
    return false
  }
  return tests.filter(reaches).toSorted()
}

function loadedBy(path: string): readonly string[] {
  if (!path.endsWith('.ts')) return []
  const specifiers = importsOf(readFileSync(path, 'utf8')).flatMap(({ specifier, typeOnly }) =>
    typeOnly || specifier === undefined ? [] : [specifier],
  )
  return specifiers.filter((one) => one.startsWith('.')).map((one) => join(path, '..', one))
}
