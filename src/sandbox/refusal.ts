// Refusals of the service, and the fields of a request, which are refused when they are wrong: each refusal has a status and is written in one
// of the error styles that deployments use (docs/service.md, Errors, and docs/sandbox.md). A refusal must never contain a key.

import type { Instant } from '../core/model/units.ts'
import type { Switches } from './switches.ts'
import { parseTimestamp } from './time.ts'

/** A request the service refuses. Status codes: docs/sandbox.md, Behaviour. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** An answer before faults. */
export interface Encoded {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

export const JSON_TYPE = 'application/json; charset=utf-8'
const TEXT_TYPE = 'text/plain; charset=utf-8'

/** The codes of the `connect` style; those beyond the four that were seen are choices. */
const CODES: Readonly<Record<number, string>> = {
  400: 'invalid_argument',
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'not_found',
  405: 'unimplemented',
  413: 'invalid_argument',
  429: 'resource_exhausted',
}

/**
 * Writes the refusal of an operation in the configured style. Choice: the style `ok` answers 200 with `error`, except for 429, which is
 * documented, and 5xx, which are not refusals by an operation.
 */
export function encodeRefusal(style: Switches['errors'], status: number, message: string): Encoded {
  switch (style) {
    case 'error':
      return { status, contentType: JSON_TYPE, body: JSON.stringify({ error: message }) }
    case 'connect':
      return { status, contentType: JSON_TYPE, body: JSON.stringify({ code: CODES[status] ?? 'unavailable', message }) }
    case 'text':
      return { status, contentType: TEXT_TYPE, body: message }
    case 'ok': {
      const keeps = status === 429 || status >= 500
      return { status: keeps ? status : 200, contentType: JSON_TYPE, body: JSON.stringify({ error: message }) }
    }
  }
}

/** Writes a refusal by HTTP itself (paths, methods, bodies) in the configured style; the style `ok` keeps its status too. Choice. */
export const encodeHttpRefusal = (style: Switches['errors'], status: number, message: string): Encoded =>
  encodeRefusal(style === 'ok' ? 'error' : style, status, message)

export type Fields = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The fields of a body; refuses a body that is not a JSON object. */
export function fieldsOf(body: unknown): Fields {
  if (!isObject(body)) throw new Refusal(400, 'the request body must be a JSON object')
  return body
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
