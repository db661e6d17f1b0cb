// Loads the config without a risk for the process: it is read beside a daemon, and parsed in a thread with bounds unless it is small.

import { resolve } from 'node:path'
import { readWhole } from '../../files.ts'
import { READING_DEADLINE_MS, SMALL_BYTES } from '../../policy/codes.ts'
import { MAX_FILE_BYTES } from '../../policy/load/files.ts'
import type { Clock } from '../../ports.ts'
import { completed, configFileOf, type LoadedConfig, readConfigFile } from './config.ts'
import type { ParsedConfig } from './file.ts'
import type { ConfigInput } from './settings.ts'

/** The config file, if any, with environment and flags on top. Never throws for bad input, never ends the process, never takes longer than the deadline. */
export async function loadConfigAside(input: ConfigInput, clock: Clock): Promise<LoadedConfig> {
  const file = configFileOf(input)
  const found = readConfigFile(input, file === undefined ? undefined : await bytesOf(resolve(input.cwd ?? process.cwd(), file), clock))
  if (!('text' in found)) return found
  if (found.text.length <= SMALL_BYTES) {
    // Without a config file its parser is not needed.
    const { parseConfigText } = await import('./file.ts')
    return completed(input, found, parseConfigText(found.shown, found.text, found.file))
  }
  const { beside, runAside } = await import('../../policy/load/aside.ts')
  const errand = { file: beside(import.meta.url, 'file-thread'), data: found, clock, deadlineMs: READING_DEADLINE_MS }
  const outcome = await runAside<ParsedConfig>(errand)
  if (outcome.kind === 'answer') return completed(input, found, outcome.answer)
  const why = {
    memory: 'needs more memory to be read than is allowed',
    time: `was not read within ${READING_DEADLINE_MS / 1000} s`,
    error: `cannot be read: ${outcome.message}`,
  }[outcome.kind]
  const at = { file: found.shown, line: 1, column: 1 }
  const hint = 'spread the workspaces over several config files and daemons'
  return { problems: [{ severity: 'error', code: 'TOO_LARGE', message: `${found.shown} ${why}`, at, hint }], file: found.file }
}

/** Gives what was read, or fails as the reading did. */
const bytesOf = (path: string, clock: Clock): Promise<() => Buffer> =>
  readWhole(path, MAX_FILE_BYTES, clock).then(
    ({ bytes }) =>
      () =>
        bytes,
    (error: unknown) => () => {
      throw error
    },
  )
