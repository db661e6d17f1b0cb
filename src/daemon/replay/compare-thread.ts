// The thread that makes a comparison, so that the replay of a large company does not block the daemon. It opens its own ledger, read-only.
import { answerWith } from '../../policy/load/aside.ts'
import { openLedger } from '../ledger/ledger.ts'
import { systemClock } from '../schedule/system.ts'
import { type ComparedFrom, type CompareStart, compare, compareStart } from './comparisons.ts'

async function read({ ledger, options }: ComparedFrom): Promise<CompareStart> {
  await using opened = new AsyncDisposableStack()
  const store = opened.adopt(await openLedger({ file: ledger, mode: 'read', clock: systemClock }), (one) => one.close())
  return await compareStart(await store.workspace(options.workspace, undefined), options)
}

await answerWith(async (from: ComparedFrom) => compare(await read(from), from.options))
