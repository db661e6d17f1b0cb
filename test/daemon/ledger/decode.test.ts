import { describe, expect, test } from 'vitest'
import {
  boolean,
  byKind,
  type Decode,
  decodeJson,
  list,
  number,
  oneOf,
  optional,
  record,
  shape,
  text,
  Undecodable,
} from '../../../src/daemon/ledger/values/decode.ts'

interface Song {
  readonly title: string
  readonly year?: number
}
const song = shape<Song>({ title: text, year: optional(number) })
const thing = byKind<{ readonly kind: 'a'; readonly n: number } | { readonly kind: 'b' }>({
  a: shape<{ readonly kind: 'a'; readonly n: number }>({ kind: oneOf(['a']), n: number }),
  b: shape<{ readonly kind: 'b' }>({ kind: oneOf(['b']) }),
})

const GOOD: readonly (readonly [name: string, decode: Decode<unknown>, json: string, value: unknown])[] = [
  ['an absent optional field stays absent', song, '{"title":"x"}', { title: 'x' }],
  ['an unknown field is left out', song, '{"title":"x","year":1,"b-side":2}', { title: 'x', year: 1 }],
  ['a union is told apart by its kind', thing, '{"kind":"a","n":1}', { kind: 'a', n: 1 }],
  ['a list', list(boolean), '[true,false]', [true, false]],
]

test.each(GOOD)('%s', (_, decode, json, value) => {
  expect(decodeJson(json, decode)).toStrictEqual(value)
})

test('a key that is called __proto__ is an ordinary key', () => {
  const found = decodeJson('{"__proto__":5}', record(number))
  expect(Object.entries(found)).toEqual([['__proto__', 5]])
  expect(Object.getPrototypeOf(found)).toBe(Object.prototype)
})

describe('what does not fit is named with its place', () => {
  const BAD: readonly (readonly [json: string, decode: Decode<unknown>, message: string])[] = [
    ['{"year":1}', song, '.title is missing and should be a text'],
    ['{"title":null}', song, '.title is null and should be a text'],
    ['{"title":"x","year":null}', song, '.year is null and should be a number'],
    ['[{"title":"x"},{"title":[]}]', list(song), '[1].title is a list and should be a text'],
    ['{"a":{"title":{}}}', record(song), '["a"].title is an object and should be a text'],
    ['{"kind":"c"}', thing, '.kind is "c" and should be a or b'],
    ['{"kind":"toString"}', thing, '.kind is "toString" and should be a or b'],
    ['"x"', song, 'the value is "x" and should be an object'],
    ['[]', record(text), 'the value is a list and should be an object'],
    ['{}', list(text), 'the value is an object and should be a list'],
    ['"no"', boolean, 'the value is "no" and should be true or false'],
    ['"purple"', oneOf(['red', 'blue']), 'the value is "purple" and should be red or blue'],
    [JSON.stringify('x'.repeat(50)), number, 'the value is a long text and should be a number'],
    ['{"title":', song, 'the value is "{\\"title\\":" and should be JSON'],
  ]
  test.each(BAD)('%s', (json, decode, message) => {
    expect(() => decodeJson(json, decode)).toThrow(Undecodable)
    expect(() => decodeJson(json, decode)).toThrow(message)
  })

  test('something that is no text at all', () => {
    expect(() => decodeJson(5, number)).toThrow('the value is 5 and should be JSON')
  })
})
