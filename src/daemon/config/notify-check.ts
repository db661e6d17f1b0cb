// Compares the values of `notify` with each other: unknown names, missing channels, unknown placeholders. The schema has validated each value by itself.
import { isLoopback } from '../../core/model/loopback.ts'
import {
  DEFAULT_POOL_THRESHOLDS,
  DEFAULT_TEMPLATES,
  MESSAGE_KINDS,
  type MessageKind,
  type NotifySettings,
  type Owner,
  PLACEHOLDERS,
  type Template,
  type TlsMode,
  unknownPlaceholders,
} from '../../core/notify/settings.ts'
import type { TokenSource } from '../../files.ts'
import { zoneNamed } from '../../policy/dates.ts'
import { refuse } from '../../policy/schema/kinds.ts'
import { didYouMean } from '../../policy/suggest.ts'
import { type Branch, field, good, items, nameOf, placeOf, repeated, report } from '../../policy/tree.ts'
import { problemOn, quoted } from '../../policy/yaml.ts'
import type { ConfigText, EmailText, MailConfig, NotifyConfig, NotifyText, OwnerText } from './settings.ts'

const DEFAULT_PORT: Readonly<Record<TlsMode, number>> = { starttls: 587, implicit: 465, none: 25 }

/** Resolves paths relative to the config file. */
export type Locate = (path: string) => string

/** A reference to a secret. */
export const referenceOf = ({ file, env }: { readonly file?: string; readonly env?: string }, locate: Locate): TokenSource =>
  file === undefined ? { env: env ?? '' } : { file: locate(file) }

/** `notify` for all workspaces. An owner without `workspace` is one in each of them. */
export type FileNotify = ReturnType<typeof notifyOf>

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
export function notifyOf(given: NotifyText, locate: Locate) {
  const { email, digest, quietHours, owners = [], webhooks = [] } = given
  const owned = new Set(owners.map(({ webhook }) => webhook))
  const settings: NotifySettings = {
    people: rising(given.people ?? []),
    pools: rising(given.pools ?? DEFAULT_POOL_THRESHOLDS),
    owners: [],
    // YAML 1.1 reads `off` as false, and Helm writes it so.
    digest: digest === 'daily' || digest === 'monthly' ? digest : 'off',
    events: [...new Set(given.events ?? [])],
    channels: webhooks.map(({ name }) => name).filter((name) => !owned.has(name)),
    timezone: given.timezone ?? 'UTC',
    quietHours: quietHours && { fromMinute: minuteOf(quietHours.from), untilMinute: minuteOf(quietHours.until) },
    templates: Object.fromEntries(MESSAGE_KINDS.map((kind) => [kind, templateOf(given, kind)])) as NotifySettings['templates'],
  }
  const config: NotifyConfig = {
    settings,
    mail: email && mailOf(email, locate),
    webhooks: webhooks.map(({ name, url, format = 'json' }) => ({ name, url: referenceOf(url, locate), format })),
  }
  return { config, owners: owners.map((one) => ({ workspace: one.workspace, owner: ownerOf(one) })) }
}

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

function mailOf({ host, tls = 'starttls', port = DEFAULT_PORT[tls], password, caFile, ...sender }: EmailText, locate: Locate): MailConfig {
  return {
    ...{ host, port, tls, ...sender },
    password: password && referenceOf(password, locate),
    caFile: caFile === undefined ? undefined : locate(caFile),
  }
}

type Notify = Branch<NotifyText>

/** `workspaces`: their names. */
export function checkNotify(root: Branch<ConfigText>, workspaces: readonly string[]): void {
  const notify = field(root, 'notify')
  if (!notify) return
  const zone = field(notify, 'timezone')
  const name = good(zone)
  if (zone && name !== undefined && zoneNamed(name) === undefined) refuse(zone)
  const names = reportDuplicates('webhook', items(field(notify, 'webhooks')))
  checkMail(notify)
  for (const owner of items(field(notify, 'owners'))) checkOwner(owner, { notify, webhooks: names, workspaces })
  checkTemplates(notify)
}

/** Reports names that are given twice; the result has each name once. */
export function reportDuplicates(noun: string, entries: readonly Branch<{ readonly name: string }>[]): readonly string[] {
  const names = entries.flatMap((entry) => field(entry, 'name') ?? [])
  for (const { one, first } of repeated(names, good)) {
    const { source, problems } = one.reader
    const message = `the ${noun} ${quoted(one.value)} is configured twice`
    const extra = { hint: 'give each its own name', other: placeOf(first) }
    problems.push(problemOn(source, placeOf(one), 'error', 'DUPLICATE_NAME', message, extra))
  }
  return [...new Set(names.flatMap((name) => good(name) ?? []))]
}

const WRITE_EMAIL = 'write notify.email with host and from'

function checkMail(notify: Notify): void {
  const people = field(notify, 'people')
  const email = field(notify, 'email')
  if (people && !email) {
    const message = `${nameOf(people)} are told by e-mail, and there is no mail server`
    report(people, 'NOTIFY_CHANNEL', message, { on: 'key', hint: WRITE_EMAIL })
  }
  if (!email) return
  const [user, password, host] = [field(email, 'user'), field(email, 'password'), good(field(email, 'host'))]
  if ((user === undefined) !== (password === undefined)) {
    const [there, missing] = user ? ['user', 'password'] : ['password', 'user']
    report(email, 'NOTIFY_CHANNEL', `${nameOf(email)} has ${there} and no ${missing}`, {
      on: 'key',
      hint: `write ${missing} beside it, or leave out both`,
    })
  }
  const tls = field(email, 'tls')
  if (tls && user && good(tls) === 'none' && host !== undefined && !isLoopback(host)) {
    const message = `${nameOf(tls)} is none, and ${host} is another machine: the password would travel unencrypted`
    report(tls, 'NOTIFY_CHANNEL', message, { hint: 'write starttls or implicit' })
  }
}

interface Known {
  readonly notify: Notify
  readonly webhooks: readonly string[]
  readonly workspaces: readonly string[]
}

function checkOwner(owner: Branch<OwnerText>, { notify, webhooks, workspaces }: Known): void {
  const [workspace, emails, webhook] = [field(owner, 'workspace'), field(owner, 'email'), field(owner, 'webhook')]
  const name = good(workspace)
  if (workspace && name !== undefined && workspaces.length > 0 && !workspaces.includes(name)) {
    report(workspace, 'WORKSPACE_UNKNOWN', `there is no workspace ${quoted(name)} in the config`, { hint: didYouMean(name, workspaces) })
  }
  if (!workspace && workspaces.length > 1) {
    const message = `${nameOf(owner)} names no workspace, and ${workspaces.length} are configured`
    report(owner, 'WORKSPACE_MISSING', message, { hint: `write workspace: ${workspaces.join(' or ')}` })
  }
  const called = good(webhook)
  if (webhook && called !== undefined && !webhooks.includes(called)) {
    const hint = webhooks.length === 0 ? 'write it under notify.webhooks' : didYouMean(called, webhooks)
    report(webhook, 'NOTIFY_CHANNEL', `there is no webhook ${quoted(called)}`, { hint })
  }
  if (emails && items(emails).length > 0 && !field(notify, 'email')) {
    report(emails, 'NOTIFY_CHANNEL', `${nameOf(emails)} are told by e-mail, and there is no mail server`, { on: 'key', hint: WRITE_EMAIL })
  }
  if (!webhook && items(emails).length === 0) {
    report(owner, 'NOTIFY_OWNER', `${nameOf(owner)} has neither email nor webhook`, { hint: 'write email: [name@example.com], or webhook' })
  }
}

function checkTemplates(notify: Notify): void {
  const templates = field(notify, 'templates')
  if (!templates) return
  for (const kind of MESSAGE_KINDS) {
    const template = field(templates, kind)
    for (const part of template ? [field(template, 'subject'), field(template, 'text')] : []) {
      for (const unknown of new Set(unknownPlaceholders(good(part) ?? '', kind))) {
        if (!part) continue
        const message = `${nameOf(part)} has {${unknown}}, which is no placeholder of this message`
        report(part, 'NOTIFY_PLACEHOLDER', message, { hint: didYouMean(unknown, PLACEHOLDERS[kind]) })
      }
    }
  }
}
