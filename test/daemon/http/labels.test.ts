// `people: hash`: no text that leaves the process has an e-mail in it, in whichever encoding a reader could undo.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hashLabels } from '../../../src/daemon/http/status/labels.ts'
import { sha256 } from '../../../src/daemon/schedule/system.ts'

const EMAIL = 'ceo@secret.example'
const { label, text, all } = hashLabels(sha256, 'salt')

const ENCODINGS: readonly ((email: string) => string)[] = [
  (email) => email,
  (email) => email.toUpperCase(),
  encodeURIComponent,
  (email) => encodeURIComponent(encodeURIComponent(email)),
  (email) => email.replace('@', '\\u0040'),
  (email) => email.replace('@', '\\x40'),
  (email) => email.replace('@', '&#64;'),
  (email) => email.replace('@', '&#x40;'),
  (email) => email.replace('@', '&commat;'),
  (email) => email.replace('@', '=40'),
  (email) => email.replace('@', '＠'),
]

describe('an address in a text', () => {
  test('becomes the label of the person, however it is encoded and whatever is around it', () => {
    const words = fc.constantFrom('', 'rule for ', '"', '(', 'user: ', '/people/', ' and ', '<b>')
    fc.assert(
      fc.property(words, fc.constantFrom(...ENCODINGS), words, (before, encoded, after) => {
        const shown = text(`${before}${encoded(EMAIL)}${after === '' || /^[\w/]/.test(after) ? ` ${after}` : after}`)
        expect(shown.toLowerCase()).not.toContain('secret.example')
        // What stands before it without a space may belong to it.
        if (before !== '/people/') expect(shown).toContain(label(EMAIL))
      }),
    )
  })

  test('is hidden in base64 as well', () => {
    expect(text(`token ${Buffer.from(EMAIL).toString('base64')}`)).toMatch(/^token [0-9a-f]{12}$/)
  })

  test('is found in every text of a value, in names of fields too', () => {
    const value = { [`who ${EMAIL}`]: [{ email: EMAIL, reason: `ceo%40secret.example left`, at: 5 }], none: null }
    expect(all(value)).toEqual({ [`who ${label(EMAIL)}`]: [{ email: label(EMAIL), reason: `${label(EMAIL)} left`, at: 5 }], none: null })
  })

  test.each(['a=40 of 120', 'cap 500 → 600', `user@sha256:${'a'.repeat(64)}`, '7d1f0c2a9b34e5f60718293a4b5c6d7e', 'group:grp_platform'])(
    'leaves what is none as it is: %s',
    (plain) => expect(text(plain)).toBe(plain),
  )

  test.each([
    ...['jörg@example.com', "o'hara@example.com", 'ops!1@example.com', 'project-x/ada@example.com', 'o=hara@example.com'],
    ...['{ada}@example.com', 'finance|ada@example.com', 'ada+x@example.com'],
  ])('%s becomes the one label of that person wherever it stands', (email) => {
    for (const around of [
      'X: 500 was written',
      "'X'.",
      '"X" twice',
      'X,X',
      'email:X',
      'of X, and *X*',
      '{email: X}',
      '{X: 1}',
      '(X)|X/X=X',
      '["person","X"]',
    ])
      expect(text(around.replaceAll('X', email))).toBe(around.replaceAll('X', label(email)))
    expect(hashLabels(sha256, 'another').label(email)).not.toBe(label(email))
  })
})
