// The config as it is loaded from a small file, at once.
import { completed, configFileOf, type LoadedConfig } from '../../src/daemon/config/config.ts'
import { parseConfigText } from '../../src/daemon/config/file.ts'
import type { ConfigInput } from '../../src/daemon/config/settings.ts'
import { readTextFile, shownPath } from '../../src/policy/load/files.ts'

export function loadConfig(input: ConfigInput): LoadedConfig {
  const file = configFileOf(input)
  if (file === undefined) return completed(input)
  const cwd = input.cwd ?? process.cwd()
  const found = readTextFile(file, cwd)
  if ('problem' in found) return { problems: [found.problem], file }
  return completed(input, parseConfigText(shownPath(file, cwd) || file, found.text, file), file)
}
