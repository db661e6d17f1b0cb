// Loads policies without risk for the process: they are read at once for a command, and beside a daemon, so that a file system that is gone does not
// stop it. What was read is parsed, a few small files on the calling thread, everything else in a thread with bounds, which costs 30 MiB. A file that
// is too much for the thread is reported, and the others are parsed without it.
import type { Problem } from '../../core/model/problem.ts'
import { FileError } from '../../files.ts'
import type { Clock } from '../../ports.ts'
import { READING_DEADLINE_MS, SMALL_BYTES, SMALL_FILES } from '../codes.ts'
import type { Outcome } from './aside.ts'
import { type FoundFiles, shownPath } from './files.ts'
import { type Judged, judgePolicies } from './judge.ts'
import { readingOf, withRevisions } from './load.ts'
import { type LoadedPolicies, type LoadOptions, STALLED, type WorkspaceSource } from './loaded.ts'
import { lookedAt } from './steps.ts'

/** How many files may be left out, one after the other, before loading fails. */
const MAX_REFUSED = 8

/** `loadPolicies` that never ends the process and never takes longer than the deadline. Never throws for bad input. */
export async function loadPoliciesAside(paths: readonly string[], given: LoadOptions, clock: Clock): Promise<LoadedPolicies> {
  const options = { ...given, cwd: given.cwd ?? process.cwd() }
  try {
    const found = await lookedAt(paths, clock, readingOf(paths, options))
    return await lookedAt(paths, clock, withRevisions(await judgeAside(paths, found, options, clock), found.files))
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
    const data = { paths, found, options: plainSources({ ...options, refused }) }
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
  ({ sets: new Map(), from: new Map(), problems, problemsOf: new Map(), files: [], stamp }) satisfies Judged

/** Options that can be sent to a thread. */
export const plainSources = ({ workspaces, ...options }: LoadOptions): LoadOptions => ({
  ...options,
  workspaces: workspaces?.map((one) => (typeof one === 'string' ? one : sourceOf(one))),
})

/** The part of a configured workspace that the thread needs. */
const sourceOf = ({ name, policies, capSemantics, envelopes, directory }: WorkspaceSource): WorkspaceSource => ({
  name,
  policies,
  capSemantics,
  envelopes,
  directory: directory && { columns: directory.columns },
})

function problemOf({ kind, at, message }: Exclude<Outcome<Judged>, { readonly kind: 'answer' }>): Problem {
  const subject = at ?? 'the policies'
  const place = at === undefined ? {} : { at: { file: at, line: 1, column: 1 } }
  const tooLarge = (message: string): Problem => ({
    ...{ severity: 'error', code: 'TOO_LARGE', message, ...place },
    hint: 'split it into several files',
  })
  switch (kind) {
    case 'memory':
      return tooLarge(`${subject} needs more memory to be read than is given`)
    case 'time':
      return tooLarge(`${subject} was not read within ${READING_DEADLINE_MS / 1000} s`)
    case 'error':
      return { severity: 'error', code: 'FILE_UNREADABLE', message: `${subject} cannot be read: ${message}`, ...place }
  }
}
