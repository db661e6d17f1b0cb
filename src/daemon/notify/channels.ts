// Sends messages by mail and by webhooks. Secrets are read for each message, and must get into no log or error.

import type { Authorities } from '../../api/transport/authorities.ts'
import type { Poster } from '../../api/transport/http.ts'
import type { Message } from '../../core/notify/due.ts'
import type { NotifySettings } from '../../core/notify/settings.ts'
import { PAYLOADS } from '../../core/notify/text.ts'
import type { Delivery } from '../../core/notify/told.ts'
import { type Files, filesOf } from '../../files.ts'
import type { NotifyConfig, WebhookConfig } from '../config/notify-check.ts'
import type { PeopleLabels } from '../http/status/labels.ts'
import { secretOf, sourceText, type TokenSource } from '../http/token.ts'
import type { Mailer } from './mail.ts'

/** Sends one message. */
export interface Channels {
  /** Never rejects. A message that `signal` cuts off may have arrived. */
  send(message: Message, signal: AbortSignal): Promise<Delivery>
  /** Why files that were good cannot be read any more. Never rejects. */
  kept(): Promise<readonly string[]>
  close(): void
}

/** Channels and settings of one workspace. */
export interface Notifier extends Pick<Channels, 'send' | 'kept'>, Pick<PeopleLabels, 'label' | 'all'> {
  readonly settings: NotifySettings
}

interface ChannelParts {
  readonly config: NotifyConfig
  readonly mailer: Mailer | undefined
  /** Those of the mail server's CA file. */
  readonly authorities?: () => Authorities
  readonly poster: Poster
  readonly env: Readonly<Record<string, string | undefined>>
  /** Called with every secret before it is used, so that it can be redacted. */
  readonly onSecret: (secret: string) => void
  readonly files: Files
}

/** The last good one, and why it cannot be read now. */
interface Secret {
  readonly value?: string
  readonly unread?: string
}

const TIMEOUT_MS = 15_000

export function openChannels({ config, mailer, authorities, poster, env, onSecret, files }: ChannelParts): Channels {
  const last = new Map<TokenSource, string>()
  const secret = async (source: TokenSource, what: string): Promise<Secret> => {
    await files.refresh(filesOf([source]))
    const { secret: found, why } = secretOf(source, env, files)
    if (found === undefined) return { value: last.get(source), unread: `${what}: ${sourceText(source)} ${why}` }
    last.set(source, found)
    onSecret(found)
    return { value: found }
  }
  const passwordOf = (source: TokenSource) => secret(source, 'the password of the mail server')
  const urlOf = ({ name, url }: WebhookConfig) => secret(url, `the address of the webhook ${name}`)
  return {
    async send(message, signal) {
      const { to } = message
      if (to.kind === 'email') {
        if (!mailer) return { kind: 'refused', reason: 'no mail server is configured' }
        const { password, caFile } = config.mail ?? {}
        const found = password && (await passwordOf(password))
        if (caFile !== undefined) await files.refresh([caFile])
        if (found && found.value === undefined) return { kind: 'refused', reason: found.unread ?? '' }
        return cutOff(mailer.send(message, to.address, found?.value), signal)
      }
      const webhook = config.webhooks.find(({ name }) => name === to.name)
      return webhook
        ? post(webhook, message, { poster, url: await urlOf(webhook), signal })
        : { kind: 'refused', reason: 'no such webhook' }
    },
    async kept() {
      const { password, caFile } = config.mail ?? {}
      if (caFile !== undefined) await files.refresh([caFile])
      const trusted = authorities?.()
      const all = await Promise.all([...(password ? [passwordOf(password)] : []), ...config.webhooks.map(urlOf)])
      return [...all, { value: '', unread: trusted && 'unread' in trusted ? trusted.unread : undefined }].flatMap(({ value, unread }) =>
        value === undefined || unread === undefined ? [] : unread,
      )
    },
    close() {
      mailer?.close()
      poster.close()
    },
  }
}

const CUT_OFF: Delivery = { kind: 'unknown', reason: 'the process ended before the answer' }

function cutOff(sending: Promise<Delivery>, signal: AbortSignal): Promise<Delivery> {
  if (signal.aborted) return Promise.resolve(CUT_OFF)
  const cut = Promise.withResolvers<Delivery>()
  const abort = (): void => cut.resolve(CUT_OFF)
  signal.addEventListener('abort', abort, { once: true })
  return Promise.race([sending, cut.promise]).finally(() => signal.removeEventListener('abort', abort))
}

interface Sending {
  readonly poster: Poster
  readonly url: Secret
  readonly signal: AbortSignal
}

async function post(
  { format }: WebhookConfig,
  message: Message,
  { poster, url: { value: url, unread = '' }, signal }: Sending,
): Promise<Delivery> {
  if (url === undefined) return { kind: 'refused', reason: unread }
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return { kind: 'refused', reason: 'its address is no web address' }
  try {
    const answer = await poster.post(url, PAYLOADS[format](message), { timeoutMs: TIMEOUT_MS, signal })
    if ('status' in answer) return judged(answer.status)
    return { kind: answer.unsent ? 'refused' : 'unknown', reason: answer.message }
  } catch (error) {
    if (signal.aborted) return CUT_OFF
    throw error
  }
}

/** `refused` is tried again, `rejected` is not. */
function judged(status: number): Delivery {
  if (status >= 200 && status < 300) return { kind: 'sent' }
  const reason = `it answered ${status}`
  return { kind: status === 408 || status === 429 || status >= 500 ? 'refused' : 'rejected', reason }
}
