// Reads the fields of a request: one small reader for each kind; a refusal names the field and what would be valid. Only own properties are
// read; null, an empty text and a flag that is `false` count as absent, as in proto3 JSON (choice).
import type { Instant } from '../core/model/units.ts'
import { Refusal } from './refusal.ts'
import { parseTimestamp } from './time.ts'

export type Fields = Readonly<Record<string, unknown>>

/** The fields of a body; refuses a body that is not a JSON object. */
export function fieldsOf(body: unknown): Fields {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new Refusal(400, 'the request body must be a JSON object')
  return body as Fields
}

const given = (fields: Fields, name: string): unknown => (Object.hasOwn(fields, name) ? (fields[name] ?? undefined) : undefined)

export function textField(fields: Fields, name: string): string | undefined {
  const value = given(fields, name)
  if (value === undefined || value === '') return undefined
  if (typeof value !== 'string') throw new Refusal(400, `${name} must be a string`)
  return value
}

export function flagField(fields: Fields, name: string): boolean {
  const value = given(fields, name)
  if (value !== undefined && typeof value !== 'boolean') throw new Refusal(400, `${name} must be true`)
  return value === true
}

/** A whole number from 0 to `max`. */
export function wholeField(fields: Fields, name: string, max: number): number | undefined {
  const value = given(fields, name)
  if (value === undefined) return undefined
  if (typeof value !== 'number' || !Number.isInteger(value)) throw new Refusal(400, `${name} must be an integer`)
  if (value < 0 || value > max) throw new Refusal(400, `${name} must be between 0 and ${max}, not ${value}`)
  return value
}

/** An RFC 3339 time stamp. */
export function timeField(fields: Fields, name: string): Instant | undefined {
  const text = textField(fields, name)
  if (text === undefined) return undefined
  const at = parseTimestamp(text)
  if (at === undefined) throw new Refusal(400, `invalid timestamp format: ${name} must be RFC 3339, such as 2026-11-20T00:00:00Z`)
  return at
}

export function listField(fields: Fields, name: string): readonly unknown[] | undefined {
  const value = given(fields, name)
  if (value === undefined) return undefined
  if (!Array.isArray(value)) throw new Refusal(400, `${name} must be an array`)
  return value
}

export function textsField(fields: Fields, name: string): readonly string[] {
  return (listField(fields, name) ?? []).map((value) => {
    if (typeof value !== 'string') throw new Refusal(400, `${name} must be an array of strings`)
    return value
  })
}
