// What loading policies is given, and what it gives.
import type { PolicyRevision } from '../../core/model/policy.ts'
import type { Problem } from '../../core/model/problem.ts'
import type { Instant } from '../../core/model/units.ts'
import type { PolicyDocument } from '../parse.ts'
import type { EnvelopeSource } from './delegated.ts'
import type { PolicyText } from './files.ts'

/** A configured workspace. It reads the files of its `policies`, or all files when it has none, or none of them is among the given paths. */
export interface WorkspaceSource {
  readonly name: string
  readonly policies?: readonly string[]
  /** With `copied`, pools are refused; default: layered. */
  readonly capSemantics?: 'layered' | 'copied'
  /** Policy folders of teams. */
  readonly envelopes?: readonly EnvelopeSource[]
  /** The columns of its people file; absent: it has none. */
  readonly directory?: { readonly columns: readonly string[] }
}

export interface LoadOptions {
  /** All configured workspaces, also when one was chosen. Absent without a config file. */
  readonly workspaces?: readonly (string | WorkspaceSource)[]
  /** Without configured workspaces: the value of `--workspace`. */
  readonly workspace?: string
  /** Default: the process's. */
  readonly cwd?: string
  /** Warns about grants that ended before; absent: no such warning. */
  readonly now?: Instant
  /** Files that are too large for this machine, by the path shown, with the problem to report. */
  readonly refused?: ReadonlyMap<string, Problem>
  /** Called with each file before it is parsed. */
  readonly onFile?: (shown: string) => void
  /** Texts to load in place of those of the files, by real path. */
  readonly replaced?: ReadonlyMap<string, string>
  /** Sets have all that the files say, also what envelopes do not accept. */
  readonly asWritten?: boolean
  /** Returns the documents with their trees. */
  readonly keepTrees?: boolean
}

/**
 * The result of loading. `sets` has only workspaces without an error in their files, empty ones included: a missing set means "keep the last good
 * one". `problems` are those of all files, sorted. An error that cannot be attributed makes every workspace that reads the file incomplete.
 * `workspace` is the only workspace's name without a config file.
 */
export interface LoadedPolicies {
  readonly sets: ReadonlyMap<string, PolicyRevision>
  readonly problems: readonly Problem[]
  /** Those of them that are of envelopes: everything else goes on. */
  readonly ofEnvelopes?: readonly Problem[]
  /** The problems of each workspace, sorted: those of its documents, and of files that it reads and that are not known to be another's. */
  readonly problemsOf: ReadonlyMap<string, readonly Problem[]>
  /** Paths as shown, sorted. */
  readonly files: readonly string[]
  /** Changes when the files do (`watch.ts`). */
  readonly stamp: string
  readonly workspace?: string
  readonly kept?: KeptTexts
}

/** Where trees are kept: the files, and the documents of each workspace. */
export interface KeptTexts {
  readonly texts: readonly PolicyText[]
  readonly documents: ReadonlyMap<string, readonly PolicyDocument[]>
}
