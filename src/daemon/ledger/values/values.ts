// Decodes each value and row of the ledger by its shape, so that a value of another version or a damaged one is never used. Each fault names its
// place. Values are written with JSON.stringify.
import { APPROVAL, HISTORY_ENTRY, OPEN_INTENT, PAUSE, QUARANTINED, RECORDED_INTENT } from '../../../core/model/change.ts'
import { FACTS, type LedgerFacts, SHARED } from '../../../core/model/facts.ts'
import { OWNED_CAP } from '../../../core/model/observed.ts'
import { PERSON_HISTORY } from '../../../core/model/past.ts'
import {
  instant,
  list,
  mustFit,
  type Of,
  oneOf,
  optional,
  partsOf,
  type Shape,
  shape,
  text,
  Undecodable,
  unlike,
} from '../../../core/model/shape.ts'
import { corrupt } from '../error.ts'

const facts: Shape<Partial<LedgerFacts>> = partsOf(FACTS)

const records = shape({
  workspace: text,
  /** The address that the ledger is bound to. */
  baseUrl: text,
  owned: list(OWNED_CAP),
  openIntents: list(OPEN_INTENT),
  approvals: list(APPROVAL),
  quarantined: list(QUARANTINED),
  pause: optional(PAUSE),
  lastWrites: list(HISTORY_ENTRY),
  facts,
})
/** The shared records of one workspace. */
export type SharedRecords = Of<typeof records>

const shared = shape({
  apiVersion: oneOf(['capkeeper/v1']),
  kind: oneOf(['Ledger']),
  createdAt: instant,
  /** An e-mail becomes the first 12 hex digits of SHA-256(`key`, a line end, the e-mail), followed by `@people.invalid`. Choice. */
  key: text,
  workspaces: list(records),
})
/** The answer of `GET /ledger`. */
export type LedgerDocument = Of<typeof shared>

/** All values of a ledger by name; those of rows have the name of their table. */
export const VALUES = {
  ...{ owned: OWNED_CAP, intent: RECORDED_INTENT, history: HISTORY_ENTRY, approval: APPROVAL, quarantine: QUARANTINED, pause: PAUSE },
  ...{ known_days: PERSON_HISTORY, shared },
}
export type LedgerValues = { readonly [K in keyof typeof VALUES]: Of<(typeof VALUES)[K]> }

/** The names of all facts, and of those that are shared. */
export const FACT_NAMES = Object.keys(FACTS) as readonly (keyof LedgerFacts)[]
export const SHARED_FACTS = Object.keys(SHARED) as readonly (keyof typeof SHARED)[]

/** Checks a value. Throws `Undecodable`. */
export function decoded<K extends keyof LedgerValues>(name: K, value: unknown): LedgerValues[K] {
  mustFit<unknown>(value, VALUES[name])
  // The type follows from the shape that the value fits.
  return value as LedgerValues[K]
}

/** A row of a table with values; its name is that of their shape. */
interface ValueRow {
  readonly id?: unknown
  readonly data?: unknown
}

/** Decodes the `data` of a row. Throws LEDGER_CORRUPT, which names table and row. */
export const readRow = <K extends keyof LedgerValues>(file: string, table: K, row: ValueRow): LedgerValues[K] =>
  read(file, table, row, (value) => decoded(table, value))

/** The same for a fact. */
export const readFact = <K extends keyof LedgerFacts>(file: string, name: K, row: ValueRow): LedgerFacts[K] =>
  read(file, 'fact', row, (value) => {
    if (!Object.hasOwn(FACTS, name)) throw new Undecodable(unlike('.name', 'a value that this version knows', name))
    mustFit<unknown>(value, FACTS[name])
    return value as LedgerFacts[K]
  })

function read<T>(file: string, table: string, { id, data }: ValueRow, decode: (value: unknown) => T): T {
  try {
    return decode(parsed(data))
  } catch (error) {
    if (!(error instanceof Undecodable)) throw error
    throw corrupt(file, `row ${String(id)} of table ${table} cannot be read, because ${error.message}`)
  }
}

function parsed(text: unknown): unknown {
  try {
    if (typeof text === 'string') return JSON.parse(text)
  } catch {
    // Reported below.
  }
  throw new Undecodable(unlike('', 'JSON', text))
}
