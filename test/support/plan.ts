// Builds plans for tests of the pure core: a sketch of the policy, the observed caps, the people, the records of the ledger.
import { createHash } from 'node:crypto'
import { countPeople } from '../../src/core/interpret/effective.ts'
import type { ServiceModel } from '../../src/core/interpret/evidence.ts'
import { type Approval, DEFAULT_GUARDS, type GuardSettings, holdOf } from '../../src/core/model/change.ts'
import type { Balance, CapReading, GroupMembers, Observed, OwnedCap, Roster } from '../../src/core/model/observed.ts'
import { byScope, type ScopeKey, scopeKey } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { poolReviews } from '../../src/core/plan/approval.ts'
import { buildPlan, type Planned } from '../../src/core/plan/plan.ts'
import type { Snapshot } from '../../src/core/plan/snapshot.ts'
import { activeQuarantine, skippedScopes } from '../../src/core/plan/states.ts'
import { resolveDesired } from '../../src/core/resolve/desired.ts'
import type { DealtPools } from '../../src/core/resolve/pools.ts'
import {
  CYCLE,
  cap,
  desiredInputs,
  email,
  members,
  NOW,
  type OwnedSketch,
  ownedCaps,
  type PlainCap,
  type PolicySketch,
  policy,
  roster,
  scope,
} from './declare.ts'

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

type PeopleInputs = Parameters<typeof countPeople>[0]

/** What a sketch does not say of a plan. */
export type PlanMore = Partial<Snapshot>

export interface PlanSketch extends PolicySketch {
  /** The observed caps by scope name; 'unknown' for a failed read. */
  readonly observed?: Readonly<Record<string, PlainCap | 'unknown'>>
  readonly owned?: Readonly<Record<string, OwnedSketch>>
  readonly groups?: Readonly<Record<string, readonly string[]>>
  /** Approved people by name, or how many (p0, p1, …). */
  readonly people?: number | readonly string[]
  readonly roster?: Roster | null
  /** Credits used by name. */
  readonly used?: Readonly<Record<string, number>>
  readonly balance?: Balance
  /** Add-on use as the service tells it, and the use at the end of the previous cycle. */
  readonly measured?: PeopleInputs['measured']
  readonly previousCycle?: PeopleInputs['previousCycle']
  readonly approvals?: readonly Approval[]
  readonly approve?: readonly string[]
  readonly holdsShown?: Snapshot['holdsShown']
  readonly contests?: Partial<Snapshot['contests']>
  readonly guards?: Partial<GuardSettings>
  readonly facts?: Partial<Snapshot['facts']>
  readonly baseline?: Readonly<Record<string, PlainCap>>
  readonly capSemantics?: 'layered' | 'copied'
  /** The dealt caps of members, by the name of the pool. */
  readonly dealt?: DealtPools
  /** Whether reads show only explicitly set caps; default true. */
  readonly readsExplicit?: boolean
  /** Other observations of the service. */
  readonly model?: Partial<ServiceModel>
  readonly prune?: boolean
  readonly quarantined?: Parameters<typeof activeQuarantine>[0]
  readonly now?: number
}

/** A service that was seen to copy team and group caps. */
export const COPYING: Partial<ServiceModel> = { copying: 'after team was written (400 to 500), p0@example.com changed from 900 to 500' }

const NO_FAILED_READS = { failed: 0, total: 100, teamFailed: false }

const readingsOf = (observed: PlanSketch['observed']): ReadonlyMap<ScopeKey, CapReading> =>
  new Map(
    Object.entries(observed ?? {}).map(([name, value]) => {
      const at = scope(name)
      const reading: CapReading =
        value === 'unknown'
          ? { scope: at, observed: 'unknown', readAt: NOW, failure: { kind: 'server', message: 'GetUsageConfig: 503' } }
          : { scope: at, observed: cap(value) as Observed, readAt: NOW }
      return [scopeKey(at), reading]
    }),
  )

function rosterOf(sketch: PlanSketch): Roster | undefined {
  if (sketch.roster === null) return undefined
  if (sketch.roster) return sketch.roster
  const names = typeof sketch.people === 'object' ? sketch.people : Array.from({ length: sketch.people ?? 20 }, (_, index) => `p${index}`)
  const base = roster(Object.fromEntries(names.map((name) => [name, 'approved' as const])), { cycle: CYCLE })
  const used = new Map(Object.entries(sketch.used ?? {}).map(([name, amount]) => [email(name), credits(amount)]))
  return {
    ...base,
    people: base.people.map((one) => ({ ...one, ...(used.has(one.email) && { used: used.get(one.email) ?? credits(0) }) })),
  }
}

/** The plan for a sketch of the world. Default: twenty approved people p0 … p19 and no groups. */
export function planOf(sketch: PlanSketch, more: Partial<Snapshot> = {}): Planned {
  return buildPlan({ ...planInputs(sketch), ...more })
}

export function planInputs(sketch: PlanSketch): Snapshot {
  const now = sketch.now ?? NOW
  const rows = rosterOf(sketch)
  const groups: readonly GroupMembers[] = members(sketch.groups ?? {})
  const owned: ReadonlyMap<ScopeKey, OwnedCap> = ownedCaps(sketch.owned ?? {})
  const set = policy(sketch)
  const capSemantics = sketch.capSemantics ?? 'layered'
  const resolution = resolveDesired({
    ...desiredInputs(sketch, { groups, now, capSemantics, owned, prune: sketch.prune ?? true, newReading: undefined }),
    set,
    ...(rows && { roster: rows }),
    ...(sketch.dealt && { pools: sketch.dealt }),
  })
  const skipped = skippedScopes(resolution, owned, rows, [])
  return {
    workspace: 'acme',
    policy: { set, digest: 'aaaabbbbcccc', revision: '' },
    resolution,
    poolReviews: poolReviews('acme', resolution.pools, sketch.dealt ?? {}, digest),
    readings: readingsOf(sketch.observed),
    owned,
    people: countPeople({ ...sketch, groups, now, roster: rows }),
    skipped,
    quarantined: new Map([
      ...activeQuarantine(sketch.quarantined ?? [], resolution, skipped, now).active,
      ...byScope((sketch.quarantined ?? []).filter(({ code }) => code === 'SCOPE_UNKNOWN')),
    ]),
    approvals: sketch.approvals ?? [],
    approve: sketch.approve ?? [],
    holdsShown: sketch.holdsShown ?? {},
    changesShown: {},
    ...(sketch.baseline && {
      baseline: Object.fromEntries(Object.entries(sketch.baseline).map(([name, value]) => [scopeKey(scope(name)), cap(value)])),
    }),
    driftSince: {},
    facts: { reads: NO_FAILED_READS, rosterMissing: rows === undefined && 'never', ...sketch.facts },
    contests: { known: {}, written: () => [], ...sketch.contests },
    guards: { ...DEFAULT_GUARDS, ...sketch.guards },
    model: {
      layers: capSemantics,
      layersProven: false,
      reads: (sketch.readsExplicit ?? true) ? 'explicit' : 'open',
      zero: 'open',
      ...sketch.model,
    },
    prune: sketch.prune ?? true,
    now,
    digest,
  }
}

/** `p0 set 500>600 policy`, one line a change; a held one ends with its guards. */
export function lines(planned: Planned): string[] {
  const guards = new Map(planned.plan.holds.map((hold) => [hold.id, hold.guards.join('+')]))
  return planned.plan.changes.map((change) => {
    const held = holdOf(change) === undefined ? '' : ` held:${guards.get(holdOf(change) ?? '')}`
    const who = scopeKey(change.scope).replace('@example.com', '')
    return `${who} ${change.effect} ${change.from}>${change.to} ${change.cause}${held}`
  })
}

/**
 * What shows at a scope, what is asked for it and what is ours there, as in `team 500>400, p0 ?>5 ours 5, p1 none, p2 >7`; `?` is a failed read.
 */
export function scopes(text: string): Required<Pick<PlanSketch, 'caps' | 'observed' | 'owned'>> {
  const rows = text
    .split(', ')
    .map((row) => /^(?<name>\S+) (?<shown>\w+|\?)?(>(?<asked>\w+))?( ours (?<ours>\w+))?$/.exec(row)?.groups ?? {})
  const plain = (value: string): PlainCap => (value === 'none' ? value : Number(value))
  const column = <T>(field: string, of: (value: string) => T): Record<string, T> =>
    Object.fromEntries(rows.flatMap(({ name = text, [field]: value }) => (value === undefined ? [] : [[name, of(value)]])))
  return {
    observed: column('shown', (value) => (value === '?' ? 'unknown' : plain(value))),
    caps: column('asked', plain),
    owned: column('ours', (value) => ({ cap: plain(value) })),
  }
}

/** `n` people p0 … with one cap each; from another number on where it is given. */
export const each = <T>(count: number, value: T, first = 0): Record<string, T> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${first + index}`, value]))
