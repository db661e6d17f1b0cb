// The config as it is loaded from a small file, at once.
import { completed, type LoadedConfig, readConfigFile } from '../../src/daemon/config/config.ts'
import { parseConfigText } from '../../src/daemon/config/file.ts'
import type { ConfigInput } from '../../src/daemon/config/settings.ts'

export function loadConfig(input: ConfigInput): LoadedConfig {
  const found = readConfigFile(input)
  return 'text' in found ? completed(input, found, parseConfigText(found.shown, found.text, found.file)) : found
}
