import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { PLANTS } from './plants.ts'

describe('planted bugs', () => {
  test('are twenty-eight at least, each with a name of its own', () => {
    expect(PLANTS.length).toBeGreaterThanOrEqual(28)
    expect(new Set(PLANTS.map(({ name }) => name)).size).toBe(PLANTS.length)
  })

  test.each(PLANTS.map((plant) => [plant.name, plant] as const))(
    '%s: what it replaces stands exactly once',
    (_name, { file, find, replace }) => {
      const source = readFileSync(new URL(`../../../src/${file}`, import.meta.url), 'utf8')
      expect(source.split(find)).toHaveLength(2)
      expect(replace).not.toBe(find)
    },
  )
})
