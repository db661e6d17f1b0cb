// The modules that are made of schemas, before the program starts.
import { expect, test } from 'vitest'
import { madeSources } from '../../deploy/sources.ts'

test('the validators load nothing', async () => {
  for (const text of (await madeSources()).values()) expect(text.match(/^import (?!type )|\brequire\(|\bimport\(/m)).toBeNull()
})
