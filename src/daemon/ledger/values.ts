// What each value in the ledger looks like, as a decoder a type. Adding a field to one of these types means adding it here; the compiler
// says so. Values are written with JSON.stringify, so there is nothing to say about the other direction.

import { type Aspect, type Evidence, type Finding, SEEN_VALUES, type Seen, type SeenValue } from '../../core/interpret/seen.ts'
import {
  type Approval,
  type BreakerLimit,
  CAUSES,
  CHANGE_RESULTS,
  EFFECTS,
  GUARD_CODES,
  type GuardSettings,
  type HistoryEntry,
  type Intent,
  type Pause,
  type Quarantined,
  type ScopeChange,
  type ShareLimit,
} from '../../core/model/change.ts'
import type { DayFigures, JournalEntry, PoolOfDay } from '../../core/model/journal.ts'
import {
  type Balance,
  type Cycle,
  type GroupMembers,
  type Observed,
  OWNER_KINDS,
  type OwnedCap,
  type Person,
  type Roster,
} from '../../core/model/observed.ts'
import type {
  ActiveDays,
  Cap,
  CapRule,
  DeclaredGroup,
  Grant,
  PeopleRule,
  PolicyApproval,
  PolicyRevision,
  PolicySet,
  Pool,
  PoolMembers,
  ProtectedPerson,
  When,
} from '../../core/model/policy.ts'
import type { Position } from '../../core/model/problem.ts'
import type { GroupScope, Scope, ScopeKey, TeamScope, UserScope } from '../../core/model/scope.ts'
import { type Credits, credits } from '../../core/model/units.ts'
import { TOLD_STATES, type Told, type ToldEntry } from '../../core/notify/told.ts'
import type { HoldShown } from '../../core/plan/approval.ts'
import type { OpenBreaker } from '../../core/plan/breaker.ts'
import type { Contest } from '../../core/plan/contested.ts'
import type { CapSince, PoolMember, PoolState, PoolTerms } from '../../core/pools/state.ts'
import type { SettledCondition } from '../../core/resolve/conditions.ts'
import type { MeasuredAddOn, MeasuredCycle } from '../../core/use/add-on.ts'
import type { AddOnAsked, BurnedFacts, LedgerFacts, RunsAsked, UsageFacts } from '../../ports.ts'
import { anything, boolean, byKind, type Decode, list, number, oneOf, optional, record, shape, text, Undecodable } from './decode.ts'

const amount: Decode<Credits> = (value, path) => credits(number(value, path))

const cap: Decode<Cap> = (value, path) => {
  if (value === 'none') return value
  if (typeof value !== 'number') throw new Undecodable(path, 'a cap or none', value)
  return credits(value)
}

const position = shape<Position>({ file: text, line: number, column: number })

const team = shape<TeamScope>({ kind: oneOf(['team']) })
const group = shape<GroupScope>({ kind: oneOf(['group']), id: text })
const user = shape<UserScope>({ kind: oneOf(['user']), email: text })
const scope = byKind<Scope>({ team, group, user })

const action = oneOf(['set', 'clear'])
const effect = oneOf(EFFECTS)
const cause = oneOf(CAUSES)

export const ownedCap = shape<OwnedCap>({
  scope,
  cap,
  owner: oneOf(OWNER_KINDS),
  entry: text,
  verifiedAt: number,
  written: optional(boolean),
  tried: optional(cap),
  baseline: optional(cap),
  grant: optional(text),
})

const change = shape<ScopeChange>({
  scope,
  action,
  effect,
  from: cap,
  to: cap,
  cause,
  people: number,
  source: optional(position),
  reason: optional(text),
  healing: boolean,
  grantEnd: boolean,
})

/** Without its id, which is the row's. */
export const intent = shape<Omit<Intent, 'id'>>({ at: number, planId: text, change, entry: text, digest: text, revision: text })

export const historyEntry = shape<HistoryEntry>({
  at: number,
  scope,
  action,
  effect,
  from: cap,
  to: cap,
  cause,
  result: oneOf(CHANGE_RESULTS),
  reason: optional(text),
  error: optional(text),
  source: optional(position),
  planId: text,
  digest: text,
  revision: text,
})

export const approval = shape<Approval>({
  id: text,
  via: oneOf(['policy', 'command']),
  approvedAt: number,
  state: oneOf(['pending', 'spent', 'void']),
  people: optional(number),
  credits: optional(number),
  released: list(shape<Approval['released'][number]>({ scope, from: cap, to: cap, verified: boolean, pool: optional(text) })),
})

export const quarantined = shape<Quarantined>({ scope, code: text, message: text, entry: text, at: number, restore: optional(cap) })

export const pause = shape<Pause>({ untilAt: number, reason: text, pausedAt: number })

const when = shape<When>({
  email: optional(text),
  role: optional(text),
  groups: optional(list(text)),
  inactiveDays: optional(number),
  joinedWithinDays: optional(number),
  activeDays: optional(shape<ActiveDays>({ below: number, within: number })),
})

/** A list that earlier versions did not write. */
const later =
  <T>(item: Decode<T>): Decode<readonly T[]> =>
  (value, path) =>
    value === undefined ? [] : list(item)(value, path)

const poolMembers = byKind<PoolMembers>({
  groups: shape<Extract<PoolMembers, { kind: 'groups' }>>({ kind: oneOf(['groups']), ids: list(text) }),
  emails: shape<Extract<PoolMembers, { kind: 'emails' }>>({ kind: oneOf(['emails']), emails: list(text) }),
  when: shape<Extract<PoolMembers, { kind: 'when' }>>({ kind: oneOf(['when']), when }),
})

const policySet = shape<PolicySet>({
  workspace: text,
  rules: list(shape<CapRule>({ scope, cap, reason: optional(text), at: position, document: text })),
  grants: list(
    shape<Grant>({
      scope,
      amount: byKind<Grant['amount']>({
        cap: shape<Extract<Grant['amount'], { kind: 'cap' }>>({ kind: oneOf(['cap']), credits: amount }),
        add: shape<Extract<Grant['amount'], { kind: 'add' }>>({ kind: oneOf(['add']), credits: amount }),
      }),
      fromAt: optional(number),
      until: byKind<Grant['until']>({
        instant: shape<Extract<Grant['until'], { kind: 'instant' }>>({ kind: oneOf(['instant']), at: number }),
        cycleEnd: shape<Extract<Grant['until'], { kind: 'cycleEnd' }>>({ kind: oneOf(['cycleEnd']) }),
      }),
      reason: text,
      ticket: optional(text),
      at: position,
      document: text,
    }),
  ),
  groups: list(shape<DeclaredGroup>({ scope: group, name: text, at: position })),
  protectedPeople: list(shape<ProtectedPerson>({ scope: user, at: position })),
  approvals: list(shape<PolicyApproval>({ id: text, at: position })),
  onGroupConflict: optional(oneOf(['min', 'max'])),
  peopleRules: later(shape<PeopleRule>({ name: text, when, cap, reason: optional(text), at: position, document: text })),
  pools: later(
    shape<Pool>({
      name: text,
      members: poolMembers,
      credits: amount,
      share: oneOf(['need', 'equal']),
      min: amount,
      max: optional(amount),
      at: position,
      document: text,
    }),
  ),
  documents: list(text),
})

const cycle = shape<Cycle>({ startAt: number, endAt: number })

const person = shape<Person>({
  email: text,
  name: text,
  status: oneOf(['approved', 'pending', 'rejected', 'unspecified']),
  disabled: boolean,
  used: optional(amount),
  role: optional(text),
  lastUsedAt: optional(number),
  signedUpAt: optional(number),
  activeDays: optional(record(number)),
})

const roster = shape<Roster>({
  people: list(person),
  cycle: optional(cycle),
  readAt: number,
  statusesAbsent: boolean,
  duplicates: list(text),
})

const balance = shape<Balance>({
  creditsPerSeat: amount,
  seats: number,
  addOnAvailable: amount,
  addOnUsed: amount,
  cycle: optional(cycle),
  readAt: number,
})

const usage = shape<UsageFacts>({
  roster,
  groups: list(shape<GroupMembers>({ id: text, name: text, emails: list(text), used: optional(amount), readAt: number })),
  balance: optional(balance),
  doubted: optional(shape<NonNullable<UsageFacts['doubted']>>({ roster, since: number })),
  previousCycle: optional(shape<NonNullable<UsageFacts['previousCycle']>>({ cycle, used: record(amount) })),
})

const finding = <A extends Aspect>(aspect: A) => {
  const values: readonly SeenValue<A>[] = SEEN_VALUES[aspect]
  const value = oneOf(values)
  const before = optional(shape<Evidence<SeenValue<A>>>({ value, at: number, evidence: text }))
  return optional(shape<Finding<SeenValue<A>>>({ value, at: number, evidence: text, before }))
}

const seen = shape<Seen>({
  caps: finding('caps'),
  reads: finding('reads'),
  zero: finding('zero'),
  spelling: finding('spelling'),
  errors: finding('errors'),
})

const byScope = <T>(item: Decode<T>): Decode<Readonly<Record<ScopeKey, T>>> => record(item)

const orOff =
  <T>(item: Decode<T>): Decode<T | 'off'> =>
  (value, path) =>
    value === 'off' ? value : item(value, path)
const shareLimit = orOff(shape<ShareLimit>({ percent: number, floor: number }))

const guards = shape<GuardSettings>({
  emptyPolicy: boolean,
  rosterShrink: orOff(number),
  maxAffected: shareLimit,
  maxLowered: shareLimit,
  maxBlocked: shareLimit,
  maxCleared: shareLimit,
  maxRaise: orOff(number),
  readQuality: shareLimit,
  protected: boolean,
  breaker: orOff(shape<BreakerLimit>({ inARow: number, percent: number })),
  semantics: boolean,
  contested: orOff(number),
})

const capSince = shape<CapSince>({ cap, at: number })

const poolMember = shape<PoolMember>({
  base: amount,
  use: optional(amount),
  inForce: optional(capSince),
  dealt: optional(amount),
  sent: list(capSince),
  lowered: list(capSince),
  fixed: optional(amount),
  protected: optional(boolean),
  left: optional(shape<NonNullable<PoolMember['left']>>({ at: number, settled: optional(boolean) })),
})

const poolState = shape<PoolState>({
  cycle,
  later: optional(shape<NonNullable<PoolState['later']>>({ startAt: number, readAt: number })),
  readAt: number,
  dealtAt: optional(number),
  terms: optional(shape<PoolTerms>({ credits: amount, share: oneOf(['need', 'equal']), min: amount, max: optional(amount) })),
  reviewed: optional(text),
  members: record(poolMember),
})

const observed: Decode<Observed> = (value, path) => (value === 'unknown' ? value : cap(value, path))

const entryOf = <K extends JournalEntry['kind']>(kind: K) => ({ at: number, kind: oneOf([kind]) })

const journalEntry = byKind<JournalEntry>({
  foreign: shape<EntryOf<'foreign'>>({ ...entryOf('foreign'), scope, verified: cap, observed, more: optional(number) }),
  hold: shape<EntryOf<'hold'>>({ ...entryOf('hold'), id: text, guards: list(oneOf(GUARD_CODES)), people: number }),
  release: shape<EntryOf<'release'>>({ ...entryOf('release'), id: text }),
  policy: shape<EntryOf<'policy'>>({ ...entryOf('policy'), digest: text, revision: text, valid: boolean }),
  pause: shape<EntryOf<'pause'>>({ ...entryOf('pause'), untilAt: number, reason: text }),
  resume: shape<EntryOf<'resume'>>(entryOf('resume')),
  outage: shape<EntryOf<'outage'>>({ ...entryOf('outage'), message: optional(text) }),
  recovery: shape<EntryOf<'recovery'>>(entryOf('recovery')),
})

type EntryOf<K extends JournalEntry['kind']> = Extract<JournalEntry, { readonly kind: K }>

const dayFigures = shape<DayFigures>({
  dayAt: number,
  found: number,
  reverted: number,
  written: number,
  failed: number,
  open: optional(number),
  used: optional(amount),
  addOnUsed: optional(amount),
  addOnAvailable: optional(amount),
  pools: optional(record(shape<PoolOfDay>({ credits: number, used: number, dealt: optional(number) }))),
})

/** Every single value that the ledger keeps by name. */
export const facts: { readonly [K in keyof LedgerFacts]: Decode<LedgerFacts[K]> } = {
  policy: shape<PolicyRevision>({ set: policySet, digest: text, revision: text }),
  pace: record(anything),
  usage,
  verifiedDeclared: number,
  planBaseline: byScope(cap),
  planBegunAt: number,
  conflictsGone: record(number),
  conditions: record(shape<SettledCondition>({ holds: list(text), turning: list(text), open: list(text) })),
  pools: record(poolState),
  seen,
  holdsShown: record(
    shape<HoldShown>({ people: number, at: number, roster: optional(number), credits: optional(number), reviewed: optional(boolean) }),
  ),
  rules: shape<LedgerFacts['rules']>({ guards, protectedEmails: list(text), weakenedAt: optional(number) }),
  unreadSince: byScope(number),
  peopleSalt: text,
  breaker: shape<OpenBreaker>({
    openedAt: number,
    retryAt: number,
    waitMs: number,
    failed: number,
    planned: number,
    cause: text,
    scopes: list(text),
    refused: optional(boolean),
  }),
  contested: byScope(shape<Contest>({ at: number, entry: text, changes: number })),
  driftSince: byScope(number),
  runsAsked: byScope(shape<RunsAsked>({ fromAt: number, throughAt: number, readAt: number, wideAt: number })),
  journal: list(journalEntry),
  days: list(dayFigures),
  addOnAsked: shape<AddOnAsked>({
    ...{ fromAt: number, throughAt: number, readAt: number, wideAt: number },
    ...{ hasRows: boolean, emptyDays: number, isWhole: boolean },
  }),
  addOn: shape<MeasuredAddOn>({
    readAt: number,
    latestDayAt: optional(number),
    cycles: list(shape<MeasuredCycle>({ startAt: number, people: record(amount), others: amount })),
    unassignable: list(text),
  }),
  told: shape<Told>({
    cycleStartAt: number,
    entries: record(shape<ToldEntry>({ level: number, state: oneOf(TOLD_STATES), at: number, tries: number, reason: optional(text) })),
  }),
  burned: shape<BurnedFacts>({ team: amount, groups: record(amount), cycleStartAt: optional(number) }),
}
