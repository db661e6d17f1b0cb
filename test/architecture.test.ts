// The house rules, held against the whole tree, and each against sources that break it: a rule that cannot fail guards nothing.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type LockFile, needlessEngines, withoutNeedlessEngines } from '../deploy/lock.ts'
import { CODE_RULES } from './support/code-rules.ts'
import { type Rule, type Sources, sourceFile, sourceFiles, trackedFiles } from './support/house.ts'
import { HOMES, IMPORT_RULES, packageOf } from './support/import-rules.ts'
import {
  linterOffences,
  missingFromLock,
  type PackageFile,
  packageOffences,
  placesInLock,
  revealing,
  spineOffences,
  undocumented,
} from './support/repository-rules.ts'

const ROOT = join(import.meta.dirname, '..')
const TREE = sourceFiles(ROOT)
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const offencesIn = (rule: Rule, sources: Sources) => rule.offences(Object.entries(sources).map(([path, text]) => sourceFile(path, text)))

test('the tree is there to be looked at', () => {
  expect(TREE.map((file) => file.path)).toEqual(
    expect.arrayContaining(['src/main.ts', 'src/core/plan/plan.ts', 'test/architecture.test.ts']),
  )
})

describe.each([...IMPORT_RULES, ...CODE_RULES].map((rule) => [rule.rule, rule] as const))('%s', (_rule, rule) => {
  test('in every file', () => {
    expect(rule.offences(TREE)).toEqual([])
  })

  test.each(rule.breaks.map((sources) => [Object.values(sources).join(' | ').slice(0, 90), sources] as const))(
    'found broken: %s',
    (_row, sources) => {
      expect(offencesIn(rule, sources)).not.toEqual([])
    },
  )

  test('found kept where it is', () => {
    expect(offencesIn(rule, rule.keeps)).toEqual([])
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
