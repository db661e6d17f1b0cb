// Compares answers of the API with the schemas of its OpenAPI document.
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { OPENAPI } from '../../src/daemon/http/openapi.ts'

/** Checks a value against a schema of the document, formats included. */
function judge(): (name: string, value: unknown) => readonly string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema({ $id: 'doc', ...OPENAPI })
  const compiled = new Map<string, ReturnType<typeof ajv.compile>>()
  return (name, value) => {
    const check = compiled.get(name) ?? ajv.compile({ $ref: `doc#/components/schemas/${name}` })
    compiled.set(name, check)
    return check(value) ? [] : (check.errors ?? []).map((error) => `${name}${error.instancePath} ${error.message}`)
  }
}
/** The faults of a value by the schema of that name. */
export const offences = judge()

interface Asking {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly schema: { readonly type?: string; readonly [limit: string]: unknown }
}

interface Operation {
  readonly parameters?: readonly Asking[]
  readonly responses: Readonly<
    Record<number, { readonly content?: Readonly<Record<string, { readonly schema: { readonly $ref?: string } }>> }>
  >
}

/** Every address that the document names and that answers with a document: its path with `:name` for each part, and the kind of the answer. */
export const ADDRESSES = Object.entries(OPENAPI['paths'] as Readonly<Record<string, { readonly get: Operation }>>).flatMap(
  ([path, { get }]) => {
    const kind = get.responses[200]?.content?.['application/json']?.schema.$ref?.split('/').at(-1)
    const query = (get.parameters ?? []).filter((one) => one.in === 'query')
    return kind === undefined ? [] : [{ path: path.replaceAll(/\{(\w+)\}/g, ':$1'), kind, query }]
  },
)
