// A small world for the laws of pools: true use and true caps, readings up to three and a half hours stale, writes that fail, are lost or
// land hours later. Steps are plain data, so that fast-check shrinks them; it plays the part of the daemon with no more knowledge than that.
import fc from 'fast-check'
import type { Cycle } from '../../../src/core/model/observed.ts'
import { type Credits, credits } from '../../../src/core/model/units.ts'
import { dealPool } from '../../../src/core/pools/deal.ts'
import { poolFigures } from '../../../src/core/pools/figures.ts'
import { observePool } from '../../../src/core/pools/observe.ts'
import type { CapSince, MemberNow, PoolMember, PoolState, PoolTerms } from '../../../src/core/pools/state.ts'
import { CYCLE, cap, DAY, email, HOUR, NOW, type PlainCap } from '../../support/declare.ts'

/** A member in plain figures; without a cap it was never read. */
export interface MemberSketch extends Partial<Pick<PoolMember, 'protected' | 'left' | 'sent' | 'lowered'>> {
  readonly use?: number
  /** In force. */
  readonly cap?: PlainCap | CapSince
  readonly base?: number
  readonly fixed?: number
  readonly dealt?: number
}
export type Members = Readonly<Record<string, MemberSketch>>

export const figuresOf = poolFigures

export const since = (value: PlainCap, at = NOW - DAY): CapSince => ({ cap: cap(value), at })

const capSince = (one: PlainCap | CapSince, at: number): CapSince => (typeof one === 'object' ? one : since(one, at))

const amount = (one: number | undefined): Credits | undefined => (one === undefined ? one : credits(one))

export const memberOf = ({ use, cap: inForce, base = 0, fixed, dealt, ...more }: MemberSketch, at = NOW - HOUR): PoolMember => ({
  ...{ base: credits(base), use: amount(use), fixed: amount(fixed), dealt: amount(dealt) },
  ...{ inForce: inForce === undefined ? inForce : capSince(inForce, at), sent: [], lowered: [], ...more },
})

/** Dealt and read now; all caps were read at `at`. */
export const stateOf = (members: Members, more: Partial<PoolState> = {}, at?: number): PoolState => ({
  ...{ cycle: CYCLE, readAt: NOW, dealtAt: NOW },
  members: Object.fromEntries(Object.entries(members).map(([name, one]) => [email(name), memberOf(one, at)])),
  ...more,
})

export const LAG_MS = 3.5 * HOUR

/** An observation by names; people with use are the members where none are named. */
export interface Sight {
  readonly now?: number
  readonly use?: Readonly<Record<string, number>>
  /** When use was read, where that is not now. */
  readonly readAt?: number
  readonly cycle?: Cycle | null
  /** Why use is not known. */
  readonly unknown?: string
  readonly caps?: Readonly<Record<string, PlainCap | CapSince>>
  readonly verified?: Readonly<Record<string, CapSince>>
  readonly sent?: Readonly<Record<string, PlainCap | CapSince>>
  readonly members?: readonly string[]
  readonly own?: Readonly<Record<string, number>>
  readonly protected?: readonly string[]
  /** How old use may be that the service shows. */
  readonly lagMs?: number
}

export function see(before: PoolState | undefined, sight: Sight): ReturnType<typeof observePool> {
  const { now = NOW, readAt = now, use = {}, cycle = CYCLE, own = {}, lagMs = LAG_MS } = sight
  const named = <T, To>(record: Readonly<Record<string, T>> = {}, to: (one: T) => To) =>
    new Map(Object.entries(record).map(([name, one]) => [email(name), to(one)]))
  return observePool(before, {
    now,
    use:
      sight.unknown === undefined
        ? { kind: 'known', readAt, used: named(use, credits), cycle: cycle ?? undefined }
        : { kind: 'unknown', why: sight.unknown },
    caps: named(sight.caps, (one) => capSince(one, now)),
    verified: named(sight.verified, (one) => one),
    sent: named(sight.sent, (one) => [capSince(one, now)]),
    members: (sight.members ?? Object.keys(use)).map((name) => ({
      ...{ email: email(name), fixed: amount(own[name]), protected: sight.protected?.includes(name) || undefined },
    })),
    usageLagMs: lagMs,
  })
}

/** What a member counts at; with any use and cap where no cap is known. */
export const countOf = (state: PoolState | undefined, name: string): number | undefined =>
  state && poolFigures({ credits: credits(1) }, { ...state, members: { [name]: state.members[email(name)] as PoolMember } }).dealt

type Fate = 'lands' | 'fails' | 'lost' | 'late'

type Step =
  | { readonly kind: 'wait'; readonly minutes: number }
  | { readonly kind: 'use'; readonly who: number; readonly amount: number }
  /** Use becomes visible as it was so long ago; never older than what was visible before. */
  | { readonly kind: 'refresh'; readonly ageMinutes: number }
  | { readonly kind: 'readUse' }
  | { readonly kind: 'readCap'; readonly who: number }
  /** Deals (also out of turn: `always`), and writes with these fates in turn; each write is read back where it says so. */
  | { readonly kind: 'deal'; readonly fates: readonly Fate[]; readonly readBack: boolean; readonly always: boolean }
  | { readonly kind: 'land' }
  | { readonly kind: 'foreign'; readonly who: number; readonly cap: number }

const who = fc.nat(4)
const fates = (...usual: readonly Fate[]) => fc.array(fc.constantFrom<Fate>('lands', ...usual), { minLength: 1, maxLength: 5 })

const wait = fc.record({
  kind: fc.constant('wait' as const),
  minutes: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 300 })),
})
const use = fc.record({ kind: fc.constant('use' as const), who, amount: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constant(5000)) })
const refresh = fc.record({ kind: fc.constant('refresh' as const), ageMinutes: fc.integer({ min: 0, max: 210 }) })
const readUse = fc.constant({ kind: 'readUse' as const })
const readCap = fc.record({ kind: fc.constant('readCap' as const), who })
const deal = fc.record({
  kind: fc.constant('deal' as const),
  fates: fc.oneof(fates(), fates('fails', 'lost', 'late')),
  readBack: fc.boolean(),
  always: fc.boolean(),
})
const land = fc.constant({ kind: 'land' as const })
const foreign = fc.record({ kind: fc.constant('foreign' as const), who, cap: fc.integer({ min: 1, max: 3000 }) })

/** What a day is made of most: somebody works, the service shows it late, caps are read and dealt. */
const round: fc.Arbitrary<readonly Step[]> = fc
  .tuple(
    fc.array(use, { maxLength: 3 }),
    wait,
    fc.option(refresh, { nil: undefined }),
    fc.boolean(),
    deal,
    fc.option(land, { freq: 4, nil: undefined }),
  )
  .map(([uses, pause, shown, isRead, dealing, landing]): readonly Step[] => [
    ...uses,
    pause,
    ...(shown ? [shown] : []),
    ...(isRead ? [{ kind: 'readUse' as const }] : []),
    ...[0, 1, 2, 3, 4].map((one) => ({ kind: 'readCap' as const, who: one })),
    dealing,
    ...(landing ? [landing] : []),
  ])

const parts = (more: readonly fc.WeightedArbitrary<readonly Step[]>[]): fc.Arbitrary<readonly Step[]> =>
  fc
    .array(
      fc.oneof(
        { weight: 5, arbitrary: round },
        { weight: 3, arbitrary: fc.oneof<fc.Arbitrary<Step>[]>(wait, use, refresh, readUse, readCap, deal, land).map((step) => [step]) },
        ...more,
      ),
      { minLength: 3, maxLength: 25 },
    )
    .map((list) => [{ kind: 'readUse' as const }, ...list.flat()])

/** Steps of a life without anybody else writing. */
export const lives = parts([])

/** The same with somebody who writes beside us. */
export const contestedLives = parts([{ weight: 1, arbitrary: foreign.map((step) => [step]) }])

/** What a step did, for laws to look at. */
interface Told {
  /** Sum of max(cap, true use, what may land yet), after the step. */
  readonly sum: number
  /** Caps sent in the step: from what truly was in force, and what was known of use. */
  readonly writes: readonly { readonly email: string; readonly from: number; readonly to: number; readonly knownUse: number }[]
}

interface Lived {
  readonly told: readonly Told[]
  readonly state: PoolState | undefined
}

export const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `p${index}@example.com`)

interface Company {
  readonly terms: PoolTerms
  readonly members: readonly MemberNow[]
  readonly caps: readonly (number | 'none')[]
}

/** Lives the steps. The true values stay in here; the pool sees readings alone. */
export function live({ terms, members, caps: first }: Company, steps: readonly Step[]): Lived {
  let now = CYCLE.startAt + HOUR
  const used = members.map(() => 0)
  const caps = members.map((_, index) => (first[index] === 'none' ? Number.POSITIVE_INFINITY : Number(first[index])))
  const past: { at: number; used: readonly number[] }[] = [{ at: CYCLE.startAt, used: [...used] }]
  let shown = past[0] ?? { at: 0, used: [] }
  let reading: { readAt: number; used: ReadonlyMap<string, Credits> } | undefined
  const read = new Map<string, CapSince>()
  const sent = new Map<string, readonly CapSince[]>()
  const late: { person: number; cap: number; at: number }[] = []
  let state: PoolState | undefined
  const told: Told[] = []
  const note = (person: number): void => {
    const [email, cap] = [members[person]?.email ?? '', caps[person] ?? 0]
    read.set(email, { cap: Number.isFinite(cap) ? credits(cap) : 'none', at: now })
  }
  const write = (person: number, to: number, fate: Fate, readBack: boolean): void => {
    const email = members[person]?.email ?? ''
    if (fate === 'fails') return
    if (fate === 'lands') caps[person] = to
    else sent.set(email, [...(sent.get(email) ?? []), { cap: credits(to), at: now }])
    if (fate === 'late') late.push({ person, cap: to, at: now })
    if (readBack) note(person)
  }
  for (const step of steps) {
    const writes: Told['writes'][number][] = []
    switch (step.kind) {
      case 'wait':
        now += step.minutes * 60_000
        past.push({ at: now, used: [...used] })
        // What was sent does not stay under way for more than a day.
        for (const landing of late.splice(0).filter(({ at }) => now - at < 24 * HOUR)) late.push(landing)
        break
      case 'use': {
        const person = step.who % members.length
        used[person] = Math.max(used[person] ?? 0, Math.min((used[person] ?? 0) + step.amount, caps[person] ?? 0))
        break
      }
      case 'refresh': {
        const found = past.findLast(({ at }) => at <= now - step.ageMinutes * 60_000)
        if (found && found.at > shown.at) shown = found
        break
      }
      case 'readUse':
        // The service shows use that is three and a half hours old at most.
        if (now - shown.at > LAG_MS) shown = past.findLast(({ at }) => at <= now - LAG_MS / 2) ?? shown
        if (now - shown.at > LAG_MS) shown = { at: now, used: [...used] }
        reading = { readAt: now, used: new Map(members.map(({ email }, person) => [email, credits(shown.used[person] ?? 0)])) }
        break
      case 'readCap':
        note(step.who % members.length)
        break
      case 'land': {
        const landing = late.shift()
        if (landing) caps[landing.person] = landing.cap
        break
      }
      case 'foreign':
        caps[step.who % members.length] = step.cap
        break
      case 'deal': {
        if (!reading) break
        const use = { kind: 'known' as const, cycle: CYCLE, ...reading }
        const observed = observePool(state, { now, use, caps: read, sent, members, usageLagMs: LAG_MS })
        if (!observed.state || observed.frozen) break
        state = dealPool(terms, observed.state, now, { always: step.always, hasShown: observed.hasShown })
        for (const [person, { email }] of members.entries()) {
          const to = state.members[email]?.dealt
          if (to === undefined || read.get(email) === undefined || read.get(email)?.cap === to) continue
          writes.push({ email, from: caps[person] ?? 0, to, knownUse: state.members[email]?.use ?? 0 })
          write(person, to, step.fates[writes.length % step.fates.length] ?? 'lands', step.readBack)
        }
        break
      }
    }
    const underWay = (person: number): number => late.reduce((most, one) => (one.person === person ? Math.max(most, one.cap) : most), 0)
    told.push({ sum: used.reduce((sum, one, person) => sum + Math.max(one, caps[person] ?? 0, underWay(person)), 0), writes })
  }
  return { told, state }
}
