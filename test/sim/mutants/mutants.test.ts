import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { PLANTS } from './plants.ts'

describe('planted bugs', () => {
  test('are twenty-eight at least', () => expect(Object.keys(PLANTS).length).toBeGreaterThanOrEqual(28))

  test.each(Object.entries(PLANTS))('%s: what it replaces stands exactly once', (_name, { file, find, replace }) => {
    const source = readFileSync(new URL(`../../../src/${file}`, import.meta.url), 'utf8')
    expect(source.split(find)).toHaveLength(2)
    expect(replace).not.toBe(find)
  })
})
