// Takes a people file into what is known of people. A file that is missing, invalid or new changes nobody: the last good values stay.

import { basename } from 'node:path'
import type { Finding } from '../../core/model/condition.ts'
import type { Roster } from '../../core/model/observed.ts'
import { formatInstant } from '../../core/model/units.ts'
import { type DirectoryMemory, takeDirectory, UNCHANGED_MS, withListings } from '../../core/resolve/roster.ts'
import type { Clock } from '../../ports.ts'
import { finding } from '../conditions/findings.ts'
import type { DirectorySettings, Invalid } from './directory-thread.ts'
import type { ReadPeopleFile } from './read.ts'

interface DirectoryInputs {
  readonly settings: DirectorySettings
  readonly memory: DirectoryMemory | undefined
  readonly limitPercent: number | 'off'
  readonly clock: Clock
  readonly readPeopleFile: ReadPeopleFile
}

/** The roster with what the people file says of everybody, and what is remembered of the file from now on. */
export async function learnDirectory(
  roster: Roster,
  { settings, memory, limitPercent, clock, readPeopleFile }: DirectoryInputs,
): Promise<{ readonly roster: Roster; readonly memory?: DirectoryMemory; readonly findings: readonly Finding[] }> {
  const answer = await readPeopleFile(
    settings,
    roster.people.map(({ email }) => email),
    clock,
  )
  const name = basename(settings.file)
  if ('invalid' in answer) {
    const message = `${invalidText(settings.file, answer)}; ${memory ? 'the last good values stay in force' : 'no people file was good yet'}`
    const found = finding('FileUnread', 'DIRECTORY_INVALID', message, name)
    return { roster: withListings(roster, memory), memory, findings: [found] }
  }
  const next = takeDirectory(answer, memory, roster, limitPercent, clock.now())
  return { roster: withListings(roster, next), memory: next, findings: waiting(name, next, limitPercent) }
}

/** A file that does not count yet. */
function waiting(name: string, { next }: DirectoryMemory, limitPercent: number | 'off'): readonly Finding[] {
  if (!next) return []
  if (next.fell) {
    const fell = `people with a value fell from ${next.fell.from} to ${next.fell.to}, the limit is ${limitPercent} %`
    const message = `${name}: ${fell}; the last good values stay in force. Put the file right, or raise guards.directoryShrink if it is`
    return [{ ...finding('DirectoryDoubted', 'DIRECTORY_DOUBTED', message, name), since: next.doubtedAt ?? next.since }]
  }
  const message = `${name} has changed, and counts when it has stayed the same until ${formatInstant(next.since + UNCHANGED_MS)}`
  return [{ ...finding('DirectoryWaits', 'DIRECTORY_WAITS', message, name), since: next.since }]
}

/** `people.csv:12: has an address that line 7 has as well`. */
const invalidText = (file: string, { invalid, line }: Invalid): string =>
  `${basename(file)}${line === undefined ? '' : `:${line}`}: ${invalid}`
