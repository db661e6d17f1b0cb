// The thread that makes a comparison, so that the replay of a large company does not block the daemon. It opens its own ledger, read-only.
import { parentPort, workerData } from 'node:worker_threads'
import type { Said } from '../../policy/load/aside.ts'
import { openLedger } from '../ledger/ledger.ts'
import { systemClock } from '../schedule/system.ts'
import { type Compared, type CompareOptions, type CompareStart, compare, compareStart } from './compare.ts'

/** `ledger`: a file, an address, or the name of a copy in memory. */
export interface ComparedFrom {
  readonly ledger: string
  readonly options: CompareOptions
}

const { ledger, options }: ComparedFrom = workerData

async function read(): Promise<CompareStart> {
  const store = await openLedger({ file: ledger, mode: 'read', clock: systemClock })
  try {
    return await compareStart(await store.workspace(options.workspace, undefined), options)
  } finally {
    await store.close()
  }
}

const said: Said<Compared> = { kind: 'answer', answer: compare(await read(), options) }
parentPort?.postMessage(said)
