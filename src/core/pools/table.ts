// The members of a pool to whom caps are dealt, as columns of numbers: what a deal reads and writes. Columns are fast enough for a replay of years.
// The daemon fills them from the ledger's state, a replay from its own days. It decides nothing.
import { credits, MAX_CAP } from '../model/units.ts'
import { finiteCount, fullCount, isDealt, ownPace, type PoolPace, poolPace } from './figures.ts'
import type { Claims } from './level.ts'
import type { PoolMember, PoolState, PoolTerms } from './state.ts'

/** One place for each member in every column, members with a cap of their own first. */
export interface PoolTable extends Claims {
  readonly size: number
  /** How many members have a user cap or a user grant. */
  readonly fixedSize: number
  /** The user cap or user grant. */
  readonly fixed: Float64Array
  /** The cap by the last deal or by a reading; NaN without one, or while none is set. */
  readonly present: Float64Array
  /** 1 where the cap in force was read, even if none is set. */
  readonly isRead: Uint8Array
  /** What the member counts for in the sum, with lowered caps at their old value. */
  readonly count: Float64Array
  /** Credits a working day. */
  readonly pace: Float64Array
  /** The final caps, from `aim`. */
  readonly target: Float64Array
  /** The caps to give now, from `give`. */
  readonly given: Float64Array
}

export function emptyTable(size: number, fixedSize: number): PoolTable {
  const column = (): Float64Array => new Float64Array(size)
  return {
    size,
    fixedSize,
    use: column(),
    base: column(),
    floor: column(),
    most: column(),
    expected: column(),
    weight: column(),
    fixed: column().fill(Number.NaN),
    present: column(),
    isRead: new Uint8Array(size),
    count: column(),
    pace: column(),
    target: column(),
    given: column(),
  }
}

/** Fills in the claims of members: their pace, and what follows from it and their use. */
export function claim(table: PoolTable, { share, max, credits: most }: PoolTerms, average: PoolPace): void {
  const { use, floor, expected, weight, pace, fixed, fixedSize } = table
  for (let place = 0; place < table.size; place += 1) {
    const used = use[place] ?? 0
    const least = Math.max(1, Math.ceil(used))
    const own = ownPace(average, used)
    pace[place] = own
    if (place < fixedSize) {
      // Members get at most their own cap, even where it is below their use.
      const cap = Math.max(1, fixed[place] ?? 0)
      floor[place] = Math.min(least, cap)
      table.most[place] = cap
      expected[place] = Math.min(Math.ceil(used), cap)
      weight[place] = 1
      continue
    }
    floor[place] = least
    table.most[place] = Math.max(least, Math.min(max ?? most, MAX_CAP))
    expected[place] = share === 'equal' ? Math.ceil(used) : used + own * average.daysLeft
    weight[place] = share === 'equal' ? 1 : own
  }
}

export interface Laid {
  /** E-mails by place. */
  readonly emails: readonly string[]
  readonly table: PoolTable
  /** The count of all who are not dealt. */
  readonly undealt: number
}

/** The table of a state, with the claims filled in. */
export function layOut(terms: PoolTerms, state: PoolState): Laid {
  const all = Object.entries(state.members)
  const staying = all.filter(([, { left }]) => !left)
  const used = staying.reduce((sum, [, { use = 0 }]) => sum + use, 0)
  const dealt = staying.filter(([, member]) => isDealt(member))
  const first = dealt.filter(([, { fixed }]) => fixed !== undefined)
  const named = [...first, ...dealt.filter(([, { fixed }]) => fixed === undefined)]
  const table = emptyTable(named.length, first.length)
  for (const [place, [, member]] of named.entries()) {
    const { use = credits(0), base, fixed, inForce } = member
    table.use[place] = use
    table.base[place] = base
    table.present[place] = presentCap(member)
    table.isRead[place] = inForce === undefined ? 0 : 1
    table.count[place] = fullCount(member)
    if (fixed !== undefined) table.fixed[place] = fixed
  }
  claim(table, terms, poolPace(used, staying.length, state.cycle, state.readAt))
  const undealt = all.reduce((sum, [, member]) => (isDealt(member) ? sum : sum + soonCount(member)), 0)
  return { emails: named.map(([email]) => email), table, undealt }
}

/** A protected member who is to get a first cap of their own counts at that cap already, so that nothing of it is dealt to others. */
function soonCount(member: PoolMember): number {
  const { base, fixed = 0, inForce, left } = member
  return !left && inForce?.cap === 'none' ? Math.max(finiteCount(member), fixed - base) : finiteCount(member)
}

/** NaN where no cap is known or set. */
const presentCap = ({ dealt, inForce }: PoolMember): number => Number(dealt ?? inForce?.cap)
