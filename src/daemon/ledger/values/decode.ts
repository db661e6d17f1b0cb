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
  look({ value, schema, path: '' }, { whole, faults })
  if (faults.length === 0) return
  const more = faults.length - MOST_TOLD
  throw new Undecodable([...faults.slice(0, MOST_TOLD), ...(more > 0 ? [`and ${more} more`] : [])].join('; '))
}

interface Place {
  readonly value: unknown
  readonly schema: Schema
  readonly path: string
}

interface Findings {
  readonly whole: Schema
  readonly faults: string[]
}

function look({ value, schema, path }: Place, found: Findings): void {
  const { $ref, if: word, else: otherwise, items } = schema
  if ($ref !== undefined) look({ value, schema: definition($ref, found.whole), path }, found)
  else if (word && otherwise) {
    if (value !== word.const) look({ value, schema: otherwise, path }, found)
  } else if (!fits(value, schema)) found.faults.push(unlike(path, schema['x-wanted'] ?? 'something else', value))
  else if (items && Array.isArray(value))
    for (const [at, one] of value.entries()) look({ value: one, schema: items, path: `${path}[${at}]` }, found)
  else if (isObject(value)) lookInside(value, schema, path, found)
}

function definition(reference: string, { $defs = {} }: Schema): Schema {
  const found = $defs[reference.replace('#/$defs/', '')]
  if (!found) throw new BugError(`the schema of the ledger has no ${reference}`)
  return found
}

const fits = (value: unknown, { type, enum: words }: Schema): boolean =>
  (words === undefined || words.includes(value)) && (type === undefined || type === typeOf(value))

const typeOf = (value: unknown): string => (Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value)

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeOf(value) === 'object'

function lookInside(value: Readonly<Record<string, unknown>>, schema: Schema, path: string, found: Findings): void {
  const { oneOf, additionalProperties } = schema
  const kind = oneOf && { value: own(value, 'kind'), of: oneOf.map(({ properties }) => properties?.['kind']?.const) }
  const { properties = {}, required = [] } = (kind ? oneOf?.[kind.of.indexOf(kind.value)] : schema) ?? {}
  if (kind && !kind.of.includes(kind.value)) found.faults.push(unlike(`${path}.kind`, kind.of.join(' or '), kind.value))
  for (const [name, one] of Object.entries(properties)) {
    const field = own(value, name)
    if (field !== undefined || required.includes(name)) look({ value: field, schema: one, path: `${path}.${name}` }, found)
  }
  if (additionalProperties)
    for (const [key, one] of Object.entries(value))
      look({ value: one, schema: additionalProperties, path: `${path}[${JSON.stringify(key)}]` }, found)
}

const own = (value: Readonly<Record<string, unknown>>, key: string): unknown => (Object.hasOwn(value, key) ? value[key] : undefined)
