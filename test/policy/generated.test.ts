// The validators and schemas that are made of others lie in the repository, so that nothing is built before the program runs: here they are
// shown to be what the generator would write now, and to load no package.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { generatedSchemas } from '../../deploy/schemas.ts'

const ROOT = join(import.meta.dirname, '../..')

test.each([...generatedSchemas()])('%s is up to date (npm run schemas:generate)', (path, text) => {
  expect(readFileSync(join(ROOT, path), 'utf8') === text).toBe(true)
})

test('the validators load nothing', () => {
  for (const [path, text] of generatedSchemas()) {
    if (path.endsWith('.ts')) expect(text.match(/^import (?!type )|\brequire\(|\bimport\(/m)).toBeNull()
  }
})
