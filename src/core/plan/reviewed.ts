// Guards that were weakened, and people who are protected no longer, count only for changes that were shown before (product.md, section 5,
// Two steps): until then the rules of before are in force beside those of now. It holds nothing itself.
import { isYounger, notAhead } from '../model/age.ts'
import { type BreakerLimit, GUARD_CODES, type GuardCode, type GuardSettings, type ShareLimit } from '../model/change.ts'
import { type PolicyRevision, protectedEmails } from '../model/policy.ts'
import type { Instant } from '../model/units.ts'

/** What decides whether a change goes out. */
export interface Rules {
  readonly guards: GuardSettings
  readonly protectedEmails: readonly string[]
  /** Whether an approval may arrive with the change it releases; absent: not known, and then no change of it is. */
  readonly approvals?: 'separate' | 'together'
}

/** Rules that were in force until somebody weakened them. What is not weaker any more is off in them. */
export interface ReviewedRules extends Rules {
  /** When the weaker rules were first seen. */
  readonly weakenedAt: Instant
}

/** The rules as last seen, and those before them that are still in force beside them, oldest first. */
export interface NotedRules extends Rules {
  readonly before?: readonly ReviewedRules[]
  /** Written by 0.1.0: then these rules are themselves those of before. */
  readonly weakenedAt?: Instant
}

/** How long weaker rules wait until they count for changes that come later (choice). */
export const REVIEW_MS = 24 * 3_600_000

export interface Weakening {
  /** `guards.maxLowered`, `protected`. */
  readonly rule: string
  readonly from: string
  readonly to: string
}

/**
 * The rules to note, given those noted before: each time some are weakened, those of before stay in force beside them for `REVIEW_MS`. What
 * was strengthened again stands in no rules of before, so that its next weakening is one of its own. A weakening of unknown age counts as one
 * of now: weaker rules never come early.
 */
export function noteRules(noted: NotedRules | undefined, now: Rules, at: Instant): NotedRules {
  if (!noted) return now
  const { before: earlier = [], weakenedAt = at, ...last } = noted
  const before = [...earlier, { ...last, weakenedAt }]
    .map((one) => ({ ...one, weakenedAt: notAhead(one.weakenedAt, at) }))
    .flatMap((one) => (isYounger(one.weakenedAt, at, REVIEW_MS) ? (onlyStricter(one, now) ?? []) : []))
  return before.length > 0 ? { ...now, before } : now
}

/** That of the rules of before which is stricter than now. */
function onlyStricter({ approvals, ...before }: ReviewedRules, now: Rules): ReviewedRules | undefined {
  const weaker = new Set(GUARD_CODES.filter((name) => isWeaker(now.guards[name], before.guards[name])))
  const protectedEmails = before.protectedEmails.filter((email) => !now.protectedEmails.includes(email))
  const isFreer = approvals === 'separate' && now.approvals === 'together'
  if (weaker.size === 0 && protectedEmails.length === 0 && !isFreer) return undefined
  const off = Object.fromEntries(
    GUARD_CODES.flatMap((name) => (weaker.has(name) ? [] : [[name, typeof now.guards[name] === 'boolean' ? false : 'off']])),
  )
  return { ...before, guards: { ...before.guards, ...off }, protectedEmails, ...(isFreer && { approvals }) }
}

/** The strictest of all of them. */
export const strictest = (now: Rules, before: readonly ReviewedRules[]): Rules => ({
  guards: before.reduce((guards, one) => stricter(guards, one.guards), now.guards),
  protectedEmails: [...new Set([now, ...before].flatMap((one) => one.protectedEmails))],
})

/** The rules of a policy and a config. */
export const rulesOf = ({ set }: PolicyRevision, guards: GuardSettings, approvals?: Rules['approvals']): Rules => ({
  guards,
  protectedEmails: protectedEmails(set),
  ...(approvals && { approvals }),
})

/** Every rule that is weaker than it was, also those that count at once. */
export function weakenings(now: Rules, before: readonly ReviewedRules[] = []): readonly Weakening[] {
  const guards = before.reduce((strict, one) => strictOf(GUARD_CODES, strict, one.guards), now.guards)
  const found = GUARD_CODES.flatMap((name): Weakening[] =>
    isWeaker(now.guards[name], guards[name]) ? [{ rule: `guards.${name}`, ...texts(name, guards[name], now.guards[name]) }] : [],
  )
  const gone = strictest(now, before).protectedEmails.filter((email) => !now.protectedEmails.includes(email))
  const isFreer = now.approvals === 'together' && before.some(({ approvals }) => approvals === 'separate')
  return [
    ...found,
    ...gone.map((email) => ({ rule: 'protected', from: email, to: 'not listed' })),
    ...(isFreer ? [{ rule: 'approvals', from: 'separate', to: 'together' }] : []),
  ]
}

/** For each guard that looks at changes before they go out the stricter of two settings. */
export const stricter = (a: GuardSettings, b: GuardSettings): GuardSettings => strictOf(AHEAD, a, b)

function strictOf(names: readonly GuardCode[], a: GuardSettings, b: GuardSettings): GuardSettings {
  const picked = names.map((name) => [name, isWeaker(a[name], b[name]) ? b[name] : a[name]])
  return { ...a, ...Object.fromEntries(picked) }
}

/** `breaker` and `contested` look back at what happened: a new limit of theirs is told, and counts at once. */
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

/** What a guard is set to, as it is said everywhere. */
export function guardText(name: GuardCode, setting: Setting): string {
  if (typeof setting === 'boolean') return setting ? 'on' : 'off'
  if (typeof setting === 'number') return name === 'contested' ? `${setting} in 24 h` : `${setting} %`
  return setting === 'off' ? 'off' : limitText(setting)
}

/** The floor is named only where it is what changed. */
function texts(name: GuardCode, from: Setting, to: Setting): { readonly from: string; readonly to: string } {
  const isShare = (one: Setting): one is ShareLimit => typeof one === 'object' && !isBreaker(one)
  return isShare(from) && isShare(to) && from.floor === to.floor
    ? { from: `${from.percent} %`, to: `${to.percent} %` }
    : { from: guardText(name, from), to: guardText(name, to) }
}

const limitText = (limit: ShareLimit | BreakerLimit): string =>
  isBreaker(limit) ? `${limit.inARow} in a row or ${limit.percent} %` : `${limit.percent} %, never under ${limit.floor}`
