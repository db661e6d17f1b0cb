// Removes the key from answers: it is in every request body, and a service may echo it in a name, a model, an address. A text that contains
// the key is replaced as a whole, so that the rest of it cannot pass for another e-mail.
import type { RowPlan } from '../ports.ts'
import { isObject } from './errors.ts'

/** A shorter key may be part of a text by chance. */
const MIN_KEY_LENGTH = 12
const REPLACEMENT = '[key]'

/** The value without any text that contains the key; the very same value when none does. */
export function withoutEcho(value: unknown, key: string): unknown {
  return key.length >= MIN_KEY_LENGTH && holds(value, key) ? replaced(value, key) : value
}

/** Removes the key from each row before it is kept. */
export const rowsWithoutEcho = (plan: RowPlan, key: string): RowPlan => ({
  ...plan,
  keeper() {
    const keep = plan.keeper()
    return (row) => keep(withoutEcho(row, key))
  },
})

function holds(value: unknown, key: string): boolean {
  if (typeof value === 'string') return value.includes(key)
  if (Array.isArray(value)) return value.some((one) => holds(one, key))
  return isObject(value) && Object.values(value).some((one) => holds(one, key))
}

function replaced(value: unknown, key: string): unknown {
  if (typeof value === 'string') return value.includes(key) ? REPLACEMENT : value
  if (Array.isArray(value)) return value.map((one) => replaced(one, key))
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaced(one, key)])) : value
}
