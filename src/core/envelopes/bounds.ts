// Judges what a team's document says against its envelope: whom it may name, and how much it may give. What is not known yet, such as the members
// of a group while files are checked without the service, refuses nothing here.
import type { Cycle } from '../model/observed.ts'
import { onceFor } from '../model/once.ts'
import type { Cap, CapRule, DelegatedDocument, Envelope, Grant, PolicySet, Refusal, Span } from '../model/policy.ts'
import { type Scope, type ScopeKey, scopeKey } from '../model/scope.ts'
import { count, credits, DAY_MS, type Instant } from '../model/units.ts'

/** Grants of a scope that are less far apart count as one. */
const GRANT_GAP_MS = 7 * DAY_MS
/** A billing cycle is not longer. */
const LONGEST_CYCLE_DAYS = 31

/** What an entry is judged by, beside its envelope. */
export interface Around {
  readonly platform: PolicySet
  readonly envelopes: readonly Envelope[]
  /** The people of a group; undefined while not known. */
  readonly membersOf: (group: string) => ReadonlySet<string> | undefined
  /** Members of platform's pools. */
  readonly pooled: ReadonlySet<string>
  /** The caps of platform's rules that match a person, or may; absent while nobody's match is known. */
  readonly ruled?: (email: string) => readonly Cap[]
  /** When earlier grants of a scope were. */
  readonly spans: Readonly<Record<ScopeKey, Span>>
  readonly cycle?: Cycle
  readonly now?: Instant
}

const nameOf = (scope: Scope): string => (scope.kind === 'user' ? scope.email : scope.kind === 'group' ? `group ${scope.id}` : 'the team')

/** What caps are worked out by: `rules` are those of the envelope's documents. */
interface Known {
  readonly around: Around
  readonly rules: readonly CapRule[]
}

/** What an entry is judged by, with the grants of the same documents by scope. */
interface Given extends Known {
  readonly grants: ReadonlyMap<ScopeKey, readonly Grant[]>
}

export const grantsByScope = (grants: readonly Grant[]): ReadonlyMap<ScopeKey, readonly Grant[]> =>
  Map.groupBy(grants, ({ scope }) => scopeKey(scope))

type Why = Pick<Refusal, 'code' | 'message' | 'hint'>

const outside = (message: string, hint = 'remove the entry, or ask platform for it'): Why => ({ code: 'ENVELOPE_OUTSIDE', message, hint })
const beyond = (message: string, hint: string): Why => ({ code: 'ENVELOPE_BOUND', message, hint })

/** Whether a team may say anything of a scope. */
export const isInside = (scope: Scope, envelope: Envelope, around: Around): boolean => whyOutside(scope, envelope, around) === undefined

/** `none` for a member of a pool, accepted before platform made the pool: it would keep the pool from dealing. */
export const isDealt = (one: Entry, { pooled }: Around): boolean =>
  'cap' in one && one.cap === 'none' && one.scope.kind === 'user' && pooled.has(one.scope.email)

/** Why an entry is not accepted; undefined where it is. */
export function refusalOf(entry: Entry, envelope: Envelope, given: Given): Refusal | undefined {
  const { around } = given
  const why =
    whyOutside(entry.scope, envelope, around) ??
    fittingAll(entry.scope, envelope, around)
      .map((one) => ('cap' in entry ? whyCap(entry, one, given) : whyGrant(entry, one, given)))
      .find((one) => one !== undefined)
  return why && { ...why, at: entry.at, other: envelope.at }
}

/** Who is in two envelopes must fit both. */
function fittingAll(scope: Scope, envelope: Envelope, { envelopes, membersOf }: Around): readonly Envelope[] {
  const isIn = (one: Envelope): boolean =>
    one.groups.some((id) => (scope.kind === 'user' ? membersOf(id)?.has(scope.email) === true : scope.kind === 'group' && scope.id === id))
  return [envelope, ...envelopes.filter((one) => one.name !== envelope.name && isIn(one))]
}

/** The caps and grants that platform declares; a group without a cap is only a name. */
const declaredBy = onceFor(({ rules, grants, protectedPeople }: PolicySet) => keysOf([...rules, ...grants, ...protectedPeople]))

export const keysOf = (all: readonly { readonly scope: Scope }[]): ReadonlySet<ScopeKey> => new Set(all.map(({ scope }) => scopeKey(scope)))

function whyOutside(scope: Scope, { name, groups }: Envelope, around: Around): Why | undefined {
  const { platform, membersOf, pooled } = around
  const who = nameOf(scope)
  if (scope.kind === 'team') return outside(`the team is not inside envelope ${name}`)
  if (declaredBy(platform).has(scopeKey(scope)))
    return outside(`${who} is declared or protected by platform, and so not inside envelope ${name}`)
  if (scope.kind === 'group') {
    if (!groups.includes(scope.id)) return outside(`${who} is not a group of envelope ${name}: it has ${groups.join(', ')}`)
    return unnamed(scope.id, name, platform)
  }
  if (pooled.has(scope.email)) return outside(`${who} is a member of a pool of platform, and so not inside envelope ${name}`)
  const lists = groups.map((id) => membersOf(id))
  if (lists.some((one) => one?.has(scope.email))) return undefined
  const nameless = groups.map((id) => unnamed(id, name, platform)).find((one) => one !== undefined)
  if (nameless) return nameless
  if (lists.includes(undefined)) return undefined
  return outside(`${who} is not in ${groups.join(' or ')} by two readings in a row, and so not inside envelope ${name}`)
}

/** Members are listed by the group's name: a team that could choose it would choose who is inside. */
function unnamed(id: string, envelope: string, { groups }: PolicySet): Why | undefined {
  if (groups.some(({ scope }) => scope.id === id)) return undefined
  const hint = `add {id: ${id}, name: …} without a cap to groups in a policy of platform`
  return outside(`platform does not declare group ${id} of envelope ${envelope}, so its name is not known`, hint)
}

function whyCap({ scope, cap }: CapRule, { name, maxCap }: Envelope, given: Given): Why | undefined {
  if (cap !== 'none') {
    if (cap <= maxCap) return undefined
    return beyond(`${nameOf(scope)} has a cap of ${cap}, and maxCap of envelope ${name} is ${maxCap}`, `write ${maxCap} or less`)
  }
  const falls = fallback(scope, given)
  if (falls !== 'none' && falls <= maxCap) return undefined
  const to = falls === 'none' ? 'no cap at all' : `a cap of ${falls}`
  return beyond(`none at ${nameOf(scope)} falls back to ${to}, and maxCap of envelope ${name} is ${maxCap}`, `write ${maxCap} or less`)
}

/** The highest cap that may apply where nothing is set at the scope itself, the lowest while groups are not known; `none` where nobody is capped. */
function fallback(scope: Scope, { around, rules }: Known): Cap {
  const reaches = (wider: Scope): boolean | undefined =>
    scope.kind === 'user' && wider.kind === 'group' ? around.membersOf(wider.id)?.has(scope.email) : false
  const capsOf = (all: readonly CapRule[], test: (wider: Scope) => boolean): readonly number[] =>
    all.flatMap(({ scope: wider, cap }) => (cap !== 'none' && test(wider) ? [cap] : []))
  const all = [...rules, ...around.platform.rules]
  const groups = capsOf(all, (wider) => reaches(wider) === true)
  const others = [...capsOf(all, (wider) => reaches(wider) === undefined), ...capsOf(around.platform.rules, ({ kind }) => kind === 'team')]
  const cap = groups.length > 0 ? Math.max(...groups) : Math.min(...others)
  return Number.isFinite(cap) ? (cap as Cap) : 'none'
}

/** What a grant gives: its cap, or its addition and the highest cap that it may add to. Undefined without a base. */
function givenBy({ scope, amount }: Grant, given: Known): number | undefined {
  if (amount.kind === 'cap') return amount.credits
  const own = given.rules.find((rule) => scopeKey(rule.scope) === scopeKey(scope))?.cap
  const ruled = scope.kind === 'user' ? (given.around.ruled?.(scope.email) ?? []) : []
  const bases = own === undefined || own === 'none' ? [fallback(scope, given), ...ruled] : [own]
  const base = Math.max(...bases.filter((cap) => cap !== 'none'))
  return Number.isFinite(base) ? base + amount.credits : undefined
}

function whyGrant(grant: Grant, { name, maxCap, grants }: Envelope, given: Given): Why | undefined {
  const who = nameOf(grant.scope)
  if (!grants) return beyond(`envelope ${name} allows no grants`, 'remove the grant')
  const most = maxCap + grants.maxAdd
  const gives = givenBy(grant, given) ?? (grant.amount.kind === 'add' ? grant.amount.credits : 0)
  if (gives > most) {
    const message = `the grant for ${who} gives ${gives}, and maxCap and maxAdd of envelope ${name} are ${most} together`
    return beyond(message, `give ${most} or less`)
  }
  const own = spanOf(grant, given.around)
  const row = rowOf(grant, given.grants.get(scopeKey(grant.scope)) ?? [], given.around)
  const days = (row.untilAt - row.fromAt) / DAY_MS
  if (days < grants.maxDays + ROUNDING_DAYS) return undefined
  const other = row.fromAt < own.fromAt ? 'before' : row.untilAt > own.untilAt ? 'after' : undefined
  const together = other ? `, together with the one ${other} it` : ''
  const message = `the grant for ${who} lasts ${count(Math.ceil(days), 'day')}${together}, and maxDays of envelope ${name} is ${grants.maxDays}`
  return beyond(message, `end it after ${count(grants.maxDays, 'day')}; the next may begin 7 days later`)
}

/** A grant from today through a date has the rest of today more, which is less than a day. */
const ROUNDING_DAYS = 1

export type Entry = CapRule | Grant

export const entriesOf = ({ rules, grants }: Pick<DelegatedDocument, 'rules' | 'grants'>): readonly Entry[] => [...rules, ...grants]

export const entryKey = (one: Entry): string => `${'cap' in one ? 'cap' : 'grant'} ${scopeKey(one.scope)}`

export const isSameEntry = (one: Entry, other: Entry): boolean => JSON.stringify(sayingOf(one)) === JSON.stringify(sayingOf(other))

const sayingOf = (one: Entry) => ('cap' in one ? [one.cap] : [one.amount, one.fromAt, one.until])

/** An accepted grant as it was: where it would give more by what the team says now of the cap that it adds to, what it gave. */
export const grownFrom =
  (before: readonly CapRule[], now: readonly CapRule[], around: Around) =>
  (grant: Grant): Grant => {
    const [gave, gives = 0] = [before, now].map((rules) => givenBy(grant, { around, rules }))
    if (grant.amount.kind === 'cap' || gave === undefined || gives <= gave) return grant
    return { ...grant, amount: { kind: 'cap', credits: credits(gave) } }
  }

/** When a grant is in force; at its longest where its end is not known. */
function spanOf({ fromAt: from, until }: Grant, { now = 0, cycle }: Around): Span {
  const fromAt = from ?? now
  if (until.kind === 'instant') return { fromAt, untilAt: until.at }
  const longest = fromAt + LONGEST_CYCLE_DAYS * DAY_MS
  if (!cycle || fromAt > now) return { fromAt, untilAt: longest }
  return { fromAt, untilAt: fromAt < cycle.startAt ? Math.min(longest, cycle.startAt) : cycle.endAt }
}

/** The time of a grant, with those of its scope that count as one with it: others that are `declared` there, and an earlier one. */
function rowOf(grant: Grant, declared: readonly Grant[], around: Around): Span {
  const key = scopeKey(grant.scope)
  const own = spanOf(grant, around)
  const before = Object.hasOwn(around.spans, key) ? around.spans[key] : undefined
  const past = before && before.fromAt <= own.fromAt ? [untilNow(before, around.now)] : []
  const others = declared.map((one) => spanOf(one, around))
  const all = [own, ...others, ...past].sort((a, b) => a.fromAt - b.fromAt)
  const rows: Span[] = []
  for (const span of all) {
    const last = rows.at(-1)
    if (!last || span.fromAt - last.untilAt >= GRANT_GAP_MS) rows.push(span)
    else rows.splice(-1, 1, { fromAt: last.fromAt, untilAt: Math.max(last.untilAt, span.untilAt) })
  }
  return rows.find(({ fromAt, untilAt }) => fromAt <= own.fromAt && own.untilAt <= untilAt) ?? own
}

/** What was to come of an earlier time counts only where it is still declared. */
const untilNow = ({ fromAt, untilAt }: Span, now: Instant = untilAt): Span => ({ fromAt, untilAt: Math.min(untilAt, now) })

/** When grants were that have begun: what has not is judged by what is declared. */
export function spansOf(grants: readonly Grant[], around: Around, now: Instant): Around['spans'] {
  const past = Object.entries(around.spans).map(([key, span]) => [key, untilNow(span, now)] as const)
  const kept = past.filter(([, { untilAt }]) => untilAt + GRANT_GAP_MS > now)
  const begun = grants
    .filter((grant) => grant.envelope !== undefined && spanOf(grant, around).fromAt <= now)
    .toSorted((a, b) => spanOf(a, around).fromAt - spanOf(b, around).fromAt)
  const present = [...grantsByScope(begun)].flatMap(([key, all]) => all.slice(-1).map((last) => [key, rowOf(last, all, around)] as const))
  return Object.fromEntries([...kept, ...present])
}

/** All people whom documents reach, and the sum of the highest cap that each of them has by these now, or by a grant that has not ended. */
export function measure(documents: readonly Pick<DelegatedDocument, 'rules' | 'grants'>[], around: Around) {
  const rules = documents.flatMap((document) => document.rules)
  const highest = new Map<string, number>()
  const give = (scope: Scope, cap: number): void => {
    const people = scope.kind === 'user' ? [scope.email] : scope.kind === 'group' ? [...(around.membersOf(scope.id) ?? [])] : []
    for (const email of people) highest.set(email, Math.max(highest.get(email) ?? 0, cap))
  }
  for (const { scope, cap } of rules) give(scope, cap === 'none' ? 0 : cap)
  for (const grant of documents.flatMap((document) => document.grants)) {
    const isOver = around.now !== undefined && spanOf(grant, around).untilAt <= around.now
    if (!isOver) give(grant.scope, givenBy(grant, { around, rules }) ?? 0)
  }
  return { people: highest.size, sum: [...highest.values()].reduce((sum, cap) => sum + cap, 0) }
}

export type Measure = ReturnType<typeof measure>

/** Why documents together are too much; undefined where they fit, or are no more than `before`. */
export function whyTooMuch(total: Measure, envelope: Envelope, before?: Measure): Why | undefined {
  const { name, sum, maxPeople } = envelope
  if (sum !== undefined && total.sum > sum && total.sum > (before?.sum ?? 0))
    return beyond(`the caps in envelope ${name} are ${total.sum} together, and its sum is ${sum}`, 'lower caps, or ask platform for more')
  if (maxPeople !== undefined && total.people > maxPeople && total.people > (before?.people ?? 0))
    return beyond(`envelope ${name} reaches ${total.people} people, and its maxPeople is ${maxPeople}`, 'name fewer people')
  return undefined
}
