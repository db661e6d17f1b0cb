// Reads a workspace's records for a replay: use by day, today's people and groups, our caps and what was written. It writes nothing.

import type { RecordedDays } from '../../core/use/replay/recorded.ts'
import type { DayRange, Ledger } from '../../ports.ts'
import type { RecordedUse } from './gather.ts'

/** All days of any ledger. */
const EVER: DayRange = { fromAt: 0, untilAt: 8.64e15 }

/** `days`: default all. */
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

/** Measured days where they reach back as far as the days from readings; else the latter. */
async function daysOf(ledger: Ledger, days: DayRange): Promise<RecordedDays> {
  const estimated = await ledger.useByDay(days, 'estimated')
  const asked = ledger.fact('addOnAsked')
  if (!asked?.hasRows) return estimated
  const measured = await ledger.useByDay(days, 'measured')
  const [from, since] = [measured.days[0]?.dayAt, estimated.days[0]?.dayAt]
  return from !== undefined && from <= (since ?? from) ? measured : estimated
}
