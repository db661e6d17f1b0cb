// Compares the values of `notify` with each other: unknown names, missing channels, unknown placeholders. The schema has validated each value by itself.
import { isLoopback } from '../../core/model/loopback.ts'
import { MESSAGE_KINDS, PLACEHOLDERS } from '../../core/notify/settings.ts'
import { unknownPlaceholders } from '../../core/notify/text.ts'
import { zoneNamed } from '../../policy/dates.ts'
import { refuse } from '../../policy/schema/kinds.ts'
import { didYouMean } from '../../policy/suggest.ts'
import { type Branch, field, good, items, nameOf, placeOf, report } from '../../policy/tree.ts'
import { problemOn, quoted } from '../../policy/yaml.ts'
import type { ConfigText, NotifyText, OwnerText } from './schema-source.ts'

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
  const first = new Map<string, Branch>()
  for (const entry of entries) {
    const branch = field(entry, 'name')
    const name = good(branch)
    if (!branch || name === undefined) continue
    const other = first.get(name)
    if (!other) {
      first.set(name, branch)
      continue
    }
    const { source, problems } = branch.reader
    const message = `the ${noun} ${quoted(name)} is configured twice`
    problems.push(
      problemOn(source, placeOf(branch), 'error', 'DUPLICATE_NAME', message, { hint: 'give each its own name', other: placeOf(other) }),
    )
  }
  return [...first.keys()]
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
