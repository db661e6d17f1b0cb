// The schema of a saved plan, from which its type and its validator are made. Only the generator loads this file. `wanted` is the text for
// messages about a wrong value. Further fields, for people, are allowed.
import Type, { type Static, type TProperties, type TSchema } from 'typebox'
import { CAUSES, EFFECTS, GUARD_CODES } from '../../core/model/change.ts'
import { MAX_CAP } from '../../core/model/units.ts'

type Json = Readonly<Record<string, unknown>>

const leaf = <T>(wanted: string, schema: Json) => Type.Unsafe<T>({ ...schema, 'x-wanted': wanted })
const object = <T extends TProperties>(properties: T, more: Json = {}) => Type.Object(properties, { 'x-wanted': 'an object', ...more })
const list = <T extends TSchema>(items: T) => leaf<readonly Static<T>[]>('a list', { type: 'array', items })
const words = <const T extends string>(some: readonly T[]) => leaf<T>(`one of ${some.join(', ')}`, { enum: some })
const hex = (digits: string, wanted: string) => leaf<string>(wanted, { type: 'string', pattern: `^[0-9a-f]{${digits}}$` })

const TEXT = leaf<string>('a text', { type: 'string' })
const WHOLE = leaf<number>('a whole number', { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const CAP = leaf<number | 'none'>(`a whole number from 0 to ${MAX_CAP} or "none"`, {
  anyOf: [{ type: 'integer', minimum: 0, maximum: MAX_CAP }, { const: 'none' }],
})
const INSTANT = leaf<string>('an RFC 3339 instant', { type: 'string' })
const HOLD_ID = hex('32', '32 hex digits')

/** Absent, or null. */
const orNull = <T extends TSchema>(schema: T) => {
  const json: Json = Object.fromEntries(Object.entries(schema))
  return Type.Optional(Type.Unsafe<Static<T> | null>({ ...json, type: [json['type'], 'null'].flat() }))
}

/** The key that a scope of one kind must have. */
const needs = (kind: string, key: string) => ({
  if: { properties: { kind: { const: kind } }, required: ['kind'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: [key] },
})
const SCOPE = object(
  { kind: words(['team', 'group', 'user']), id: Type.Optional(TEXT), email: Type.Optional(TEXT) },
  { allOf: [needs('group', 'id'), needs('user', 'email')] },
)
const POSITION = object({ file: TEXT, line: WHOLE, column: WHOLE })
const CAPS = { scope: SCOPE, from: CAP, to: CAP }

const CHANGE = object({
  ...CAPS,
  action: words(['set', 'clear']),
  effect: words(EFFECTS),
  cause: words(CAUSES),
  people: WHOLE,
  source: orNull(POSITION),
  reason: orNull(TEXT),
  hold: orNull(HOLD_ID),
})
const HOLD = object({ id: HOLD_ID, guards: list(words(GUARD_CODES)), people: WHOLE, changes: list(object(CAPS)), message: TEXT })
const UNKNOWN = object({ scope: SCOPE, message: TEXT })
const PROBLEM = object({
  severity: words(['error', 'warning']),
  code: TEXT,
  message: TEXT,
  scope: orNull(SCOPE),
  at: orNull(POSITION),
})
const COUNTED = [...EFFECTS, 'held', 'inSync', 'unknown', 'skipped', 'rejected'] as const
const COUNTS = object(Object.fromEntries(COUNTED.map((name) => [name, WHOLE])) as Record<(typeof COUNTED)[number], typeof WHOLE>)

/** One saved plan. */
export const SAVED_PLAN = object({
  apiVersion: words(['capkeeper/v1']),
  kind: words(['Plan']),
  id: hex('16', '16 hex digits'),
  workspace: TEXT,
  createdAt: INSTANT,
  policyDigest: TEXT,
  revision: TEXT,
  counts: COUNTS,
  changes: list(CHANGE),
  holds: list(HOLD),
  unknown: list(UNKNOWN),
  problems: list(PROBLEM),
})

export type SavedPlan = Static<typeof SAVED_PLAN>
export type SavedScope = Static<typeof SCOPE>
export type SavedChange = Static<typeof CHANGE>
