// Weaker guards, a shorter list of protected people and wider envelopes count at once only for changes that were shown before. For later
// changes the earlier rules stay in force beside them for 24 h (docs/guards-and-approvals.md, Two steps). Nothing is held here.

import { type BreakerLimit, GUARD_CODES, type GuardCode, type GuardSettings, type ShareLimit } from '../model/change.ts'
import { type Delegated, type PolicyRevision, protectedEmails } from '../model/policy.ts'
import { type ScopeKey, scopeKey, userScope } from '../model/scope.ts'
import { DAY_MS, type Instant, isYounger, notAhead } from '../model/units.ts'
import type { ChangesShown, Difference, NotedRules, ReviewedRules, Rules, Snapshot } from './snapshot.ts'

type Bounds = NonNullable<Rules['bounds']>

const UNBOUNDED = Number.MAX_SAFE_INTEGER

/** Without envelopes it is empty. */
function boundsOf(delegated: Delegated | undefined): Bounds {
  const bounds: Record<string, number> = {}
  for (const { name, groups, maxCap, sum, maxPeople, grants } of delegated?.envelopes ?? []) {
    const at = `envelopes.${name}`
    bounds[at] = 1
    for (const id of groups) bounds[`${at}.groups.${id}`] = 1
    bounds[`${at}.maxCap`] = maxCap
    bounds[`${at}.sum`] = sum ?? UNBOUNDED
    bounds[`${at}.maxPeople`] = maxPeople ?? UNBOUNDED
    bounds[`${at}.grants.maxDays`] = grants?.maxDays ?? 0
    bounds[`${at}.grants.maxAdd`] = grants?.maxAdd ?? 0
  }
  return bounds
}

/** The bounds of `before` that are narrower than now. An envelope that is gone leaves its files to platform, without any bound. */
function narrowerThan(now: Bounds, before: Bounds): Bounds {
  const names = new Set([...Object.keys(before), ...Object.keys(now)].filter((key) => isWider(key, now, before)))
  return Object.fromEntries([...names].map((key) => [key, before[key] ?? 0]))
}

const isEnvelope = (key: string): boolean => !/\.(maxCap|sum|maxPeople|maxDays|maxAdd)$|\.groups\./.test(key)

function isWider(key: string, now: Bounds, before: Bounds): boolean {
  if (isEnvelope(key)) return (now[key] ?? 0) !== (before[key] ?? 0)
  const envelope = key.replace(/\.(groups\..*|grants\..*|maxCap|sum|maxPeople)$/, '')
  // Of an envelope that is new or gone its own line says it.
  if (!now[envelope] || !before[envelope]) return false
  return (now[key] ?? 0) > (before[key] ?? 0)
}

/** Those of `before`, which has only bounds that were narrower, that are still narrower than now. */
const stillNarrower = (now: Bounds, before: Bounds): Bounds =>
  Object.fromEntries(Object.entries(before).filter(([key]) => isWider(key, now, { ...now, ...before })))

/** The lines of a plan; `before` has only bounds that are narrower than now. */
const widenings = (now: Bounds, before: Bounds) =>
  Object.keys(stillNarrower(now, before))
    .sort()
    .map((rule) => ({ rule, from: textOf(rule, before[rule] ?? 0), to: textOf(rule, now[rule] ?? 0) }))

function textOf(key: string, value: number): string {
  if (isEnvelope(key)) return value > 0 ? 'an envelope' : 'no envelope'
  if (/\.groups\./.test(key)) return value > 0 ? 'inside' : 'not inside'
  return value === UNBOUNDED ? 'no bound' : `${value}`
}

/** Since when this change is shown; infinity when it never was. From or to another cap it is another change. */
export function shownSince({ key, from, to }: Pick<Difference, 'key' | 'from' | 'to'>, shown: ChangesShown): Instant {
  const one = Object.hasOwn(shown, key) ? shown[key] : undefined
  return one?.from === from && one.to === to ? one.at : Number.POSITIVE_INFINITY
}

/** So long after a weakening the earlier rules stay in force (choice). */
export const REVIEW_MS = DAY_MS

/**
 * The rules to save. Each weakening keeps the earlier rules in force for `REVIEW_MS`. A rule that is as strict as before again leaves the
 * earlier rules, so its next weakening counts anew. A weakening of unknown age counts as one of now: weaker rules never count too early.
 */
export function noteRules(noted: NotedRules | undefined, now: Rules, at: Instant): NotedRules {
  if (!noted) return now
  const { before: earlier = [], ...last } = noted
  const bounds = narrowerThan(now.bounds ?? {}, last.bounds ?? {})
  const before = [...earlier, { ...last, bounds, weakenedAt: at }]
    .map((one) => ({ ...one, weakenedAt: notAhead(one.weakenedAt, at) }))
    .flatMap((one) => (isYounger(one.weakenedAt, at, REVIEW_MS) ? (onlyStricter(one, now) ?? []) : []))
  return before.length > 0 ? { ...now, before } : now
}

/** The part of the earlier rules that is stricter than now. */
function onlyStricter({ approvals, bounds, ...before }: ReviewedRules, now: Rules): ReviewedRules | undefined {
  const weaker = new Set(GUARD_CODES.filter((name) => isWeaker(now.guards[name], before.guards[name])))
  const protectedEmails = before.protectedEmails.filter((email) => !now.protectedEmails.includes(email))
  const isFreer = approvals === 'separate' && now.approvals === 'together'
  const narrower = stillNarrower(now.bounds ?? {}, bounds ?? {})
  const isWidened = Object.keys(narrower).length > 0
  if (weaker.size === 0 && protectedEmails.length === 0 && !isFreer && !isWidened) return undefined
  const off = Object.fromEntries(
    GUARD_CODES.flatMap((name) => (weaker.has(name) ? [] : [[name, typeof now.guards[name] === 'boolean' ? false : 'off']])),
  )
  return {
    ...before,
    guards: { ...before.guards, ...off },
    protectedEmails,
    approvals: isFreer ? approvals : undefined,
    bounds: isWidened ? narrower : undefined,
  }
}

/** The strictest of the present and the earlier rules. */
export const strictest = (now: Rules, before: readonly ReviewedRules[]): Rules => ({
  guards: before.reduce((guards, one) => stricter(guards, one.guards), now.guards),
  protectedEmails: [...new Set([now, ...before].flatMap((one) => one.protectedEmails))],
})

export const rulesOf = ({ set, delegated }: PolicyRevision, guards: GuardSettings, approvals?: Rules['approvals']): Rules => ({
  guards,
  protectedEmails: protectedEmails(set),
  bounds: delegated && boundsOf(delegated),
  approvals,
})

/** The earlier rules that still count beside the present ones. */
export const reviewedRules = ({ approvalSteps, reviewed = [] }: Pick<Snapshot, 'approvalSteps' | 'reviewed'>): readonly ReviewedRules[] =>
  approvalSteps === 'together' ? [] : reviewed

/** Everybody whom the guard `protected` covers, by the present or the earlier rules. */
export function guardedPeople(given: Pick<Snapshot, 'policy' | 'guards' | 'approvalSteps' | 'reviewed'>): ReadonlySet<ScopeKey> {
  const rules = strictest(rulesOf(given.policy, given.guards), reviewedRules(given))
  return new Set(rules.guards.protected ? rules.protectedEmails.map((email) => scopeKey(userScope(email))) : [])
}

/** Every rule that is weaker than before, as `guards.maxLowered` or `protected`; also the rules whose weakening counts at once. */
export function weakenings(now: Rules, before: readonly ReviewedRules[] = []) {
  const guards = before.reduce((strict, one) => strictOf(GUARD_CODES, strict, one.guards), now.guards)
  const found = GUARD_CODES.flatMap((name) =>
    isWeaker(now.guards[name], guards[name]) ? [{ rule: `guards.${name}`, ...texts(name, guards[name], now.guards[name]) }] : [],
  )
  const gone = strictest(now, before).protectedEmails.filter((email) => !now.protectedEmails.includes(email))
  const isFreer = now.approvals === 'together' && before.some(({ approvals }) => approvals === 'separate')
  return [
    ...found,
    ...gone.map((email) => ({ rule: 'protected', from: email, to: 'not listed' })),
    ...widenings(now.bounds ?? {}, Object.assign({}, ...before.toReversed().map(({ bounds = {} }) => bounds))),
    ...(isFreer ? [{ rule: 'approvals', from: 'separate', to: 'together' }] : []),
  ]
}

/** The stricter of two settings, for each guard that judges changes before they are written. */
const stricter = (a: GuardSettings, b: GuardSettings): GuardSettings => strictOf(AHEAD, a, b)

function strictOf(names: readonly GuardCode[], a: GuardSettings, b: GuardSettings): GuardSettings {
  const picked = names.map((name) => [name, isWeaker(a[name], b[name]) ? b[name] : a[name]])
  return { ...a, ...Object.fromEntries(picked) }
}

/** `breaker` and `contested` judge what has happened already: a weaker limit of theirs is shown, and counts at once. */
const AHEAD = GUARD_CODES.filter((code) => code !== 'breaker' && code !== 'contested')

type Setting = GuardSettings[GuardCode]

/** Off is weaker than any limit, and a higher limit than a lower one. */
function isWeaker(now: Setting, before: Setting): boolean {
  const [a, b] = [strength(now), strength(before)]
  return a.some((value, index) => value > (b[index] ?? value))
}

function strength(setting: Setting): readonly number[] {
  if (setting === 'off' || setting === false) return [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  if (setting === true) return [0, 0]
  if (typeof setting === 'number') return [setting, 0]
  return [setting.percent, isBreaker(setting) ? setting.inARow : setting.floor]
}

const isBreaker = (setting: ShareLimit | BreakerLimit): setting is BreakerLimit => 'inARow' in setting

/** A guard's setting in words. */
function guardText(name: GuardCode, setting: Setting): string {
  if (typeof setting === 'boolean') return setting ? 'on' : 'off'
  if (typeof setting === 'number') return name === 'contested' ? `${setting} in 24 h` : `${setting} %`
  return setting === 'off' ? 'off' : limitText(setting)
}

/** A share's floor is named only if it has changed. */
function texts(name: GuardCode, from: Setting, to: Setting): { readonly from: string; readonly to: string } {
  const isShare = (one: Setting): one is ShareLimit => typeof one === 'object' && !isBreaker(one)
  return isShare(from) && isShare(to) && from.floor === to.floor
    ? { from: `${from.percent} %`, to: `${to.percent} %` }
    : { from: guardText(name, from), to: guardText(name, to) }
}

const limitText = (limit: ShareLimit | BreakerLimit): string =>
  isBreaker(limit) ? `${limit.inARow} in a row or ${limit.percent} %` : `${limit.percent} %, never under ${limit.floor}`
