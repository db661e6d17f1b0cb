// Calls back when policy files have changed. Each folder is watched, and each folder and link on the way to it, because Kubernetes swaps `..data` and
// git-sync its worktree. A slow poll finds changes without an event (network file systems). It never reads a policy, never throws,
// and does not call back when all files are as before. It looks in the background, because a file system that is gone must not stop that.
import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import type { Clock } from '../../ports.ts'
import { type EnvelopeSource, homesOf } from './delegated.ts'
import { type Disk, ifFound, lookedBeside } from './disk.ts'
import { listing, STALLED } from './files.ts'

/** The names in a folder that matter. */
type Interest = ReadonlySet<string> | 'any'

/** `stamp` changes when a file that is read, or what keeps one from being read, changes; `wanted` are the folders where this would show. */
interface Stamp {
  readonly stamp: string
  readonly wanted: ReadonlyMap<string, { readonly folder: string; readonly interest: Interest }>
}

/** Rejects with a `FileError` when a path does not answer. */
const stampOf = (paths: readonly string[], clock: Clock, where: Where): Promise<Stamp> =>
  lookedBeside(paths, clock, (disk) => looking(disk, paths, where))

async function looking(disk: Disk, paths: readonly string[], { cwd = process.cwd(), envelopes = [] }: Where): Promise<Stamp> {
  const { stamp, folders } = await listing(disk, paths, cwd, await homesOf(disk, envelopes, cwd))
  const wanted = new Map<string, { folder: string; interest: Interest }>()
  for (const path of paths) {
    const whole = resolve(cwd, path)
    // The link of Kubernetes is beside a file that is mounted; git-sync's may be anywhere on the way.
    await want(disk, wanted, dirname(whole), '..data')
    await wantWay(disk, wanted, whole, new Set())
  }
  for (const folder of folders) await want(disk, wanted, folder, undefined)
  return { stamp, wanted }
}

/** Paths on the way to one, with the targets of its links. */
const MAX_WAY = 1_000

/** What is on the way to a path may be swapped: each folder above it, and the way to the target of each link among them. */
async function wantWay(disk: Disk, wanted: Parameters<typeof want>[1], path: string, seen: Set<string>): Promise<void> {
  for (let at = path; at !== dirname(at) && !seen.has(at) && seen.size < MAX_WAY; at = dirname(at)) {
    seen.add(at)
    await want(disk, wanted, dirname(at), basename(at))
    const target = await ifFound(disk.linkText(at))
    if (target !== undefined) await wantWay(disk, wanted, resolve((await ifFound(disk.realPath(dirname(at)))) ?? dirname(at), target), seen)
  }
}

async function want(
  disk: Disk,
  wanted: Map<string, { folder: string; interest: Interest }>,
  folder: string,
  name: string | undefined,
): Promise<void> {
  const stats = await ifFound(disk.stats(folder))
  if (!stats) return
  const key = `${stats.dev}:${stats.ino}:${stats.birthtimeNs}:${folder}`
  const known = wanted.get(key)?.interest
  const interest = name === undefined || known === 'any' ? 'any' : new Set([...(known ?? []), name])
  wanted.set(key, { folder, interest })
}

interface Where {
  /** Default: the process's. */
  readonly cwd?: string
  /** Policy folders of teams, which are read with bounds of their own. */
  readonly envelopes?: readonly EnvelopeSource[]
}

interface WatchOptions extends Where {
  /** The files must be quiet for so long; default 100 ms. */
  readonly quietMs?: number
  /** A change is reported after so long even when events go on; default 1000 ms. */
  readonly patienceMs?: number
  /** How often the files are compared without an event; default 5 s. */
  readonly pollMs?: number
  /** The stamp of the files as they were last read, so that a reading of another state, or a failed one, is repeated; default: as they were last seen. */
  readonly since?: () => string | undefined
}

export interface Watcher {
  close(): void
}

const newState = (paths: readonly string[], options: WatchOptions) => ({
  paths,
  options,
  watchers: new Map<string, { readonly watcher: FSWatcher; readonly interest: Interest }>(),
  closed: new AbortController(),
  stamp: STALLED as string,
  /** Monotonic time of the first and the last pending event. */
  pending: undefined as { readonly first: number; last: number } | undefined,
  /** Ends the present wait. */
  wake: new AbortController(),
})
type State = ReturnType<typeof newState>

/**
 * Watches once it is resolved. Calls `onChange` within 200 ms of the last event when the policy files of `paths` differ from those at the last
 * call (or of `since`). A path may be a file, a folder, a link, or missing. Errors of `onChange` are ignored.
 */
export async function watchPaths(
  paths: readonly string[],
  clock: Clock,
  onChange: () => unknown,
  options: WatchOptions = {},
): Promise<Watcher> {
  const state = newState(paths, options)
  const stamp = await look(state, clock)
  state.stamp = options.since?.() ?? stamp
  void observe(state, clock, onChange)
  return {
    close() {
      state.closed.abort()
      state.wake.abort()
      for (const { watcher } of state.watchers.values()) watcher.close()
      state.watchers.clear()
    },
  }
}

async function observe(state: State, clock: Clock, onChange: () => unknown): Promise<void> {
  const { quietMs = 100, patienceMs = 1000, pollMs = 5000 } = state.options
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
function isWoken(state: State, clock: Clock, ms: number): Promise<boolean> {
  state.wake = new AbortController()
  return clock.sleep(ms, state.wake.signal).then(
    () => false,
    () => true,
  )
}

async function compare(state: State, clock: Clock, onChange: () => unknown): Promise<void> {
  const seen = state.stamp
  state.stamp = await look(state, clock)
  const before = state.options.since?.() ?? seen
  if (state.stamp === before || state.closed.signal.aborted) return
  // The receiver reports its own errors; the next change must still be reported.
  await Promise.resolve()
    .then(onChange)
    .catch(() => undefined)
}

/** How the files are before they are read, for `since`. */
export const stampBefore = (paths: readonly string[], clock: Clock): Promise<string> =>
  stampOf(paths, clock, {}).then(
    ({ stamp }) => stamp,
    () => STALLED,
  )

/** How the files are now; their folders are watched from then on. */
async function look(state: State, clock: Clock): Promise<string> {
  try {
    const { stamp, wanted } = await stampOf(state.paths, clock, state.options)
    arm(state, wanted, clock)
    return stamp
  } catch {
    return STALLED
  }
}

/** Opens and closes watchers for the folders as they are now. A replaced folder has another inode, and so gets a new watcher. */
function arm(state: State, wanted: Stamp['wanted'], clock: Clock): void {
  if (state.closed.signal.aborted) return
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
