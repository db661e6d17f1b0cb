// What the daemon's pages are made of, and who may see them. Types only.
import type { WorkspaceView } from '../../core/model/events.ts'
import type { Clock } from '../../ports.ts'
import type { AuthSettings, Gate } from './auth.ts'
import type { Console } from './console.ts'
import type { Library } from './documents/make.ts'
import type { Live } from './live.ts'
import type { Health, Metrics } from './metrics/metrics.ts'
import type { PeopleLabels } from './status/labels.ts'
import type { LedgerGate } from './token.ts'

/** `reasons` say what is missing while `ready` is false. */
export interface Readiness {
  readonly ready: boolean
  readonly reasons: readonly string[]
}

export interface ServedOptions {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'render' | 'contentType'>
  /** Handed in so that the daemon does not depend on the pages. */
  readonly console: Console
  readonly documents: Library
  readonly people: PeopleLabels
  readonly views: () => readonly WorkspaceView[]
  /** Called before anything is shown: looks at what other processes change, such as pauses. Never rejects. */
  readonly look?: () => Promise<void>
  readonly health: () => Health
  readonly ready: () => Readiness
  /** The text of /ledger in pieces, which are made on the way; people hashed, whatever `people` says. */
  readonly ledger: () => AsyncIterable<string>
  /** Judges who may read `/ledger` where it has a token of its own, or nobody is checked otherwise. */
  readonly ledgerGate: LedgerGate
  readonly ledgerHasToken?: boolean
  /** Who may look; default: everybody who reaches the address. */
  readonly gate?: Gate
  /** What the config says of it now; absent: nobody is checked. */
  readonly isChecked?: () => Pick<AuthSettings, 'metrics'> | undefined
  /** What changes, for those who listen. */
  readonly live: Live
  /** Told of a page that could not be made; the client gets a bare 500. */
  readonly onError?: (error: Error) => void
}
