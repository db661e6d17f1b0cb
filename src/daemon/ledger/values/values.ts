// Decodes each value and row of the ledger by its shape, so that a value of another version or a damaged one is never used. Each fault names its
// place. A validator compiled ahead, as for users' files, would be ten times the size of the shapes, and every command that opens a ledger would
// load it. Values are written with JSON.stringify.
import { APPROVAL, HISTORY_ENTRY, OPEN_INTENT, PAUSE, QUARANTINED, RECORDED_INTENT } from '../../../core/model/change.ts'
import { FACTS, type LedgerFacts, SHARED } from '../../../core/model/facts.ts'
import { OWNED_CAP } from '../../../core/model/observed.ts'
import { onceFor } from '../../../core/model/once.ts'
import { PERSON_HISTORY } from '../../../core/model/past.ts'
import { type Checked, fits, instant, list, type Of, oneOf, optional, partsOf, type Shape, shape, text } from '../../../core/model/shape.ts'
import { corrupt } from '../error.ts'

/** A value that does not fit its shape. */
export class Undecodable extends Error {
  override readonly name = 'Undecodable'
}

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
  mustFit(value, VALUES[name])
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
    mustFit(value, FACTS[name])
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

/** `path` is the place of the value, such as `.scope.kind`. */
const unlike = (path: string, expected: string, value: unknown): string =>
  `${path === '' ? 'the value' : path} is ${described(value)} and should be ${expected}`

const described = (value: unknown): string => {
  if (value === undefined) return 'missing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'string' && value.length > 40 ? 'a long text' : JSON.stringify(value)
}

/** The most faults in one message. */
const MAX_FAULTS = 3

/** Throws `Undecodable` when a value has faults. */
function mustFit(value: unknown, schema: Checked): void {
  const faults: string[] = []
  checkFor(schema)(value, '', faults)
  if (faults.length === 0) return
  const more = faults.length - MAX_FAULTS
  throw new Undecodable([...faults.slice(0, MAX_FAULTS), ...(more > 0 ? [`and ${more} more`] : [])].join('; '))
}

/** Adds the faults of the value at a path. */
type Check = (value: unknown, path: string, faults: string[]) => void

/** Made once for each shape, because there may be tens of thousands of rows. */
const checkFor = onceFor((schema: Checked): Check => {
  const { if: word, else: otherwise, items, oneOf, additionalProperties } = schema
  if (word && otherwise) {
    const check = checkFor(otherwise)
    return (value, path, faults) => (value === word.const ? undefined : check(value, path, faults))
  }
  const inside = items
    ? checkItems(checkFor(items))
    : oneOf
      ? checkKind(oneOf)
      : additionalProperties
        ? checkEntries(checkFor(additionalProperties))
        : checkFields(schema)
  const wanted = schema['x-wanted'] ?? 'something else'
  return (value, path, faults) => {
    if (fits(value, schema)) inside(value, path, faults)
    else faults.push(unlike(path, wanted, value))
  }
})

const checkItems =
  (check: Check): Check =>
  (value, path, faults) => {
    if (Array.isArray(value)) for (const [at, one] of value.entries()) check(one, `${path}[${at}]`, faults)
  }

const checkEntries =
  (check: Check): Check =>
  (value, path, faults) => {
    for (const [key, one] of Object.entries(Object(value))) check(one, `${path}[${JSON.stringify(key)}]`, faults)
  }

function checkFields({ properties = {}, required = [] }: Checked): Check {
  const fields = Object.entries(properties).map(([name, one]) => ({
    ...{ name, step: `.${name}`, isRequired: required.includes(name) },
    check: checkFor(one),
  }))
  if (fields.length === 0) return () => undefined
  return (value, path, faults) => {
    for (const { name, step, isRequired, check } of fields) {
      const field = own(value, name)
      if (isRequired || field !== undefined) check(field, path + step, faults)
    }
  }
}

function checkKind(branches: readonly Checked[]): Check {
  const kinds = new Map(branches.map((branch) => [branch.properties?.['kind']?.const, checkFor(branch)]))
  const wanted = [...kinds.keys()].join(' or ')
  return (value, path, faults) => {
    const kind = own(value, 'kind')
    const check = kinds.get(kind)
    if (check) check(value, path, faults)
    else faults.push(unlike(`${path}.kind`, wanted, kind))
  }
}

const own = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
