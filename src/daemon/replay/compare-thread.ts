// The thread that a comparison is made in: it opens the ledger for itself and only reads it, so that a year of thousands of people holds nobody up.
import { parentPort, workerData } from 'node:worker_threads'
import type { Said } from '../../policy/load/aside.ts'
import { openLedger } from '../ledger/ledger.ts'
import { systemClock } from '../schedule/system.ts'
import { type Compared, type CompareOptions, type CompareStart, compare, compareStart } from './compare.ts'

/** What was read already, or where to read it. */
export type ComparedFrom =
  | { readonly start: CompareStart }
  | { readonly ledger: string; readonly env: Readonly<Record<string, string | undefined>> }

const { from, options }: { readonly from: ComparedFrom; readonly options: CompareOptions } = workerData

async function read(): Promise<CompareStart> {
  if ('start' in from) return from.start
  const store = await openLedger({ file: from.ledger, mode: 'read', clock: systemClock, env: from.env })
  try {
    return await compareStart(await store.workspace(options.workspace, undefined), options)
  } finally {
    await store.close()
  }
}

const said: Said<Compared> = { kind: 'answer', answer: compare(await read(), options) }
parentPort?.postMessage(said)
