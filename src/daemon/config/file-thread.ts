// The thread that a config file is parsed in when it is more than a little.
import { parentPort, workerData } from 'node:worker_threads'
import type { Said } from '../../policy/load/aside.ts'
import type { ConfigFileText } from './config.ts'
import { type ParsedConfig, parseConfigText } from './file.ts'

const { shown, text, file }: ConfigFileText = workerData
const said: Said<ParsedConfig> = { kind: 'answer', answer: parseConfigText(shown, text, file) }
parentPort?.postMessage(said)
