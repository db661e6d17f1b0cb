import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { csvText, plain } from '../../../src/core/escape/text.ts'
import { runs } from '../../support/fuzz.ts'
import { texts } from './texts.ts'

const read = (text: string, delimiter = ','): readonly (readonly string[])[] => parse(text, { delimiter, relax_column_count: true })

/** What a spreadsheet calculates: a sign of calculation first, behind anything that it leaves out when it reads a cell. */
const isFormula = (cell: string): boolean => cell !== '-' && /^[\s\p{Cc}\p{Cf}\uFFFD]*[=+\-@\uff1d\uff0b\uff0d\uff20\u2212]/u.test(cell)

const cell = fc.oneof(texts, fc.double({ noNaN: true, noDefaultInfinity: true }))

describe('CSV', () => {
  test('reads back as the same cells, in the same rows', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 4 }), (rows) => {
        const back = read(csvText(rows))
        const unguarded = back.map((cells) =>
          cells.map((one) => one.replace(/((?:^|;)[\s\uFFFD"']*)'(?=[=+\-@\uff1d\uff0b\uff0d\uff20\u2212])/g, '$1')),
        )
        const lined = rows.map((cells) => cells.map((one) => (typeof one === 'number' ? String(one) : plain(one))))
        expect(unguarded.map((cells) => cells.map((one) => one.replaceAll("'", '')))).toEqual(
          lined.map((cells) => cells.map((one) => one.replaceAll("'", ''))),
        )
      }),
      runs(300),
    )
  })

  test('holds no formula, in no cell of text', () => {
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        for (const cells of read(csvText([[one, other, 'end']]))) for (const text of cells) expect(isFormula(text), text).toBe(false)
      }),
      runs(300),
    )
  })

  test('holds no control character and nothing without a width', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const line = csvText([[text]])
        expect(line.slice(0, -2)).not.toMatch(/[\p{Cc}\p{Cs}\ufeff\u200b\u2060\u202e\u2066]/u)
        expect(line.endsWith('\r\n')).toBe(true)
      }),
      runs(200),
    )
  })

  test.each([
    ['=1+1', "'=1+1"],
    ['\t=1', `" '=1"`],
    ['\ufeff=1', "\uFFFD'=1"],
    ['\u200b+1', "\uFFFD'+1"],
    ['a;=1', `"a;'=1"`],
    ['-', '-'],
    ['a b', 'a b'],
    ['-5', "'-5"],
  ])('%j is written %s', (value, expected) => {
    expect(csvText([[value]])).toBe(`${expected}\r\n`)
  })
})
