// How soon foreign changes are found while requests are few (G19): credits leaked through caps that somebody else raised, with the order of
// core/pace/rhythm.ts and with round robin at the same number of readings, over simulated companies. A run is the same every time.
import type { ScopeKey } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { nextReadings, paceOf, readingIntervals, riskOf, type Watched } from '../../src/core/pace/rhythm.ts'
import { DAY } from '../support/declare.ts'
import { median, publish, type Row, told, within } from './bench.ts'

const SCOPES = 20_000
const READS_PER_SECOND = 10
const SLICE_MS = 300_000
const COUNT = (READS_PER_SECOND * SLICE_MS) / 1000
const SWEEP_MS = (SCOPES / READS_PER_SECOND) * 1000
/** Monday to Friday; the cycle is already two weeks old. */
const DAYS = 5
const CYCLE_DAYS_BEFORE = 14
const STALE_SLICES = 36
const USE_EVERY_SLICES = 3
/** Foreign changes a day. */
const CHANGES = 60

type Aim = 'at random' | 'near the cap'
interface Kind {
  readonly name: string
  readonly seed: number
  /** Cap over what the person would use in the cycle, in the mean. */
  readonly room: number
  readonly aim: Aim
}

/** Seeds that nothing was tuned on. */
const KINDS: readonly Kind[] = [
  { name: 'roomy caps, changes at random', seed: 71_001, room: 2.5, aim: 'at random' },
  { name: 'roomy caps, changes near the cap', seed: 71_002, room: 2.5, aim: 'near the cap' },
  { name: 'tight caps, changes at random', seed: 71_003, room: 1.1, aim: 'at random' },
  { name: 'tight caps, changes near the cap', seed: 71_004, room: 1.1, aim: 'near the cap' },
]

function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const normal = (random: () => number): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())

interface Company {
  readonly pace: Float64Array
  readonly cap: Float64Array
  readonly startUse: Float64Array
}

function companyOf({ seed, room }: Kind): Company {
  const random = randomOf(seed)
  const pace = Float64Array.from({ length: SCOPES }, () => 20 * Math.exp(1.1 * normal(random)))
  const cap = pace.map((one) => Math.max(1, Math.round(one * 20 * room * Math.exp(0.4 * normal(random)))))
  const worked = (CYCLE_DAYS_BEFORE * 5) / 7
  const startUse = pace.map((one, index) => Math.min(cap[index] ?? 0, one * worked))
  return { pace, cap, startUse }
}

/** Share of a working day's use that falls into a slice: from 8:00 to 18:00. */
const shareAt = (slice: number): number => {
  const hour = ((slice * SLICE_MS) % DAY) / 3_600_000
  return hour >= 8 && hour < 18 ? SLICE_MS / (10 * 3_600_000) : 0
}

interface Change {
  readonly person: number
  readonly at: number
}

/** Each raises the cap of somebody, for as long as nobody finds it. */
function changesOf({ seed, aim }: Kind, { cap, startUse, pace }: Company): readonly Change[] {
  const random = randomOf(seed + 500)
  const near = Array.from({ length: SCOPES }, (_, index) => index).filter((index) => {
    const rest = (cap[index] ?? 0) - (startUse[index] ?? 0)
    return rest < 3 * (pace[index] ?? 0)
  })
  const from = aim === 'near the cap' ? near : Array.from({ length: SCOPES }, (_, index) => index)
  return Array.from({ length: CHANGES * DAYS }, () => ({
    person: from[Math.floor(random() * from.length)] ?? 0,
    at: Math.floor(random() * DAYS * DAY),
  })).toSorted((a, b) => a.at - b.at)
}

interface Figures {
  readonly leaked: number
  readonly meanMs: number
  readonly harmfulMs: number
  readonly oldestSweeps: number
}

type Order = (slice: number, readAt: Float64Array, seen: Float64Array, company: Company) => readonly number[]

const roundRobin: Order = (slice) => Array.from({ length: COUNT }, (_, index) => (slice * COUNT + index) % SCOPES)

const keyOf = (index: number): ScopeKey => `p${String(index).padStart(5, '0')}@example.com` as ScopeKey
const KEYS = Array.from({ length: SCOPES }, (_, index) => keyOf(index))
const INDEX = new Map(KEYS.map((key, index) => [key, index]))

const byRisk: Order = (slice, readAt, seen, { cap, startUse }) => {
  const days = CYCLE_DAYS_BEFORE + (slice * SLICE_MS) / DAY
  const watched = KEYS.map((key, index): Watched => {
    const [used, limit] = [seen[index] ?? 0, cap[index] ?? 0]
    const pace = paceOf(credits(Math.max(used, startUse[index] ?? 0)), days)
    return {
      key,
      readAt: readAt[index] ?? 0,
      risk: riskOf({ pacePerDay: pace, headRoom: limit - used }),
      ...(used > limit + 1e-9 && { suspect: true }),
    }
  })
  const intervals = readingIntervals(
    watched.map(({ risk }) => risk),
    READS_PER_SECOND,
  )
  return nextReadings(watched, COUNT, intervals).map((key) => INDEX.get(key) ?? 0)
}

/** Lives the week. A change is found by the first reading after it, and put back at once. */
function live(kind: Kind, order: Order): Figures {
  const company = companyOf(kind)
  const changes = changesOf(kind, company)
  const use = company.startUse.slice()
  const past: Float64Array[] = [use.slice()]
  let seen: Float64Array = use.slice()
  const readAt = Float64Array.from({ length: SCOPES }, (_, index) => -((SCOPES - index) / SCOPES) * SWEEP_MS)
  const raised = new Map<number, { at: number; leaked: number }>()
  const found: { ms: number; leaked: number }[] = []
  let [leaked, oldest, next] = [0, 0, 0]
  for (let slice = 0; slice < (DAYS * DAY) / SLICE_MS; slice += 1) {
    const now = slice * SLICE_MS
    if (slice % USE_EVERY_SLICES === 0) seen = past[Math.max(0, past.length - 1 - (slice % STALE_SLICES))] ?? seen
    for (; next < changes.length && (changes[next]?.at ?? 0) < now + SLICE_MS; next += 1) {
      const { person, at } = changes[next] ?? { person: 0, at: 0 }
      if (!raised.has(person)) raised.set(person, { at, leaked: 0 })
    }
    const share = shareAt(slice)
    if (share > 0) {
      for (let index = 0; index < SCOPES; index += 1) {
        const [cap, before] = [company.cap[index] ?? 0, use[index] ?? 0]
        const wanted = before + share * (company.pace[index] ?? 0)
        const isRaised = raised.get(index)
        const after = isRaised ? wanted : Math.max(before, Math.min(cap, wanted))
        if (isRaised) {
          const beyond = Math.max(0, after - cap) - Math.max(0, before - cap)
          isRaised.leaked += beyond
          leaked += beyond
        }
        use[index] = after
      }
    }
    for (const [place, index] of order(slice, readAt, seen, company).entries()) {
      const at = now + (place * 1000) / READS_PER_SECOND
      const change = raised.get(index)
      oldest = Math.max(oldest, at - (readAt[index] ?? 0))
      readAt[index] = at
      if (!change || change.at > at) continue
      found.push({ ms: at - change.at, leaked: change.leaked })
      raised.delete(index)
    }
    past.push(use.slice())
    if (past.length > STALE_SLICES + 1) past.shift()
  }
  const mean = (all: readonly { ms: number }[]): number => all.reduce((sum, { ms }) => sum + ms, 0) / Math.max(1, all.length)
  return { leaked, meanMs: mean(found), harmfulMs: mean(found.filter((one) => one.leaked > 0)), oldestSweeps: oldest / SWEEP_MS }
}

const minutes = (value: number): string => `${(value / 60_000).toFixed(1)} min`
const atMostOf = (figure: string, measured: string, ratio: number, limit: number): Row =>
  within('G19', figure, ratio, limit, String, measured)

const results = KINDS.map((kind) => {
  const [plain, ordered] = [live(kind, roundRobin), live(kind, byRisk)]
  return { kind, plain, ordered, ratio: plain.leaked > 0 ? ordered.leaked / plain.leaked : undefined }
})
publish('Reading where it matters', [
  ...results.flatMap(({ kind: { name }, plain, ordered, ratio }) => [
    told('G19', `${name}: credits leaked`, `${Math.round(ordered.leaked)} / ${Math.round(plain.leaked)}`, ratio),
    told('G19', `${name}: found after, harmful ones`, `${minutes(ordered.harmfulMs)} / ${minutes(plain.harmfulMs)}`),
    atMostOf(`${name}: found after, any`, `${minutes(ordered.meanMs)} / ${minutes(plain.meanMs)}`, ordered.meanMs / plain.meanMs, 1.1),
    atMostOf(`${name}: oldest reading, in sweeps`, ordered.oldestSweeps.toFixed(2), ordered.oldestSweeps, 1.2),
  ]),
  atMostOf('credits leaked beside round robin, median of all', '', median(results.flatMap(({ ratio }) => ratio ?? [])), 0.6),
])
