// The thread that parses large policies, with the same code as without a thread. It opens no path, and says at which file it is.
import { parentPort, workerData } from 'node:worker_threads'
import type { Said } from './aside.ts'
import type { FoundFiles } from './files.ts'
import { type Judged, judgePolicies } from './judge.ts'
import type { LoadOptions } from './loaded.ts'

interface Data {
  readonly paths: readonly string[]
  readonly found: FoundFiles
  readonly options: LoadOptions
}

const { paths, found, options }: Data = workerData
const say = (said: Said<Judged>): void => parentPort?.postMessage(said)

say({ kind: 'answer', answer: judgePolicies(paths, found, { ...options, onFile: (name) => say({ kind: 'at', name }) }) })
