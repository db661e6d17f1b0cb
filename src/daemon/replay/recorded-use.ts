// Reads a workspace's records for a replay: use by day, today's people and groups, our caps and what was written. It writes nothing.

import { scopeKey, TEAM } from '../../core/model/scope.ts'
import { DAY_MS } from '../../core/model/units.ts'
import type { CommonDays } from '../../core/use/history.ts'
import { mergedDays, type PastDays, teamDays } from '../../core/use/replay/known.ts'
import type { RecordedDays } from '../../core/use/replay/recorded.ts'
import type { DayRange, Ledger } from '../../ports.ts'
import { commonDays } from '../collect/history.ts'
import type { RecordedUse } from './gather.ts'

/** All days of any ledger. */
const EVER: DayRange = { fromAt: 0, untilAt: 8.64e15 }

/** `days`: default all. */
export async function recordedUseOf(workspace: string, ledger: Ledger, days: DayRange = EVER): Promise<RecordedUse> {
  const usage = ledger.fact('usage')
  const common = await commonDays(ledger, usage?.roster.readAt ?? Number.POSITIVE_INFINITY)
  const team = await teamOf(ledger)
  return {
    workspace,
    recorded: await daysOf(ledger, days, common),
    past: {
      people: new Map((await ledger.histories()).map((one) => [one.email, one])),
      common,
      ...(team && { team }),
    },
    ...(usage && { usage }),
    highest: await ledger.highestUse(),
    owned: ledger.owned(),
    history: await ledger.history(),
    journal: ledger.fact('journal') ?? [],
  }
}

/** Each person's days from their best source. */
async function daysOf(ledger: Ledger, days: DayRange, common: CommonDays): Promise<RecordedDays> {
  const estimated = await ledger.useByDay(days, 'estimated')
  return common.measured ? mergedDays(estimated, await ledger.useByDay(days, 'measured'), common) : estimated
}

async function teamOf(ledger: Ledger): Promise<PastDays['team']> {
  const asked = ledger.fact('runsAsked')?.[scopeKey(TEAM)]
  if (!asked) return undefined
  const range = { fromAt: asked.fromAt, untilAt: asked.throughAt + DAY_MS }
  const days = teamDays(await ledger.runs(TEAM, range))
  return days && { ...range, days }
}
