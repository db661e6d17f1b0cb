// How policies and git's files are looked at, in steps: whoever walks says what it wants to know next, and whoever runs the steps finds it out, at once
// (a command, a thread) or beside the process (a daemon, which must wait for no file). So there is one walk for both. It decides nothing.
import { type Dirent, opendir, opendirSync, readlink, readlinkSync, realpath, realpathSync, stat, statSync } from 'node:fs'
import { promisify } from 'node:util'
import { contentOf, oneAtATime, type Progress, readBytes, readerIs } from '../../files.ts'
import type { Clock } from '../../ports.ts'

interface Step {
  readonly path: string
  readonly now: () => unknown
  readonly later: () => Promise<unknown>
}

/** Asked for with `yield*`; what finding out throws is thrown there. */
export type Steps<T> = Generator<Step, T, unknown>

function step<P extends readonly unknown[], T>(
  now: (path: string, ...more: P) => T,
  later: (path: string, ...more: P) => Promise<T>,
): (path: string, ...more: P) => Steps<T> {
  return function* (path, ...more) {
    return (yield { path, now: () => now(path, ...more), later: () => later(path, ...more) }) as T
  }
}

export const realPathOf = step<[], string>(realpathSync, promisify(realpath))
export const statsOf = step(
  (path) => statSync(path, { bigint: true }),
  (path) => promisify(stat)(path, { bigint: true }),
)
export const linkTextOf = step<[], string>(readlinkSync, promisify(readlink))
export const bytesOf = step(
  (path, maxBytes: number, flags?: number) => readBytes(path, maxBytes, flags ?? 0),
  async (path, maxBytes: number, flags?: number) => (await contentOf(path, maxBytes, { flags })).bytes,
)

/** Bounds of a program's run: sooner than a file counts as stalled. Choice. */
const RUN = { encoding: 'utf8', timeout: 2_000, maxBuffer: 16 * 1024 * 1024, stdio: 'pipe' } as const

/** What a program writes that looks at a folder. Throws where it is missing or fails. It gets no variable of ours but the PATH. */
export const outputOf = step(
  (_folder, program: string, argv: readonly string[], env: Variables) =>
    process.getBuiltinModule('node:child_process').execFileSync(program, argv, runWith(env)),
  async (_folder, program: string, argv: readonly string[], env: Variables) =>
    (await promisify(process.getBuiltinModule('node:child_process').execFile)(program, argv, runWith(env))).stdout,
)

type Variables = Readonly<Record<string, string>>

const runWith = (env: Variables) => ({ ...RUN, env: { PATH: process.env['PATH'], ...env } })

/** Some entries of a folder: all of them, or `most`. */
export const entriesOf = step(
  (folder, most: number) => {
    using ended = new DisposableStack()
    const opened = ended.adopt(opendirSync(folder), (one) => one.closeSync())
    const entries: Dirent[] = []
    for (let entry = opened.readSync(); entry && entries.length < most; entry = opened.readSync()) entries.push(entry)
    return entries
  },
  async (folder, most: number) => {
    const entries: Dirent[] = []
    for await (const entry of await promisify(opendir)(folder)) if (entries.push(entry) >= most) break
    return entries
  },
)

/** What steps come to, or undefined where they throw. */
export function* ifFound<T>(steps: Steps<T>): Steps<T | undefined> {
  try {
    return yield* steps
  } catch {
    return undefined
  }
}

/** Runs steps on this thread, which waits for them. */
export function atOnce<T>(steps: Steps<T>): T {
  let next = steps.next()
  while (!next.done) {
    let found: unknown
    try {
      found = next.value.now()
    } catch (error) {
      next = steps.throw(error)
      continue
    }
    next = steps.next(found)
  }
  return next.value
}

/** Runs steps beside the process. */
async function oneByOne<T>(steps: Steps<T>, progress: Progress): Promise<T> {
  let next = steps.next()
  while (!next.done) {
    progress(next.value.path)
    const [found] = await Promise.allSettled([next.value.later()])
    next = found.status === 'fulfilled' ? steps.next(found.value) : steps.throw(found.reason)
  }
  return next.value
}

/** Runs steps beside the process, one at a time for the same paths. Rejects with a `FileError` where it waits too long. */
export const lookedBeside = <T>(paths: readonly string[], clock: Clock, steps: Steps<T>): Promise<T> =>
  oneAtATime(paths.toSorted().join('\0'), clock, (progress) => oneByOne(steps, progress))

/** Runs steps at once for a command, and beside a daemon. */
export const lookedAt = async <T>(paths: readonly string[], clock: Clock, steps: Steps<T>): Promise<T> =>
  readerIs('command') ? atOnce(steps) : lookedBeside(paths, clock, steps)
