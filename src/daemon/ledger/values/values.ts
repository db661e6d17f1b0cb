// Decodes each value of the ledger by its schema (source.ts). Values are written with JSON.stringify.

import type { Approval, HistoryEntry, Intent, Pause, Quarantined } from '../../../core/model/change.ts'
import type { OwnedCap } from '../../../core/model/observed.ts'
import type { PersonHistory } from '../../../core/use/history.ts'
import type { LedgerFacts } from '../../../ports.ts'
import { type Decode, mustFit, type Schema } from './decode.ts'
import { SCHEMA } from './schema.generated.ts'
import type { LedgerDocument, LedgerValues } from './source.ts'

/** Schemas by name. A name without one fits any value. */
const fieldsOf = (schema: Schema | undefined): NonNullable<Schema['properties']> => schema?.properties ?? {}
const values = fieldsOf(SCHEMA)
const facts = fieldsOf(SCHEMA.$defs?.['facts'])

const checked =
  <K extends keyof LedgerValues>(name: K): Decode<LedgerValues[K]> =>
  (value) => {
    mustFit(value, values[name] ?? {}, SCHEMA)
    // The type is made from the schema that the value fits.
    return value as LedgerValues[K]
  }

export const ownedCap: Decode<OwnedCap> = checked('ownedCap')
/** Without its id, which is that of the row. */
export const intent: Decode<Omit<Intent, 'id'>> = checked('intent')
export const quarantined: Decode<Quarantined> = checked('quarantined')
export const historyEntry: Decode<HistoryEntry> = checked('historyEntry')
export const approval: Decode<Approval> = checked('approval')
export const pause: Decode<Pause> = checked('pause')
export const personHistory: Decode<PersonHistory> = checked('personHistory')

/** The answer of `GET /ledger`, people as hashes. */
export const sharedLedger: Decode<LedgerDocument> = checked('shared')

/** The names of all facts. */
export const FACT_NAMES = Object.keys(facts) as readonly (keyof LedgerFacts)[]

export const isFact = (name: unknown): name is keyof LedgerFacts => typeof name === 'string' && Object.hasOwn(facts, name)

/** Decodes a fact. Throws `Undecodable`. */
export function factFrom<K extends keyof LedgerFacts>(name: K, value: unknown): LedgerFacts[K] {
  mustFit(value, facts[name] ?? {}, SCHEMA)
  return value as LedgerFacts[K]
}
