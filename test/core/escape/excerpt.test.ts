// The line of a file that a problem is about, as a terminal and a page show it; and values of labels.
import { describe, expect, test } from 'vitest'
import { excerptLines, labelsText, labelText } from '../../../src/core/escape/text.ts'

describe('an excerpt', () => {
  test.each<readonly [string, Parameters<typeof excerptLines>[0], readonly [string, string]]>([
    ['points after the end with one caret', { sourceLine: 'cap:', column: 5, length: 3 }, ['cap:', '    ^']],
    ['points into the part of a line', { sourceLine: 'cap: x', sourceColumn: 101, column: 106 }, ['cap: x', '     ^']],
    ['points at the beginning', { sourceLine: 'cap', column: 1 }, ['cap', '^']],
  ])('%s', (_name, excerpt, lines) => expect(excerptLines(excerpt)).toEqual(lines))

  const long = Array.from({ length: 40 }, (_, index) => `word${String(index).padStart(2, '0')}`).join(' ')
  test('of a long line begins 60 characters before the part', () => {
    const [line, carets] = excerptLines({ sourceLine: long, column: 141, length: 2 })
    expect([line, carets]).toEqual([long.slice(80, 200), `${' '.repeat(60)}^^`])
  })
  test('of a line that just fits is the whole line', () => {
    const line = 'x'.repeat(120)
    expect(excerptLines({ sourceLine: line, column: 120 })).toEqual([line, `${' '.repeat(119)}^`])
  })
})

describe('a label', () => {
  test.each<readonly [string, string, string]>([
    ['keeps 200 signs', 'x'.repeat(200), 'x'.repeat(200)],
    ['keeps 200 signs of two units', '😀'.repeat(200), '😀'.repeat(200)],
  ])('%s', (_name, text, expected) => expect(labelText(text)).toBe(expected))
  test('keeps its name', () => expect(labelsText({ model: 'a\nb', group: 'g' })).toEqual({ model: labelText('a\nb'), group: 'g' }))
})
