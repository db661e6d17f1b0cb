// Loads the config in the calling thread. The daemon uses `load-aside.ts`, which no config file can block.

import { completed, type LoadedConfig, readConfigFile } from './config.ts'
import { parseConfigText } from './file.ts'
import type { ConfigInput } from './settings.ts'

/** Reads the config file, if any, and puts environment and flags on top. Never throws for bad input; never reads a service key. */
export function loadConfig(input: ConfigInput): LoadedConfig {
  const found = readConfigFile(input)
  return 'text' in found ? completed(input, found, parseConfigText(found.shown, found.text, found.file)) : found
}
