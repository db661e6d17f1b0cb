// The thread that a comparison is made in: it opens the ledger for itself and only reads it, so that a year of thousands of people holds nobody up.
import { parentPort, workerData } from 'node:worker_threads'
import type { Said } from '../../policy/load/aside.ts'
import { openLedger } from '../ledger/ledger.ts'
import { systemClock } from '../schedule/system.ts'
import { type Compared, type CompareOptions, type CompareStart, compare, compareStart } from './compare.ts'

/** A file, an address, or the name of a copy in memory. */
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
