// Loads policy paths to one policy set per workspace: reads the files, judges them, and adds the commits of git.
import type { PolicyRevision } from '../../core/model/policy.ts'
import { homesOf } from './delegated.ts'
import { type FoundFile, type FoundFiles, readPolicyFiles } from './files.ts'
import { revisionOf } from './git.ts'
import { type Judged, judgePolicies } from './judge.ts'
import type { LoadedPolicies, LoadOptions } from './loaded.ts'
import { atOnce, type Steps } from './steps.ts'

/** Reads, parses, attributes and joins the policy files of `paths`, synchronously. Never throws for bad input. */
export const loadPolicies = (paths: readonly string[], options: LoadOptions = {}): LoadedPolicies => atOnce(loading(paths, options))

function* loading(paths: readonly string[], options: LoadOptions): Steps<LoadedPolicies> {
  const found = yield* readingOf(paths, options)
  const files = found.files.map((file) => {
    const text = options.replaced?.get(file.real)
    return text === undefined ? file : { ...file, bytes: Buffer.from(text) }
  })
  return yield* withRevisions(judgePolicies(paths, { ...found, files }, options), files)
}

/** Reads the files of platform and of all envelopes. */
export function* readingOf(paths: readonly string[], { cwd = process.cwd(), workspaces = [] }: LoadOptions): Steps<FoundFiles> {
  const envelopes = workspaces.flatMap((one) => (typeof one === 'string' ? [] : (one.envelopes ?? [])))
  return yield* readPolicyFiles(paths, cwd, yield* homesOf(envelopes, cwd))
}

/** Adds the commits of git, as far as they can be read. */
export function* withRevisions({ from, ...judged }: Judged, files: readonly FoundFile[]): Steps<LoadedPolicies> {
  const sets = new Map<string, PolicyRevision>()
  for (const [name, set] of judged.sets) {
    const { folders = [], files: read, paths = [] } = from.get(name) ?? {}
    const theirs = files.filter(({ real }) => read?.has(real))
    sets.set(name, { ...set, revision: yield* revisionOf(folders, theirs, paths) })
  }
  return { ...judged, sets }
}
