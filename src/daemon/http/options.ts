// What the server needs to serve the daemon's pages. Types only.
import type { WorkspaceView } from '../../core/model/events.ts'
import type { Clock } from '../../ports.ts'
import type { AuthSettings, Gate, LedgerGate } from './auth.ts'
import type { Console } from './console.ts'
import type { Library } from './documents/make.ts'
import type { Live } from './events.ts'
import type { Health, Metrics } from './metrics/metrics.ts'
import type { PeopleLabels } from './status/labels.ts'

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
  /** A parameter, so that the daemon does not depend on the pages. */
  readonly console: Console
  readonly documents: Library
  readonly people: PeopleLabels
  readonly views: () => readonly WorkspaceView[]
  /** Called before anything is shown, to read what other processes change, such as pauses. Never rejects. */
  readonly refresh?: () => Promise<void>
  readonly health: () => Health
  readonly ready: () => Readiness
  /** The text of /ledger in pieces, each made when it is asked for; people are always hashed. */
  readonly ledger: () => AsyncIterable<string>
  /** Judges requests for `/ledger` where it has its own token, or where the config checks no reader. */
  readonly ledgerGate: LedgerGate
  readonly ledgerHasToken?: boolean
  /** Default: every request that reaches the address is let in. */
  readonly gate?: Gate
  /** Called before a request is judged, to read the files of tokens again. Never rejects. */
  readonly readTokens?: () => Promise<void>
  /** What the config says now; undefined: no reader is checked. */
  readonly isChecked?: () => Pick<AuthSettings, 'metrics'> | undefined
  readonly live: Live
  /** Called with the error of a page that could not be made; the client gets a bare 500. */
  readonly onError?: (error: Error) => void
}
