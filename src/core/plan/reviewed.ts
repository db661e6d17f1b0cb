// Guards that were weakened, and people who are protected no longer, count only for changes that were shown before (product.md, section 5,
// Two steps): until then the rules of before are in force beside those of now. It holds nothing itself.
import { GUARD_CODES, type GuardSettings, type ShareLimit } from '../model/change.ts'
import type { Instant } from '../model/units.ts'

/** The rules as they were before somebody weakened them. */
export interface ReviewedRules {
  readonly guards: GuardSettings
  readonly protectedEmails: readonly string[]
  /** When the weaker rules were first seen. */
  readonly weakenedAt: Instant
}

/** How long weaker rules wait until they count for changes that come later (choice). */
export const REVIEW_MS = 24 * 3_600_000

export interface Weakening {
  /** `guards.maxLowered`, `protected`. */
  readonly rule: string
  readonly from: string
  readonly to: string
}

interface RulesNow {
  readonly guards: GuardSettings
  readonly policy: { readonly set: { readonly protectedPeople: readonly { readonly scope: { readonly email: string } }[] } }
  readonly reviewed?: ReviewedRules
}

/** Every rule that is weaker than it was. */
export function weakenings({ guards, policy, reviewed }: RulesNow): readonly Weakening[] {
  if (!reviewed) return []
  const found = GUARD_NAMES.flatMap((name): Weakening[] =>
    isWeaker(guards[name], reviewed.guards[name]) ? [{ rule: `guards.${name}`, ...texts(reviewed.guards[name], guards[name]) }] : [],
  )
  const listed = new Set(policy.set.protectedPeople.map(({ scope }) => scope.email))
  const gone = reviewed.protectedEmails.filter((email) => !listed.has(email))
  return [...found, ...gone.map((email) => ({ rule: 'protected', from: email, to: 'not listed' }))]
}

/** For each guard the stricter of two settings. */
export function stricter(a: GuardSettings, b: GuardSettings): GuardSettings {
  const picked = GUARD_NAMES.map((name) => [name, isWeaker(a[name], b[name]) ? b[name] : a[name]])
  return { ...a, ...Object.fromEntries(picked) }
}

/** The guards that look at changes before they go out; `breaker` and `contested` look back at what happened. */
const GUARD_NAMES = GUARD_CODES.filter((code) => code !== 'breaker' && code !== 'contested')

type Setting = GuardSettings[(typeof GUARD_NAMES)[number]]

/** Off is weaker than any limit, and a higher limit than a lower one. */
function isWeaker(now: Setting, before: Setting): boolean {
  const [a, b] = [strength(now), strength(before)]
  return a.some((value, index) => value > (b[index] ?? value))
}

function strength(setting: Setting): readonly number[] {
  if (setting === 'off' || setting === false) return [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  if (setting === true) return [0, 0]
  if (typeof setting === 'number') return [setting, 0]
  return [setting.percent, setting.floor]
}

function text(setting: Setting): string {
  if (typeof setting === 'boolean') return setting ? 'on' : 'off'
  if (typeof setting === 'number') return `${setting} %`
  return setting === 'off' ? 'off' : limitText(setting)
}

/** The floor is named only where it is what changed. */
function texts(from: Setting, to: Setting): { readonly from: string; readonly to: string } {
  const isShare = (one: Setting): one is ShareLimit => typeof one === 'object'
  return isShare(from) && isShare(to) && from.floor === to.floor
    ? { from: `${from.percent} %`, to: `${to.percent} %` }
    : { from: text(from), to: text(to) }
}

const limitText = ({ percent, floor }: ShareLimit): string => `${percent} % (never under ${floor})`
