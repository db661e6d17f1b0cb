import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clipped, jsonText, plain, printable } from '../../../src/core/escape/text.ts'
import { runs } from '../../support/fuzz.ts'
import { texts } from './texts.ts'

describe('text on a terminal', () => {
  test('has nothing that a terminal obeys, or that reverses text', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const line = plain(text)
        expect(line).not.toMatch(/[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029]/u)
        expect(stripVTControlCharacters(line)).toBe(line)
        expect(plain(line)).toBe(line)
        expect(printable(text)).not.toMatch(/[^\P{Cc}\n\t]|[\p{Cs}\p{Bidi_Control}]/u)
      }),
      runs(300),
    )
  })

  test.each([
    ['a\u200bb', 'a\uFFFDb'],
    ['\ufeffada', '\uFFFDada'],
    ['a\u200db', 'a\uFFFDb'],
    ['a\u3164b', 'a\uFFFDb'],
    ['one\r\ntwo\tthree', 'one two three'],
    ['\u001b[31mred', '\uFFFD[31mred'],
    ['\u{e0041}', '\uFFFD'],
    ['\ud800', '\uFFFD'],
  ])('%j shows as %j', (text, expected) => {
    expect(plain(text)).toBe(expected)
  })

  test('keeps its line breaks and tabs where it may have several lines', () => {
    expect(printable('one\n\n\ttwo\u0007\n3')).toBe('one\n\n\ttwo\uFFFD\n3')
    expect(printable('é\r\n\u200b')).toBe('é\uFFFD\n\uFFFD')
  })

  test.each([
    ['abcdef', 'abcd…'],
    [`a${'\n'.repeat(99)}b`, 'a …'],
  ])('%j of at most five signs is %j', (text, expected) => expect(clipped(text, 5)).toBe(expected))

  test.each(['Zoë Müller', '日本語', 'e\u0301', '👩\u200d💻', '❤\ufe0f', 'نمی\u200cدانم', 'क्\u200dष'])('%s stays as it is', (text) => {
    expect(plain(text)).toBe(text)
  })
})

test('JSON on a terminal has only visible characters, and parses back the same', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const json = jsonText({ [text]: [text] })
      expect(json).not.toMatch(/[^\P{Cc}\n]|[\p{Cf}\u2028\u2029]/u)
      expect(JSON.parse(json)).toEqual({ [text]: [text] })
    }),
    runs(300),
  )
})
