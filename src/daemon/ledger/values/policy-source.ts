// The schemas of scopes, caps, the last known good policy, envelopes, guards and the people file in the ledger. Only the generator loads this file;
// source.ts has the other values.

import type { Static, TObject, TProperties, TUnsafe } from 'typebox'
import Type from 'typebox'
import {
  type BreakerLimit,
  DEFAULT_GUARDS,
  GUARD_CODES,
  type GuardDefault,
  type GuardSettings,
  type ShareLimit,
} from '../../../core/model/change.ts'
import type { Listing } from '../../../core/model/observed.ts'
import type { PolicySet, PoolMembers, When } from '../../../core/model/policy.ts'
import type { Position } from '../../../core/model/problem.ts'
import type { Scope, ScopeKey } from '../../../core/model/scope.ts'
import type { Credits } from '../../../core/model/units.ts'
import type { ReviewedRules } from '../../../core/plan/snapshot.ts'
import type { LedgerFacts } from '../../../ports.ts'

// The pieces of the ledger's schema. Each piece has the type of its values, which follows from the place where it is used, and `shape` demands a
// piece for every field of that type, so that a new field cannot be forgotten.

type Json = Readonly<Record<string, unknown>>

/** The schema of values of a type. */
export type Of<T> = TUnsafe<T>

/** `wanted` names the expected value in messages. */
const leaf = <T>(wanted: string, schema: Json): Of<T> => Type.Unsafe<T>({ ...schema, 'x-wanted': wanted })

const OBJECT = { 'x-wanted': 'an object' }

/** A number, with the words for what it means. */
const numeric = <T extends number>(wanted: string): Of<T> => leaf<T>(wanted, { type: 'number' })

export const text = leaf<string>('a text', { type: 'string' })
export const number = numeric<number>('a number')
export const boolean = leaf<boolean>('true or false', { type: 'boolean' })
export const anything = Type.Unsafe<unknown>({})

/** One of a few texts. */
export const oneOf = <T extends string>(options: readonly T[]): Of<T> => leaf<T>(options.join(' or '), { enum: options })

/** A word, or a value that fits the schema. */
export const orWord = <T, W extends string>(word: W, schema: Of<T>): Of<T | W> => Type.Unsafe<T | W>({ if: { const: word }, else: schema })

export const list = <T>(items: Of<T>): Of<readonly T[]> => leaf<readonly T[]>('a list', { type: 'array', items })

/** An object with arbitrary keys. */
export const record = <T>(item: Of<T>): Of<Readonly<Record<string, T>>> =>
  leaf<Readonly<Record<string, T>>>('an object', { type: 'object', additionalProperties: item })

interface Optional<T> {
  readonly optional: Of<T>
}

/** A field that may be absent. */
export const optional = <T>(schema: Of<T>): Optional<T> => ({ optional: schema })

type Fields<T> = { readonly [K in keyof T]-?: object extends Pick<T, K> ? Optional<Exclude<T[K], undefined>> : Of<T[K]> }

/** An object with these fields; other fields are ignored. */
export const shape = <T extends object>(fields: NoInfer<Fields<T>>): Of<T> => leaf<T>('an object', objectOf(fields))

function objectOf(fields: object): Json {
  const all = Object.entries<Of<unknown> | Optional<unknown>>({ ...fields })
  const isOptional = (field: Of<unknown> | Optional<unknown>): field is Optional<unknown> => 'optional' in field
  return {
    type: 'object',
    required: all.flatMap(([name, field]) => (isOptional(field) ? [] : [name])),
    properties: Object.fromEntries(all.map(([name, field]) => [name, isOptional(field) ? field.optional : field])),
  }
}

type OfKind<T extends { readonly kind: string }, K> = T extends unknown ? (K extends T['kind'] ? T : never) : never

/** A union by `kind`, with the other fields of each kind. */
export const byKind = <T extends { readonly kind: string }>(
  kinds: NoInfer<{ readonly [K in T['kind']]: Fields<Omit<OfKind<T, K>, 'kind'>> }>,
): Of<T> =>
  leaf<T>('an object', {
    type: 'object',
    oneOf: Object.entries<object>(kinds).map(([kind, fields]) => objectOf({ kind: Type.Unsafe<unknown>({ const: kind }), ...fields })),
  })

/** An object whose type follows from its fields. */
export const object = <T extends TProperties>(properties: T): Of<Static<TObject<T>>> =>
  Type.Unsafe<Static<TObject<T>>>(Type.Object(properties, OBJECT))

/** An object with some of these fields. */
export const partsOf = <T extends object>(properties: { readonly [K in keyof T]: Of<T[K]> }): Of<Partial<T>> =>
  leaf<Partial<T>>(OBJECT['x-wanted'], { type: 'object', properties })

/** A schema in which pieces with a name are written once, as definitions. */
export function written(root: object, pieces: Readonly<Record<string, object>>): Json {
  const names = new Map(Object.entries(pieces).map(([name, piece]) => [piece, name]))
  const brief = (schema: object): Json =>
    JSON.parse(JSON.stringify(schema, (key, one) => (key === '' || !names.has(one) ? one : { $ref: `#/$defs/${names.get(one)}` })))
  return { ...brief(root), $defs: Object.fromEntries(Object.entries(pieces).map(([name, piece]) => [name, brief(piece)])) }
}

export const amount = numeric<Credits>('a number')

export const cap = orWord('none', numeric<Credits>('a cap or none'))

export const position: Of<Position> = shape({ file: text, line: number, column: number })

export const scope: Of<Scope> = byKind({ team: {}, group: { id: text }, user: { email: text } })

export const byScope = <T>(item: TUnsafe<T>): TUnsafe<Readonly<Record<ScopeKey, T>>> => record(item)

const when: Of<When> = shape({
  email: optional(text),
  role: optional(text),
  groups: optional(list(text)),
  inactiveDays: optional(number),
  joinedWithinDays: optional(number),
  activeDays: optional(shape({ below: number, within: number })),
  attributes: optional(shape({ listed: optional(boolean), columns: optional(record(text)) })),
})

const poolMembers: Of<PoolMembers> = byKind({
  groups: { ids: list(text) },
  emails: { emails: list(text) },
  when: { when },
})

export const policySet: Of<PolicySet> = shape({
  workspace: text,
  rules: list(
    shape({
      ...{ scope, cap, reason: optional(text), at: position, document: text },
      envelope: optional(text),
      narrowed: optional(boolean),
    }),
  ),
  grants: list(
    shape({
      scope,
      amount: byKind({
        cap: { credits: amount },
        add: { credits: amount },
      }),
      fromAt: optional(number),
      until: byKind({
        instant: { at: number },
        cycleEnd: {},
      }),
      reason: text,
      ticket: optional(text),
      at: position,
      document: text,
      envelope: optional(text),
    }),
  ),
  groups: list(shape({ scope: byKind({ group: { id: text } }), name: text, at: position, nameAt: optional(position) })),
  protectedPeople: list(shape({ scope: byKind({ user: { email: text } }), at: position })),
  approvals: list(shape({ id: text, at: position })),
  onGroupConflict: optional(oneOf(['min', 'max'])),
  peopleRules: list(shape({ name: text, when, cap, reason: optional(text), at: position, document: text })),
  pools: list(
    shape({
      name: text,
      members: poolMembers,
      credits: amount,
      share: oneOf(['need', 'equal']),
      min: amount,
      max: optional(amount),
      at: position,
      document: text,
    }),
  ),
  documents: list(text),
})

export const envelopes: Of<LedgerFacts['envelopes']> = shape({
  ...{ readAt: record(number), members: record(list(text)), last: record(list(text)), joined: record(number) },
  spans: byScope(shape({ fromAt: number, untilAt: number })),
  narrowedAt: optional(byScope(number)),
  scopes: byScope(text),
})

export const listed: Fields<Listing> = {
  values: optional(record(text)),
  was: optional(shape({ at: number, values: record(text) })),
  goneAt: optional(number),
}

export const directory: Of<LedgerFacts['directory']> = shape({
  digest: text,
  sinceAt: number,
  next: optional(
    shape({
      digest: text,
      since: number,
      fell: optional(shape({ from: number, to: number })),
      doubtedAt: optional(number),
    }),
  ),
  people: record(list(shape({ at: number, ...listed }))),
})

const numberOrOff = orWord('off', number)
export const shareLimit: Of<ShareLimit | 'off'> = orWord('off', shape({ percent: number, floor: number }))
const breakerLimit: Of<BreakerLimit | 'off'> = orWord('off', shape({ inARow: number, percent: number }))

function guardSetting(usual: GuardDefault) {
  if (typeof usual === 'boolean') return boolean
  if (typeof usual === 'number') return numberOrOff
  return 'floor' in usual ? shareLimit : breakerLimit
}

// Object.fromEntries loses the types of the fields; the cast restores them.
const guards = shape<GuardSettings>(
  Object.fromEntries(GUARD_CODES.map((code) => [code, guardSetting(DEFAULT_GUARDS[code])])) as Fields<GuardSettings>,
)

/** Guards, and who is protected, as they are reviewed. */
export const rules = {
  guards,
  protectedEmails: list(text),
  bounds: optional(record(number)),
  approvals: optional(oneOf<NonNullable<ReviewedRules['approvals']>>(['separate', 'together'])),
}
