// Whether a people file can be used, for commands that check a config. None of its lines is ever shown: they have what is not to be kept.
import type { Problem } from '../../core/model/problem.ts'
import { shownPath } from '../../policy/load/files.ts'
import type { Place } from '../../policy/yaml.ts'
import type { Clock } from '../../ports.ts'
import type { DirectorySettings } from './csv.ts'
import { readDirectoryAside } from './read.ts'

/** How many people it lists, or what is wrong with it. Only a warning where it cannot be read, because it may exist only where capkeeper runs. */
export async function checkPeopleFile(
  settings: DirectorySettings,
  clock: Clock,
  place?: Place,
): Promise<{ readonly people: number } | { readonly problem: Problem }> {
  const answer = await readDirectoryAside(settings, [], clock)
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
