// The loaded config, and the inputs it is loaded from. Types only.

import type { GuardSettings } from '../../core/model/change.ts'
import type { Mode } from '../../core/model/events.ts'
import type { EnvelopeSource } from '../../policy/load/delegated.ts'
import type { DirectorySettings } from '../directory/csv.ts'
import type { AuthSettings } from '../http/auth.ts'
import type { NotifyConfig } from './notify-check.ts'
import type { KeyRef, Keys, Listen, Rate } from './values.ts'

export type Approvals = 'separate' | 'together'

/** Whether a read shows only the explicitly set cap, or also an inherited one; `auto`: established by evidence. */
type CapReads = 'auto' | 'explicit' | 'inherited'

export interface Config {
  readonly listen: Listen
  /** How people are shown on the pages, in `/status` and in `/metrics`. */
  readonly people: 'hash' | 'email'
  /** A path, or `:memory:`. */
  readonly ledger: string
  /** Whether an approval in a policy may arrive with the change that it releases. */
  readonly approvals: Approvals
  /** The token for `/ledger`. */
  readonly ledgerToken?: KeyRef
  /** Which readers are let in; absent: all who reach the address. */
  readonly auth?: AuthSettings
  /** Address of a policy line, with `{revision}`, `{file}` and `{line}` in it. */
  readonly sourceUrl?: string
  /** Where people ask for more, with `{email}`, `{cap}` and `{used}` in it. */
  readonly requests?: { readonly url: string }
  readonly metrics: { readonly perUser: 'off' | 'top' | 'all'; readonly userLabel: 'hash' | 'email' }
  readonly pricePerCredit?: number
  /** Of the price; ISO 4217. */
  readonly currency?: string
  /** Credits that a seat includes in each cycle, where the balance does not tell. */
  readonly creditsPerSeat?: number
  /** At least one; only the chosen one with `--workspace`. */
  readonly workspaces: readonly WorkspaceConfig[]
}

export interface WorkspaceConfig {
  readonly name: string
  /** Without trailing slash and without `/api/v1`; '' where none is given. */
  readonly baseUrl: string
  /** CA certificates that replace the default ones for the service. */
  readonly caFile?: string
  /** Allows `http:` to another machine. */
  readonly allowPlainHttp?: true
  readonly keys: Keys
  readonly policies: readonly string[]
  /** Absent: none. */
  readonly envelopes?: readonly EnvelopeSource[]
  /** The people file. */
  readonly directory?: DirectorySettings
  readonly mode: Mode
  readonly capSemantics: 'layered' | 'copied'
  readonly capReads: CapReads
  /** As in `Config`. */
  readonly approvals: Approvals
  readonly intervalMs: number
  readonly usageIntervalMs: number
  readonly usageLagMs?: number
  /** Past days of people that the daemon reads; 0 or absent: none. */
  readonly historyDays?: number
  /** See `Config.creditsPerSeat`. */
  readonly creditsPerSeat?: number
  readonly onDrift: 'heal' | 'alert'
  readonly prune: boolean
  readonly undeclaredUsers: 'ignore' | 'report'
  readonly guards: GuardSettings
  readonly rate: Rate
  /** `notify` of the config, for this workspace. */
  readonly notify?: NotifyConfig
}

export interface ConfigFlags {
  readonly config?: string | undefined
  readonly policies?: readonly string[] | undefined
  readonly baseUrl?: string | undefined
  readonly serviceKeyFile?: string | undefined
  readonly caFile?: string | undefined
  readonly allowPlainHttp?: boolean | undefined
  readonly ledger?: string | undefined
  readonly workspace?: string | undefined
  readonly listen?: string | undefined
}

export interface ConfigInput {
  /** The config file; default: `flags.config`, else CAPKEEPER_CONFIG, else none. */
  readonly file?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly flags: ConfigFlags
  /** Default: the process's. */
  readonly cwd?: string
}
