// Holds JSON of the ledger against its schema: what was written by another version, or damaged on the disk, must be noticed and never believed.
// Every fault is told with its place. A validator compiled ahead, as for what users write, would be ten times the size of the schema, and every
// command that opens a ledger would load it.
import { BugError } from '../../../core/model/problem.ts'

/** Gives back a value of type T, or throws `Undecodable`. */
export type Decode<T> = (value: unknown) => T

/** A value that is not what the ledger keeps there. */
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
    // Said below.
  }
  throw new Undecodable(unlike('', 'JSON', text))
}

/** `path` is where the value stands, such as `.scope.kind`. */
export const unlike = (path: string, expected: string, value: unknown): string =>
  `${path === '' ? 'the value' : path} is ${described(value)} and should be ${expected}`

const described = (value: unknown): string => {
  if (value === undefined) return 'missing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'string' && value.length > 40 ? 'a long text' : JSON.stringify(value)
}

type Schemas = Readonly<Record<string, Schema>>

/** JSON Schema as far as build.ts writes it. */
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
  /** What belongs in its place, in words. */
  readonly 'x-wanted'?: string
}

/** So many faults are told of one value; more say nothing new. */
const MOST_TOLD = 3

/** Throws `Undecodable` with the faults of a value, if it has any. `whole` has the definitions that `schema` refers to. */
export function mustFit(value: unknown, schema: Schema, whole: Schema = schema): void {
  const faults: string[] = []
  lookFor(schema, whole)(value, '', faults)
  if (faults.length === 0) return
  const more = faults.length - MOST_TOLD
  throw new Undecodable([...faults.slice(0, MOST_TOLD), ...(more > 0 ? [`and ${more} more`] : [])].join('; '))
}

/** Adds what is wrong with a value that stands at a path. */
type Look = (value: unknown, path: string, faults: string[]) => void

const looks = new WeakMap<Schema, Look>()

/** There may be tens of thousands of rows: what a schema says is worked out once. */
function lookFor(schema: Schema, whole: Schema): Look {
  const known = looks.get(schema)
  if (known) return known
  const look = newLook(schema, whole)
  looks.set(schema, look)
  return look
}

function newLook(schema: Schema, whole: Schema): Look {
  const { $ref, if: word, else: otherwise, items, oneOf, additionalProperties } = schema
  if ($ref !== undefined) return lookFor(definition($ref, whole), whole)
  if (word && otherwise) {
    const look = lookFor(otherwise, whole)
    return (value, path, faults) => (value === word.const ? undefined : look(value, path, faults))
  }
  const inside = items
    ? lookAtItems(lookFor(items, whole))
    : oneOf
      ? lookAtKind(oneOf, whole)
      : additionalProperties
        ? lookAtEntries(lookFor(additionalProperties, whole))
        : lookAtFields(schema, whole)
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

const lookAtItems =
  (look: Look): Look =>
  (value, path, faults) => {
    if (Array.isArray(value)) for (const [at, one] of value.entries()) look(one, `${path}[${at}]`, faults)
  }

const lookAtEntries =
  (look: Look): Look =>
  (value, path, faults) => {
    for (const [key, one] of Object.entries(Object(value))) look(one, `${path}[${JSON.stringify(key)}]`, faults)
  }

function lookAtFields({ properties = {}, required = [] }: Schema, whole: Schema): Look {
  const fields = Object.entries(properties).map(([name, one]) => ({
    ...{ name, step: `.${name}`, isRequired: required.includes(name) },
    look: lookFor(one, whole),
  }))
  if (fields.length === 0) return () => undefined
  return (value, path, faults) => {
    for (const { name, step, isRequired, look } of fields) {
      const field = own(value, name)
      if (isRequired || field !== undefined) look(field, path + step, faults)
    }
  }
}

function lookAtKind(branches: readonly Schema[], whole: Schema): Look {
  const kinds = new Map(branches.map((branch) => [branch.properties?.['kind']?.const, lookFor(branch, whole)]))
  const wanted = [...kinds.keys()].join(' or ')
  return (value, path, faults) => {
    const kind = own(value, 'kind')
    const look = kinds.get(kind)
    if (look) look(value, path, faults)
    else faults.push(unlike(`${path}.kind`, wanted, kind))
  }
}

const own = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
