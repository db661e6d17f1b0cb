import { describe, expect, test } from 'vitest'
import {
  boolean,
  byKind,
  list,
  number,
  type Of,
  oneOf,
  optional,
  orWord,
  record,
  shape,
  text,
  written,
} from '../../../src/daemon/ledger/values/build.ts'
import { decodeJson, mustFit, Undecodable } from '../../../src/daemon/ledger/values/decode.ts'

interface Song {
  readonly title: string
  readonly year?: number
}
const song = shape<Song>({ title: text, year: optional(number) })
const thing = byKind<{ readonly kind: 'a'; readonly n: number } | { readonly kind: 'b' }>({ a: { n: number }, b: {} })
const limit = orWord('off', number)

const fitting = (json: string, schema: Of<unknown>): unknown =>
  decodeJson(json, (value) => {
    mustFit(value, written(schema, {}))
    return value
  })

const GOOD: readonly (readonly [name: string, schema: Of<unknown>, json: string])[] = [
  ['an optional field may be absent', song, '{"title":"x"}'],
  ["an unknown field is nobody's business", song, '{"title":"x","year":1,"b-side":2}'],
  ['a union is told apart by its kind', thing, '{"kind":"a","n":1}'],
  ['a list', list(boolean), '[true,false]'],
  ['a word in the place of a number', limit, '"off"'],
  ['a number in the place of a word', limit, '5'],
  ['a key that is called __proto__ is an ordinary key', record(number), '{"__proto__":5}'],
]

test.each(GOOD)('%s', (_, schema, json) => {
  expect(fitting(json, schema)).toEqual(JSON.parse(json))
})

describe('a fault is reported with its place', () => {
  const BAD: readonly (readonly [json: string, schema: Of<unknown>, message: string])[] = [
    ['{"year":1}', song, '.title is missing and should be a text'],
    ['{"title":null}', song, '.title is null and should be a text'],
    ['{"title":"x","year":null}', song, '.year is null and should be a number'],
    ['[{"title":"x"},{"title":[]}]', list(song), '[1].title is a list and should be a text'],
    ['{"a":{"title":{}}}', record(song), '["a"].title is an object and should be a text'],
    ['{"kind":"c"}', thing, '.kind is "c" and should be a or b'],
    ['{"kind":"toString"}', thing, '.kind is "toString" and should be a or b'],
    ['{"kind":"a"}', thing, '.n is missing and should be a number'],
    ['"on"', limit, 'the value is "on" and should be a number'],
    ['{"__proto__":"x"}', record(number), '["__proto__"] is "x" and should be a number'],
    ['{"year":"x"}', song, '.title is missing and should be a text; .year is "x" and should be a number'],
    ['[1,2,3,4,5]', list(text), '[2] is 3 and should be a text; and 2 more'],
    ['"x"', song, 'the value is "x" and should be an object'],
    ['[]', record(text), 'the value is a list and should be an object'],
    ['{}', list(text), 'the value is an object and should be a list'],
    ['"no"', boolean, 'the value is "no" and should be true or false'],
    ['"purple"', oneOf(['red', 'blue']), 'the value is "purple" and should be red or blue'],
    [JSON.stringify('x'.repeat(50)), number, 'the value is a long text and should be a number'],
    ['{"title":', song, 'the value is "{\\"title\\":" and should be JSON'],
  ]
  test.each(BAD)('%s', (json, schema, message) => {
    expect(() => fitting(json, schema)).toThrow(Undecodable)
    expect(() => fitting(json, schema)).toThrow(message)
  })

  test('a value that is not a text', () => {
    expect(() => decodeJson(5, (value) => value)).toThrow('the value is 5 and should be JSON')
  })
})
