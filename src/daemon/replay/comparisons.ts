// Keeps the comparison of each workspace: made in a thread when somebody asks for it, once for a policy and a day, one workspace after the other, and
// shared by all who ask. It never waits and never throws; a thread that runs out of memory or time is told of, and tried again later.
import { DAY_MS, type Instant, MINUTE_MS } from '../../core/model/units.ts'
import { beside, type Outcome, runAside } from '../../policy/load/aside.ts'
import type { Clock } from '../../ports.ts'
import type { Compared, CompareOptions } from './compare.ts'
import type { ComparedFrom } from './compare-thread.ts'

export interface ComparisonState {
  /** Absent while none was made. It may be one of an earlier policy or day while another is being made. */
  readonly made?: { readonly at: Instant; readonly compared: Compared }
  /** Since when another is waited for. */
  readonly since?: Instant
}

export interface Comparisons {
  /** What there is for the policies in force, by digest; has it made where there is none. */
  of(workspace: string, digest: string): ComparisonState
  /** Ends what is under way. */
  close(): void
}

/** `end`: nobody reads it any more. */
interface Opened {
  readonly file: string
  end?(): void
}

export interface ComparisonOptions {
  readonly clock: Clock
  /** What the thread opens: a file, an address, or a copy of a ledger in this process alone. */
  readonly ledger: () => Promise<Opened> | Opened
  /** For the driver of a database. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly pricePerCredit: () => number | undefined
  /** Another one is there. */
  readonly onMade: (workspace: string) => void
}

/** What failed is tried again after so long, too little is looked at again, and a cycle in part goes on. Choice. */
const AGAIN_MS = { failed: 10 * MINUTE_MS, tooLittle: MINUTE_MS, inPart: 60 * MINUTE_MS } as const
/** Comparisons of so many workspaces are kept. Choice. */
const MOST_KEPT = 32
const DEADLINE_MS = 60_000
/** Of the thread, beside its columns of numbers; a smaller `--max-old-space-size` of the process holds for it too. */
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 } as const

interface Kept {
  /** The policies and the day that were asked for. */
  readonly id: string
  readonly since?: Instant
  readonly made?: { readonly at: Instant; readonly compared: Compared }
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
    of(workspace, digest) {
      const now = clock.now()
      const id = `${digest} ${Math.floor(now / DAY_MS)}`
      const known = kept.get(workspace)
      if (known?.id === id && isGood(known, now)) return known
      const next: Kept = { id, since: now, ...(known?.made && { made: known.made }) }
      // The one asked for last stands last.
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
  const { clock, ledger, env, pricePerCredit } = options
  const price = pricePerCredit()
  const how: CompareOptions = { workspace, now: clock.now(), ...(price !== undefined && { pricePerCredit: price }) }
  let opened: Opened | undefined
  try {
    opened = await ledger()
    const from: ComparedFrom = { ledger: opened.file, options: how }
    const outcome = await runAside<Compared>({
      file: beside(import.meta.url, 'compare-thread'),
      data: from,
      env: ofDriver(env),
      clock,
      deadlineMs: DEADLINE_MS,
      memory: MEMORY,
      signal,
    })
    return outcome.kind === 'answer' ? outcome.answer : { kind: 'failed', message: whyNot(outcome) }
  } catch (error) {
    return { kind: 'failed', message: error instanceof Error ? error.message : String(error) }
  } finally {
    opened?.end?.()
  }
}

/** Nothing else of the environment is the thread's business. */
const ofDriver = (env: ComparisonOptions['env']): ComparisonOptions['env'] =>
  Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('PG') || name === 'HOME' || name === 'USER'))

function whyNot({ kind, message }: Exclude<Outcome<Compared>, { readonly kind: 'answer' }>): string {
  switch (kind) {
    case 'memory':
      return 'it needs more memory than is given; `capkeeper simulate` makes it elsewhere'
    case 'time':
      return `it was not made within ${DEADLINE_MS / 1000} s; \`capkeeper simulate\` takes the time it needs`
    case 'error':
      return message
  }
}
