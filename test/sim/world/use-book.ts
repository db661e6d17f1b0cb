// The true use in the present cycle, beyond what seats include: the simulation's own record, known at once and to the cent, while the
// service shows it hours later. No person uses more than their cap in force allows.
import { cycleAt } from '../../../src/sandbox/time.ts'
import type { ModelCap } from '../lives/policy-model.ts'

/** The credits that a seat of the sandbox's companies includes. */
const SEAT_CENTS = 50_000

export function createUseBook(now: () => number) {
  let cycle = 0
  let cents = new Map<string, number>()
  const present = (): Map<string, number> => {
    const { startAt } = cycleAt(now())
    if (startAt !== cycle) cents = new Map()
    cycle = startAt
    return cents
  }
  const of = (email: string): number => present().get(email) ?? 0
  return {
    /** Add-on credits of the present cycle. */
    used: (email: string) => Math.max(0, of(email) - SEAT_CENTS) / 100,
    /** Records use up to the cap in force, and returns how many of the cents were used. */
    take(email: string, wanted: number, cap: ModelCap | undefined) {
      if (cap === undefined) return 0
      const most = cap === 'none' ? wanted : Math.max(0, SEAT_CENTS + cap * 100 - of(email))
      const gets = Math.min(wanted, most)
      if (gets > 0) present().set(email, of(email) + gets)
      return gets
    },
  }
}
