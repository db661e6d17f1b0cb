// What a workspace of 5,000 people remembers, for benches of what is shown: writes of many plans in its ledger, and the comparison of three whole
// cycles. It asks the service nothing.
import { credits, DAY_MS } from '../../src/core/model/units.ts'
import type { RecordedDays } from '../../src/core/use/history.ts'
import { type Compared, compare } from '../../src/daemon/replay/comparisons.ts'
import type { Ledger } from '../../src/ports.ts'
import { entryOf } from '../support/declare.ts'
import { type BigWorld, policyIn } from './big.ts'

const WRITES = 10_000
/** The last plan wrote so many of them. */
const LAST_PLAN = 1_000

/** Remembers as many writes as a plan's page looks through; gives the id of the last plan. */
export async function rememberWrites(ledger: Ledger, { now, roster }: BigWorld): Promise<string> {
  const digest = '0'.repeat(12)
  const revision = ''
  const planOf = (index: number): string =>
    Math.floor(index / LAST_PLAN)
      .toString(16)
      .padStart(16, '0')
  for (let index = 0; index < WRITES; index += 1) {
    const email = roster.people[index % roster.people.length]?.email ?? ''
    const change = {
      scope: { kind: 'user', email },
      action: 'set',
      from: credits(900),
      to: credits(1_000),
      effect: 'raise',
      cause: 'external',
      people: 1,
      healing: true,
      grantEnd: false,
    } as const
    const at = now - (WRITES - index) * 30_000
    const planId = planOf(index)
    const intent = await ledger.recordIntent({ at, planId, change, entry: entryOf('cap', 1_000), digest, revision })
    const { people: _, healing: __, grantEnd: ___, ...written } = change
    await ledger.recordOutcome(intent, { ...written, at, result: 'applied', planId, digest, revision }, 'kept')
  }
  return planOf(WRITES - 1)
}

const START = Date.UTC(2026, 7, 1)

/** On weekdays everybody uses something, a fifth of them a lot. */
export function lookedBack(world: BigWorld): Compared {
  const people = world.roster.people.map(({ email }) => email)
  const days: RecordedDays['days'][number][] = []
  for (let dayAt = START; dayAt < world.now; dayAt += DAY_MS) {
    if ((dayAt / DAY_MS + 3) % 7 > 4) continue
    const cents = people.map((_, place) => 100 * (((place * 7919 + dayAt / DAY_MS) % 40) * (place % 5 === 0 ? 2 : 0.5) + 1))
    days.push({ dayAt, people: Int32Array.from(people.keys()), cents: Float64Array.from(cents) })
  }
  const cycle = { startAt: Date.UTC(2026, 10, 1), endAt: Date.UTC(2026, 11, 1) }
  const use = {
    workspace: 'bench',
    recorded: { addOn: 'estimated', people, days },
    past: { people: new Map(), common: { unassignable: new Set<string>(), recorded: { fromAt: START, untilAt: world.now } } },
    usage: { roster: { ...world.roster, cycle }, groups: world.groups },
    highest: new Map(),
    owned: [...world.owned.values()].map((cap) => ({ ...cap, verifiedAt: START })),
    history: [],
    journal: [],
  } as const
  return compare({ policy: policyIn(world), use, onlyDays: undefined }, { workspace: 'bench', now: world.now })
}
