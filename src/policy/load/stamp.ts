// Tells whether policy files may have changed, and which folders to watch: their names, links and times, looked at beside the process as they are for
// reading. It judges nothing.
import { dirname, join, parse, resolve, sep } from 'node:path'
import type { Clock } from '../../ports.ts'
import { type EnvelopeSource, homesOf } from './delegated.ts'
import { listing } from './files.ts'
import { ifFound, linkTextOf, lookedBeside, type Steps, statsOf } from './steps.ts'

/** The names in a folder that matter. */
export type Interest = ReadonlySet<string> | 'any'

/** `stamp` changes when a file that is read, or what keeps one from being read, changes; `wanted` are the folders where this would show. */
export interface Stamp {
  readonly stamp: string
  readonly wanted: ReadonlyMap<string, { readonly folder: string; readonly interest: Interest }>
}

/** The stamp of files that do not answer, which is a change as well. */
export const STALLED = 'stalled'

/** Rejects with a `FileError` when a path does not answer. */
export const stampOf = (paths: readonly string[], cwd: string, clock: Clock, envelopes: readonly EnvelopeSource[]): Promise<Stamp> =>
  lookedBeside(paths, clock, looking(paths, cwd, envelopes))

function* looking(paths: readonly string[], cwd: string, envelopes: readonly EnvelopeSource[]): Steps<Stamp> {
  const { stamp, folders } = yield* listing(paths, cwd, yield* homesOf(envelopes, cwd))
  const wanted = new Map<string, { folder: string; interest: Interest }>()
  for (const path of paths) {
    for (const { folder, name } of yield* waypoints(resolve(cwd, path))) yield* want(wanted, folder, name)
  }
  for (const folder of folders) yield* want(wanted, folder, undefined)
  return { stamp, wanted }
}

function* want(wanted: Map<string, { folder: string; interest: Interest }>, folder: string, name: string | undefined): Steps<void> {
  const stats = yield* ifFound(statsOf(folder))
  if (!stats) return
  const key = `${stats.dev}:${stats.ino}:${stats.birthtimeNs}:${folder}`
  const known = wanted.get(key)?.interest
  const interest = name === undefined || known === 'any' ? 'any' : new Set([...(known ?? []), name])
  wanted.set(key, { folder, interest })
}

interface Waypoint {
  readonly folder: string
  readonly name: string
}

const MAX_LINKS = 40

/** The places on the way to a path that may be swapped: each link, the last name, and the first missing one. */
export function* waypoints(path: string): Steps<readonly Waypoint[]> {
  const { root } = parse(path)
  const found: Waypoint[] = []
  let at = root
  let names = path.slice(root.length).split(sep)
  for (let links = 0; names.length > 0 && links < MAX_LINKS; ) {
    const [name = '', ...rest] = names
    names = rest
    if (name === '') continue
    const next = join(at, name)
    const target = yield* linkTarget(next)
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
function* linkTarget(path: string): Steps<string | false | undefined> {
  try {
    return yield* linkTextOf(path)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EINVAL' ? false : undefined
  }
}
