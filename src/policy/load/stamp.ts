// Tells whether policy files may have changed, and which folders to watch: their names, links and times, looked at beside the process, with the bounds
// of `files.ts` on folders. It judges nothing.
import { lstat, opendir, readlink, realpath, stat } from 'node:fs'
import { dirname, join, parse, resolve, sep } from 'node:path'
import { promisify } from 'node:util'
import { contentOf, identityOf, oneAtATime, type Progress } from '../../files.ts'
import type { Clock } from '../../ports.ts'
import { isPolicyName, MAX_DEPTH, MAX_FILE_BYTES, MAX_NAMES } from './files.ts'

/** The names in a folder that matter. */
export type Interest = ReadonlySet<string> | 'any'

/** `stamp` changes when a file, a folder's content or a link changes; `wanted` are the folders where this would show. */
export interface Stamp {
  readonly stamp: string
  readonly wanted: ReadonlyMap<string, { readonly folder: string; readonly interest: Interest }>
}

interface Walk {
  readonly lines: string[]
  readonly folders: Set<string>
  readonly progress: Progress
  readonly reads: boolean
  names: number
}

const realOf = promisify(realpath)

const lookBeside = (reads: boolean) =>
  oneAtATime(async (name, progress): Promise<Stamp> => {
    const walk: Walk = { lines: [], folders: new Set(), progress, reads, names: 0 }
    const wanted = new Map<string, { folder: string; interest: Interest }>()
    const paths = new Set(name.split('\0'))
    for (const path of paths) await visit(walk, path, 0)
    for (const path of paths) {
      progress(path)
      for (const { folder, name } of await waypoints(path)) await want(wanted, folder, name)
    }
    for (const folder of walk.folders) await want(wanted, folder, undefined)
    return { stamp: walk.lines.sort().join('\n'), wanted }
  })

const nameOf = (paths: readonly string[], cwd: string): string => paths.map((path) => resolve(cwd, path)).join('\0')

const stampBeside = lookBeside(false)
/** Rejects with a `FileError` when a path does not answer. */
export const stampOf = (paths: readonly string[], cwd: string, clock: Clock): Promise<Stamp> => stampBeside(nameOf(paths, cwd), clock)

const readBeside = lookBeside(true)
/** Reads everything and keeps nothing. Rejects with a `FileError` when a path does not answer. */
export const readThrough = (paths: readonly string[], cwd: string, clock: Clock): Promise<unknown> => readBeside(nameOf(paths, cwd), clock)

async function visit(walk: Walk, path: string, depth: number): Promise<void> {
  walk.progress(path)
  try {
    const real = await realOf(path)
    const stats = await promisify(stat)(real, { bigint: true })
    if (stats.isDirectory()) await visitFolder(walk, path, real, depth)
    else if (depth === 0 || isPolicyName(path)) {
      walk.lines.push(`${path}|${real}|${identityOf(stats)}`)
      if (walk.reads && stats.size <= MAX_FILE_BYTES) await contentOf(real)
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    if (depth === 0 || isPolicyName(path) || code !== 'ENOENT') walk.lines.push(`${path}|${code}`)
  }
}

async function visitFolder(walk: Walk, path: string, real: string, depth: number): Promise<void> {
  if (walk.folders.has(real) || depth > MAX_DEPTH) return
  walk.folders.add(real)
  for await (const { name } of await promisify(opendir)(real)) {
    walk.names += 1
    if (walk.names > MAX_NAMES) return
    if (!name.startsWith('.')) await visit(walk, join(path, name), depth + 1)
  }
}

async function want(wanted: Map<string, { folder: string; interest: Interest }>, folder: string, name: string | undefined): Promise<void> {
  const key = await keyOf(folder)
  if (key === undefined) return
  const known = wanted.get(key)?.interest
  const interest = name === undefined || known === 'any' ? 'any' : new Set([...(known ?? []), name])
  wanted.set(key, { folder, interest })
}

async function keyOf(folder: string): Promise<string | undefined> {
  try {
    const { dev, ino, birthtimeMs } = await promisify(stat)(folder)
    return `${dev}:${ino}:${birthtimeMs}:${folder}`
  } catch {
    return undefined
  }
}

interface Waypoint {
  readonly folder: string
  readonly name: string
}

const MAX_LINKS = 40

/** The places on the way to a path that may be swapped: each link, the last name, and the first missing one. */
export async function waypoints(path: string): Promise<readonly Waypoint[]> {
  const { root } = parse(path)
  const found: Waypoint[] = []
  let at = root
  let names = path.slice(root.length).split(sep)
  for (let links = 0; names.length > 0 && links < MAX_LINKS; ) {
    const [name = '', ...rest] = names
    names = rest
    if (name === '') continue
    const next = join(at, name)
    const target = await linkTarget(next)
    if (target !== false || names.length === 0) found.push({ folder: at, name })
    if (target === undefined) return found
    if (target === false) at = next
    else {
      links += 1
      const whole = resolve(dirname(next), target)
      names = [...whole.slice(parse(whole).root.length).split(sep), ...names]
      at = parse(whole).root
    }
  }
  return found
}

/** The target of a link; false when it is no link, undefined when nothing exists. */
async function linkTarget(path: string): Promise<string | false | undefined> {
  try {
    return (await promisify(lstat)(path)).isSymbolicLink() && (await promisify(readlink)(path))
  } catch {
    return undefined
  }
}
