// Keeps one comparison for each workspace. It is made in a thread on the first request, once per policy and day, one workspace after the other, and
// shared by all requests. A request never waits and never throws. A thread that runs out of memory or time is reported, and tried again later.
import { messageOf } from '../../core/model/problem.ts'
import { DAY_MS, type Instant, MINUTE_MS } from '../../core/model/units.ts'
import { beside, type Outcome, runAside } from '../../policy/load/aside.ts'
import type { Clock } from '../../ports.ts'
import type { Compared, CompareOptions } from './compare.ts'
import type { ComparedFrom } from './compare-thread.ts'

export interface ComparisonState {
  /** Absent before the first one. While another is being made, it may be of an earlier policy or day. */
  readonly made?: { readonly at: Instant; readonly compared: Compared }
  /** When the comparison under way was requested. */
  readonly since?: Instant
}

export interface Comparisons {
  /** The comparison made from these, such as the digest of the policies in force; starts one where it is missing or outdated. */
  of(workspace: string, from: string): ComparisonState
  /** Stops what is under way. */
  close(): void
}

/** `end`: releases it after reading. */
interface Opened {
  readonly file: string
  end?(): void
}

export interface ComparisonOptions {
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

/** When a comparison is made again: after a failure, with too few records, and with only a part of a cycle. Choice. */
const AGAIN_MS = { failed: 10 * MINUTE_MS, tooLittle: MINUTE_MS, inPart: 60 * MINUTE_MS } as const
/** For how many workspaces a comparison is kept. Choice. */
const MOST_KEPT = 32
const DEADLINE_MS = 60_000
/** Of the thread, without its columns of numbers; a smaller `--max-old-space-size` of the process applies to it too. */
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 } as const

interface Kept extends ComparisonState {
  /** What it is made from, and the day of the request. */
  readonly id: string
}

export function createComparisons(options: ComparisonOptions): Comparisons {
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
    of(workspace, from) {
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
    close: () => closed.abort(),
  }
}

const isGood = ({ since, made }: Kept, now: Instant): boolean =>
  since !== undefined || (made !== undefined && now - made.at < goodMs(made.compared))

function goodMs(compared: Compared): number {
  if (compared.kind === 'failed') return AGAIN_MS.failed
  if (compared.kind !== 'made') return AGAIN_MS.tooLittle
  return compared.wholeAt === undefined ? DAY_MS : AGAIN_MS.inPart
}

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
