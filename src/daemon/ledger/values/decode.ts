// Checks JSON of the ledger against its schema, so that a value of another version or a damaged one is never used. Each fault names its place.
// A validator compiled ahead, as for users' files, would be ten times the size of the schema, and every command that opens a ledger would
// load it.
import { BugError } from '../../../core/model/problem.ts'

/** Returns a value of type T, or throws `Undecodable`. */
export type Decode<T> = (value: unknown) => T

/** A value that does not fit its schema. */
export class Undecodable extends Error {
  override readonly name = 'Undecodable'
}

/** Decodes JSON text. Throws `Undecodable`. */
export function decodeJson<T>(text: unknown, decode: Decode<T>): T {
  return decode(parsed(text))
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
export const unlike = (path: string, expected: string, value: unknown): string =>
  `${path === '' ? 'the value' : path} is ${described(value)} and should be ${expected}`

const described = (value: unknown): string => {
  if (value === undefined) return 'missing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'string' && value.length > 40 ? 'a long text' : JSON.stringify(value)
}

type Schemas = Readonly<Record<string, Schema>>

/** The part of JSON Schema that build.ts writes. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly if?: Schema
  readonly else?: Schema
  readonly items?: Schema
  readonly additionalProperties?: Schema
  readonly properties?: Schemas
  readonly required?: readonly string[]
  readonly oneOf?: readonly Schema[]
  readonly $defs?: Schemas
  /** The expected value, in words. */
  readonly 'x-wanted'?: string
}

/** The most faults in one message. */
const MAX_FAULTS = 3

/** Throws `Undecodable` when a value has faults. `whole` has the definitions that `schema` refers to. */
export function mustFit(value: unknown, schema: Schema, whole: Schema = schema): void {
  const faults: string[] = []
  checkFor(schema, whole)(value, '', faults)
  if (faults.length === 0) return
  const more = faults.length - MAX_FAULTS
  throw new Undecodable([...faults.slice(0, MAX_FAULTS), ...(more > 0 ? [`and ${more} more`] : [])].join('; '))
}

/** Adds the faults of the value at a path. */
type Check = (value: unknown, path: string, faults: string[]) => void

const checks = new WeakMap<Schema, Check>()

/** Made once for each schema, because there may be tens of thousands of rows. */
function checkFor(schema: Schema, whole: Schema): Check {
  const known = checks.get(schema)
  if (known) return known
  const check = newCheck(schema, whole)
  checks.set(schema, check)
  return check
}

function newCheck(schema: Schema, whole: Schema): Check {
  const { $ref, if: word, else: otherwise, items, oneOf, additionalProperties } = schema
  if ($ref !== undefined) return checkFor(definition($ref, whole), whole)
  if (word && otherwise) {
    const check = checkFor(otherwise, whole)
    return (value, path, faults) => (value === word.const ? undefined : check(value, path, faults))
  }
  const inside = items
    ? checkItems(checkFor(items, whole))
    : oneOf
      ? checkKind(oneOf, whole)
      : additionalProperties
        ? checkEntries(checkFor(additionalProperties, whole))
        : checkFields(schema, whole)
  const wanted = schema['x-wanted'] ?? 'something else'
  return (value, path, faults) => {
    if (fits(value, schema)) inside(value, path, faults)
    else faults.push(unlike(path, wanted, value))
  }
}

function definition(reference: string, { $defs = {} }: Schema): Schema {
  const found = $defs[reference.replace('#/$defs/', '')]
  if (!found) throw new BugError(`the schema of the ledger has no ${reference}`)
  return found
}

const fits = (value: unknown, { type, enum: words }: Schema): boolean =>
  words ? words.includes(value) : type === undefined || type === typeOf(value)

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

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

function checkFields({ properties = {}, required = [] }: Schema, whole: Schema): Check {
  const fields = Object.entries(properties).map(([name, one]) => ({
    ...{ name, step: `.${name}`, isRequired: required.includes(name) },
    check: checkFor(one, whole),
  }))
  if (fields.length === 0) return () => undefined
  return (value, path, faults) => {
    for (const { name, step, isRequired, check } of fields) {
      const field = own(value, name)
      if (isRequired || field !== undefined) check(field, path + step, faults)
    }
  }
}

function checkKind(branches: readonly Schema[], whole: Schema): Check {
  const kinds = new Map(branches.map((branch) => [branch.properties?.['kind']?.const, checkFor(branch, whole)]))
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
