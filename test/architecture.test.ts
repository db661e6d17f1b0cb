// The house rules, held against the whole tree, and each against the examples of architecture.txt: a rule that cannot fail guards nothing.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type LockFile, needlessEngines, withoutNeedlessEngines } from '../deploy/lock.ts'
import { CODE_RULES } from './support/code-rules.ts'
import { sourceFile, sourceFiles, trackedFiles } from './support/house.ts'
import { BUILD_ONLY, HOMES, IMPORT_RULES, packageOf } from './support/import-rules.ts'

const ROOT = join(import.meta.dirname, '..')
const TREE = sourceFiles(ROOT)
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** The sources of an example: `breaks PATH: TEXT`, and more files by `and`. */
const sourcesOf = (example: string) =>
  example.split('\n').flatMap((line) => {
    const [, path = '', times, text = '', repeated] = /^ +\w+ (\S+?)(?: ×(\d+))?:(?: ?(.*?)(?: ×(\d+))?)$/.exec(line) ?? []
    if (path === '') throw new Error(`architecture.txt has the odd line ${line}`)
    const whole = repeated === undefined ? text.replaceAll(' ⏎ ', '\n') : `${text}\n`.repeat(Number(repeated))
    if (times === undefined) return [sourceFile(path, whole)]
    return Array.from({ length: Number(times) }, (_, index) => sourceFile(path.replace('.ts', `${index}.ts`), whole))
  })

/** The examples by rule. */
const EXAMPLES = new Map(
  read('test/architecture.txt')
    .trimEnd()
    .split('\n\n')
    .slice(1)
    .map((block) => {
      const [rule = '', ...lines] = block.split('\n')
      return [rule, lines.join('\n').split(/\n(?= {2}(?:breaks|keeps) )/)]
    }),
)
const RULES = { ...IMPORT_RULES, ...CODE_RULES }

test('the tree is there to be looked at', () => {
  expect(TREE.map((file) => file.path)).toEqual(
    expect.arrayContaining(['src/main.ts', 'src/core/plan/plan.ts', 'test/architecture.test.ts']),
  )
})

test('each rule has an example that breaks it, and one that keeps it', () => {
  const marks = (examples: readonly string[]) => [...new Set(examples.map((one) => one.trim().split(' ')[0]))]
  expect([...EXAMPLES].map(([rule, examples]) => [rule, marks(examples)])).toEqual(
    Object.keys(RULES).map((rule) => [rule, ['breaks', 'keeps']]),
  )
})

describe.each(Object.entries(RULES))('%s', (rule, offences) => {
  test('in every file', () => {
    expect(offences(TREE)).toEqual([])
  })

  test.each(EXAMPLES.get(rule) ?? [])('%s', (example) => {
    expect(offences(sourcesOf(example)).length > 0).toBe(example.startsWith('  breaks'))
  })
})

test('the spine can be read in one evening', () => {
  const linesOf = new Map(TREE.map(({ path, code }) => [path, new Set(code.map(({ line }) => line)).size]))
  const real = read('ARCHITECTURE.md')
  expect(spineOffences(real, (path) => linesOf.get(path))).toEqual([])
  expect(spineOffences(real, () => 200)).toHaveLength(1)
  expect(spineOffences(real.replaceAll('Spine,', 'Rooms,'), (path) => linesOf.get(path))).toHaveLength(1)
  expect(spineOffences('1. Spine: `core/gone.ts`', (path) => linesOf.get(path))).toEqual(['core/gone.ts is not there'])
})

describe('the package', () => {
  const ours: PackageFile = JSON.parse(read('package.json'))

  test('pins every version and brings Node 24 along', () => {
    expect(packageOffences(ours)).toEqual([])
  })

  test.each<readonly [string, PackageFile]>([
    ['a range of versions', { ...ours, dependencies: { ...ours.dependencies, yaml: '^2.9.1' } }],
    ['an older Node', { ...ours, devDependencies: { ...ours.devDependencies, node: '22.1.0' } }],
    ['Node as a range', { ...ours, devDependencies: { ...ours.devDependencies, node: '24.x' } }],
    ["Node's binary not installed", { ...ours, allowScripts: {} }],
    ['a checkout that asks for more than npm needs', { ...ours, devEngines: { runtime: { name: 'node', version: '>=24' } } }],
    ['an engine that is too old', { ...ours, engines: { node: '>=20' } }],
    ['a package that no rule knows', { ...ours, dependencies: { ...ours.dependencies, lodash: '4.0.0' } }],
    ['a package that is gone', { ...ours, dependencies: {} }],
  ])('is refused with %s', (_row, file) => {
    expect(packageOffences(file)).not.toEqual([])
  })

  test('has no package that nothing imports', () => {
    const imports = TREE.filter((file) => file.path.startsWith('src/')).flatMap((file) => file.imports)
    const imported = new Set(imports.map((one) => packageOf(one.specifier ?? '')))
    expect(Object.keys(HOMES).filter((name) => !imported.has(name))).toEqual([])
  })

  test('has no package that ARCHITECTURE.md does not give a reason for', () => {
    expect(undocumented(ours, read('ARCHITECTURE.md'))).toEqual([])
    expect(undocumented({ dependencies: { yaml: '2.9.1' } }, 'We read yaml with care.')).toEqual(['yaml'])
  })

  test('is locked without saying where packages come from', () => {
    expect(placesInLock(read('package-lock.json'))).toEqual([])
    expect(placesInLock('{\n  "resolved": "https://packages.example/got.tgz"\n}')).toHaveLength(1)
  })

  test('is locked for every platform', () => {
    expect(missingFromLock(JSON.parse(read('package-lock.json')))).toEqual([])
    const lock = {
      packages: { 'node_modules/a': { optionalDependencies: { '@a/linux': '1.0.0', '@a/darwin': '1.0.0' } }, 'node_modules/@a/linux': {} },
    }
    expect(missingFromLock(lock)).toEqual(['@a/darwin, optional of node_modules/a, is not locked'])
  })

  test('is locked so that npm on Node 20 warns of no package that runs on the Node brought along (npm run lock)', () => {
    const lock: LockFile = JSON.parse(read('package-lock.json'))
    expect(needlessEngines(lock)).toEqual([])
    expect(Object.values(lock.packages).filter(({ engines }) => engines?.['node'] !== undefined)).toEqual([lock.packages['']])
  })

  test('keeps the word of a package that does not run on the Node brought along', () => {
    const lock = {
      lockfileVersion: 3,
      packages: {
        '': { engines: { node: '>=24' } },
        'node_modules/node': { version: '24.21.0' },
        'node_modules/a': { version: '1.0.0', engines: { node: '>=22', npm: '>=9' } },
        'node_modules/b': { engines: { node: '>=26' } },
      },
    }
    expect(needlessEngines(lock)).toEqual(['node_modules/a'])
    expect(withoutNeedlessEngines(lock)).toEqual({
      lockfileVersion: 3,
      packages: { ...lock.packages, 'node_modules/a': { version: '1.0.0', engines: { npm: '>=9' } } },
    })
  })

  test('makes a program that a shell can start', () => {
    expect(read('src/main.ts')).toMatch(/^#!\/usr\/bin\/env node\n/)
  })
})

describe('the linter', () => {
  test('keeps functions within 70 lines, and the other rules it is trusted with', () => {
    expect(linterOffences(JSON.parse(read('biome.json')))).toEqual([])
  })

  test.each([
    ['switched off', (text: string) => text.replace('"noEnum": "error"', '"noEnum": "off"')],
    ['with longer functions', (text: string) => text.replace('"maxLines": 70', '"maxLines": 700')],
    ['as a mere warning', (text: string) => text.replace('"level": "error"', '"level": "warn"')],
    ['with an exception in src', (text: string) => text.replace('"test/**"', '"**"')],
  ])('is refused %s', (_row, change) => {
    expect(linterOffences(JSON.parse(change(read('biome.json'))))).not.toEqual([])
  })
})

describe('a document', () => {
  /** Files that a text names: `core/plan/plan.ts` in Markdown, below `src/` or from the root. */
  const gone = (text: string): readonly string[] =>
    [...text.matchAll(/`((?:[a-z-]+\/)+[a-z-]+\.ts)`/g)].flatMap(([, path = '']) =>
      TREE.some((file) => [path, `src/${path}`, `test/${path}`].includes(file.path)) ? [] : [path],
    )

  test('names only files that are there', () => {
    const documents = trackedFiles(ROOT).filter((path) => path.endsWith('.md'))
    expect(documents.flatMap((path) => gone(read(path)).map((file) => `${path} names ${file}`))).toEqual([])
    expect(gone('`core/plan/plan.ts` and `core/plan/planner.ts`')).toEqual(['core/plan/planner.ts'])
  })
})

describe('no file', () => {
  test('tells where it was made', () => {
    const texts = trackedFiles(ROOT).map((path) => [path, read(path)] as const)
    expect(texts.filter(([, text]) => !text.includes('\0')).flatMap(([path, text]) => revealing(path, text))).toEqual([])
  })

  test.each([
    ['a folder', `cd /${'work'}/main`],
    ['a package registry', `https://registry.npm${'js'}.org/got`],
    ['a mirror of one', `https://registry.packages.${'example'}.com/got`],
    ['an image registry', `image: gh${'cr'}.io/capkeeper/capkeeper`],
    ['a setting', `registry${'='}https://packages.example`],
  ])('may name %s', (_row, line) => {
    expect(revealing('a.md', `\n${line}\n`)).toHaveLength(1)
  })

  test('is refused for words that only look alike', () => {
    expect(revealing('a.ts', `registry.metrics()\nsee docs/${'work'}/plan.md and the team's work/life`)).toEqual([])
  })

  test('may name the images that everybody gets from upstream', () => {
    expect(revealing('a.yaml', 'image: registry.k8s.io/git-sync/git-sync:v4.4.0\nFROM gcr.io/distroless/cc-debian13')).toEqual([])
  })
})

interface PackageFile {
  readonly engines?: Readonly<Record<string, string>>
  readonly devEngines?: { readonly runtime?: { readonly name?: string; readonly version?: string } }
  readonly allowScripts?: Readonly<Record<string, boolean>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

const EXACT = /^\d+\.\d+\.\d+$/

/** The faults of package.json: none when every version is exact and Node 24 is a dependency. */
function packageOffences(file: PackageFile): readonly string[] {
  const { dependencies = {}, devDependencies = {} } = file
  const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(([, version]) => !EXACT.test(version))
  const homes = Object.keys(HOMES).filter((name) => !name.startsWith('node:') && !BUILD_ONLY.includes(name))
  return [
    ...loose.map(([name, version]) => `${name} is ${version}, not an exact version`),
    ...(devDependencies['node']?.startsWith('24.') ? [] : ['node 24 is no development dependency']),
    ...(file.allowScripts?.['node'] === true ? [] : ["allowScripts does not let node's binary be installed"]),
    ...(file.engines?.['node'] === '>=24' ? [] : ['engines.node is not >=24']),
    // With this npm does not check `engines`, which is for users of the package, against the Node that runs npm in a checkout.
    ...(file.devEngines?.runtime?.version === '>=20' ? [] : ['devEngines.runtime does not let npm run on Node 20']),
    ...homes.filter((name) => !(name in dependencies)).map((name) => `${name} has a home but is no dependency`),
    ...BUILD_ONLY.filter((name) => !(name in devDependencies)).map((name) => `${name} is no development dependency`),
    ...Object.keys(dependencies).flatMap((name) => (homes.includes(name) ? [] : [`${name} is a dependency without a home`])),
  ]
}

/** Each package must be named in backticks. */
const undocumented = (file: PackageFile, architecture: string): readonly string[] =>
  Object.keys({ ...file.dependencies, ...file.devDependencies }).filter((name) => !architecture.includes(`\`${name}\``))

/** Lines of ARCHITECTURE.md that begin with a number and `Spine` name the files of the spine, in reading order; there is one at least. */
function spineOffences(architecture: string, codeLines: (path: string) => number | undefined): readonly string[] {
  const files = architecture
    .split('\n')
    .flatMap((line) => (/^\d+\. Spine/.test(line) ? [...line.matchAll(/`([^`]+)`/g)].flatMap(([, path]) => path ?? []) : []))
  const lines = files.map((path) => codeLines(`src/${path}`))
  const sum = lines.reduce((total: number, one) => total + (one ?? 0), 0)
  return [
    ...files.filter((_, index) => lines[index] === undefined).map((path) => `${path} is not there`),
    ...(files.length > 0 && files.length <= 15 ? [] : [`the spine has ${files.length} files`]),
    ...(sum <= 2_500 ? [] : [`the spine has ${sum} lines`]),
  ]
}

interface LinterFile {
  readonly linter?: { readonly rules?: Readonly<Record<string, unknown>> }
  readonly overrides?: readonly { readonly includes?: readonly string[]; readonly linter?: unknown }[]
}

/** The linter measures functions; this only checks that it still does in `src`. */
function linterOffences(file: LinterFile): readonly string[] {
  const rules: Readonly<Record<string, unknown>> = { ...file.linter?.rules }
  const expected = [
    ['complexity', 'noExcessiveLinesPerFunction', { level: 'error', options: { maxLines: 70, skipBlankLines: true } }],
    ['style', 'noDefaultExport', 'error'],
    ['style', 'noEnum', 'error'],
    ['style', 'noNonNullAssertion', 'error'],
    ['suspicious', 'noExplicitAny', 'error'],
    ['suspicious', 'noConsole', 'error'],
  ] as const
  const missing = expected.filter(([group, name, level]) => {
    const found: unknown = Object.entries({ ...Object(rules[group]) }).find(([key]) => key === name)?.[1]
    return JSON.stringify(found) !== JSON.stringify(level)
  })
  const reaching = (file.overrides ?? []).flatMap(({ includes = ['**'] }) =>
    includes.filter((place) => !/^(test\/|vitest\.config\.ts$)/.test(place)),
  )
  return [
    ...missing.map(([group, name, level]) => `${group}/${name} is not ${JSON.stringify(level)}`),
    ...reaching.map((place) => `an override reaches ${place}`),
  ]
}

/** Words that tell where this was made. They are in parts, so that this file has none of them. */
const ELSEWHERE: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['a folder of the machine it was made on', new RegExp(`(^|[^\\w.])/${'work'}/`)],
  ['a host of a registry', new RegExp(`\\b(npm${'js'}|yarn${'pkg'})\\.(org|com)|\\bregistry[.-][\\w.-]*\\.(org|com|io|net|dev)\\b`)],
  ['a host of an image registry', new RegExp(`\\b(${['docker', 'ghcr', 'quay', 'gcr'].join('|')})\\.io\\b`)],
  ['a setting of a registry', /^\s*(@[\w-]+:)?registry\s*=/],
]

/** Public images from their usual registry. */
const UPSTREAM = /\b(registry\.k8s\.io\/git-sync|gcr\.io\/distroless)\//g

/** Lines of one file that tell where it was made. */
const revealing = (path: string, text: string): readonly string[] =>
  text
    .replaceAll(UPSTREAM, '')
    .split('\n')
    .flatMap((line, index) => ELSEWHERE.flatMap(([name, pattern]) => (pattern.test(line) ? [`${path}:${index + 1} names ${name}`] : [])))

interface Lock {
  readonly packages?: Readonly<Record<string, { readonly optionalDependencies?: Readonly<Record<string, string>> }>>
}

/**
 * A lock that lacks a package for some platform, because the registry it was made from did, makes every `npm ci` fail, on all platforms.
 */
function missingFromLock({ packages = {} }: Lock): readonly string[] {
  const locked = new Set(Object.keys(packages).map((path) => path.split('node_modules/').at(-1)))
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).flatMap((name) => (locked.has(name) ? [] : [`${name}, optional of ${path}, is not locked`])),
  )
}

/** A lock that names the source of packages binds every user to that source. */
const placesInLock = (text: string): readonly string[] =>
  text
    .split('\n')
    .flatMap((line, index) => (line.includes('"resolved"') ? [`package-lock.json:${index + 1} says where a package came from`] : []))
