// What happened, and whom it matters to: events for the owners of the groups they touch and for channels of the whole workspace, and what a digest
// says of the time since the last one. It names people by `label` only, and no file, line or reason: these may name others.
import type { GroupMembers } from '../model/observed.ts'
import type { Scope } from '../model/scope.ts'
import { DAY_MS, type Instant, MINUTE_MS } from '../model/units.ts'
import type { Digest, EventKind, NotifySettings, Owner, Target, Values } from './settings.ts'
import { type Kept, lastKept, type Told, type ToldEntry } from './told.ts'

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
}

/** Whom a message is for: the owner of groups, or, without one, a channel that is told of the whole workspace. */
interface Receiver {
  readonly owner?: Owner
  readonly to: Target
}

interface EventContext {
  readonly now: Instant
  readonly settings: NotifySettings
  readonly happened: readonly Happening[]
  /** The policy revision in force. */
  readonly revision: string
  readonly told: Told
  readonly label: (email: string) => string
  /** The people and groups of an owner. */
  readonly reachOf: (owner: Owner) => Reach
}

interface Reach {
  readonly name: string
  readonly ids: ReadonlySet<string>
  readonly emails: ReadonlySet<string>
  /** Whether a group of it was read. */
  readonly isKnown: boolean
}

interface EventDraft {
  readonly kind: 'event'
  readonly key: readonly string[]
  readonly level: number
  readonly to: Target
  readonly values: Values
  readonly kept: Kept
}

/** How many lines a message has at most, and how many people it names. Choice. */
const MOST_LINES = 20

/** The first lines, and how many more there are. */
export const firstLines = (lines: readonly string[]): readonly string[] =>
  lines.length > MOST_LINES ? [...lines.slice(0, MOST_LINES), `and ${lines.length - MOST_LINES} more`] : lines

/** Events of one kind go to one receiver at most six times an hour, together. Choice. */
const EVENT_GAP_MS = 10 * MINUTE_MS

/** Older writes cause no message. Choice. */
const EVENT_LIFE_MS = DAY_MS

/** The people and groups of an owner, by name. A group that is not known, and a pool that does not exist, have nobody. */
export function reachOf(
  { of }: Owner,
  groups: readonly Pick<GroupMembers, 'id' | 'name' | 'emails'>[],
  pools: readonly { readonly name: string; readonly groups: readonly string[] }[],
): Reach {
  const ids = new Set(of.kind === 'group' ? [of.id] : pools.find(({ name }) => name === of.name)?.groups)
  const found = groups.filter(({ id }) => ids.has(id))
  const name = of.kind === 'pool' ? `Pool ${of.name}` : (found[0]?.name ?? of.id)
  return { name, ids, emails: new Set(found.flatMap(({ emails }) => emails)), isKnown: found.length > 0 }
}

/** A change of the team's cap, or of the whole workspace, touches everybody. */
function touches({ scope }: Happening, reach: Reach | undefined): boolean {
  if (!reach || !scope || scope.kind === 'team') return true
  return scope.kind === 'group' ? reach.ids.has(scope.id) : reach.emails.has(scope.email)
}

/** The messages about events that were not told yet; `keyOf` makes the key of a draft. */
export function eventDrafts(
  context: EventContext,
  targetKey: (to: Target) => string,
  keyOf: (parts: readonly string[]) => string,
): EventDraft[] {
  const { settings } = context
  if (settings.events.length === 0) return []
  const receivers: readonly Receiver[] = [
    ...settings.owners.flatMap((owner) => owner.targets.map((to) => ({ owner, to }))),
    ...settings.channels.map((name) => ({ to: { kind: 'webhook', name } as const })),
  ]
  return receivers.flatMap(({ owner, to }) => {
    const reach = owner && context.reachOf(owner)
    const seen = context.happened.filter((one) => touches(one, reach))
    return settings.events.flatMap((event): readonly EventDraft[] => {
      const about = owner ? [owner.of.kind, owner.of.kind === 'group' ? owner.of.id : owner.of.name] : ['workspace']
      const key = [event, ...about, targetKey(to)]
      const asked = askedOf(
        context,
        seen.filter((one) => isOf(one, event, context.now)),
        keyOf(key),
      )
      if (!asked) return []
      const values = valuesOf(context, { event, seen, fresh: asked.fresh, reach })
      return [{ kind: 'event', key, level: asked.level, to, kept: { items: asked.items }, values }]
    })
  })
}

const isOf = ({ kind, at }: Happening, event: EventKind, now: Instant): boolean =>
  kind === event && ((kind !== 'applied' && kind !== 'reverted') || now - at < EVENT_LIFE_MS)

interface Asked {
  readonly fresh: readonly Happening[]
  readonly items: readonly string[]
  readonly level: number
}

/** What was not told yet. A message that did not arrive keeps its level, so that its tries are counted. */
function askedOf({ told, now }: EventContext, found: readonly Happening[], key: string): Asked | undefined {
  const entry: ToldEntry | undefined = Object.hasOwn(told.entries, key) ? told.entries[key] : undefined
  const before = new Set(lastKept(entry)?.items)
  const fresh = found.filter(({ id }) => !before.has(id))
  if (fresh.length === 0) return undefined
  const isWaiting = entry?.state === 'waiting'
  if (entry && !isWaiting && now >= entry.at && now - entry.at < EVENT_GAP_MS) return undefined
  return { fresh, items: [...new Set(found.map(({ id }) => id))], level: entry && isWaiting ? entry.level : now }
}

const TITLES: Readonly<Record<EventKind, string>> = {
  held: 'changes are held',
  applied: 'caps were written',
  reverted: 'foreign changes were reverted',
  grantEnding: 'grants end within a day',
  paused: 'writing is paused',
  rejected: 'scopes are rejected and left alone',
}

const scopeWord = (scope: Scope, label: EventContext['label']): string => {
  if (scope.kind === 'team') return 'team'
  return scope.kind === 'group' ? `group:${scope.id}` : label(scope.email)
}

interface Shown {
  readonly event: EventKind
  readonly seen: readonly Happening[]
  readonly fresh: readonly Happening[]
  readonly reach: Reach | undefined
}

function valuesOf({ label, revision }: EventContext, { event, seen, fresh, reach }: Shown): Values {
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

/** What a digest compares with the one before. */
interface DigestNow {
  readonly atCap: readonly string[]
  readonly basis: NonNullable<Kept['basis']>
}

/** How far a digest looks back, if none was sent before it. */
export const lookBackMs = (digest: Digest): number => (digest === 'daily' ? DAY_MS : 31 * DAY_MS)

/** The lines of a digest about what changed since the last one. */
export function changedSince(
  { now, happened, label }: Pick<EventContext, 'now' | 'happened' | 'label'>,
  digest: Digest,
  { entry, reach, present }: { readonly entry: ToldEntry | undefined; readonly reach: Reach; readonly present: DigestNow },
): readonly string[] {
  const kept = lastKept(entry)
  const sinceAt = Math.max(kept?.basis?.at ?? 0, now - lookBackMs(digest))
  const seen = happened.filter((one) => one.at > sinceAt && touches(one, reach))
  const countOf = (kind: Happening['kind'], one: string, many: string): readonly string[] => {
    const { length } = seen.filter((found) => found.kind === kind)
    return length === 0 ? [] : [`${length} ${length === 1 ? one : many}`]
  }
  const counts = [
    ...countOf('applied', 'cap written', 'caps written'),
    ...countOf('foreign', 'foreign change', 'foreign changes'),
    ...countOf('reverted', 'foreign change reverted', 'foreign changes reverted'),
    ...countOf('hold', 'hold in the workspace', 'holds in the workspace'),
    ...countOf('revision', 'policy revision', 'policy revisions'),
  ]
  const before = new Set(kept?.items)
  const newly = kept ? present.atCap.filter((email) => !before.has(email)) : []
  const names = newly.slice(0, MOST_LINES).map(label)
  const more = newly.length - names.length
  return [
    `What changed: ${counts.length === 0 ? 'nothing' : counts.join(', ')}.`,
    ...(newly.length === 0 ? [] : [`Newly at their cap: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`]),
    ...coverage(kept?.basis, present.basis),
  ]
}

/** A figure that covers other people, or comes from elsewhere, moves without any use. */
function coverage(before: Kept['basis'], { known, members, source }: DigestNow['basis']): readonly string[] {
  if (!before || (before.known === known && before.source === source)) return []
  const parts = [
    ...(before.known === known ? [] : [`use is known of ${known} of ${members} people, before of ${before.known} of ${before.members}`]),
    ...(before.source === source ? [] : [`it is ${source} now, before it was ${before.source}`]),
  ]
  return [`The figure moved by coverage, not by use alone: ${parts.join('; ')}.`]
}
