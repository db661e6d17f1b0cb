// Writes the modules of `src` that are made from others: validators compiled ahead, so that no command pays for a schema compiler at its start, the
// wire format, the commands, the metrics, the frame of the OpenAPI document, statements in SQL, what the sandbox is made of, the console's script and
// style sheet, and the templates of `init` and `completion`. Git does not keep them: `npm ci`, `npm start`, `npm test`, the build and `node src/main.ts` make them, and so
// does `npm run generate`.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import standalone from 'ajv/dist/standalone/index.js'
import { rolldown } from 'rolldown'
import { parse } from 'yaml'
import { DEFAULT_GUARDS } from '../src/core/model/change.ts'
import { MODES } from '../src/core/model/events.ts'
import { MAX_CAP } from '../src/core/model/units.ts'
import { DIGESTS, EVENTS, PLACEHOLDERS, TLS_MODES, WEBHOOK_FORMATS } from '../src/core/notify/settings.ts'
import { API_VERSION, CONFIG_KIND, POLICY_KIND } from '../src/policy/bounds.ts'

const ROOT = join(import.meta.dirname, '..')

/** Where a validator goes, the schema it is made of, and the way from there to the types of both. */
const VALIDATORS = [
  ['src/policy/schema/schema.generated.ts', 'src/policy/schema/policy.yaml', './check.ts'],
  ['src/daemon/config/schema.generated.ts', 'src/daemon/config/config.yaml', '../../policy/schema/check.ts'],
] as const

/** Notes of ours that a validator need not know. */
const NOTES = ['x-code', 'x-kind', 'x-rule', 'x-secret', 'x-wrong']

const FORMS = 'src/policy/schema/forms.yaml'

const listed = (names: readonly string[]): string => names.map((name) => `{${name}}`).join(', ')

/** What `$NAME` stands for in the schemas. */
const CONSTANTS: Readonly<Record<string, unknown>> = {
  ...{ API_VERSION, CONFIG_KIND, POLICY_KIND, MAX_CAP, MODES, TLS_MODES, WEBHOOK_FORMATS, DIGESTS, EVENTS },
  ROSTER_SHRINK: DEFAULT_GUARDS.rosterShrink,
  ...Object.fromEntries(Object.entries(PLACEHOLDERS).map(([kind, names]) => [`${kind.toUpperCase()}_PLACEHOLDERS`, listed(names)])),
}

/** A schema of what people write: JSON Schema with our notes. forms.yaml says how it is written. */
function schemaIn(path: string): object {
  const text = [FORMS, path].map((one) => readFileSync(join(ROOT, one), 'utf8')).join('\n')
  const { document } = parse(text, { merge: true, maxAliasCount: -1 })
  return written(document)
}

function written<T>(value: T): T
function written(value: unknown): unknown {
  if (typeof value === 'string') {
    const constant = CONSTANTS[/^\$([A-Z_]+)$/.exec(value)?.[1] ?? '']
    return constant ?? value.replace(/\$([A-Z_]+)/g, (_, name) => String(CONSTANTS[name])).replace(/<(\d+)>/g, (_, most) => upTo(most))
  }
  if (Array.isArray(value)) return value.flatMap((one) => written(one))
  if (typeof value !== 'object' || value === null) return value
  const given = Object.fromEntries(Object.entries(value))
  const all = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, key === 'x-wrong' ? filled(one, given) : written(one)]))
  if (all['additionalProperties'] !== false) return all
  const { type, required, properties, additionalProperties, description, ...more } = all
  return { type, ...(required && { required }), properties, additionalProperties, description, ...more }
}

/** What is said of a wrong value, with what its schema says of a right one. */
function filled(wrong: unknown, { enum: some, const: only, minimum, maximum }: Readonly<Record<string, unknown>>): unknown {
  const words = [written(some ?? only)].flat().filter((one) => typeof one === 'string' && one !== 'false')
  const values: Readonly<Record<string, unknown>> = written({ minimum, maximum, words: words.join(', ') })
  return JSON.parse(JSON.stringify(written(wrong)).replace(/\{(minimum|maximum|words)\}/g, (_, name: string) => String(values[name])))
}

/** The whole numbers from 0 to `most`, with any leading zeros. */
function upTo(most: string): string {
  const shorter = most.length > 1 ? [`[0-9]{1,${most.length - 1}}`] : []
  const below = [...most].flatMap((digit, at) => {
    const rest = most.length - at - 1
    return digit === '0' ? [] : [`${most.slice(0, at)}[0-${Number(digit) - 1}]${rest > 0 ? `[0-9]{${rest}}` : ''}`]
  })
  return `0*(${[...shorter, ...below, most].join('|')})`
}

function validatorOf(source: string, types: string): string {
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
    .default(ajv, ajv.compile(schemaIn(source)))
    .replace('"use strict";', '')
    .replace(/export const validate = (\w+);export default \1;/, '')
  if (/\brequire\(/.test(code)) throw new Error(`${source}: the validator would load a package`)
  const [, name] = /^const schema\d+ = .*?function (validate\d+)/s.exec(code) ?? []
  if (name === undefined) throw new Error(`${source}: the compiler writes its code in another form`)
  return [
    `${madeOf(source)}// @ts-nocheck`,
    `import type { Check } from '${types}'`,
    code
      .replace(
        /^const (schema\d+) = (.*?);(?=(const|function) )/s,
        (_all, name, schema) => `const ${name} = ${schema} as const\nexport const SCHEMA = ${name}\n`,
      )
      // In brackets a function is compiled with its file, and so kept by Node's compile cache; else each start would compile it anew.
      .replaceAll(/function (validate\d+)\(/g, 'const $1 = (function $1(')
      .replaceAll(/\}(?=(validate\d+)\.evaluated = )/g, '});'),
    `export const check: Check = (value) => (${name}(value) ? [] : ${name}.errors)`,
    '',
  ].join('\n')
}

/** The first line of a module. */
const madeOf = (path: string): string => `// Made of ${path.split('/').at(-1)} by \`npm run generate\`; never edited by hand.\n`

/** A document in YAML as a value whose type has every word of it. */
function documentIn(path: string, name: string): string {
  const document: unknown = parse(readFileSync(join(ROOT, path), 'utf8'), { merge: true })
  return `${madeOf(path)}export const ${name} = ${JSON.stringify(document)} as const\n`
}

const PAGE = 'src/console/browser/page.ts'

/** The console's script as the daemon serves it: its sources joined to one module, without types and comments. */
async function consoleScript(): Promise<string> {
  await using joined = await rolldown({ input: PAGE, cwd: ROOT, platform: 'browser' })
  const { output } = await joined.generate({ format: 'esm', comments: false })
  return `${madeOf(PAGE)}export const PAGE_SCRIPT = ${JSON.stringify(output[0].code)}\n`
}

/** What `init` writes. */
const TEMPLATES = {
  CONFIG_TEMPLATE: 'src/cli/init/config.yaml',
  POLICY_TEMPLATE: 'src/cli/init/policy.yaml',
  WORKFLOW_TEMPLATE: 'src/cli/init/workflow.yaml',
}

/** What `completion` prints. */
const COMPLETION = 'src/cli/completion'
const SCRIPTS = {
  BASH: `${COMPLETION}/capkeeper.bash`,
  FISH: `${COMPLETION}/capkeeper.fish`,
  WORDS: `${COMPLETION}/words.sh`,
  ZSH: `${COMPLETION}/capkeeper.zsh`,
}

/** Files as texts. Pages have the style sheet without its comments. */
const textsIn = (files: Readonly<Record<string, string>>): string =>
  Object.entries(files)
    .map(([name, path]) => {
      const text = readFileSync(join(ROOT, path), 'utf8').replace(path.endsWith('.css') ? /\/\*.*?\*\/\n/gs : '', '')
      return `${madeOf(path)}export const ${name} = ${JSON.stringify(text)}\n`
    })
    .join('')

/** Statements in SQL, without comments, by the names that stand before them: `-- name: beat`. */
function statementsIn(path: string, name: string): string {
  const [, ...parts] = readFileSync(join(ROOT, path), 'utf8').split(/^-- name: (\w+)\n/m)
  const statements = parts.flatMap((part, at) =>
    at % 2 === 0 ? [[part, parts[at + 1]?.replace(/^--.*\n/gm, '').replace(/;\s*$/, '')]] : [],
  )
  return `${madeOf(path)}export const ${name} = ${JSON.stringify(Object.fromEntries(statements))}\n`
}

/** Path from the root of the repository and text of every module that is made. */
export async function madeSources(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ...VALIDATORS.map(([path, source, types]) => [path, validatorOf(source, types)] as const),
    ['src/sandbox/fixture/schema.generated.ts', documentIn('src/sandbox/fixture/schema.yaml', 'FIXTURE_SCHEMA')] as const,
    ['src/sandbox/switches.generated.ts', documentIn('src/sandbox/switches.yaml', 'FLAGS')] as const,
    ['src/sandbox/company/company.generated.ts', documentIn('src/sandbox/company/company.yaml', 'COMPANY')] as const,
    ['src/sandbox/tables.generated.ts', textsIn({ TABLES: 'src/sandbox/tables.sql' })] as const,
    ['src/api/wire.generated.ts', documentIn('src/api/wire.yaml', 'WIRE')] as const,
    ['src/sandbox/analytics/fields.generated.ts', documentIn('src/sandbox/analytics/fields.yaml', 'FIELDS')] as const,
    ['src/daemon/http/openapi.generated.ts', documentIn('src/daemon/http/openapi.yaml', 'FRAME')] as const,
    ['src/daemon/http/metrics/metrics.generated.ts', documentIn('src/daemon/http/metrics/metrics.yaml', 'METRICS')] as const,
    ['src/cli/shared/commands.generated.ts', documentIn('src/cli/shared/commands.yaml', 'CLI')] as const,
    ['src/console/style.generated.ts', textsIn({ STYLE: 'src/console/style.css' })] as const,
    ['src/cli/init/templates.generated.ts', textsIn(TEMPLATES)] as const,
    ['src/daemon/ledger/sql/changes.generated.ts', statementsIn('src/daemon/ledger/sql/changes.sql', 'SQL')] as const,
    ['src/daemon/ledger/sql/queries.generated.ts', statementsIn('src/daemon/ledger/sql/queries.sql', 'USE')] as const,
    ['src/daemon/ledger/postgres/statements.generated.ts', statementsIn('src/daemon/ledger/postgres/statements.sql', 'SQL')] as const,
    [`${COMPLETION}/templates.generated.ts`, textsIn(SCRIPTS)] as const,
    ['src/console/browser.generated.ts', await consoleScript()] as const,
  ])
}

/** Writes them all, so that they are newer than what they are made of. Another process may do the same at the same time, or read them. */
export async function makeSources(): Promise<void> {
  for (const [path, text] of await madeSources()) {
    const file = join(ROOT, path)
    writeFileSync(`${file}.${process.pid}`, text)
    renameSync(`${file}.${process.pid}`, file)
  }
}

if (import.meta.main) await makeSources()
