// Takes out of package-lock.json which Node each package asks for, where the Node that this project brings along is good enough: npm
// would compare it with the machine's own Node, which runs npm and nothing else here, and warn of dozens of packages. A package that our
// Node does not suit keeps its word, so that npm still warns of it. `npm run lock` does it; a test says when it is due.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { satisfies } from 'semver'

interface LockedPackage {
  readonly version?: string
  readonly engines?: Readonly<Record<string, string>>
}

/** The part of package-lock.json that matters here; the entry with the empty path is the project itself. */
export interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

const OUR_NODE = 'node_modules/node'

/** Paths of packages whose word on Node npm would hold against the machine's own Node for nothing. */
export function needlessEngines({ packages }: LockFile): readonly string[] {
  const ours = packages[OUR_NODE]?.version ?? ''
  return Object.entries(packages).flatMap(([path, { engines }]) => {
    const range = engines?.['node']
    return path !== '' && range !== undefined && satisfies(ours, range) ? [path] : []
  })
}

/** The same lock without them. */
export function withoutNeedlessEngines<Lock extends LockFile>(lock: Lock): Lock {
  const needless = new Set(needlessEngines(lock))
  const packages = Object.entries(lock.packages).map(([path, entry]) => {
    if (!needless.has(path)) return [path, entry]
    const { engines: { node: _, ...engines } = {}, ...rest } = entry
    return [path, Object.keys(engines).length > 0 ? { ...rest, engines } : rest]
  })
  return { ...lock, packages: Object.fromEntries(packages) }
}

if (import.meta.main) {
  const file = join(import.meta.dirname, '../package-lock.json')
  const lock: LockFile = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, `${JSON.stringify(withoutNeedlessEngines(lock), undefined, 2)}\n`)
  process.stdout.write(`package-lock.json: ${needlessEngines(lock).length} packages no longer say which Node they want\n`)
}
