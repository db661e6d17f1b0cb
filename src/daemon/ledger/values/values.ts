// Decodes each value and row of the ledger by its schema (source.ts). Values are written with JSON.stringify.
import type { Approval, HistoryEntry, Intent, Pause, Quarantined } from '../../../core/model/change.ts'
import type { OwnedCap } from '../../../core/model/observed.ts'
import type { Instant } from '../../../core/model/units.ts'
import type { PersonHistory } from '../../../core/use/history.ts'
import type { LedgerFacts } from '../../../ports.ts'
import type { DataRow } from '../adapter.ts'
import { corrupt } from '../error.ts'
import { type Decode, decodeJson, mustFit, type Schema, Undecodable } from './decode.ts'
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

// Decodes rows of the ledger. A row that cannot be decoded is a LedgerError that names table and row.

/** Decodes the `data` of a row. Throws LEDGER_CORRUPT. */
export function readRow<T>(file: string, table: string, row: { readonly id?: unknown; readonly data?: unknown }, decode: Decode<T>): T {
  try {
    return decodeJson(row.data, decode)
  } catch (error) {
    if (!(error instanceof Undecodable)) throw error
    throw corrupt(file, `row ${String(row.id)} of table ${table} cannot be read, because ${error.message}`)
  }
}

/** The pauses in force, by workspace. */
export function pausesIn(
  name: string,
  rows: readonly (DataRow & { readonly workspace: string })[],
  now: Instant,
): ReadonlyMap<string, Pause> {
  const all = rows.map((row) => [row.workspace, readRow(name, 'pause', row, pause)] as const)
  return new Map(all.filter(([, { untilAt }]) => untilAt > now))
}

/** Learned paces by workspace. A pace can be learned again, so one that cannot be read is left out. */
export function pacesIn(rows: readonly { readonly workspace: string; readonly data: unknown }[]): ReadonlyMap<string, LedgerFacts['pace']> {
  return new Map(
    rows.flatMap(({ workspace, data }) => {
      try {
        return [[workspace, decodeJson(data, (value) => factFrom('pace', value))] as const]
      } catch (error) {
        if (error instanceof Undecodable) return []
        throw error
      }
    }),
  )
}
