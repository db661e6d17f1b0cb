import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCutter, takeRows } from '../../src/api/transport/cut.ts'
import { letter } from '../support/fuzz.ts'

const AT = [
  ['rows', '*'],
  ['all', '*', 'rows', '*'],
]

/** The rows and the rest of a text that arrives in pieces of this many bytes; undefined when it is not JSON. */
function cut(text: string, size = text.length + 1) {
  const rows: unknown[] = []
  const cutter = createCutter({ at: AT, take: (row) => rows.push(row) })
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) cutter.push(bytes.subarray(at, at + size))
  const around = parsed(cutter.end())
  return around === undefined ? undefined : { rows, around }
}

/** The same of a text that is parsed as a whole. */
function whole(text: string) {
  const rows: unknown[] = []
  const around = parsed(text)
  takeRows(around, { at: AT, take: (row) => rows.push(row) })
  takeRows(around, { at: AT.map((path) => path.slice(0, -1)), take: (list) => Array.isArray(list) && list.splice(0) })
  return around === undefined ? undefined : { rows, around }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const cases = (numRuns: number): fc.Parameters<unknown> => ({ numRuns })
const row = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.record({ name: fc.string({ unit: letter }) }),
  fc.constantFrom('', ']', '}', '","', '\\', '{"rows":['),
)
const lists = fc.record({ rows: fc.array(row, { maxLength: 4 }), other: fc.jsonValue({ maxDepth: 2 }) }, { requiredKeys: [] })
const answer = fc.oneof(
  lists,
  fc.record({ all: fc.array(fc.oneof(lists, fc.jsonValue({ maxDepth: 1 })), { maxLength: 3 }) }),
  fc.jsonValue(),
)
const blank = fc.constantFrom(undefined, 1, '\t')

describe('an answer that is cut into rows', () => {
  it('has the same rows, and the same around them, as when it is parsed as a whole, in whatever pieces it arrives', () => {
    fc.assert(
      fc.property(answer, blank, fc.integer({ min: 1, max: 40 }), (value, space, size) => {
        const text = JSON.stringify(value, undefined, space) ?? ''
        expect(cut(text, size)).toEqual(whole(text))
      }),
      cases(2_000),
    )
  })

  it('is invalid JSON exactly when the whole text is', () => {
    const damage = fc.record({
      at: fc.nat(200),
      remove: fc.nat(3),
      put: fc.constantFrom('', ',', '[', ']', '{', '}', '"', '\\', ':', '0', 'x'),
    })
    fc.assert(
      fc.property(answer, damage, fc.integer({ min: 1, max: 40 }), (value, { at, remove, put }, size) => {
        const good = JSON.stringify(value) ?? ''
        const text = `${good.slice(0, at)}${put}${good.slice(at + remove)}`.toWellFormed()
        expect(cut(text, size)).toEqual(whole(text))
      }),
      cases(5_000),
    )
  })

  it('hands over each row, and leaves the text around them', () => {
    expect(cut('{"a":1,"rows":[{"name":"Ada"},{"name":"Bob"}],"b":2}')).toEqual({
      rows: [{ name: 'Ada' }, { name: 'Bob' }],
      around: { a: 1, rows: [], b: 2 },
    })
  })

  it('weighs what the plan newly keeps of a row, and nothing else', () => {
    const weight = (take: (row: unknown) => unknown) => createCutter({ at: AT, take }).push(Buffer.from('{"rows":[{"name":"Ada"}]}'))
    expect(weight(() => undefined)).toBe(0)
    expect(weight((row) => row)).toBeGreaterThan(100)
  })

  it.each([
    ['nesting around the rows', '['.repeat(33), 'nested more than 32 deep'],
    ['nesting in a row', `{"rows":[${'['.repeat(32)}`, 'nested more than 32 deep'],
    ['a row without end', `{"rows":["${'x'.repeat(20_000)}`, 'a row of the answer is larger than 16 KiB'],
    ['the text around the rows', `{"other":"${'x'.repeat(70_000)}`, 'the text around the rows is larger than 64 KiB'],
  ])('has a bound for %s', (_name, text, message) => {
    expect(() => cut(text, 1_000)).toThrow(message)
  })
})
