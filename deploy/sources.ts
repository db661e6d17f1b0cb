// Writes the modules of `src` that are made from others: validators compiled ahead, so that no command pays for a schema compiler at its start, the
// wire format, the commands, the metrics, statements in SQL, the console's script and style sheet, and the templates of `init` and `completion`. Git
// does not keep them: `npm ci`, `npm start`, `npm test` and the build make them, and so does `npm run generate`.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import standalone from 'ajv/dist/standalone/index.js'
import { rolldown } from 'rolldown'
import { parse } from 'yaml'
import { CONFIG } from '../src/daemon/config/schema-source.ts'
import type { AnnotatedSchema } from '../src/policy/schema/check.ts'
import { POLICY } from '../src/policy/schema/source.ts'

const ROOT = join(import.meta.dirname, '..')

/** Where a validator goes, the schema it is made of, and the way from there to the types of both. */
const VALIDATORS = [
  ['src/policy/schema/schema.generated.ts', 'src/policy/schema/source.ts', POLICY, './check.ts'],
  ['src/daemon/config/schema.generated.ts', 'src/daemon/config/schema-source.ts', CONFIG, '../../policy/schema/check.ts'],
] as const

/** Notes of ours that a validator need not know. */
const NOTES = ['x-kind', 'x-rule', 'x-secret', 'x-wrong']

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
    `// Made of ${source.split('/').at(-1)} by \`npm run generate\`; never edited by hand.`,
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

/** A document in YAML as a value whose type has every word of it. */
function documentIn(path: string, name: string): string {
  const document: unknown = parse(readFileSync(join(ROOT, path), 'utf8'), { merge: true })
  return `// Made of ${path.split('/').at(-1)} by \`npm run generate\`; never edited by hand.\nexport const ${name} = ${JSON.stringify(document)} as const\n`
}

/** The console's script as the daemon serves it: its sources joined to one module, without types and comments. */
async function consoleScript(): Promise<string> {
  await using joined = await rolldown({ input: 'src/console/browser/page.ts', cwd: ROOT, platform: 'browser' })
  const { output } = await joined.generate({ format: 'esm', comments: false })
  return `// Made of browser/page.ts by \`npm run generate\`; never edited by hand.\nexport const PAGE_SCRIPT = ${JSON.stringify(output[0].code)}\n`
}

/** What `init` writes. */
const TEMPLATES = { CONFIG_TEMPLATE: 'src/cli/init/config.yaml', WORKFLOW_TEMPLATE: 'src/cli/init/workflow.yaml' }

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
      return `// Made of ${path.split('/').at(-1)} by \`npm run generate\`; never edited by hand.\nexport const ${name} = ${JSON.stringify(text)}\n`
    })
    .join('')

/** Statements in SQL, without comments, by the names that stand before them: `-- name: beat`. */
function statementsIn(path: string, name: string): string {
  const [, ...parts] = readFileSync(join(ROOT, path), 'utf8').split(/^-- name: (\w+)\n/m)
  const statements = parts.flatMap((part, at) =>
    at % 2 === 0 ? [[part, parts[at + 1]?.replace(/^--.*\n/gm, '').replace(/;\s*$/, '')]] : [],
  )
  return `// Made of ${path.split('/').at(-1)} by \`npm run generate\`; never edited by hand.\nexport const ${name} = ${JSON.stringify(Object.fromEntries(statements))}\n`
}

/** Path from the root of the repository and text of every module that is made. */
export async function madeSources(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ...VALIDATORS.map(([path, source, schema, types]) => [path, validatorOf(source, schema, types)] as const),
    ['src/sandbox/fixture/schema.generated.ts', documentIn('src/sandbox/fixture/schema.yaml', 'FIXTURE_SCHEMA')] as const,
    ['src/sandbox/switches.generated.ts', documentIn('src/sandbox/switches.yaml', 'FLAGS')] as const,
    ['src/sandbox/company/company.generated.ts', documentIn('src/sandbox/company/company.yaml', 'COMPANY')] as const,
    ['src/sandbox/tables.generated.ts', textsIn({ TABLES: 'src/sandbox/tables.sql' })] as const,
    ['src/api/wire.generated.ts', documentIn('src/api/wire.yaml', 'WIRE')] as const,
    ['src/sandbox/analytics/fields.generated.ts', documentIn('src/sandbox/analytics/fields.yaml', 'FIELDS')] as const,
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

/** Writes those that are missing or out of date. Another process may do the same at the same time, or read them. */
export async function makeSources(): Promise<void> {
  for (const [path, text] of await madeSources()) {
    const file = join(ROOT, path)
    if (text === readText(file)) continue
    writeFileSync(`${file}.${process.pid}`, text)
    renameSync(`${file}.${process.pid}`, file)
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

if (import.meta.main) await makeSources()
