// A ledger with days of use, written by the real adapter as readings of a daemon would be: one reading at noon of each day.
import type { GroupMembers, Roster } from '../../src/core/model/observed.ts'
import { credits } from '../../src/core/model/units.ts'
import { foldUsage, NOTHING_BURNED } from '../../src/core/use/burn.ts'
import type { Ledger } from '../../src/ports.ts'
import { DAY } from './declare.ts'

export interface RecordedPerson {
  readonly email: string
  /** Credits used on a day; `weekday` counts from Monday, 0. */
  readonly uses: (day: { readonly at: number; readonly weekday: number }) => number
}

export interface RecordedCompany {
  readonly people: readonly RecordedPerson[]
  /** UTC midnights; the day before the first has the reading from which days are counted. */
  readonly fromAt: number
  readonly untilAt: number
  readonly creditsPerSeat?: number
  readonly groups?: readonly { readonly id: string; readonly name: string; readonly emails: readonly string[] }[]
}

const monthOf = (at: number): { readonly startAt: number; readonly endAt: number } => {
  const day = new Date(at)
  return { startAt: Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), 1), endAt: Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 1) }
}

/** Records every day; cycles are calendar months. */
export async function recordCompany(ledger: Ledger, company: RecordedCompany): Promise<void> {
  const used = new Map<string, number>()
  const groups = (company.groups ?? []).map((group): GroupMembers => ({ ...group, readAt: company.untilAt }))
  let burned = NOTHING_BURNED
  let previous:
    | { readonly cycle: { readonly startAt: number; readonly endAt: number }; readonly used: Record<string, ReturnType<typeof credits>> }
    | undefined
  let roster: Roster | undefined
  for (let at = company.fromAt - DAY; at < company.untilAt; at += DAY) {
    const cycle = monthOf(at)
    if (roster?.cycle && roster.cycle.startAt !== cycle.startAt) {
      previous = { cycle: roster.cycle, used: Object.fromEntries([...used].map(([email, amount]) => [email, credits(amount)])) }
      used.clear()
    }
    const day = { at, weekday: (at / DAY + 3) % 7 }
    if (at >= company.fromAt) for (const { email, uses } of company.people) used.set(email, (used.get(email) ?? 0) + uses(day))
    roster = {
      people: company.people.map(({ email }) => ({
        email,
        name: email,
        status: 'approved',
        disabled: false,
        used: credits(Math.round((used.get(email) ?? 0) * 100) / 100),
      })),
      cycle,
      readAt: at + DAY / 2,
      statusesAbsent: false,
      duplicates: [],
    }
    const step = foldUsage(burned, roster, groups)
    await ledger.saveBurn(step)
    burned = step.burned
  }
  if (!roster?.cycle) return
  ledger.saveFact('usage', {
    roster,
    groups,
    ...(previous && { previousCycle: previous }),
    ...(company.creditsPerSeat !== undefined && {
      balance: {
        creditsPerSeat: credits(company.creditsPerSeat),
        seats: company.people.length,
        addOnAvailable: credits(100_000),
        addOnUsed: credits(0),
        cycle: roster.cycle,
        readAt: roster.readAt,
      },
    }),
  })
  await ledger.commit()
}
