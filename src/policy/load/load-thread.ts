// The thread that reads large policies, with the same code as without a thread. It says which file it is reading.
import { parentPort, workerData } from 'node:worker_threads'
import type { Said } from './aside.ts'
import { type LoadedPolicies, type LoadOptions, loadPolicies } from './load.ts'

const { paths, options }: { readonly paths: readonly string[]; readonly options: LoadOptions } = workerData
const say = (said: Said<LoadedPolicies>): void => parentPort?.postMessage(said)

say({ kind: 'answer', answer: loadPolicies(paths, { ...options, onFile: (name) => say({ kind: 'at', name }) }) })
