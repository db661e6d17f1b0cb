// The readings of an interrupted `import`, one line of JSON each, so that a crash loses at most one line. A journal that cannot be written only
// costs the resumption. A file that is no journal is never written to or removed.
import { appendFileSync, rmSync, statSync } from 'node:fs'
import { isYounger } from '../../core/model/age.ts'
import type { Cap } from '../../core/model/policy.ts'
import { parseScope, type Scope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import { credits, type Instant, MAX_CAP } from '../../core/model/units.ts'
import { readText } from '../../files.ts'
import { UsageError } from '../shared/context.ts'

/** Older readings are read again, because others may have written since. Choice. */
const JOURNAL_LIFE_MS = 3_600_000

interface JournalEntry {
  readonly scope: Scope
  readonly cap: Cap
  readonly readAt: Instant
}

export interface Journal {
  /** Recent readings of this workspace at this address. */
  readonly known: ReadonlyMap<ScopeKey, JournalEntry>
  keep(entry: JournalEntry): void
  /** Deletes the file when the import is complete. */
  remove(): void
}

/** Opens the journal of one workspace; lines of others are ignored. Throws a `UsageError` when the file is no journal. */
export function openJournal(file: string, owner: { readonly workspace: string; readonly baseUrl: string }, now: Instant): Journal {
  const known = new Map<ScopeKey, JournalEntry>()
  for (const line of linesOf(file)) {
    const entry = decode(line, owner)
    if (entry && isYounger(entry.readAt, now, JOURNAL_LIFE_MS)) known.set(scopeKey(entry.scope), entry)
  }
  let isKept = true
  return {
    known,
    keep({ scope, cap, readAt }) {
      const line = `${JSON.stringify({ ...owner, scope: scopeKey(scope), cap, readAt })}\n`
      if (isKept) isKept = succeeds(() => appendFileSync(file, line, { mode: 0o600 }))
    },
    remove: () => void succeeds(() => rmSync(file, { force: true })),
  }
}

function succeeds(act: () => void): boolean {
  try {
    act()
    return true
  } catch {
    return false
  }
}

const MAX_JOURNAL_BYTES = 256 * 1024 * 1024

/** The start of a journal: `keep` writes the workspace first. */
const JOURNAL = /^(?:$|\{"workspace":)/

/** The file is deleted in the end, so it must be a journal, not a policy named by mistake, nor a device. */
function linesOf(file: string): readonly string[] {
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found) return []
  const text = found.isFile() ? readText(file, MAX_JOURNAL_BYTES) : 'something else'
  if (JOURNAL.test(text)) return text.split('\n')
  throw new UsageError(`${file} is not a journal of import: name another file with --journal`)
}

/** A line that is cut, invalid or of another workspace is no reading. */
function decode(line: string, owner: { readonly workspace: string; readonly baseUrl: string }): JournalEntry | undefined {
  const entry = objectOf(line)
  if (entry?.['workspace'] !== owner.workspace || entry['baseUrl'] !== owner.baseUrl) return undefined
  const { scope: key, cap, readAt } = entry
  const scope = typeof key === 'string' ? parseScope(key) : undefined
  if (!scope || typeof readAt !== 'number') return undefined
  if (cap === 'none') return { scope, cap, readAt }
  const isCap = typeof cap === 'number' && Number.isInteger(cap) && cap >= 0 && cap <= MAX_CAP
  return isCap ? { scope, cap: credits(cap), readAt } : undefined
}

function objectOf(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}
