// The schema of every value in the ledger, on the disk and in the answer of `GET /ledger`. Only the generator loads this file; values.ts
// decodes by the result. A field that is added to one of these types must be added here, and a new fact either as shared or not; the compiler
// enforces both.
import Type, { type Static } from 'typebox'
import { ASPECT_VALUES, type Aspect, type AspectValue, type Evidence, type LatestEvidence } from '../../../core/interpret/evidence.ts'
import {
  type Approval,
  CAUSES,
  CHANGE_RESULTS,
  EFFECTS,
  GUARD_CODES,
  type HistoryEntry,
  type Intent,
  type Pause,
  type Quarantined,
  type ScopeChange,
} from '../../../core/model/change.ts'
import type { DayFigures, JournalEntry } from '../../../core/model/events.ts'
import type { Balance, Cycle, Observed, OwnedCap, Person, Roster } from '../../../core/model/observed.ts'
import { type AskedEntry, ORIGIN_KINDS, OWNER_KINDS, type PolicyEntry } from '../../../core/model/policy.ts'
import { type Kept, TOLD_STATES } from '../../../core/notify/told.ts'
import type { CapSince, PoolMember, PoolState } from '../../../core/pools/state.ts'
import { ADD_ON_SOURCES } from '../../../core/use/add-on.ts'
import type { PersonHistory } from '../../../core/use/history.ts'
import type { LedgerFacts } from '../../../ports.ts'
import {
  amount,
  anything,
  boolean,
  byKind,
  byScope,
  cap,
  directory,
  envelopes,
  list,
  listed,
  number,
  type Of,
  object,
  oneOf,
  optional,
  orWord,
  partsOf,
  policySet,
  position,
  record,
  rules,
  scope,
  shape,
  shareLimit,
  text,
  written,
} from './policy-source.ts'

const ASKED: readonly AskedEntry['kind'][] = [...ORIGIN_KINDS, 'kept']
const asked = Object.fromEntries(ASKED.map((kind) => [kind, { cap }])) as Record<AskedEntry['kind'], { readonly cap: typeof cap }>

const entry: Of<PolicyEntry> = byKind({ ...asked, undeclared: {}, given_up: {} })

const ownedCap: Of<OwnedCap> = shape({
  scope,
  cap,
  owner: oneOf(OWNER_KINDS),
  entry,
  verifiedAt: number,
  written: optional(boolean),
  missedAt: optional(number),
  tried: optional(cap),
  triedByGrant: optional(boolean),
  shows: optional(cap),
  baseline: optional(cap),
  baselineIsOurs: optional(boolean),
  baselineIsNew: optional(boolean),
  grant: optional(text),
})

const what = { scope, action: oneOf(['set', 'clear']), effect: oneOf(EFFECTS), from: cap, to: cap, cause: oneOf(CAUSES) }
const why = { source: optional(position), reason: optional(text) }
const change: Of<ScopeChange> = shape({ ...what, ...why, people: number, healing: boolean, grantEnd: boolean })

const planned = { at: number, planId: text, digest: text, revision: text }
const recorded = { ...planned, change, entry, base: optional(cap) }
/** Without its id, which is that of the row. */
const intent: Of<Omit<Intent, 'id'>> = shape(recorded)
const openIntent: Of<Intent> = shape({ ...recorded, id: number })

const historyEntry: Of<HistoryEntry> = shape({
  ...what,
  ...why,
  ...planned,
  result: oneOf(CHANGE_RESULTS),
  error: optional(text),
  unproven: optional(boolean),
})

const approval: Of<Approval> = shape({
  id: text,
  via: oneOf(['policy', 'command']),
  approvedAt: number,
  state: oneOf(['pending', 'spent', 'void']),
  people: optional(number),
  credits: optional(number),
  released: list(shape({ scope, from: cap, to: cap, verified: boolean, pool: optional(text) })),
  releasedAt: optional(number),
  beside: optional(list(shape({ scope, from: cap, to: cap }))),
  roster: optional(number),
  withdrawn: optional(boolean),
})

const quarantined: Of<Quarantined> = shape({ scope, code: text, message: text, entry, at: number, restore: optional(cap) })

const kept: Of<Kept> = shape({
  items: optional(list(text)),
  basis: optional(shape({ at: number, known: number, members: number, source: oneOf([...ADD_ON_SOURCES, 'pool'] as const) })),
})

const pause: Of<Pause> = shape({ untilAt: number, reason: text, pausedAt: number })

const cycle: Of<Cycle> = shape({ startAt: number, endAt: number })

const person: Of<Person> = shape({
  email: text,
  name: text,
  status: oneOf(['approved', 'pending', 'rejected', 'unspecified']),
  disabled: boolean,
  used: optional(amount),
  role: optional(text),
  lastUsedAt: optional(number),
  signedUpAt: optional(number),
  activeDays: optional(record(number)),
  listing: optional(shape(listed)),
})

const roster: Of<Roster> = shape({
  people: list(person),
  cycle: optional(cycle),
  readAt: number,
  statusesAbsent: boolean,
  duplicates: list(text),
})

const balance: Of<Balance> = shape({
  creditsPerSeat: amount,
  seats: number,
  addOnAvailable: amount,
  addOnUsed: amount,
  cycle: optional(cycle),
  readAt: number,
})

const usage: Of<LedgerFacts['usage']> = shape({
  roster,
  groups: list(shape({ id: text, name: text, emails: list(text), used: optional(amount), readAt: number })),
  balance: optional(balance),
  doubted: optional(shape({ roster, since: number })),
  turn: optional(shape({ cycle, namedAt: number, figuresAt: optional(number) })),
  previousCycle: optional(shape({ cycle, used: record(amount), readAt: optional(number) })),
})

const finding = <A extends Aspect>(aspect: A) => {
  const values: readonly AspectValue<A>[] = ASPECT_VALUES[aspect]
  const value = oneOf(values)
  const before = optional(shape<Evidence<AspectValue<A>>>({ value, at: number, evidence: text }))
  return optional(shape<LatestEvidence<AspectValue<A>>>({ value, at: number, evidence: text, before }))
}

const seen: Of<LedgerFacts['seen']> = shape({
  caps: finding('caps'),
  reads: finding('reads'),
  zero: finding('zero'),
  spelling: finding('spelling'),
  errors: finding('errors'),
})

const capSince: Of<CapSince> = shape({ cap, at: number })

const poolMember: Of<PoolMember> = shape({
  base: amount,
  use: optional(amount),
  inForce: optional(capSince),
  dealt: optional(amount),
  sent: list(capSince),
  lowered: list(capSince),
  fixed: optional(amount),
  protected: optional(boolean),
  left: optional(shape({ at: number, cap: optional(cap), settled: optional(boolean) })),
})

const poolState: Of<PoolState> = shape({
  cycle,
  later: optional(shape({ startAt: number, readAt: number })),
  readAt: number,
  dealtAt: optional(number),
  hasShown: optional(boolean),
  terms: optional(shape({ credits: amount, share: oneOf(['need', 'equal']), min: amount, max: optional(amount) })),
  reviewed: optional(text),
  members: record(poolMember),
})

const observed: Of<Observed> = orWord('unknown', cap)

const journalEntry: Of<JournalEntry> = byKind({
  foreign: { at: number, scope, verified: cap, observed, more: optional(number), planId: optional(text) },
  hold: { at: number, id: text, guards: list(oneOf(GUARD_CODES)), people: number, planId: optional(text) },
  release: { at: number, id: text },
  policy: { at: number, digest: text, revision: text, valid: boolean },
  pause: { at: number, untilAt: number, reason: text },
  resume: { at: number },
  outage: { at: number, message: optional(text) },
  recovery: { at: number },
})

const dayFigures: Of<DayFigures> = shape({
  dayAt: number,
  found: number,
  reverted: number,
  written: number,
  failed: number,
  open: optional(number),
  used: optional(amount),
  addOnUsed: optional(amount),
  addOnAvailable: optional(amount),
  pools: optional(record(shape({ credits: number, used: number, dealt: optional(number) }))),
})

type Facts = { readonly [K in keyof LedgerFacts]: Of<LedgerFacts[K]> }

/** Facts that a plan which is made elsewhere needs: `GET /ledger` gives them (see share.ts). */
const sharedFacts = {
  directory,
  verifiedDeclared: number,
  planBaseline: byScope(cap),
  planBegunAt: number,
  conflictsGone: record(number),
  conflictGroups: record(list(text)),
  conditions: record(shape({ conditions: list(text), matched: record(list(text)), turning: record(list(text)), open: list(text) })),
  pools: record(poolState),
  seen,
  holdsShown: record(
    shape({
      ...{ people: number, at: number, roster: optional(number), credits: optional(number) },
      ...{ reviewed: optional(boolean), goneAt: optional(number) },
    }),
  ),
  changesShown: byScope(shape({ from: cap, to: cap, at: number })),
  rules: shape({
    ...rules,
    before: optional(list(shape({ ...rules, weakenedAt: number }))),
  }),
  unreadSince: byScope(number),
  breaker: shape({
    openedAt: number,
    retryAt: number,
    waitMs: number,
    failed: number,
    planned: number,
    cause: text,
    scopes: list(text),
    failing: optional(list(text)),
    refused: optional(boolean),
  }),
  contested: byScope(shape({ at: number, entry, changes: number })),
  driftSince: byScope(number),
  addOn: shape({
    readAt: number,
    latestDayAt: optional(number),
    cycles: list(shape({ startAt: number, people: record(amount), others: amount })),
    unassignable: list(text),
  }),
  usage,
} satisfies Partial<Facts>

/** Facts that are never shared. */
const ownFacts = {
  policy: shape({ set: policySet, digest: text, revision: text, empty: optional(list(text)) }),
  envelopes,
  pace: record(anything),
  writesLooked: byScope(list(number)),
  peopleSalt: text,
  runsAsked: byScope(shape({ fromAt: number, throughAt: number, readAt: number, wideAt: number })),
  journal: list(journalEntry),
  days: list(dayFigures),
  addOnAsked: shape({
    ...{ fromAt: number, throughAt: number, readAt: number, wideAt: number },
    ...{ hasRows: boolean, emptyDays: number, isWhole: boolean },
  }),
  told: shape({
    cycleStartAt: number,
    entries: record(
      shape({
        level: number,
        state: oneOf(TOLD_STATES),
        at: number,
        tries: number,
        reason: optional(text),
        kept: optional(kept),
        before: optional(kept),
      }),
    ),
  }),
  forgottenHashes: list(text),
  history: shape({ checkedAt: number, isFiltered: boolean, hasCredits: boolean, droppedAt: optional(number) }),
  forgotten: list(shape({ at: number, hash: text })),
  burned: shape({ team: amount, groups: record(amount), cycleStartAt: optional(number) }),
} satisfies Omit<Facts, keyof typeof sharedFacts>

const personHistory: Of<PersonHistory> = shape({
  email: text,
  known: list(shape({ fromAt: number, untilAt: number, readAt: number, isSilent: optional(boolean) })),
  isFound: optional(boolean),
  doubt: optional(shape({ cycleStartAt: number, told: amount, listed: amount })),
  claim: optional(shape({ by: text, untilAt: number })),
})

const parts = partsOf<LedgerFacts>({ ...sharedFacts, ...ownFacts })

const records = object({
  workspace: text,
  /** The address that the ledger is bound to. */
  baseUrl: text,
  owned: list(ownedCap),
  openIntents: list(openIntent),
  approvals: list(approval),
  quarantined: list(quarantined),
  pause: Type.Optional(pause),
  lastWrites: list(historyEntry),
  facts: parts,
})

const shared = object({
  apiVersion: oneOf(['capkeeper/v1']),
  kind: oneOf(['Ledger']),
  createdAt: number,
  /** An e-mail becomes the first 12 hex digits of SHA-256(`key`, a line end, the e-mail), followed by `@people.invalid`. Choice. */
  key: text,
  workspaces: list(records),
})

/** The shared records of one workspace. */
export type SharedRecords = Static<typeof records>

/** The answer of `GET /ledger`. */
export type LedgerDocument = Static<typeof shared>

const values = {
  ...{ owned: ownedCap, intent, history: historyEntry, approval, quarantine: quarantined, pause, known_days: personHistory },
  ...{ facts: parts, shared },
}

/** All values of a ledger by name; those of rows have the name of their table. */
export type LedgerValues = { readonly [K in keyof typeof values]: Static<(typeof values)[K]> }

/** Each value is decoded by itself, under its name. */
const schema = written(partsOf(values), {
  cap,
  position,
  scope,
  entry,
  ownedCap,
  change,
  historyEntry,
  approval,
  quarantined,
  roster,
  shareLimit,
  facts: parts,
})

export const LEDGER = { ...schema, 'x-shared': Object.keys(sharedFacts) }
