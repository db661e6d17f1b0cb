// What the configuration comes to, and what it is read from. Types only.
import type { GuardSettings } from '../../core/model/change.ts'
import type { Mode } from '../../core/model/events.ts'
import type { AuthSettings } from '../http/auth.ts'
import type { NotifyConfig } from './notify-values.ts'
import type { KeyRef, Keys, Listen, Rate } from './values.ts'

export type Approvals = 'separate' | 'together'

/** Whether a read shows a scope's own cap only or the one that applies; `auto`: to be found out by evidence. */
export type CapReads = 'auto' | 'explicit' | 'inherited'

export interface Config {
  readonly listen: Listen
  /** How people show on the page, in `/status` and in `/metrics`. */
  readonly people: 'hash' | 'email'
  /** A path, or `:memory:`. */
  readonly ledger: string
  /** Whether an approval in a policy may arrive with the change that it releases. */
  readonly approvals: Approvals
  /** Where the token is found that `/ledger` asks for. */
  readonly ledgerToken?: KeyRef
  /** Who may look; absent: whoever reaches the address. */
  readonly auth?: AuthSettings
  /** Address of a policy line, with `{revision}`, `{file}` and `{line}` in it. */
  readonly sourceUrl?: string
  readonly metrics: { readonly perUser: 'off' | 'top' | 'all'; readonly userLabel: 'hash' | 'email' }
  readonly pricePerCredit?: number
  /** Of the price, as ISO 4217 writes it. */
  readonly currency?: string
  /** At least one; only the chosen one with `--workspace`. */
  readonly workspaces: readonly WorkspaceConfig[]
}

export interface WorkspaceConfig {
  readonly name: string
  /** Without trailing slash and without `/api/v1`; '' while none is given. */
  readonly baseUrl: string
  /** CA certificates to check the service against, in place of the usual ones. */
  readonly caFile?: string
  /** `http:` to another machine is meant. */
  readonly allowPlainHttp?: true
  readonly keys: Keys
  readonly policies: readonly string[]
  readonly mode: Mode
  readonly capSemantics: 'layered' | 'copied'
  readonly capReads: CapReads
  /** That of the whole config. */
  readonly approvals: Approvals
  readonly intervalMs: number
  readonly usageIntervalMs: number
  readonly usageLagMs?: number
  readonly onDrift: 'heal' | 'alert'
  readonly prune: boolean
  readonly undeclaredUsers: 'ignore' | 'report'
  readonly guards: GuardSettings
  readonly rate: Rate
  /** Who is told of what; absent: nobody. That of the whole config, for this workspace. */
  readonly notify?: NotifyConfig
}

/** Flags as the CLI reads them; absent ones are not given. */
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
