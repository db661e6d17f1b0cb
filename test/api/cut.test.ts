import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCutter } from '../../src/api/transport/cut.ts'
import { letter } from '../support/fuzz.ts'

const PLAN: Parameters<typeof createCutter>[0] = {
  at: [
    ['rows', '*'],
    ['all', '*', 'rows', '*'],
  ],
  keeper: () => (row) => row,
}

/** The result for a text that arrives in pieces of this many bytes. */
function cut(text: string, size = text.length + 1, plan = PLAN): { readonly text: string; readonly value: unknown } {
  const cutter = createCutter(plan)
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) cutter.push(bytes.subarray(at, at + size))
  return cutter.end()
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
  it('has the same value as when it is parsed as a whole, in whatever pieces it arrives', () => {
    fc.assert(
      fc.property(answer, blank, fc.integer({ min: 1, max: 40 }), (value, space, size) => {
        const text = JSON.stringify(value, undefined, space) ?? ''
        expect(cut(text, size).value).toEqual(parsed(text))
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
        const whole = JSON.stringify(value) ?? ''
        const text = `${whole.slice(0, at)}${put}${whole.slice(at + remove)}`.toWellFormed()
        expect(cut(text, size).value).toEqual(parsed(text))
      }),
      cases(5_000),
    )
  })

  it('keeps the text around the rows, without the rows', () => {
    expect(cut('{"a":1,"rows":[{"name":"Ada"},{"name":"Bob"}],"b":2}').text).toBe('{"a":1,"rows":[],"b":2}')
  })

  it('keeps what the keeper returns for a row', () => {
    const plan = { ...PLAN, keeper: () => (one: unknown) => (typeof one === 'number' && one > 1 ? one * 10 : undefined) }
    expect(cut('{"rows":[1,2,3]}', 3, plan).value).toEqual({ rows: [20, 30] })
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
