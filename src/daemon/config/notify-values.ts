// `notify` of the config as the daemon needs it: the settings of one workspace, and its channels. Secrets are references; they are read when a message is
// sent.
import {
  DEFAULT_POOL_THRESHOLDS,
  DEFAULT_TEMPLATES,
  type Digest,
  type MessageKind,
  type NotifySettings,
  type Owner,
  type Template,
  type TlsMode,
} from '../../core/notify/settings.ts'
import type { WebhookFormat } from '../../core/notify/text.ts'
import type { NotifyText, OwnerText } from './schema-source.ts'
import type { KeyRef } from './values.ts'

export interface MailConfig {
  readonly host: string
  readonly port: number
  readonly tls: TlsMode
  readonly from: string
  readonly replyTo?: string
  readonly user?: string
  readonly password?: KeyRef
  readonly caFile?: string
}

export interface WebhookConfig {
  readonly name: string
  readonly url: KeyRef
  readonly format: WebhookFormat
}

/** `notify` for one workspace. */
export interface NotifyConfig {
  readonly settings: NotifySettings
  readonly mail?: MailConfig
  readonly webhooks: readonly WebhookConfig[]
}

const DEFAULT_PORT: Readonly<Record<TlsMode, number>> = { starttls: 587, implicit: 465, none: 25 }

/** Resolves paths relative to the config file. */
interface Located {
  readonly locate: (path: string) => string
  readonly reference: (given: { readonly file?: string; readonly env?: string }) => KeyRef
}

/** `notify` for all workspaces. */
export interface FileNotify {
  readonly config: NotifyConfig
  /** `workspace` absent: in every workspace. */
  readonly owners: readonly { readonly workspace?: string; readonly owner: Owner }[]
}

/** `requestUrl`: where people ask for more. */
export const notifyFor = ({ config, owners }: FileNotify, name: string, requestUrl: string | undefined): NotifyConfig => ({
  ...config,
  settings: {
    ...config.settings,
    ...(requestUrl !== undefined && { requestUrl }),
    owners: owners.flatMap(({ workspace, owner }) => (workspace === undefined || workspace === name ? [owner] : [])),
  },
})

/** `notify` of a file without an error. */
export function notifyOf(given: NotifyText, located: Located): FileNotify {
  const { digest = 'off', quietHours } = given
  const owned = new Set((given.owners ?? []).map(({ webhook }) => webhook))
  const settings: NotifySettings = {
    people: rising(given.people ?? []),
    pools: rising(given.pools ?? DEFAULT_POOL_THRESHOLDS),
    owners: [],
    // YAML 1.1 reads `off` as false, and Helm writes it so.
    digest: isDigest(digest) ? digest : 'off',
    events: [...new Set(given.events ?? [])],
    channels: (given.webhooks ?? []).map(({ name }) => name).filter((name) => !owned.has(name)),
    timezone: given.timezone ?? 'UTC',
    ...(quietHours && { quietHours: { fromMinute: minuteOf(quietHours.from), untilMinute: minuteOf(quietHours.until) } }),
    templates: {
      person: templateOf(given, 'person'),
      pool: templateOf(given, 'pool'),
      digest: templateOf(given, 'digest'),
      event: templateOf(given, 'event'),
    },
  }
  const config: NotifyConfig = {
    settings,
    ...(given.email && { mail: mailOf(given.email, located) }),
    webhooks: (given.webhooks ?? []).map(({ name, url, format = 'json' }) => ({ name, url: located.reference(url), format })),
  }
  const owners = (given.owners ?? []).map((one) => ({
    ...(one.workspace !== undefined && { workspace: one.workspace }),
    owner: ownerOf(one),
  }))
  return { config, owners }
}

const isDigest = (word: unknown): word is Digest => word === 'daily' || word === 'monthly' || word === 'off'

const rising = (thresholds: readonly number[]): readonly number[] => [...new Set(thresholds)].sort((a, b) => a - b)

function minuteOf(text: string): number {
  const [hours = '0', minutes = '0'] = text.trim().split(':')
  return Number(hours) * 60 + Number(minutes)
}

function templateOf({ templates }: NotifyText, kind: MessageKind): Template {
  const { subject, text } = templates?.[kind] ?? {}
  return { ...DEFAULT_TEMPLATES[kind], ...(subject !== undefined && { subject }), ...(text !== undefined && { text }) }
}

function ownerOf({ group, pool, email, webhook }: OwnerText): Owner {
  const targets: Owner['targets'] = [
    ...(email ?? []).map((address) => ({ kind: 'email', address }) as const),
    ...(webhook === undefined ? [] : [{ kind: 'webhook', name: webhook } as const]),
  ]
  return { of: group === undefined ? { kind: 'pool', name: pool ?? '' } : { kind: 'group', id: group }, targets }
}

function mailOf(given: NonNullable<NotifyText['email']>, { locate, reference }: Located): MailConfig {
  const { host, port, tls = 'starttls', from, replyTo, user, password, caFile } = given
  return {
    host,
    port: port ?? DEFAULT_PORT[tls],
    tls,
    from,
    ...(replyTo !== undefined && { replyTo }),
    ...(user !== undefined && { user }),
    ...(password && { password: reference(password) }),
    ...(caFile !== undefined && { caFile: locate(caFile) }),
  }
}
