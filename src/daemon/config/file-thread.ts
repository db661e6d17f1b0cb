// The thread that parses a large config file.
import { parentPort, workerData } from 'node:worker_threads'
import type { Said } from '../../policy/load/aside.ts'
import type { ConfigFileText } from './config.ts'
import { type ParsedConfig, parseConfigText } from './file.ts'

const { shown, text, file }: ConfigFileText = workerData
const said: Said<ParsedConfig> = { kind: 'answer', answer: parseConfigText(shown, text, file) }
parentPort?.postMessage(said)
