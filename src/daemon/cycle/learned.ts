// Keeps in the ledger what the client learns while it works: the pace of each key, and what was seen of the deployment. It is worth keeping
// and worth no cycle: a ledger that cannot record it now gets it with the next cycle that it can record.
import type { Clock, Ledger } from '../../ports.ts'
import { LedgerError } from '../ledger/error.ts'
import { type SeenKeeper, seenKeeper } from './seen.ts'

export interface LearnedKeeper {
  /** What is learned, by key name; starts with what was kept before. */
  readonly pace: Record<string, unknown>
  readonly onSeen: SeenKeeper['onSeen']
  /** Saves the news. Never rejects with a `LedgerError`. */
  keep(): Promise<void>
}

/** Throws a `LedgerError` when what was kept before cannot be read. */
export function learnedKeeper(ledger: Pick<Ledger, 'fact' | 'saveFact' | 'commit'>, clock: Pick<Clock, 'now'>): LearnedKeeper {
  const pace: Record<string, unknown> = { ...ledger.fact('pace') }
  const seen = seenKeeper(ledger, clock)
  const save = async (): Promise<void> => {
    if (JSON.stringify(ledger.fact('pace') ?? {}) !== JSON.stringify(pace)) ledger.saveFact('pace', { ...pace })
    seen.keep()
    await ledger.commit()
  }
  return { pace, onSeen: seen.onSeen, keep: () => save().catch(ignore) }
}

const ignore = (error: unknown): void => {
  if (!(error instanceof LedgerError)) throw error
}
