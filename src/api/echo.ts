// The key travels in every request body, and a service may say it back in a name, a model, an address. What is kept of an answer must not hold it:
// every text with the whole key in it is put aside as one, so that no e-mail is made up of what is left of another.
import type { RowPlan } from '../ports.ts'
import { isObject } from './errors.ts'

/** A shorter key may stand in a text by chance. */
const SHORTEST = 12
const IN_ITS_PLACE = '[key]'

/** The value without any text that holds the key; the very same value where there is none. */
export function withoutEcho(value: unknown, key: string): unknown {
  return key.length >= SHORTEST && holds(value, key) ? replaced(value, key) : value
}

/** Rows that are kept as they come, each without the key. */
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
  if (typeof value === 'string') return value.includes(key) ? IN_ITS_PLACE : value
  if (Array.isArray(value)) return value.map((one) => replaced(one, key))
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaced(one, key)])) : value
}
