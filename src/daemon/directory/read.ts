// Reads a people file in the background, and parses it in a thread with bounds. None of its lines is ever shown: they hold columns that are not kept.

import type { Problem } from '../../core/model/problem.ts'
import type { DirectoryFile } from '../../core/resolve/roster.ts'
import { FileError, readWhole, whyUnread } from '../../files.ts'
import { beside, runAside } from '../../policy/load/aside.ts'
import { shownPath } from '../../policy/load/files.ts'
import type { Place } from '../../policy/yaml.ts'
import type { Clock } from '../../ports.ts'
import type { Answer, Asked, DirectorySettings, Invalid } from './directory-thread.ts'

const DEADLINE_MS = 20_000
const MAX_BYTES = 16 * 1024 * 1024

/** Memory of the thread, in MiB: the addresses of 100,000 people, and one row at a time. */
const MEMORY = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 } as const

/** What a file says: `others` are people in it who were not asked for. */
type DirectoryAnswer = (DirectoryFile & { readonly others: readonly string[] }) | Invalid

/** Reads the file, keeping only the given people. Never rejects. */
export type ReadPeopleFile = (settings: DirectorySettings, emails: readonly string[], clock: Clock) => Promise<DirectoryAnswer>

export const readPeopleFile: ReadPeopleFile = async (settings, emails, clock) => {
  const read = await readWhole(settings.file, MAX_BYTES, clock).catch((error: unknown) => ({
    invalid: whyUnread(error),
    line: error instanceof FileError ? 1 : undefined,
  }))
  if ('invalid' in read) return read
  const data: Asked = { settings, bytes: read.bytes, emails: emails.join('\n') }
  const file = beside(import.meta.url, 'directory-thread')
  const outcome = await runAside<Answer | Invalid>({ file, data, clock, deadlineMs: DEADLINE_MS, memory: MEMORY })
  if (outcome.kind !== 'answer')
    return { invalid: outcome.kind === 'memory' ? 'needs more memory to be read than is given' : outcome.message, line: 1 }
  const { answer } = outcome
  if ('invalid' in answer) return answer
  const people = new Map(
    emails.flatMap((email, index) => {
      const values = answer.values[answer.rows[index] ?? -1]
      return values ? [[email, values] as const] : []
    }),
  )
  return { digest: answer.digest, people, others: answer.others === '' ? [] : answer.others.split('\n') }
}

/** How many people it lists, or what is wrong with it. Only a warning where it cannot be opened, because it may exist only where capkeeper runs. */
export async function checkPeopleFile(
  settings: DirectorySettings,
  clock: Clock,
  place?: Place,
): Promise<{ readonly people: number } | { readonly problem: Problem }> {
  const answer = await readPeopleFile(settings, [], clock)
  if (!('invalid' in answer)) return { people: answer.others.length }
  const shown = shownPath(settings.file, process.cwd())
  const { invalid, line } = answer
  if (line === undefined) {
    const hint = 'correct directory.file, unless the file is only where capkeeper runs'
    return { problem: { severity: 'warning', code: 'DIRECTORY_INVALID', message: `the people file ${shown} ${invalid}`, ...place, hint } }
  }
  const at = { file: shown, line, column: 1 }
  const hint = 'until it is right, the last good values stay in force'
  const other = place?.at && { other: place.at }
  return { problem: { severity: 'error', code: 'DIRECTORY_INVALID', message: `the people file: ${invalid}`, at, hint, ...other } }
}
