// `people: hash`: what in a text is an address, and becomes a label.
import { describe, expect, test } from 'vitest'
import { hashLabels } from '../../../src/daemon/http/labels.ts'
import { sha256 } from '../../../src/daemon/schedule/system.ts'

const EMAIL = 'ceo@secret.example'
const { label, text, all } = hashLabels(sha256, 'salt')

describe('an address in a text', () => {
  test('is found in every text of a value, in names of fields too', () => {
    const value = { [`who ${EMAIL}`]: [{ email: EMAIL, reason: 'CEO%40secret.example left', at: 5 }], none: null }
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
      'ask <X>',
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
