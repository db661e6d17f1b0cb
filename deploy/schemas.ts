// Writes what is made from the schemas of src: validators compiled ahead, so that no command pays for a schema compiler at its start, and
// the schema that lies beside the example policies. `npm run schemas:generate`; a test fails while one of them is not up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import standalone from 'ajv/dist/standalone/index.js'
import { SAVED_PLAN } from '../src/cli/plan/schema-source.ts'
import { CONFIG } from '../src/daemon/config/schema-source.ts'
import { OPENAPI } from '../src/daemon/http/documents/schema/openapi-source.ts'
import { LEDGER } from '../src/daemon/ledger/values/source.ts'
import { type AnnotatedSchema, published } from '../src/policy/schema/check.ts'
import { POLICY } from '../src/policy/schema/source.ts'
import { FIXTURE } from '../src/sandbox/fixture/schema-source.ts'

/** Where a validator goes, the schema it is made of, and the way from there to the types of both. */
const VALIDATORS = [
  ['src/policy/schema/schema.generated.ts', 'src/policy/schema/source.ts', POLICY, './check.ts'],
  ['src/daemon/config/schema.generated.ts', 'src/daemon/config/schema-source.ts', CONFIG, '../../policy/schema/check.ts'],
  ['src/cli/plan/schema.generated.ts', 'src/cli/plan/schema-source.ts', SAVED_PLAN, '../../policy/schema/check.ts'],
] as const

/** Notes of ours that a validator need not know. */
const NOTES = ['x-kind', 'x-rule', 'x-secret', 'x-wanted']

/** JSON alone: what the builder of schemas hides in them is not meant for others. */
const plain = (schema: object): AnnotatedSchema => JSON.parse(JSON.stringify(schema))

function validatorOf(source: string, schema: object, types: string): string {
  const json = plain(schema)
  const ajv = new Ajv2020({
    strict: true,
    strictRequired: false,
    strictTypes: false,
    allErrors: true,
    messages: false,
    code: { source: true, esm: true },
  })
  for (const note of NOTES) ajv.addKeyword(note)
  const code = standalone
    .default(ajv, ajv.compile(json))
    .replace('"use strict";', '')
    .replace(/export const validate = (\w+);export default \1;/, '')
  if (/\brequire\(/.test(code)) throw new Error(`${source}: the validator would load a package`)
  const [, name] = /^const schema\d+ = .*?function (validate\d+)/s.exec(code) ?? []
  if (name === undefined) throw new Error(`${source}: the compiler writes its code in another form`)
  return [
    `// Made of ${source.split('/').at(-1)} by \`npm run schemas:generate\`; never edited by hand.`,
    '// @ts-nocheck',
    `import type { Check, AnnotatedSchema } from '${types}'`,
    code
      .replace(/^const schema\d+ = (.*?);(?=(const|function) )/s, (text) => `${text}\n`)
      // In brackets a function is compiled with its file, and so kept by Node's compile cache; else each start would compile it anew.
      .replaceAll(/function (validate\d+)\(/g, 'const $1 = (function $1(')
      .replaceAll(/\}(?=(validate\d+)\.evaluated = )/g, '});'),
    `export const SCHEMA: AnnotatedSchema = ${code.match(/^const (schema\d+)/)?.[1]}`,
    `export const check: Check = (value) => (${name}(value) ? [] : ${name}.errors)`,
    '',
  ].join('\n')
}

/** A schema that is compiled where it is needed, which is rarely, or never. */
const schemaOnly = (source: string, name: string, schema: object, type = 'Readonly<Record<string, unknown>>', types?: string): string =>
  [
    `// Made of ${source} by \`npm run schemas:generate\`; never edited by hand.`,
    ...(types === undefined ? [] : [`import type { ${type} } from '${types}'`]),
    `export const ${name}: ${type} = ${JSON.stringify(schema)}`,
    '',
  ].join('\n')

/** Path from the root of the repository and text of every generated file. */
export function generatedSchemas(): ReadonlyMap<string, string> {
  return new Map([
    ...VALIDATORS.map(([path, source, schema, types]) => [path, validatorOf(source, schema, types)] as const),
    ['src/sandbox/fixture/schema.generated.ts', schemaOnly('schema-source.ts', 'FIXTURE_SCHEMA', FIXTURE)] as const,
    ['src/daemon/ledger/values/schema.generated.ts', schemaOnly('source.ts', 'SCHEMA', plain(LEDGER), 'Schema', './decode.ts')] as const,
    ['src/daemon/http/openapi.generated.ts', schemaOnly('documents/schema/openapi-source.ts', 'OPENAPI', plain(OPENAPI))] as const,
    ['policies/cap-policy.schema.json', `${JSON.stringify(published(plain(POLICY)), undefined, 2)}\n`] as const,
  ])
}

if (import.meta.main) {
  for (const [path, text] of generatedSchemas()) {
    const file = join(import.meta.dirname, '..', path)
    if (!text.endsWith('\n') || text !== readText(file)) writeFileSync(file, text)
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
