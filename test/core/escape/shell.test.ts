// Words for a shell, read back by a real one, and the lines of edits: an address in one can be told to be one, so that it can be hashed.
import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { editLine, shellWord } from '../../../src/core/escape/text.ts'
import { hashLabels } from '../../../src/daemon/http/labels.ts'
import { sha256 } from '../../../src/daemon/schedule/system.ts'

const WORDS = [
  'a/b.db',
  "it's here",
  "o'x@example.com",
  `"'$(id)\``,
  '!x',
  "!'",
  'a\\b',
  "'\\",
  ' ',
  '$HOME',
  'ü 日本',
  '*',
  '~',
  '-n',
  'a\nb',
  "a\n'b",
]

describe('a word', () => {
  test.each(WORDS)('%j is one word to a shell', (word) => {
    expect(execFileSync('sh', ['-c', `printf %s ${shellWord(word)}`], { encoding: 'utf8' })).toBe(word)
  })

  test.each([
    ['a/b.db', 'a/b.db'],
    ["it's here", `"it's here"`],
    ['$x', "'$x'"],
    ["$'", `'$'\\'''`],
  ])('%j is written as %s', (word, written) => {
    expect(shellWord(word)).toBe(written)
  })
})

test.each(['ada@example.com', "o'x@example.com", 'a&b@example.com', 'dé@example.com'])(
  'the address %s is hashed in a line as it is elsewhere',
  (email) => {
    const labels = hashLabels(sha256, 'salt')
    for (const word of [email, `protect:${email}`, `grant:${email}`]) {
      const shown = labels.text(`see (${editLine('remove', word)}).`)
      expect(shown).toContain(labels.label(email))
      expect(shown.replace(labels.label(email), '')).toMatch(/^see \(capkeeper edit remove ["']?(protect:|grant:)?["']?\)\.$/)
    }
  },
)
