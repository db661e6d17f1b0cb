// The house rules about files beside the sources: the package, its lock, the linter's settings, and the words of every file.
import { BUILD_ONLY, HOMES } from './import-rules.ts'

export interface PackageFile {
  readonly engines?: Readonly<Record<string, string>>
  readonly devEngines?: { readonly runtime?: { readonly name?: string; readonly version?: string } }
  readonly allowScripts?: Readonly<Record<string, boolean>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

const EXACT = /^\d+\.\d+\.\d+$/

/** The faults of package.json: none when every version is exact and Node 24 is a dependency. */
export function packageOffences(file: PackageFile): readonly string[] {
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
export const undocumented = (file: PackageFile, architecture: string): readonly string[] =>
  Object.keys({ ...file.dependencies, ...file.devDependencies }).filter((name) => !architecture.includes(`\`${name}\``))

/** Lines of ARCHITECTURE.md that begin with a number and `Spine` name the files of the spine, in reading order; there is one at least. */
export function spineOffences(architecture: string, codeLines: (path: string) => number | undefined): readonly string[] {
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
export function linterOffences(file: LinterFile): readonly string[] {
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
  [
    'a host of a package registry',
    new RegExp(`\\b(npm${'js'}|yarn${'pkg'})\\.(org|com)|\\bregistry[.-][\\w.-]*\\.(org|com|io|net|dev)\\b`),
  ],
  ['a host of an image registry', new RegExp(`\\b(${['docker', 'ghcr', 'quay', 'gcr'].join('|')})\\.io\\b`)],
  ['a setting of a registry', /^\s*(@[\w-]+:)?registry\s*=/],
]

/** Public images from their usual registry. */
const UPSTREAM = /\b(registry\.k8s\.io\/git-sync|gcr\.io\/distroless)\//g

/** Lines of one file that tell where it was made. */
export const revealing = (path: string, text: string): readonly string[] =>
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
export function missingFromLock({ packages = {} }: Lock): readonly string[] {
  const locked = new Set(Object.keys(packages).map((path) => path.split('node_modules/').at(-1)))
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).flatMap((name) => (locked.has(name) ? [] : [`${name}, optional of ${path}, is not locked`])),
  )
}

/** A lock that names the source of packages binds every user to that source. */
export const placesInLock = (text: string): readonly string[] =>
  text
    .split('\n')
    .flatMap((line, index) => (line.includes('"resolved"') ? [`package-lock.json:${index + 1} says where a package came from`] : []))
