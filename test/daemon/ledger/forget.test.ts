// Finds and removes what is about a person, in values of any shape.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { marked, markOf, withoutPerson } from '../../../src/daemon/ledger/forget.ts'
import { runs } from '../../support/fuzz.ts'

const ADA = 'ada@example.com'

test.each([
  ['entries by their address', { [ADA]: 1, 'bob@example.com': 2 }, { 'bob@example.com': 2 }],
  ['ones by a longer key', { '["person","ada@example.com"]': 1, '["person","bob@example.com"]': 2 }, { '["person","bob@example.com"]': 2 }],
  ['addresses in lists', { people: ['bob@example.com', ADA] }, { people: ['bob@example.com'] }],
  ['items that name them', [{ email: ADA, used: 5 }, { email: 'bob@example.com' }], [{ email: 'bob@example.com' }]],
  ['items about their scope', [{ scope: { kind: 'user', email: ADA }, to: 5 }, { scope: { kind: 'team' } }], [{ scope: { kind: 'team' } }]],
  ['sentences', { why: 'ada@example.com: refused twice' }, { why: '(forgotten): refused twice' }],
  ['addresses in capitals', ['Ada@Example.com'], []],
])('%s are removed', (_name, value, expected) => expect(withoutPerson(value, ADA)).toEqual(expected))

test.each([
  'jörg@example.com',
  'a/b@example.com',
  "o'hara@example.com",
  'o=hara@example.com',
  'ops!1@example.com',
  'on-call@ex-ample.com',
  '{team}+x@example.com',
  'anna@bücher.example',
  'zoË@example.com',
])('%s is found in keys, items and sentences, and by a mark', (email) => {
  expect(withoutPerson([{ email, used: 5 }], email)).toEqual([])
  const value = { [JSON.stringify(['person', email])]: 1, why: `left to '${email}'. ${email}: twice (${email.toUpperCase()}).`, other: 'x' }
  expect(withoutPerson(value, email)).toEqual({ why: "left to '(forgotten)'. (forgotten): twice ((forgotten)).", other: 'x' })
  for (const text of [JSON.stringify(['person', email]), `left to '${email}'.`, `${email}: twice`, `of *${email}*`]) {
    expect(marked([markOf(email, 5)], [{ [text]: 1 }]), text).toEqual([email])
  }
})

test('people whose address contains the removed one stay', () => {
  const value = {
    'nada@example.com': 1,
    list: ['ada@example.com.au', { email: 'x-ada@example.com' }, 'ärada@example.com', "o'ada@example.com"],
  }
  expect(withoutPerson(value, ADA)).toBe(value)
})

test('nothing about the person is left in any value, and a value without them is returned as the same object', () => {
  const word = fc.constantFrom(ADA, 'bob@example.com', 'team', 'a sentence about ada@example.com', '')
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof({ maxDepth: 4 }, word, fc.integer(), fc.array(tie('tree')), fc.dictionary(word, tie('tree'))),
  }))
  fc.assert(
    fc.property(tree, (value) => {
      const left = withoutPerson(value, ADA)
      if (typeof value !== 'string' || value !== ADA) expect(JSON.stringify(left)).not.toContain(ADA)
      if (!JSON.stringify(value).includes(ADA)) expect(left).toBe(value)
      expect(withoutPerson(left, ADA)).toBe(left)
    }),
    runs(120),
  )
})
