// What happened, and whom it matters to: events for the owners of the groups they touch and for channels of the whole workspace, and what a digest
// says of the time since the last one. It names people by `label` only, and no file, line or reason: these may name others.
import type { Kept, Told } from '../model/facts.ts'
import type { GroupMembers } from '../model/observed.ts'
import type { Scope } from '../model/scope.ts'
import { DAY_MS, type Instant, MINUTE_MS } from '../model/units.ts'
import type { Digest, EventKind, MessageKind, NotifySettings, Owner, Target, Values } from './settings.ts'
import { entryOf, type Leveled, lastKept } from './told.ts'

/** One event, or a part of one: those with the same id are told together. `foreign`, `hold`, `revision`: only digests count them. */
export interface Happening {
  readonly kind: EventKind | 'foreign' | 'hold' | 'revision'
  /** Without an address in it. */
  readonly id: string
  readonly at: Instant
  /** Absent: the whole workspace. */
  readonly scope?: Scope
  /** Beside the scope; never with an address. */
  readonly text: string
  /** The policy revision behind it; absent: the present one. */
  readonly revision?: string
  /** The number of further ones at that time, of which the scopes are not known. */
  readonly more?: number | undefined
}

/** What events are told by. */
export interface EventInputs {
  readonly now: Instant
  readonly settings: NotifySettings
  readonly groups: readonly Pick<GroupMembers, 'id' | 'name' | 'emails'>[]
  readonly pools: readonly PoolUse[]
  readonly told: Told | undefined
  /** What happened lately. */
  readonly happened?: readonly Happening[]
  /** The policy revision in force. */
  readonly revision?: string
  /** How people are named to others: by e-mail or by hash. */
  readonly label: (email: string) => string
}

/** One pool, with the figures of page and gauges. */
export interface PoolUse {
  readonly name: string
  /** Ids of the groups whose members share it; none where its members are chosen otherwise. */
  readonly groups: readonly string[]
  /** Those who share it, however they are chosen. */
  readonly members: readonly string[]
  readonly credits: number
  readonly used: number
  readonly exhaustedAt?: Instant
}

/** A message before it is written: only one that is due is. */
export interface Draft extends Leveled {
  readonly kind: MessageKind
  readonly to: Target
  readonly values: Values
}

/** The key of a message, which holds no secret: what it is about and whom it goes to. */
export const keyOf = (kind: MessageKind, ...parts: readonly string[]): string => JSON.stringify([kind, ...parts])

export const targetKey = (target: Target): string => (target.kind === 'email' ? `mail ${target.address}` : `webhook ${target.name}`)

/** The kind and name of an owner, for keys. */
export const ownerKey = ({ of }: Owner): readonly string[] => [of.kind, of.kind === 'group' ? of.id : of.name]

/** How many lines a message has at most, and how many people it names. Choice. */
const MOST_LINES = 20

/** The first lines, and how many more there are. */
export const firstLines = (lines: readonly string[]): readonly string[] =>
  lines.length > MOST_LINES ? [...lines.slice(0, MOST_LINES), `and ${lines.length - MOST_LINES} more`] : lines

/** Events of one kind go to one receiver at most six times an hour, together. Choice. */
const EVENT_GAP_MS = 10 * MINUTE_MS

/** Older writes cause no message. Choice. */
const EVENT_LIFE_MS = DAY_MS

type Reach = ReturnType<typeof reachOf>

/** The people and groups of an owner, by name; `isKnown`: whether a group of it was read. A group that is not known, and a pool that does not exist, have nobody. */
export function reachOf({ of }: Owner, { groups, pools }: Pick<EventInputs, 'groups' | 'pools'>) {
  const pool = of.kind === 'pool' ? pools.find(({ name }) => name === of.name) : undefined
  const ids: ReadonlySet<string> = new Set(of.kind === 'group' ? [of.id] : pool?.groups)
  const found = groups.filter(({ id }) => ids.has(id))
  const name = of.kind === 'pool' ? `Pool ${of.name}` : (found[0]?.name ?? of.id)
  return { name, ids, emails: new Set([...found.flatMap(({ emails }) => emails), ...(pool?.members ?? [])]), isKnown: found.length > 0 }
}

/** A change of the team's cap, or of the whole workspace, touches everybody. */
function touches({ scope }: Happening, reach: Reach | undefined): boolean {
  if (!reach || !scope || scope.kind === 'team') return true
  return scope.kind === 'group' ? reach.ids.has(scope.id) : reach.emails.has(scope.email)
}

/** The messages about events that were not told yet: to the owners of the groups they touch, and to channels that are told of the whole workspace. */
export function eventDrafts(inputs: EventInputs): readonly Draft[] {
  const { settings, happened = [], now } = inputs
  if (settings.events.length === 0) return []
  const receivers: readonly { readonly owner?: Owner; readonly to: Target }[] = [
    ...settings.owners.flatMap((owner) => owner.targets.map((to) => ({ owner, to }))),
    ...settings.channels.map((name) => ({ to: { kind: 'webhook', name } as const })),
  ]
  return receivers.flatMap(({ owner, to }) => {
    const reach = owner && reachOf(owner, inputs)
    const seen = happened.filter((one) => touches(one, reach))
    return settings.events.flatMap((event): readonly Draft[] => {
      const key = keyOf('event', event, ...(owner ? ownerKey(owner) : ['workspace']), targetKey(to))
      const found = seen.filter((one) => isOf(one, event, now))
      const asked = askedOf(inputs, found, key)
      if (!asked) return []
      const { fresh, ...of } = asked
      return [{ kind: 'event', key, to, values: valuesOf(inputs, { event, seen, fresh, reach }), ...of }]
    })
  })
}

const isOf = ({ kind, at }: Happening, event: EventKind, now: Instant): boolean =>
  kind === event && ((kind !== 'applied' && kind !== 'reverted') || now - at < EVENT_LIFE_MS)

/** What was not told yet. A message that did not arrive keeps its level, so that its tries are counted; levels rise also where a clock was ahead. */
function askedOf({ told, now, happened = [] }: EventInputs, found: readonly Happening[], key: string) {
  const entry = told && entryOf(told, key)
  const last = lastKept(entry)
  const before = new Set(last?.items)
  const fresh = found.filter(({ id }) => !before.has(id))
  if (fresh.length === 0) return undefined
  const lasting = [...happened.map(({ id }) => id), ...Object.keys(last?.over ?? {})].filter((id) => before.has(id))
  const isWaiting = entry?.state === 'waiting'
  if (entry && !isWaiting && now >= entry.at && now - entry.at < EVENT_GAP_MS) return undefined
  return {
    fresh,
    // What was told stays so while it does not touch the receiver, as where the members of a group are not known for a while.
    kept: { items: [...new Set([...found.map(({ id }) => id), ...lasting])], over: last?.over },
    level: entry && isWaiting ? entry.level : Math.max(now, (entry?.level ?? 0) + 1),
  }
}

const TITLES: Readonly<Record<EventKind, string>> = {
  held: 'changes are held',
  applied: 'caps were written',
  reverted: 'foreign changes were reverted',
  grantEnding: 'grants end within a day',
  paused: 'writing is paused',
  rejected: 'scopes are rejected and left alone',
}

const scopeWord = (scope: Scope, label: EventInputs['label']): string => {
  if (scope.kind === 'team') return 'team'
  return scope.kind === 'group' ? `group:${scope.id}` : label(scope.email)
}

/** Of one kind of event, for one receiver: all that touches them, of which `fresh` was not told yet. */
interface Touching {
  readonly event: EventKind
  readonly seen: readonly Happening[]
  readonly fresh: readonly Happening[]
  readonly reach: Reach | undefined
}

function valuesOf({ label, revision = '' }: EventInputs, { event, seen, fresh, reach }: Touching): Values {
  return {
    event,
    title: TITLES[event],
    of: reach?.name ?? 'Workspace',
    count: fresh.length,
    items: firstLines(fresh.map(({ scope, text }) => (scope ? `${scopeWord(scope, label)}: ${text}` : text))),
    revision: fresh.findLast((one) => one.revision !== undefined)?.revision ?? revision,
    held: seen.filter(({ kind }) => kind === 'held').length,
    rejected: seen.filter(({ kind }) => kind === 'rejected').length,
  }
}

/** Since when a digest counts, after one that left `kept` behind, however long ago. The first one looks back as far as it is sent. */
export const countedSince = (kept: Kept | undefined, digest: Digest, now: Instant): Instant =>
  kept?.basis?.at ?? now - (digest === 'daily' ? DAY_MS : 31 * DAY_MS)

/** The lines of a digest about what changed since the last one, which left `kept` behind; the present one leaves people at their cap, and what its figure covers. */
export function changedSince(
  { now, happened = [], label, settings }: EventInputs,
  reach: Reach,
  kept: Kept | undefined,
  { items, basis }: Required<Omit<Kept, 'over'>>,
): readonly string[] {
  const sinceAt = countedSince(kept, settings.digest, now)
  const lately = happened.filter((one) => one.at > sinceAt)
  const seen = lately.filter((one) => touches(one, reach))
  const unlisted = lately.reduce((sum, one) => sum + (one.more ?? 0), 0)
  const countOf = (kind: Happening['kind'], one: string, many: string): readonly string[] => {
    const { length } = seen.filter((found) => found.kind === kind)
    return length === 0 ? [] : [`${length} ${length === 1 ? one : many}`]
  }
  const counts = [
    ...countOf('applied', 'cap written', 'caps written'),
    ...countOf('foreign', 'foreign change', 'foreign changes'),
    ...(unlisted === 0 ? [] : [`${unlisted} more foreign ${unlisted === 1 ? 'change' : 'changes'} somewhere in the workspace`]),
    ...countOf('reverted', 'foreign change reverted', 'foreign changes reverted'),
    ...countOf('hold', 'hold in the workspace', 'holds in the workspace'),
    ...countOf('revision', 'policy revision', 'policy revisions'),
  ]
  const before = new Set(kept?.items)
  const newly = kept ? items.filter((email) => !before.has(email)) : []
  return [
    `What changed: ${counts.length === 0 ? 'nothing' : counts.join(', ')}.`,
    ...(newly.length === 0 ? [] : [`Newly at their cap: ${firstLines(newly.map(label)).join(', ')}.`]),
    ...coverage(kept?.basis, basis),
  ]
}

/** A figure that covers other people, or comes from elsewhere, moves without any use. */
function coverage(before: Kept['basis'], { known, members, source }: Required<Kept>['basis']): readonly string[] {
  if (!before || (before.known === known && before.source === source)) return []
  const parts = [
    ...(before.known === known ? [] : [`use is known of ${known} of ${members} people, before of ${before.known} of ${before.members}`]),
    ...(before.source === source ? [] : [`it is ${source} now, before it was ${before.source}`]),
  ]
  return [`The figure moved by coverage, not by use alone: ${parts.join('; ')}.`]
}
