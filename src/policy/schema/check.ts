// The types of a schema and its validator: plain JSON with notes for messages, and a function that returns all faults at once. Also which
// characters of an address are surely not meant, for schema and messages alike.
import type { ProblemCode } from '../../core/model/problem.ts'
import { domainIn, nameIn } from '../../core/model/scope.ts'

/** `'` is allowed, as in o'brien@; the curly one is not. */
const NEVER = /["\u00ab\u00bb\u2018-\u201f\u2039\u203a\u301d-\u301f\uff02\uff07`<>(){}[\],;\\]|[\p{Cc}\p{Cf}\p{Zs}]/u

/** Letters of these are easily taken for Latin ones. */
const LOOK_ALIKE = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u
const LATIN = /\p{Script=Latin}/u

/** The first character that is surely not meant, in words; undefined where there is none. Other scripts are allowed, but not mixed in the name or in a part of the domain. */
export function oddCharacter(address: string): string | undefined {
  const never = NEVER.exec(address)?.[0]
  if (never !== undefined) return `${nameOf(never)} is in no mail address`
  for (const part of [nameIn(address), ...domainIn(address).split('.')]) {
    const foreign = LATIN.test(part) ? LOOK_ALIKE.exec(part)?.[0] : undefined
    if (foreign !== undefined) return `${nameOf(foreign)} looks like a Latin letter and is none`
  }
  return undefined
}

/** A character with its code; one that nobody sees by its code alone. */
export function nameOf(character: string): string {
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  const name = NAMES[character]
  if (name !== undefined) return `${name} (${code})`
  return /[\p{C}\p{Z}]/u.test(character) ? `the invisible character ${code}` : `${character} (${code})`
}

const NAMES: Readonly<Record<string, string>> = {
  '\t': 'a tab',
  ' ': 'a space',
  '\u00a0': 'a no-break space',
  '\u202f': 'a narrow no-break space',
  '\u200b': 'a zero-width space',
  '\u200d': 'a zero-width joiner',
  '\ufeff': 'a byte order mark',
}

/** What is said of a wrong value. */
export interface Wrong {
  readonly code: ProblemCode
  /** Follows the value in the message: `not a duration`. */
  readonly what: string
  /** What to write instead, where what was written tells nothing better (`SLIPS` in kinds.ts). */
  readonly hint?: string
  /** It is a text, and how messages show a wrong one; a value that is none is told as such. */
  readonly text?: 'as written' | 'trimmed' | 'quoted'
  /** Of a condition between the keys of a mapping: the key whose value is wrong, else it is the mapping; and whether its key is marked. */
  readonly at?: string
  readonly marks?: 'key'
}

/** A JSON Schema as it is used here, with our notes. */
export interface AnnotatedSchema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly anyOf?: readonly AnnotatedSchema[]
  readonly allOf?: readonly AnnotatedSchema[]
  readonly oneOf?: readonly AnnotatedSchema[]
  readonly items?: AnnotatedSchema
  readonly properties?: Readonly<Record<string, AnnotatedSchema>>
  readonly additionalProperties?: boolean | AnnotatedSchema
  readonly required?: readonly string[]
  readonly 'x-wrong'?: Wrong
  /** How a value is converted, where its form does not tell, and what more is said of a wrong one. */
  readonly 'x-kind'?: string
  /** Where more is said when a condition of `allOf` does not hold, and its code where that differs. */
  readonly 'x-rule'?: string
  readonly 'x-code'?: ProblemCode
  /** Its value may contain a secret, so messages do not repeat its lines. */
  readonly 'x-secret'?: boolean
}

/** One fault from a validator of ajv. */
export interface Fault {
  readonly instancePath: string
  readonly schemaPath: string
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
}

export type Check = (value: unknown) => readonly Fault[]

/** A schema without our notes, for editors. */
export const published = (schema: AnnotatedSchema): Readonly<Record<string, unknown>> =>
  JSON.parse(JSON.stringify(schema, (key, value: unknown) => (key.startsWith('x-') ? undefined : value)))

/** The keys that a mapping may have. */
export const keysOf = (schema: AnnotatedSchema | undefined): readonly string[] => Object.keys(schema?.properties ?? {})
