// The types of a schema and its validator: plain JSON with notes for messages, and a function that returns all faults at once.

/** A JSON Schema as it is used here, with our notes. */
export interface AnnotatedSchema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly anyOf?: readonly AnnotatedSchema[]
  readonly allOf?: readonly AnnotatedSchema[]
  readonly items?: AnnotatedSchema
  readonly properties?: Readonly<Record<string, AnnotatedSchema>>
  readonly additionalProperties?: boolean | AnnotatedSchema
  readonly required?: readonly string[]
  /** How a value is converted and what is said of a wrong one. */
  readonly 'x-kind'?: string
  /** What is said when a condition of `allOf` does not hold. */
  readonly 'x-rule'?: string
  /** The expected value in words, for saved plans. */
  readonly 'x-wanted'?: string
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
