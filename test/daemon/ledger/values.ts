// Arbitrary values of a ledger, drawn from their shapes, and what a validator of JSON Schema says of one.
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { FACTS, type LedgerFacts } from '../../../src/core/model/facts.ts'
import { groupScope, SCOPE, type Scope, TEAM, userScope } from '../../../src/core/model/scope.ts'
import type { Checked } from '../../../src/core/model/shape.ts'
import { type LedgerValues, VALUES } from '../../../src/daemon/ledger/values/values.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 12 })
const number = fc.oneof(
  fc.integer({ min: 0, max: 50 }),
  fc.integer({ min: -50, max: 2 ** 31 }).map((one) => one + 0.5),
)
const named = (value: fc.Arbitrary<unknown>) =>
  fc.dictionary(fc.oneof(text, fc.constant('__proto__')), value, { maxKeys: 4, noNullPrototype: true })

/** A few scopes, so that several values are about one. */
export const scope: fc.Arbitrary<Scope> = fc.oneof(
  fc.constant(TEAM),
  fc.constantFrom("o'brien; --", 'ß\\0\0').map(groupScope),
  fc.constantFrom('ada@example.com', '__proto__@example.com').map(userScope),
)

function drawn(schema: Checked): fc.Arbitrary<unknown> {
  const { if: word, else: otherwise, type, items, additionalProperties, oneOf, properties = {}, required = [] } = schema
  if (schema === SCOPE) return scope
  if (word && otherwise) return fc.oneof(fc.constant(word.const), drawn(otherwise))
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if ('const' in schema) return fc.constant(schema.const)
  if (oneOf) return fc.oneof(...oneOf.map(drawn))
  if (items) return fc.array(drawn(items), { maxLength: 3 })
  if (additionalProperties) return named(drawn(additionalProperties))
  if (type === 'object') {
    const fields = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, drawn(one)]))
    return fc.record(fields, { requiredKeys: [...required], noNullPrototype: true })
  }
  if (type === 'boolean') return fc.boolean()
  return type === 'number' ? number : type === 'string' ? text : fc.oneof(number, text, named(number))
}

/** Values with a name in the ledger. */
export const valuesOf = <K extends keyof LedgerValues>(name: K) => drawn(VALUES[name]) as fc.Arbitrary<LedgerValues[K]>

export const factsOf = <K extends keyof LedgerFacts>(name: K) => drawn(FACTS[name]) as fc.Arbitrary<LedgerFacts[K]>

/** Whether a value fits the shape with this name. */
export function validatorOf(name: keyof LedgerValues): (value: unknown) => boolean {
  const isValid = new Ajv2020({ strict: false }).compile(VALUES[name])
  return (value) => isValid(value)
}
