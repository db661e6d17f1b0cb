// The facts of a workspace, which are single values that the ledger keeps by name, and what was told to people.
import { SERVICE_EVIDENCE } from '../interpret/evidence.ts'
import { OPEN_BREAKER } from '../plan/breaker.ts'
import { CHANGES_SHOWN, CONTEST, HOLDS_SHOWN, NOTED_RULES } from '../plan/snapshot.ts'
import { POOL_STATE } from '../pools/state.ts'
import { MATCH_MEMORY } from '../resolve/matches.ts'
import { DIRECTORY_MEMORY, REMEMBERED } from '../resolve/roster.ts'
import { ADD_ON_SOURCES, MEASURED_ADD_ON } from '../use/add-on.ts'
import { DAY_FIGURES, JOURNAL_ENTRY } from './events.ts'
import { BALANCE, GROUP_MEMBERS, ROSTER } from './observed.ts'
import { ADD_ON_ASKED, BURNED_FACTS, RUNS_ASKED } from './past.ts'
import { CAP, ENVELOPE_MEMORY, KEPT_REVISION } from './policy.ts'
import { ofScopes } from './scope.ts'
import { anything, instant, list, number, type Of, oneOf, optional, record, shape, text } from './shape.ts'

const USAGE = shape({
  roster: ROSTER,
  groups: list(GROUP_MEMBERS),
  balance: optional(BALANCE),
  ...REMEMBERED,
})
export type UsageFacts = Of<typeof USAGE>

/** What a message leaves behind for the next one of its key. */
const KEPT = shape({
  /** Ids of the events that were told, or the people at their cap. */
  items: optional(list(text)),
  /** The ids of events that are over, and since when. */
  over: optional(record(instant)),
  /** What the figure of a digest covered. */
  basis: optional(shape({ at: instant, known: number, members: number, source: oneOf([...ADD_ON_SOURCES, 'pool']) })),
})
export type Kept = Of<typeof KEPT>

const TOLD_ENTRY = shape({
  /** The highest threshold told, which includes all lower ones, or the day of a digest. */
  level: number,
  /**
   * `sending`: recorded, with no outcome yet. `waiting`: it certainly did not arrive and is tried again. `failed`: given up. `unknown`: it may
   * have arrived, and is not sent again.
   */
  state: oneOf(['sending', 'sent', 'waiting', 'failed', 'unknown']),
  /** When the last attempt began or ended. */
  at: instant,
  tries: number,
  /** Why it did not arrive; never the address of a webhook or text of a server. */
  reason: optional(text),
  /** What the next message compares with. */
  kept: optional(KEPT),
  /** The same of the message before, as long as this one may be sent again. */
  before: optional(KEPT),
  /** As long as this one may be sent again: the level of the last that is not. */
  beneath: optional(number),
})
export type ToldEntry = Of<typeof TOLD_ENTRY>

/** By `Message.key`. */
const TOLD = shape({ cycleStartAt: instant, entries: record(TOLD_ENTRY) })
export type Told = Of<typeof TOLD>

/** Facts that a plan which is made elsewhere needs: `GET /ledger` gives them. */
export const SHARED = {
  directory: DIRECTORY_MEMORY,
  /** Declared scopes of the set last verified in enforce mode, for `emptyPolicy`. */
  verifiedDeclared: number,
  /** The caps in force at the start of an interrupted plan; absent once the plan is finished. */
  planBaseline: ofScopes(CAP),
  planBegunAt: instant,
  /** For each ended group conflict: how many agreeing readings in a row have shown that it ended. */
  conflictsGone: record(number),
  /** For each person with a cap of the conflict rule: the groups that differed when last read. */
  conflictGroups: record(list(text)),
  /** The people who match the conditions of rules and pools, as agreeing readings of the roster have confirmed. */
  conditions: MATCH_MEMORY,
  /** The deals of pools and the caps that may still be in force, by name; recorded before a deal is written. */
  pools: record(POOL_STATE),
  /** How this deployment was observed to work, with the evidence. */
  seen: SERVICE_EVIDENCE,
  /** Every hold as it was shown; an approval is void when the hold has grown by a quarter since. */
  holdsShown: HOLDS_SHOWN,
  /** Every held change as it was shown: weaker rules count only for what was shown before them. */
  changesShown: CHANGES_SHOWN,
  /** Guards and protected people, with the earlier ones that are still in force after a weakening. */
  rules: NOTED_RULES,
  /** Since when each unread scope could not be read. */
  unreadSince: ofScopes(instant),
  /** Present while writes fail for a shared cause, until the first success. */
  breaker: OPEN_BREAKER,
  /** Scopes that another client keeps changing; they are not written for a day. */
  contested: ofScopes(CONTEST),
  /** Since when each drifting scope drifts. */
  driftSince: ofScopes(instant),
  /** Add-on use in the present cycle and in the previous one. */
  addOn: MEASURED_ADD_ON,
  usage: USAGE,
}

export const FACTS = {
  ...SHARED,
  /** The last good policy set, with what was accepted of envelopes. */
  policy: KEPT_REVISION,
  envelopes: ENVELOPE_MEMORY,
  /** Learned pace by key name, as `core/pace/pacing.ts` makes it. */
  pace: record(anything),
  /** The times of the last day's writes to the team and groups whose effect on descendants was checked, or of an earlier write than such a one. */
  writesLooked: ofScopes(list(instant)),
  /** The salt for hashing e-mails where people must not be named; made once. */
  peopleSalt: text,
  /** The days for which runs were read, of the team and of each declared group. */
  runsAsked: ofScopes(RUNS_ASKED),
  /** Events beside writes, oldest first. */
  journal: list(JOURNAL_ENTRY),
  /** Figures of days, in order. */
  days: list(DAY_FIGURES),
  /** The days for which add-on use was read; absent where the service does not tell it. */
  addOnAsked: ADD_ON_ASKED,
  /** The messages of this billing cycle that were sent, are being sent, or could not be sent. */
  told: TOLD,
  /** People who were forgotten, as keyed hashes: their past is not read again unless somebody names them. */
  forgottenHashes: list(text),
  /** `droppedAt`: when all that was kept of the past of people was last removed, and with it the days until then. */
  history: shape({ droppedAt: optional(instant) }),
  /** People whom another process has erased, until the process that holds the workspace has erased them too. `hash`: SHA-256 of `at`, a line end and the e-mail. */
  forgotten: list(shape({ at: instant, hash: text })),
  /** Credits burned since the first reading; survives cycle resets and restarts. */
  burned: BURNED_FACTS,
}

type Facts = { readonly [K in keyof typeof FACTS]: Of<(typeof FACTS)[K]> }

export interface LedgerFacts extends Facts {}
