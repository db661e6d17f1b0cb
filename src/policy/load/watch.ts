// Calls back when policy files have changed. Each folder is watched, and each link on the way to it, because Kubernetes swaps `..data` and git-sync
// its worktree. A slow poll finds changes without an event (network file systems, a replaced parent folder). It never reads a policy, never throws,
// and does not call back when all files are as before.
import { type FSWatcher, lstatSync, readlinkSync, statSync, watch } from 'node:fs'
import { dirname, join, parse, resolve, sep } from 'node:path'
import type { Clock } from '../../ports.ts'
import { listPolicyFiles } from './files.ts'

export interface WatchOptions {
  /** The files must be quiet for so long; default 100 ms. */
  readonly quietMs?: number
  /** A change is reported after so long even when events go on; default 1000 ms. */
  readonly patienceMs?: number
  /** How often the files are compared without an event; default 5 s. */
  readonly pollMs?: number
  /** Default: the process's. */
  readonly cwd?: string
}

export interface Watcher {
  close(): void
}

/** The names in a folder that matter. */
type Interest = ReadonlySet<string> | 'any'

interface State {
  readonly paths: readonly string[]
  readonly cwd: string
  readonly watchers: Map<string, { readonly watcher: FSWatcher; readonly interest: Interest }>
  readonly closed: AbortController
  stamp: string
  /** Monotonic time of the first and the last pending event. */
  pending: { readonly first: number; last: number } | undefined
  /** Ends the present wait. */
  wake: AbortController
}

/**
 * Calls `onChange` within 200 ms of the last event when the policy files of `paths` differ from those at the last call (or at the start). A path
 * may be a file, a folder, a link, or missing. Errors of `onChange` are ignored.
 */
export function watchPaths(paths: readonly string[], clock: Clock, onChange: () => unknown, options: WatchOptions = {}): Watcher {
  const cwd = options.cwd ?? process.cwd()
  const listing = listPolicyFiles(paths, cwd)
  const state: State = {
    paths,
    cwd,
    watchers: new Map(),
    closed: new AbortController(),
    stamp: listing.stamp,
    pending: undefined,
    wake: new AbortController(),
  }
  arm(state, listing.folders, clock)
  void observe(state, clock, onChange, options)
  return {
    close() {
      state.closed.abort()
      state.wake.abort()
      for (const { watcher } of state.watchers.values()) watcher.close()
      state.watchers.clear()
    },
  }
}

async function observe(state: State, clock: Clock, onChange: () => unknown, options: WatchOptions): Promise<void> {
  const { quietMs = 100, patienceMs = 1000, pollMs = 5000 } = options
  while (!state.closed.signal.aborted) {
    const { pending } = state
    const waitMs = pending ? Math.min(pending.last + quietMs, pending.first + patienceMs) - clock.monotonic() : pollMs
    if (waitMs > 0 && (await isWoken(state, clock, waitMs))) continue
    if (state.closed.signal.aborted) return
    state.pending = undefined
    await compare(state, clock, onChange)
  }
}

/** Sleeps; true when an event or `close` came first. */
async function isWoken(state: State, clock: Clock, ms: number): Promise<boolean> {
  state.wake = new AbortController()
  try {
    await clock.sleep(ms, state.wake.signal)
    return false
  } catch {
    return true
  }
}

async function compare(state: State, clock: Clock, onChange: () => unknown): Promise<void> {
  try {
    const { stamp, folders } = listPolicyFiles(state.paths, state.cwd)
    arm(state, folders, clock)
    if (stamp === state.stamp) return
    state.stamp = stamp
    await onChange()
  } catch {
    // The receiver reports its own errors; the next change must still be reported.
  }
}

/** Opens and closes watchers for the folders as they are now. A replaced folder has another inode, and so gets a new watcher. */
function arm(state: State, folders: readonly string[], clock: Clock): void {
  if (state.closed.signal.aborted) return
  const wanted = new Map<string, { readonly folder: string; readonly interest: Interest }>()
  for (const path of state.paths) {
    for (const { folder, name } of waypoints(resolve(state.cwd, path))) want(wanted, folder, name)
  }
  for (const folder of folders) want(wanted, folder, undefined)
  for (const [key, { watcher }] of state.watchers) {
    if (wanted.has(key)) continue
    watcher.close()
    state.watchers.delete(key)
  }
  let opened = false
  for (const [key, { folder, interest }] of wanted) {
    const known = state.watchers.get(key)
    if (known && isSameInterest(known.interest, interest)) continue
    known?.watcher.close()
    const watcher = open(state, folder, interest, clock)
    if (watcher) state.watchers.set(key, { watcher, interest })
    opened ||= watcher !== undefined
  }
  // Compare once more, because a change may have come before the watcher.
  if (opened) note(state, clock)
}

const isSameInterest = (a: Interest, b: Interest): boolean => a === b || (a !== 'any' && b !== 'any' && a.symmetricDifference(b).size === 0)

function want(wanted: Map<string, { folder: string; interest: Interest }>, folder: string, name: string | undefined): void {
  const key = keyOf(folder)
  if (key === undefined) return
  const known = wanted.get(key)?.interest
  const interest = name === undefined || known === 'any' ? 'any' : new Set([...(known ?? []), name])
  wanted.set(key, { folder, interest })
}

function keyOf(folder: string): string | undefined {
  try {
    const { dev, ino, birthtimeMs } = statSync(folder)
    return `${dev}:${ino}:${birthtimeMs}:${folder}`
  } catch {
    return undefined
  }
}

/** Undefined when watching fails (too many watchers, a file system without events): then the poll must do. */
function open(state: State, folder: string, interest: Interest, clock: Clock): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, (_event, name) => {
      if (interest === 'any' || name === null || interest.has(name)) note(state, clock)
    })
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return undefined
  }
}

function note(state: State, clock: Clock): void {
  const now = clock.monotonic()
  if (state.pending) state.pending.last = now
  else state.pending = { first: now, last: now }
  state.wake.abort()
}

interface Waypoint {
  readonly folder: string
  readonly name: string
}

const MAX_LINKS = 40

/** The places on the way to a path that may be swapped: each link, the last name, and the first missing one. */
export function waypoints(path: string): readonly Waypoint[] {
  const { root } = parse(path)
  const found: Waypoint[] = []
  let at = root
  let names = path.slice(root.length).split(sep)
  for (let links = 0; names.length > 0 && links < MAX_LINKS; ) {
    const [name = '', ...rest] = names
    names = rest
    if (name === '') continue
    const next = join(at, name)
    const target = linkTarget(next)
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
function linkTarget(path: string): string | false | undefined {
  try {
    return lstatSync(path).isSymbolicLink() && readlinkSync(path)
  } catch {
    return undefined
  }
}
