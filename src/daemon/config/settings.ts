// The loaded config, and the inputs it is loaded from. Types only: what people write, and what nothing changes, is as config.yaml says.
import type { KeySources } from '../../api/keys.ts'
import type { GuardSettings } from '../../core/model/change.ts'
import type { NotifySettings, TlsMode, WebhookFormat } from '../../core/notify/settings.ts'
import type { TokenSource } from '../../files.ts'
import type { EnvelopeSource } from '../../policy/load/delegated.ts'
import type { Read } from '../../policy/schema/texts.ts'
import type { DirectorySettings } from '../directory/directory-thread.ts'
import type { AuthSettings } from '../http/auth.ts'
import type { SCHEMA } from './schema.generated.ts'

export type ConfigText = Read<typeof SCHEMA>
type Item<List> = Extract<List, readonly unknown[]>[number]
export type WorkspaceText = Item<ConfigText['workspaces']>
export type GuardsText = NonNullable<WorkspaceText['guards']>
export type NotifyText = NonNullable<ConfigText['notify']>
export type EnvelopeText = Item<ConfigText['envelopes']>
export type ViewerText = Item<ConfigText['viewers']>
export type OwnerText = Item<NotifyText['owners']>
export type EmailText = NonNullable<NotifyText['email']>

export interface MailConfig extends Readonly<Omit<EmailText, 'port' | 'tls' | 'password'>> {
  readonly port: number
  readonly tls: TlsMode
  readonly password?: TokenSource
}

export interface WebhookConfig {
  readonly name: string
  readonly url: TokenSource
  readonly format: WebhookFormat
}

/** `notify` for one workspace. */
export interface NotifyConfig {
  readonly settings: NotifySettings
  readonly mail?: MailConfig
  readonly webhooks: readonly WebhookConfig[]
}

export interface Listen {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
}

export type Rate = Readonly<Required<NonNullable<WorkspaceText['rate']>>>

type Settled = Readonly<Required<Pick<ConfigText, 'people' | 'approvals'>>>
type Kept = Readonly<Pick<ConfigText, 'sourceUrl' | 'requests' | 'pricePerCredit' | 'currency' | 'creditsPerSeat'>>

export interface Config extends Settled, Kept {
  readonly listen: Listen
  /** A path, or `:memory:`. */
  readonly ledger: string
  /** The token for `/ledger`. */
  readonly ledgerToken?: TokenSource
  /** Which readers are let in; absent: all who reach the address. */
  readonly auth?: AuthSettings
  readonly metrics: { readonly perUser: 'off' | 'top' | 'all'; readonly userLabel: 'hash' | 'email' }
  /** At least one; only the chosen one with `--workspace`. */
  readonly workspaces: readonly WorkspaceConfig[]
}

type SettledOfWorkspace = Readonly<
  Required<Pick<WorkspaceText, 'name' | 'mode' | 'capSemantics' | 'capReads' | 'onDrift' | 'prune' | 'undeclaredUsers'>>
>

export interface WorkspaceConfig extends SettledOfWorkspace, Pick<Config, 'approvals' | 'creditsPerSeat'> {
  /** Without trailing slash and without `/api/v1`; '' where none is given. */
  readonly baseUrl: string
  /** CA certificates that replace the default ones for the service. */
  readonly caFile?: string
  /** Allows `http:` to another machine. */
  readonly allowPlainHttp?: true
  readonly keys: KeySources
  readonly policies: readonly string[]
  /** Absent: none. */
  readonly envelopes?: readonly EnvelopeSource[]
  /** The people file. */
  readonly directory?: DirectorySettings
  readonly intervalMs: number
  readonly usageIntervalMs: number
  /** How old figures of use can be at most. */
  readonly usageLagMs: number
  /** Past days of people that the daemon reads; 0 or absent: none. */
  readonly historyDays?: number
  readonly guards: GuardSettings
  readonly rate: Rate
  /** `notify` of the config, for this workspace. */
  readonly notify?: NotifyConfig
}

/** What the cycles of a workspace depend on: neither its address nor its keys. */
export interface WorkspaceSettings
  extends Omit<WorkspaceConfig, 'baseUrl' | 'caFile' | 'allowPlainHttp' | 'keys' | 'policies' | 'notify' | 'rate'> {
  readonly rate: Pick<Rate, 'concurrency'>
}

type TextFlag = 'config' | 'baseUrl' | 'serviceKeyFile' | 'caFile' | 'ledger' | 'workspace' | 'listen'

export interface ConfigFlags extends Readonly<Partial<Record<TextFlag, string>>> {
  readonly policies?: readonly string[] | undefined
  readonly allowPlainHttp?: boolean | undefined
}

export interface ConfigInput {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly flags: ConfigFlags
  /** Where paths of flags and environment begin; default: the process's. */
  readonly cwd?: string
  /** Where the process listens already, whatever the file says now; default: where the config says. */
  readonly listening?: Listen | undefined
}
