// Loads policies without risk for the process: a few small files on the calling thread, everything else in a thread with bounds. A file that is too
// much for the thread is reported, and the others are read without it. For a daemon all of them are read through beside it first, so that a file system
// that is gone does not stop it: a thread for each loading would cost it 30 MiB.
import type { Problem } from '../../core/model/problem.ts'
import { FileError, readerIs } from '../../files.ts'
import type { Clock } from '../../ports.ts'
import { READING_DEADLINE_MS, SMALL_BYTES, SMALL_FILES } from '../bounds.ts'
import type { Outcome } from './aside.ts'
import { listPolicyFiles, shownPath } from './files.ts'
import { type LoadedPolicies, type LoadOptions, loadPolicies, type WorkspaceSource } from './load.ts'

/** How many files may be left out, one after the other, before loading fails. */
const MAX_REFUSED = 8

/** `loadPolicies` that never ends the process and never takes longer than the deadline. Never throws for bad input. */
export async function loadPoliciesAside(paths: readonly string[], options: LoadOptions, clock: Clock): Promise<LoadedPolicies> {
  const cwd = options.cwd ?? process.cwd()
  const stalled = readerIs('command') ? undefined : await stalledIn(paths, cwd, clock)
  if (stalled) return nothing([stalled])
  const { bytes, files } = listPolicyFiles(paths, cwd)
  if (bytes <= SMALL_BYTES && files.length <= SMALL_FILES) return loadPolicies(paths, options)
  const { beside, runAside } = await import('./aside.ts')
  const end = clock.monotonic() + READING_DEADLINE_MS
  const refused = new Map<string, Problem>()
  for (;;) {
    const data = { paths, options: plainSources({ ...options, cwd, refused }) }
    const deadlineMs = Math.max(1, end - clock.monotonic())
    const outcome = await runAside<LoadedPolicies>({ file: beside(import.meta.url, 'load-thread'), data, clock, deadlineMs })
    if (outcome.kind === 'answer') return outcome.answer
    const problem = problemOf(outcome)
    const isKnown = outcome.at === undefined || refused.has(outcome.at) || refused.size >= MAX_REFUSED
    if (isKnown || outcome.at === undefined || outcome.kind === 'time') return nothing([...refused.values(), problem])
    refused.set(outcome.at, problem)
  }
}

const nothing = (problems: readonly Problem[]): LoadedPolicies => ({ sets: new Map(), problems, problemsOf: new Map(), files: [] })

/** A path that does not answer, found before a thread would wait for it in vain. */
async function stalledIn(paths: readonly string[], cwd: string, clock: Clock): Promise<Problem | undefined> {
  try {
    const { readThrough } = await import('./stamp.ts')
    await readThrough(paths, cwd, clock)
    return undefined
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    const file = shownPath(error.path ?? '.', cwd)
    return { severity: 'error', code: error.code, message: `${file} ${error.message}`, at: { file, line: 1, column: 1 } }
  }
}

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

function problemOf({ kind, at, message }: Exclude<Outcome<LoadedPolicies>, { readonly kind: 'answer' }>): Problem {
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
