// Loads policy paths to one policy set per workspace: reads the files, judges them, and adds the commits of git. Without risk for the process they are
// read at once for a command, and beside a daemon, so that a file system that is gone does not stop it. What was read is parsed, a few small files on
// the calling thread, everything else in a thread with bounds, which costs 30 MiB. A file that is too much for the thread is reported, and the others
// are parsed without it.
import { dirname, resolve } from 'node:path'
import type { PolicyRevision } from '../../core/model/policy.ts'
import type { Problem } from '../../core/model/problem.ts'
import { FileError } from '../../files.ts'
import type { Clock } from '../../ports.ts'
import { READING_DEADLINE_MS, SMALL_BYTES, SMALL_FILES } from '../bounds.ts'
import type { Outcome } from './aside.ts'
import { homesOf } from './delegated.ts'
import { AT_ONCE, type Disk, lookedAt } from './disk.ts'
import { type FoundFile, type FoundFiles, readPolicyFiles, STALLED, shownPath } from './files.ts'
import { revisionOf } from './git.ts'
import { type Judged, judgePolicies } from './judge.ts'
import type { LoadedPolicies, LoadOptions } from './loaded.ts'

/** How many files may be left out, one after the other, before loading fails. */
const MAX_REFUSED = 8

/** Reads, parses, attributes and joins the policy files of `paths` on this thread. Never rejects for bad input. */
export async function loadPolicies(paths: readonly string[], options: LoadOptions = {}): Promise<LoadedPolicies> {
  const found = await readingOf(AT_ONCE, paths, options)
  const files = found.files.map((file) => {
    const text = options.replaced?.get(file.real)
    return text === undefined ? file : { ...file, bytes: Buffer.from(text) }
  })
  return withRevisions(AT_ONCE, judgePolicies(paths, { ...found, files }, options), files, options)
}

/** Reads the files of platform and of all envelopes. */
async function readingOf(disk: Disk, paths: readonly string[], { cwd = process.cwd(), workspaces = [] }: LoadOptions): Promise<FoundFiles> {
  const envelopes = workspaces.flatMap((one) => (typeof one === 'string' ? [] : (one.envelopes ?? [])))
  return readPolicyFiles(disk, paths, cwd, await homesOf(disk, envelopes, cwd))
}

/** Adds the commits of git, as far as they can be read. */
async function withRevisions(disk: Disk, judged: Judged, files: readonly FoundFile[], { cwd = '' }: LoadOptions): Promise<LoadedPolicies> {
  const sets = new Map<string, PolicyRevision>()
  for (const [name, { from, ...set }] of judged.sets) {
    const theirs = files.filter(({ roots }) => roots.some((root) => from.paths.has(root)))
    const folders = theirs.filter(({ shown }) => from.files.has(shown)).map(({ real }) => dirname(real))
    const paths = [...from.paths].map((path) => resolve(cwd, path))
    sets.set(name, { ...set, revision: await revisionOf(disk, folders, theirs, paths) })
  }
  return { ...judged, sets }
}

/** `loadPolicies` that never ends the process and never takes longer than the deadline. Never throws for bad input. */
export async function loadPoliciesAside(paths: readonly string[], given: LoadOptions, clock: Clock): Promise<LoadedPolicies> {
  const options = { ...given, cwd: given.cwd ?? process.cwd() }
  try {
    const found = await lookedAt(paths, clock, (disk) => readingOf(disk, paths, options))
    const judged = await judgeAside(paths, found, options, clock)
    return await lookedAt(paths, clock, (disk) => withRevisions(disk, judged, found.files, options))
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    const file = shownPath(error.path ?? '.', options.cwd)
    const problem: Problem = { severity: 'error', code: error.code, message: `${file} ${error.message}`, at: { file, line: 1, column: 1 } }
    return nothing([problem], STALLED)
  }
}

async function judgeAside(paths: readonly string[], found: FoundFiles, options: LoadOptions, clock: Clock): Promise<Judged> {
  const bytes = found.files.reduce((sum, file) => sum + file.bytes.length, 0)
  if (bytes <= SMALL_BYTES && found.files.length <= SMALL_FILES) return judgePolicies(paths, found, options)
  const { beside, runAside } = await import('./aside.ts')
  const end = clock.monotonic() + READING_DEADLINE_MS
  const refused = new Map<string, Problem>()
  for (;;) {
    const data = { paths, found, options: { ...options, refused } }
    const deadlineMs = Math.max(1, end - clock.monotonic())
    const outcome = await runAside<Judged>({ file: beside(import.meta.url, 'load-thread'), data, clock, deadlineMs })
    if (outcome.kind === 'answer') return outcome.answer
    const problem = problemOf(outcome)
    const isKnown = outcome.at === undefined || refused.has(outcome.at) || refused.size >= MAX_REFUSED
    if (isKnown || outcome.at === undefined || outcome.kind === 'time') return nothing([...refused.values(), problem], found.stamp)
    refused.set(outcome.at, problem)
  }
}

const nothing = (problems: readonly Problem[], stamp: string) =>
  ({ sets: new Map(), problems, problemsOf: new Map(), files: [], stamp }) satisfies Judged

function problemOf({ kind, at, message }: Exclude<Outcome<Judged>, { readonly kind: 'answer' }>): Problem {
  const subject = at ?? 'the policies'
  const place = { severity: 'error', at: at === undefined ? undefined : { file: at, line: 1, column: 1 } } as const
  if (kind === 'error') return { ...place, code: 'FILE_UNREADABLE', message: `${subject} cannot be read: ${message}` }
  const why = kind === 'memory' ? 'needs more memory to be read than is given' : `was not read within ${READING_DEADLINE_MS / 1000} s`
  return { ...place, code: 'TOO_LARGE', message: `${subject} ${why}`, hint: 'split it into several files' }
}
