// Positions in JSON texts: of the first fault, and of values.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_DEPTH, placesOf, readJson } from '../../src/sandbox/fixture/file.ts'

const faultOf = (text: string) => {
  const reading = readJson(text)
  return reading.kind === 'fault' ? reading.fault : undefined
}

describe('the first fault of a text', () => {
  test.each([
    ['an empty text', '', 0, /ends too early/],
    ['a text that ends early', '{"a": [1, 2', 11, /ends too early: "," or "]"/],
    ['a trailing comma in an object', '{"a": 1,}', 8, /nothing follows the comma/],
    ['a trailing comma in a list', '[1,]', 3, /nothing follows the comma/],
    ['a missing comma', '[1 2]', 3, /"," or "]" belongs here/],
    ['a missing colon', '{"a" 1}', 5, /":" belongs after "a"/],
    ['a name without quotes', '{a: 1}', 1, /a name in double quotes/],
    ['single quotes', "['a']", 1, /a value belongs here/],
    ['quotes without an end', '{"a": "x', 6, /has no end/],
    ['a line end within quotes', '["a\nb"]', 3, /line end or control character/],
    ['an escape of another language', '["\\x41"]', 2, /not an escape/],
    ['a number with a leading zero', '[01]', 2, /"," or "]"/],
    ['a comment', '// x\n{}', 0, /a value belongs here/],
    ['text after the value', '{} {}', 3, /nothing may follow/],
    ['a duplicate name', '{"a": 1, "\\u0061": 2}', 9, /given twice/],
    ['deep nesting', '['.repeat(200_000), MAX_DEPTH + 1, /deeper than 64 levels/],
  ])('%s', (_name, text, offset, message) => {
    expect(faultOf(text)).toEqual({ offset, message: expect.stringMatching(message) })
  })

  test('is found exactly where JSON.parse finds one', () => {
    const text = fc.oneof(
      fc.json({ maxDepth: 4 }),
      fc.tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '}', '0', '\\', ':', ' ')).map(([json, at, put]) => {
        const cut = at % (json.length + 1)
        return json.slice(0, cut) + put + json.slice(cut + 1)
      }),
      fc.string({ unit: fc.constantFrom(...'{}[]":,0.-e \n\\tu') }),
    )
    fc.assert(
      fc.property(text, (json) => {
        const fault = faultOf(json)
        if (/twice/.test(fault?.message ?? '')) return
        expect(fault === undefined).toBe(isJson(json))
      }),
      { numRuns: 400 },
    )
  })
})

test('a position is that of the value and of its name', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), fc.nat(), (json, space) => {
      const text = JSON.stringify(JSON.parse(json), undefined, space % 4)
      const pointers = [...pointersOf(JSON.parse(text))]
      const places = placesOf(
        text,
        pointers.map(([pointer]) => pointer),
      )
      for (const [pointer, value, name] of pointers) {
        const place = places.get(pointer)
        expect(JSON.parse(text.slice(place?.start, place?.end))).toEqual(value)
        expect(place?.key && JSON.parse(text.slice(place.key.start, place.key.end))).toBe(name)
      }
      expect([...places.keys()].sort()).toEqual(pointers.map(([pointer]) => pointer).sort())
    }),
  )
})

test('an absent value has no position', () => {
  const places = placesOf('{"a": [1]}', ['/b', '/a/1', '/a/0/x'])
  expect(['/b', '/a/1', '/a/0/x'].filter((pointer) => places.has(pointer))).toEqual([])
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function* pointersOf(value: unknown, pointer = '', name?: string): Generator<[pointer: string, value: unknown, name: string | undefined]> {
  yield [pointer, value, name]
  if (typeof value !== 'object' || value === null) return
  for (const [key, inside] of Object.entries(value)) {
    yield* pointersOf(inside, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, Array.isArray(value) ? undefined : key)
  }
}
