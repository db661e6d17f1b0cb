// Records what the client learns while it works: the pace of each key, and what was seen of the deployment. No cycle fails for it: where the
// ledger cannot record it now, a later cycle does.
import type { Clock, Ledger } from '../../ports.ts'
import { LedgerError } from '../ledger/error.ts'
import { type SeenKeeper, seenKeeper } from './seen.ts'

interface LearnedKeeper {
  /** By key name; starts with what the ledger has. */
  readonly pace: Record<string, unknown>
  readonly onSeen: SeenKeeper['onSeen']
  /** Records what is new. Never rejects with a `LedgerError`. */
  keep(): Promise<void>
}

/** Throws a `LedgerError` when the ledger cannot be read. */
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
