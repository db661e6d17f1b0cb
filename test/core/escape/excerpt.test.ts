// The line of a file that a problem is about, as a terminal and a page show it; and values of labels.
import { describe, expect, test } from 'vitest'
import { excerptLines, labelsText, labelText } from '../../../src/core/escape/terminal.ts'

describe('an excerpt', () => {
  test.each<readonly [string, Parameters<typeof excerptLines>[0], readonly [string, string]]>([
    ['points at one sign', { sourceLine: 'cap: x', column: 6 }, ['cap: x', '     ^']],
    ['points at the whole part', { sourceLine: 'cap: 1e3', column: 6, length: 3 }, ['cap: 1e3', '     ^^^']],
    ['points at the part up to the end of the line', { sourceLine: 'cap: 1e3', column: 6, length: 30 }, ['cap: 1e3', '     ^^^']],
    ['points after the end with one caret', { sourceLine: 'cap:', column: 5, length: 3 }, ['cap:', '    ^']],
    ['keeps tabs, so that the caret is below the part', { sourceLine: '\tcap: x', column: 7 }, ['\tcap: x', '\t     ^']],
    ['points into the part of a line', { sourceLine: 'cap: x', sourceColumn: 101, column: 106 }, ['cap: x', '     ^']],
    ['points at the beginning', { sourceLine: 'cap', column: 1 }, ['cap', '^']],
  ])('%s', (_name, excerpt, lines) => expect(excerptLines(excerpt)).toEqual(lines))

  const long = Array.from({ length: 40 }, (_, index) => `word${String(index).padStart(2, '0')}`).join(' ')
  test.each<readonly [string, number, number]>([
    ['begins at its start, for a part near the start', 30, 0],
    ['begins 60 characters before the part', 141, 80],
  ])('of a long line %s', (_name, column, from) => {
    const [line, carets] = excerptLines({ sourceLine: long, column, length: 2 })
    expect(line).toBe(long.slice(from, from + 120))
    expect(carets).toBe(`${' '.repeat(column - 1 - from)}^^`)
  })
  test('of a line that just fits is the whole line', () => {
    const line = 'x'.repeat(120)
    expect(excerptLines({ sourceLine: line, column: 120 })).toEqual([line, `${' '.repeat(119)}^`])
  })
})

describe('a label', () => {
  test.each<readonly [string, string, string]>([
    ['is one line of printable text', 'a\nb', 'a b'],
    ['keeps 200 signs', 'x'.repeat(200), 'x'.repeat(200)],
    ['is cut after 200', 'x'.repeat(201), `${'x'.repeat(199)}…`],
    ['is cut between signs, not within one', '😀'.repeat(201), `${'😀'.repeat(199)}…`],
    ['keeps 200 signs of two units', '😀'.repeat(200), '😀'.repeat(200)],
  ])('%s', (_name, text, expected) => expect(labelText(text)).toBe(expected))
  test('keeps its name', () => expect(labelsText({ model: 'a\nb', group: 'g' })).toEqual({ model: labelText('a\nb'), group: 'g' }))
})
