// How policies and git's files are looked at: at once (in a command or a thread), or in the background (in a daemon, which must wait for no file). Both
// have the same functions, so one walk serves both. It decides nothing.
import { type Dirent, opendir, opendirSync, readlink, readlinkSync, realpath, realpathSync, stat, statSync } from 'node:fs'
import { promisify } from 'node:util'
import { contentOf, oneAtATime, type Progress, readBytes, readerIs } from '../../files.ts'
import type { Clock } from '../../ports.ts'

export type Disk = typeof AT_ONCE

/** The thread that asks waits. */
export const AT_ONCE = {
  realPath: async (path: string) => realpathSync(path),
  stats: async (path: string) => statSync(path, { bigint: true }),
  linkText: async (path: string) => readlinkSync(path),
  bytes: async (path: string, maxBytes: number, flags = 0) => readBytes(path, maxBytes, flags),
  /** Some entries of a folder: all of them, or `most`. */
  async entries(folder: string, most: number) {
    using ended = new DisposableStack()
    const opened = ended.adopt(opendirSync(folder), (one) => one.closeSync())
    const entries: Dirent[] = []
    for (let entry = opened.readSync(); entry && entries.length < most; entry = opened.readSync()) entries.push(entry)
    return entries
  },
  /** What git writes of a repository. Rejects where git is missing or fails. It gets no variable of ours but the PATH. */
  git: async (gitDir: string, ...argv: readonly string[]) =>
    process.getBuiltinModule('node:child_process').execFileSync('git', [`--git-dir=${gitDir}`, ...argv], gitRun()),
}

/** Bounds of git's run: sooner than a file counts as stalled. Choice. */
const gitRun = () => ({
  ...({ encoding: 'utf8', timeout: 2_000, maxBuffer: 16 * 1024 * 1024, stdio: 'pipe' } as const),
  env: { PATH: process.env['PATH'], GIT_NO_LAZY_FETCH: '1', GIT_LITERAL_PATHSPECS: '1' },
})

/** The process goes on; `progress` is told of each path before. */
const besideFor = (progress: Progress): Disk => {
  const told =
    <P extends readonly unknown[], T>(ask: (path: string, ...more: P) => Promise<T>) =>
    (path: string, ...more: P): Promise<T> => {
      progress(path)
      return ask(path, ...more)
    }
  return {
    realPath: told<[], string>(promisify(realpath)),
    stats: told((path) => promisify(stat)(path, { bigint: true })),
    linkText: told<[], string>(promisify(readlink)),
    bytes: told(async (path, maxBytes: number, flags?: number) => (await contentOf(path, maxBytes, { flags })).bytes),
    entries: told(async (folder, most: number) => {
      const entries: Dirent[] = []
      for await (const entry of await promisify(opendir)(folder)) if (entries.push(entry) >= most) break
      return entries
    }),
    git: told(async (gitDir, ...argv: readonly string[]) => {
      const { execFile } = process.getBuiltinModule('node:child_process')
      return (await promisify(execFile)('git', [`--git-dir=${gitDir}`, ...argv], gitRun())).stdout
    }),
  }
}

export const ifFound = <T>(asked: Promise<T>): Promise<T | undefined> => asked.catch(() => undefined)

/** Looks in the background, one at a time for the same paths. Rejects with a `FileError` where it waits too long. */
export const lookedBeside = <T>(paths: readonly string[], clock: Clock, look: (disk: Disk) => Promise<T>): Promise<T> =>
  oneAtATime(paths.toSorted().join('\0'), clock, (progress) => look(besideFor(progress)))

/** Looks at once for a command, and beside a daemon. */
export const lookedAt = <T>(paths: readonly string[], clock: Clock, look: (disk: Disk) => Promise<T>): Promise<T> =>
  readerIs('command') ? look(AT_ONCE) : lookedBeside(paths, clock, look)
