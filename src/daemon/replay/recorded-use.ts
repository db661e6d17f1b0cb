// What looking back needs of a workspace's records: use by day, people and groups of today, caps of ours and what was written. Nothing is written.

import type { RecordedDays } from '../../core/use/replay/recorded.ts'
import type { DayRange, Ledger } from '../../ports.ts'
import type { RecordedUse } from './gather.ts'

/** Days before this are not in any ledger. */
const EVER: DayRange = { fromAt: 0, untilAt: 8.64e15 }

/** `days`: all of them unless given. */
export async function recordedUseOf(workspace: string, ledger: Ledger, days: DayRange = EVER): Promise<RecordedUse> {
  const usage = ledger.fact('usage')
  return {
    workspace,
    recorded: await daysOf(ledger, days),
    ...(usage && { usage }),
    highest: await ledger.highestUse(),
    owned: ledger.owned(),
    history: await ledger.history(),
    journal: ledger.fact('journal') ?? [],
  }
}

/** Measured days where the service tells them, as far back as those that readings added up to; else these. */
async function daysOf(ledger: Ledger, days: DayRange): Promise<RecordedDays> {
  const estimated = await ledger.useByDay(days, 'estimated')
  const asked = ledger.fact('addOnAsked')
  if (!asked?.hasRows) return estimated
  const measured = await ledger.useByDay(days, 'measured')
  const [from, since] = [measured.days[0]?.dayAt, estimated.days[0]?.dayAt]
  return from !== undefined && from <= (since ?? from) ? measured : estimated
}
