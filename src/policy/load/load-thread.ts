// The thread that policies are read in when they are more than a little: the same code as without a thread, told which file it is in.
import { parentPort, workerData } from 'node:worker_threads'
import type { Said } from './aside.ts'
import { type LoadedPolicies, type LoadOptions, loadPolicies } from './load.ts'

const { paths, options }: { readonly paths: readonly string[]; readonly options: LoadOptions } = workerData
const say = (said: Said<LoadedPolicies>): void => parentPort?.postMessage(said)

say({ kind: 'answer', answer: loadPolicies(paths, { ...options, onFile: (name) => say({ kind: 'at', name }) }) })
