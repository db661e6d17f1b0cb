// Compares the policy in force with the caps that were in force, over the last whole recorded cycles: the replay of `simulate`, cut to what a page
// can show. People are named by e-mail; the page hides them where it must. One comparison is kept for each workspace. It is made in a thread on
// the first request, once per policy and day, one workspace after the other, and shared by all requests. A request never waits and never throws.
// A thread that runs out of memory or time is reported, and tried again later.
import { messageOf } from '../../core/model/problem.ts'
import { DAY_MS, type Instant, MINUTE_MS } from '../../core/model/units.ts'
import type { SimulationRow } from '../../core/use/replay/document.ts'
import { type Simulation, simulate } from '../../core/use/replay/simulation.ts'
import { beside, type Outcome, runAside } from '../../policy/load/aside.ts'
import type { Clock, Ledger } from '../../ports.ts'
import { type ReplayOptions, recordedUseOf, replayStart } from './gather.ts'

/** What the thread gets. `ledger`: a file, an address, or the name of a copy in memory. */
export interface ComparedFrom {
  readonly ledger: string
  readonly options: CompareOptions
}

export interface ComparisonState {
  /** Absent before the first one. While another is being made, it may be of an earlier policy or day. */
  readonly made?: { readonly at: Instant; readonly compared: Compared }
  /** When the comparison under way was requested. */
  readonly since?: Instant
}

export type Comparisons = ReturnType<typeof createComparisons>

/** `end`: releases it after reading. */
interface Opened {
  readonly file: string
  end?(): void
}

interface ComparisonOptions {
  readonly clock: Clock
  /** What the thread opens: a file, an address, or a copy of a ledger that only this process has. */
  readonly ledger: () => Promise<Opened> | Opened
  /** Environment for a database's driver. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** What the config says of credits. */
  readonly prices: () => Pick<CompareOptions, 'pricePerCredit' | 'creditsPerSeat'>
  /** Called after each new comparison. */
  readonly onMade: (workspace: string) => void
}

/** When a comparison is made again: unless the policy, the day or how much of the past is known changes before. Choice. */
const AGAIN_MS = {
  made: DAY_MS,
  failed: 10 * MINUTE_MS,
  'too-little': 60 * MINUTE_MS,
  'no-policy': MINUTE_MS,
  'no-days': MINUTE_MS,
  'no-cycle': MINUTE_MS,
} as const
/** For how many workspaces a comparison is kept. Choice. */
const MOST_KEPT = 32
const DEADLINE_MS = 60_000
/** Of the thread, without its columns of numbers; a smaller `--max-old-space-size` of the process applies to it too. */
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 } as const

interface Kept extends ComparisonState {
  /** What it is made from, and the day of the request. */
  readonly id: string
}

export function createComparisons(options: ComparisonOptions) {
  const { clock, onMade } = options
  const kept = new Map<string, Kept>()
  const closed = new AbortController()
  let last: Promise<void> = Promise.resolve()

  async function make(workspace: string, id: string): Promise<void> {
    if (closed.signal.aborted || kept.get(workspace)?.id !== id) return
    const compared = await comparedAside(workspace, options, closed.signal)
    if (closed.signal.aborted || kept.get(workspace)?.id !== id) return
    kept.set(workspace, { id, made: { at: clock.now(), compared } })
    onMade(workspace)
  }
  return {
    /** The comparison made from these, such as the digest of the policies in force; starts one where it is missing or outdated. */
    of(workspace: string, from: string): ComparisonState {
      const now = clock.now()
      const id = `${from} ${Math.floor(now / DAY_MS)}`
      const known = kept.get(workspace)
      if (known?.id === id && isGood(known, now)) return known
      const next: Kept = { id, since: now, made: known?.made }
      // The order of the map is that of the latest requests.
      kept.delete(workspace)
      kept.set(workspace, next)
      for (const name of kept.keys()) if (kept.size > MOST_KEPT) kept.delete(name)
      last = last.then(() => make(workspace, id))
      return next
    },
    /** Stops what is under way. */
    close: (): void => closed.abort(),
  }
}

const isGood = ({ since, made }: Kept, now: Instant): boolean =>
  since !== undefined || (made !== undefined && now - made.at < AGAIN_MS[made.compared.kind])

async function comparedAside(workspace: string, options: ComparisonOptions, signal: AbortSignal): Promise<Compared> {
  const { clock, ledger, env, prices } = options
  const { pricePerCredit, creditsPerSeat } = prices()
  const how: CompareOptions = { workspace, now: clock.now(), pricePerCredit, creditsPerSeat }
  let opened: Opened | undefined
  try {
    opened = await ledger()
    const data: ComparedFrom = { ledger: opened.file, options: how }
    const outcome = await runAside<Compared>({
      file: beside(import.meta.url, 'compare-thread'),
      data,
      env: ofDriver(env),
      clock,
      deadlineMs: DEADLINE_MS,
      memory: MEMORY,
      signal,
    })
    return outcome.kind === 'answer' ? outcome.answer : { kind: 'failed', message: whyNot(outcome) }
  } catch (error) {
    return { kind: 'failed', message: messageOf(error) }
  } finally {
    opened?.end?.()
  }
}

/** The thread gets no other part of the environment. */
const ofDriver = (env: ComparisonOptions['env']): ComparisonOptions['env'] =>
  Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('PG') || name === 'HOME' || name === 'USER'))

function whyNot({ kind, message }: Exclude<Outcome<Compared>, { readonly kind: 'answer' }>): string {
  switch (kind) {
    case 'memory':
      return 'it needs more memory than a page may use; run `capkeeper simulate` instead'
    case 'time':
      return `it was not made within ${DEADLINE_MS / 1000} s; run \`capkeeper simulate\` instead, which has no time limit`
    case 'error':
      return message
  }
}

/** How much of each list is kept; `simulate --output json` has all of it. Choice. */
const MOST = { groups: 100, people: 200, caps: 200 } as const

export type ComparedPolicies = ReturnType<typeof cutToShow>

/** The messages are for a person. */
export type Compared =
  | { readonly kind: 'made'; readonly simulation: ComparedPolicies }
  | { readonly kind: 'no-policy' | 'no-days' | 'no-cycle' }
  | { readonly kind: 'too-little' | 'failed'; readonly message: string }

interface CompareOptions extends Pick<ReplayOptions, 'pricePerCredit' | 'creditsPerSeat'> {
  readonly workspace: string
  readonly now: Instant
}

/** What a comparison starts from. */
export type CompareStart = Awaited<ReturnType<typeof compareStart>>

/** Days of single people that are held at once, 20 bytes each, outside the thread's limit of memory; larger companies replay fewer days. Choice. */
const MOST_ROWS = 3_000_000
/** Enough for the last whole cycle and the present one. */
const LEAST_DAYS = 62
/** How long the ledger keeps days. */
const KEPT_DAYS = 400

/** Reads the records, which takes seconds for a large company. `onlyDays`: set where there are too many people for all recorded days. */
export async function compareStart(ledger: Ledger, { workspace, now }: CompareOptions) {
  const people = ledger.fact('usage')?.roster.people.length ?? 0
  const days = Math.max(LEAST_DAYS, Math.floor(MOST_ROWS / Math.max(1, people)))
  const onlyDays = days < KEPT_DAYS ? days : undefined
  const range = onlyDays === undefined ? undefined : { fromAt: (Math.floor(now / DAY_MS) - onlyDays) * DAY_MS, untilAt: now + DAY_MS }
  return { use: await recordedUseOf(workspace, ledger, range), policy: ledger.fact('policy'), onlyDays }
}

/** Replays and compares. */
export function compare({ policy, use, onlyDays }: CompareStart, { workspace: _, ...options }: CompareOptions): Compared {
  if (!policy) return { kind: 'no-policy' }
  const start = replayStart(use, { policy, ...options })
  if (start.kind !== 'inputs') return start
  const note = `There are too many people for all recorded days here, so only the last ${onlyDays} are replayed; \`capkeeper simulate\` replays all.`
  const notes = onlyDays === undefined ? start.inputs.notes : [...start.inputs.notes, note]
  return { kind: 'made', simulation: cutToShow(simulate({ ...start.inputs, notes })) }
}

/** The figures that a page has room for. */
export function cutToShow({ cycles, blocked, gains, losses, caps, ...rest }: Simulation) {
  const unreached = caps.filter(({ isReached }) => !isReached)
  const blockedByPolicy = blocked.filter(({ policy }) => policy)
  return {
    ...rest,
    cycles: cycles.map((cycle) => {
      const { items, omitted } = cut(cycle.groups.toSorted(byWeight), MOST.groups)
      return { ...cycle, groups: items, groupsOmitted: omitted }
    }),
    blocked: cut(blockedByPolicy, MOST.people),
    gains: cut(gains, MOST.people),
    losses: cut(losses, MOST.people),
    /** Caps that no person reached. */
    unreached: cut(unreached, MOST.caps),
    capsReached: caps.length - unreached.length,
  }
}

/** A shortened list, and how many items were left out. */
const cut = <T>(list: readonly T[], most: number) => ({
  items: list.slice(0, most),
  omitted: Math.max(0, list.length - most),
})

/** The groups that lose the most working days first, then those where the most credits move. */
const byWeight = (a: SimulationRow, b: SimulationRow): number =>
  b.policy.blockedDays.middle - a.policy.blockedDays.middle || Math.abs(b.kept) - Math.abs(a.kept) || (a.name < b.name ? -1 : 1)
