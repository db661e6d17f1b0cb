// The thread that makes a comparison, so that the replay of a large company does not block the daemon. It opens its own ledger, read-only.
import { answerWith } from '../../policy/load/aside.ts'
import { openLedger } from '../ledger/ledger.ts'
import { systemClock } from '../schedule/system.ts'
import { type CompareOptions, type CompareStart, compare, compareStart } from './compare.ts'

/** `ledger`: a file, an address, or the name of a copy in memory. */
export interface ComparedFrom {
  readonly ledger: string
  readonly options: CompareOptions
}

async function read({ ledger, options }: ComparedFrom): Promise<CompareStart> {
  const store = await openLedger({ file: ledger, mode: 'read', clock: systemClock })
  try {
    return await compareStart(await store.workspace(options.workspace, undefined), options)
  } finally {
    await store.close()
  }
}

await answerWith(async (from: ComparedFrom) => compare(await read(from), from.options))
