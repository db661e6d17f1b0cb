// The house rules about imports. Paths are those of the repository; a rule reads only imports, never the disk.

import { posix } from 'node:path'
import { HEAVY } from '../../deploy/build.ts'
import { isIn, type Rules, type SourceFile } from './house.ts'
import type { Import } from './imports.ts'

interface Reach {
  /** Areas: a folder or file of `src` without its suffix. */
  readonly values: readonly string[]
  /** Areas that only `import type` may name. */
  readonly types: readonly string[]
}

const CYCLE = 'src/daemon/cycle/run.ts'

/** core <- policy, api, sandbox <- daemon <- console, cli <- main. */
const REACH: Readonly<Record<string, Reach>> = {
  ports: { values: [], types: ['core'] },
  files: { values: [], types: ['ports'] },
  core: { values: ['core'], types: ['ports'] },
  policy: { values: ['core', 'policy', 'files'], types: ['ports'] },
  api: { values: ['core', 'api', 'files'], types: ['ports'] },
  sandbox: { values: ['core', 'sandbox', 'api/wire', 'api/wire.generated'], types: ['ports'] },
  daemon: { values: ['core', 'policy', 'api', 'daemon', 'files'], types: ['ports'] },
  console: {
    values: ['core', 'console'],
    types: ['ports', 'daemon/http/console', 'daemon/http/documents'],
  },
  cli: { values: ['core', 'policy', 'api', 'sandbox', 'daemon', 'console', 'cli', 'files'], types: ['ports'] },
  main: { values: ['cli'], types: [] },
}

/** The files that may import each package, as value or type. A package without an entry may not be imported. */
export const HOMES: Readonly<Record<string, readonly string[]>> = {
  ajv: ['src/sandbox/fixture/file.ts'],
  'cli-progress': ['src/cli/shared/progress.ts'],
  'csv-parse': ['src/daemon/directory/directory-thread.ts'],
  commander: ['src/cli/'],
  diff: ['src/cli/edit/run.ts'],
  fastify: ['src/daemon/http/', 'src/sandbox/http/server.ts'],
  got: ['src/api/transport/http.ts'],
  hpagent: ['src/api/transport/http.ts'],
  leven: ['src/policy/suggest.ts'],
  pg: ['src/daemon/ledger/postgres/database.ts'],
  'pg-connection-string': ['src/daemon/ledger/postgres/database.ts'],
  pino: ['src/daemon/conditions/log.ts'],
  'pino-pretty': ['src/daemon/conditions/log.ts'],
  'prom-client': ['src/daemon/http/metrics/metrics.ts'],
  typebox: ['src/api/wire.ts'],
  yaml: ['src/policy/', 'src/daemon/config/', 'src/sandbox/fixture/file.ts'],
  nodemailer: ['src/daemon/notify/channels.ts'],
  'node:sqlite': ['src/daemon/ledger/', 'src/sandbox/store.ts'],
}

/** Packages that are not installed with the program, which knows their types only. */
export const BUILD_ONLY = ['typebox']

const PROGRAM = 'src/cli/program.ts'
const START = ['src/cli/process.ts', PROGRAM]

export const isRelative = (specifier: string): boolean => specifier.startsWith('.')
const inSource = (file: SourceFile): boolean => file.path.startsWith('src/')
/** The path that a relative specifier names. */
export const targetOf = (file: Pick<SourceFile, 'path'>, specifier: string): string => posix.join(posix.dirname(file.path), specifier)
const areaOf = (path: string): string => path.replace(/^src\//, '').replace(/\.ts$/, '')
const covers = (area: string, path: string): boolean => areaOf(path) === area || areaOf(path).startsWith(`${area}/`)

/** `@scope/name/part` and `name/part` belong to the package before the part. */
export const packageOf = (specifier: string): string => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')

const offence = (file: SourceFile, one: Import, why: string): string =>
  `${file.path}:${one.line} imports ${one.typeOnly ? 'types of ' : ''}${one.specifier ?? 'what is worked out at run time'}: ${why}`

/** One offence for each import of `src` against which `why` gives a reason. */
const judged = (why: (file: SourceFile, one: Import) => string | undefined) => (files: readonly SourceFile[]) =>
  files.filter(inSource).flatMap((file) =>
    file.imports.flatMap((one) => {
      const reason = why(file, one)
      return reason === undefined ? [] : [offence(file, one, reason)]
    }),
  )

function beyondReach(file: SourceFile, one: Import): string | undefined {
  if (one.specifier === undefined || !isRelative(one.specifier)) return undefined
  const area = areaOf(file.path).split('/')[0] ?? ''
  const reach = REACH[area]
  if (!reach) return `${area} has no place among the folders yet`
  const target = targetOf(file, one.specifier)
  if (!target.startsWith('src/') || !target.endsWith('.ts')) return 'only .ts files of src are imported'
  if (reach.values.some((allowed) => covers(allowed, target))) return undefined
  if (!reach.types.some((allowed) => covers(allowed, target))) return `${area} may not import it`
  return one.typeOnly ? undefined : `${area} may import its types only, with import type`
}

function notAtHome(file: SourceFile, one: Import): string | undefined {
  if (one.specifier === undefined || isRelative(one.specifier)) return undefined
  const name = packageOf(one.specifier)
  if (name.startsWith('node:') && !(name in HOMES)) return undefined
  const homes = HOMES[name]
  if (!homes) return 'no file is named as the home of this package'
  return isIn(file.path, homes) ? undefined : `only in ${homes.join(', ')}`
}

/** Static imports that load a file: they form cycles and take time at start. */
const loads = (file: SourceFile): readonly Import[] => file.imports.filter((one) => one.how !== 'dynamic' && !one.typeOnly)

const targets = (file: SourceFile, imports: readonly Import[]): readonly string[] =>
  imports.flatMap((one) => (one.specifier !== undefined && isRelative(one.specifier) ? [targetOf(file, one.specifier)] : []))

function cycles(files: readonly SourceFile[]): readonly string[] {
  // A command loads its work only when it is called, and the work knows the command's flags.
  const known = (file: SourceFile): readonly string[] =>
    targets(
      file,
      file.imports.filter((one) => one.how !== 'dynamic'),
    )
  const graph = new Map(files.filter(inSource).map((file) => [file.path, known(file)]))
  const finished = new Set<string>()
  const found: string[] = []
  const visit = (path: string, way: readonly string[]): void => {
    if (way.includes(path)) found.push([...way.slice(way.indexOf(path)), path].join(' -> '))
    else if (!finished.has(path)) for (const next of graph.get(path) ?? []) visit(next, [...way, path])
    finished.add(path)
  }
  for (const path of graph.keys()) visit(path, [])
  return found
}

/** Each way along imports from these files to one that `ends` it, with what is said at its end. */
function waysTo(
  files: readonly SourceFile[],
  start: readonly string[],
  follow: (file: SourceFile) => readonly Import[],
  ends: (path: string, file?: SourceFile) => readonly string[] | undefined,
): readonly string[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const seen = new Set<string>()
  const visit = (path: string, way: readonly string[]): readonly string[] => {
    if (seen.has(path)) return []
    seen.add(path)
    const file = byPath.get(path)
    const end = ends(path, file)
    if (end) return [[...way, path, ...end].join(' -> ')]
    return file ? targets(file, follow(file)).flatMap((next) => visit(next, [...way, path])) : []
  }
  return start.flatMap((path) => visit(path, []))
}

/** The program loads the command that is named, and for its help all of them. */
const heavyStart = (files: readonly SourceFile[]): readonly string[] =>
  waysTo(
    files,
    START,
    (file) => [...loads(file), ...file.imports.filter(({ how }) => how === 'dynamic' && file.path === PROGRAM)],
    (_, file) => {
      const heavy = file && loads(file).flatMap(({ specifier = '' }) => (HEAVY.includes(packageOf(specifier)) ? [specifier] : []))
      return heavy?.length ? heavy : undefined
    },
  )

/** All that the cycle may load: whoever judges what can write reads these and nothing else. What only shows is not among them. */
const WRITE_HALF = [
  ...['envelopes', 'escape', 'interpret', 'model', 'plan', 'pools', 'resolve'].map((room) => `src/core/${room}/`),
  'src/core/use/add-on.ts',
  ...['collect/add-on', 'collect/asking', 'collect/kept', 'collect/usage', 'conditions/findings', 'conditions/show'].map(
    (file) => `src/daemon/${file}.ts`,
  ),
  ...['directory/learn', 'ledger/error', 'ledger/forget', 'schedule/system', 'workspace'].map((file) => `src/daemon/${file}.ts`),
  ...['src/daemon/cycle/', 'src/daemon/ledger/values/', 'src/policy/suggest.ts', 'src/policy/schema/check.ts'],
]

/** Each way from the cycle to a file outside its half. */
const waysOut = (files: readonly SourceFile[]): readonly string[] =>
  waysTo(
    files,
    [CYCLE],
    (file) => file.imports.filter(({ typeOnly }) => !typeOnly),
    (path) => (isIn(path, WRITE_HALF) ? undefined : []),
  )

/** Whether a file has only re-exports. */
function onlyPassesOn(file: SourceFile): boolean {
  const starts = file.code.filter((token) => ['import', 'export', 'const', 'function', 'class', 'interface', 'let'].includes(token.text))
  return file.code.length > 0 && file.imports.length === starts.length && file.imports.every((one) => one.how === 'export')
}

function barrels(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap((file) => [
    ...(/(^|\/)index\.ts$/.test(file.path) ? [`${file.path} is an index`] : []),
    ...(onlyPassesOn(file) ? [`${file.path} only passes on what others export`] : []),
    ...file.imports
      .filter((one) => one.how === 'export' && one.names.some(({ name }) => name === '*'))
      .map((one) => offence(file, one, 'everything of it is passed on')),
  ])
}

export const IMPORT_RULES: Rules = {
  'each folder imports only from the layers it may use': judged(beyondReach),
  'each package is imported only in its home': judged(notAtHome),
  'core imports no package, not even of Node': judged((file, one) =>
    isIn(file.path, ['src/core/']) && !isRelative(one.specifier ?? '') ? 'core is pure' : undefined,
  ),
  'what is imported stands there in words': judged((_, one) => (one.specifier === undefined ? 'the import cannot be followed' : undefined)),
  'main.ts imports nothing statically': judged((file, one) =>
    file.path === 'src/main.ts' && one.how !== 'dynamic' ? 'the version is checked first' : undefined,
  ),
  'the command line starts without the network packages': heavyStart,
  'the half that may write loads nothing of the half that only shows': waysOut,
  'a package that is not installed with the program is known to it by its types only': judged((_, one) =>
    BUILD_ONLY.includes(packageOf(one.specifier ?? '')) && !one.typeOnly ? 'the program is installed without it' : undefined,
  ),
  'files that know each other form no cycle, types included': cycles,
  'no file is a barrel': barrels,
}
