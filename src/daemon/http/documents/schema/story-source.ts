// What happened: the timeline, plans, holds, series for charts, and the policies in force beside the caps that were in force, over past cycles. Schemas
// only; see parts-source.ts.
import Type from 'typebox'
import { CAUSES, EFFECTS } from '../../../../core/model/change.ts'
import { BANDS, CHANGE_KINDS } from '../../../../core/model/events.ts'
import { ADD_ON_SOURCES } from '../../../../core/use/add-on.ts'
import * as t from './parts-source.ts'
import { write } from './people-source.ts'
import { HOLD_ENTRY } from './workspace-source.ts'

const PERSON = t.object('A person at 85 % of their cap or more.', {
  person: t.text('As `people` says, or as the reader may see them.'),
  cap: t.cap('The cap in force.'),
  used: t.figure('Add-on use.'),
  source: t.optional(t.words(ADD_ON_SOURCES, 'Where the figure comes from.')),
  band: t.words(BANDS, 'How near they are to the cap.'),
})

const GRANT = t.object('A temporary cap that ends within a week.', {
  scope: t.text('`group:ID`, or a person as shown.'),
  cap: t.optional(t.figure('Whole credits.')),
  add: t.optional(t.figure('Credits on top.')),
  until: t.instant('Its end.'),
  reason: t.text('As the policy gives it.'),
})

const CHANGE = t.object('A cap that capkeeper wrote.', {
  at: t.instant('When.'),
  scope: t.text('`group:ID`, or a person as shown.'),
  from: t.cap('Before.'),
  to: t.cap('After.'),
  effect: t.words(EFFECTS, 'What it did.'),
  cause: t.words(CAUSES, 'Why: the policy changed, another client had changed it, a grant ended, or it is no longer declared.'),
})

export const LEAD = t.documentOf('Lead', 'What a lead wants to know of the people they see.', {
  at: t.instant('When it was made.'),
  ...t.bounded('near', PERSON, 'The nearest first.'),
  ...t.bounded('grants', GRANT, 'The earliest end first.'),
  ...t.bounded('changes', CHANGE, 'Of the last seven days, the newest first.'),
})

const entry = t.object('An entry of the timeline.', {
  id: t.text('Stays the same.'),
  at: t.instant('When.'),
  kind: t.words(CHANGE_KINDS),
  tone: t.tone,
  text: t.text('One sentence.'),
  scope: t.optional(t.scopeName),
  effect: t.optional(t.effect),
  from: t.optional(t.observed('The cap before.')),
  to: t.optional(t.observed('The cap after.')),
  cause: t.optional(t.cause),
  result: t.optional(t.changeResult),
  count: t.optional(t.count('How many changes this entry is about.')),
  people: t.optional(t.count('People whom the hold affects.')),
  reason: t.optional(t.text()),
  error: t.optional(t.text()),
  hold: t.optional(t.text('The id of a hold.')),
  guards: t.optional(t.list(t.guard, 'Of a hold.')),
  planId: t.optional(t.text('The plan that wrote it, held it, or found it.')),
  stands: t.optional(t.flag('Of a hold, a pause and policies: still in force.')),
  revision: t.optional(t.text('The policies in force.')),
  digest: t.optional(t.text('The digest of the policies in force.')),
  source: t.optional(t.place),
})

export const CHANGES = t.documentOf('ChangeList', 'What happened, the newest first.', {
  limit: Type.Integer({ minimum: 1, description: 'The most in one answer.' }),
  items: t.list(entry, 'The newest first.'),
  next: t.optional(t.text('The value of `after` for older entries; absent at the end.')),
})

const HOLD_LISTED = {
  ...HOLD_ENTRY,
  people: t.count('People affected, by net effect.'),
  approval: t.optional(t.words(['pending', 'spent', 'void'], 'The state of its approval.')),
}

export const PLAN = t.documentOf('Plan', 'One plan, as far as it is recorded.', {
  id: t.text('16 hex digits, the same for the same differences under the same policies.'),
  present: t.flag('It is the plan of the last cycle.'),
  revision: t.optional(t.text('The policies it was made for.')),
  digest: t.optional(t.text('The digest of these policies.')),
  first: t.optional(t.instant('Its first record.')),
  last: t.optional(t.instant('Its last record.')),
  applied: t.count('Applied writes.'),
  failed: t.count('Writes that failed, or whose outcome is unverified.'),
  ...t.boundedOf('changes', 'Only of the present plan, in the order of writing.', 'A remaining change.', {
    scope: t.scopeName,
    from: t.cap('The cap now.'),
    to: t.cap('The cap to be written.'),
    effect: t.effect,
    cause: t.cause,
    disposition: t.words(['ready', 'held', 'deferred', 'excluded']),
    hold: t.optional(t.text('The hold it is part of.')),
    why: t.optional(t.text('Why it is not written now.')),
    source: t.optional(t.place),
  }),
  met: t.list(entry, 'Holds that it showed first, and foreign changes that it found; the newest first.'),
  ...t.paged(write, 'Its writes, the newest first.'),
})

export const HOLDS = t.documentOf('HoldList', 'Holds in force.', {
  ...t.paged(t.object('One hold.', HOLD_LISTED), 'Those that affect the most people first.'),
})

const heldChange = t.object('A held change.', {
  scope: t.scopeName,
  from: t.cap('The cap now.'),
  to: t.cap('The cap to be written.'),
  effect: t.optional(t.effect),
  cause: t.optional(t.cause),
  people: t.optional(t.count('Approved people in the scope.')),
  reason: t.optional(t.text()),
  source: t.optional(t.place),
})

const affected = t.object('A person whose cap in force would change.', {
  person: t.text(),
  before: t.observed('The cap in force now.'),
  after: t.observed('The cap in force afterwards.'),
  effect: t.words(['raised', 'capped', 'lowered', 'blocked', 'cleared']),
  addOn: t.figure('Add-on use; a cap at or below it blocks.'),
  protected: t.optional(t.flag('Protected by the policy.')),
})

const arithmetic = t.object('What a guard counted.', {
  guard: t.guard,
  what: t.text('What it counts, in words.'),
  counted: t.optional(t.figure('The count.')),
  of: t.optional(t.figure('The total.')),
  percent: t.optional(t.figure('The count in percent of the total.')),
  limit: t.text('The limit, in words.'),
  allowed: t.optional(t.figure('The highest allowed count.')),
  exceeded: t.flag('The count is above the limit.'),
  setting: t.text('The setting of the limit.'),
})

const release = t.object('A way to release the hold.', {
  how: t.words(['policy', 'command', 'apply', 'setting', 'wait']),
  who: t.text('Who may do it.'),
  text: t.text('The exact line or command, or what to wait for.'),
  edit: t.optional(t.text('The command that writes the line into the policies.')),
  file: t.optional(t.text('Where the line goes.')),
  note: t.optional(t.text()),
})

export const HOLD = t.documentOf('Hold', 'One hold: its changes, the people affected, why, and the ways to release it.', {
  ...HOLD_LISTED,
  arithmetic: t.list(arithmetic, 'What each guard counted.'),
  counted: t.object('People affected, by net effect.', {
    lowered: t.count('A lower cap.'),
    blocked: t.count('A cap of 0, or at or below their use.'),
    cleared: t.count('No cap any more.'),
    raised: t.count('A higher cap, or a first one above their use.'),
  }),
  ...t.bounded('held', heldChange, 'Held changes.'),
  releases: t.list(release, 'The ways to release it.'),
  void: t.text('When an approval of it is void.'),
  ...t.paged(affected, 'People affected; those who lose the most first.'),
})

const amountDay = t.object('One day.', {
  day: t.day('Which.'),
  used: t.optional(t.figure('Credits used since the start of the cycle, at its end.')),
  burned: t.optional(t.figure('Credits burned on it.')),
  even: t.optional(t.figure('Credits used at its end at an even pace.')),
  projected: t.optional(t.projection),
  addOnUsed: t.optional(t.figure('Add-on credits used at its end.')),
  addOnLeft: t.optional(t.figure('Add-on credits left at its end.')),
})

export const CREDITS_SERIES = t.documentOf('CreditsSeries', 'Credits over the cycle: used, even pace, projection with its band, balance.', {
  cycle: t.optional(t.cycle),
  credits: t.optional(t.figure('All credits of the cycle.')),
  included: t.optional(t.figure('Credits of the seats.')),
  addOn: t.optional(t.figure('Add-on credits.')),
  exhaustion: t.optional(t.instant('When the add-on credits are expected to run out.')),
  days: t.list(amountDay, 'Each day of the cycle in order, future days with the projection.'),
})

export const BURN_SERIES = t.documentOf('BurnSeries', 'Credits burned by day.', {
  by: t.words(['team', 'group', 'model', 'mode']),
  days: t.list(t.day('Which.'), 'In order.'),
  lines: t.listOf('The most used first; the rest is summed as `other`.', 'One line of the chart.', {
    name: t.text('Of the group or model.'),
    id: t.optional(t.text('Of the group.')),
    total: t.figure('Of these days.'),
    values: t.list(Type.Unsafe<number | null>({ type: ['number', 'null'] }), 'One for each day; null where not known.'),
  }),
})

export const DRIFT_SERIES = t.documentOf('DriftSeries', 'Drift found and reverted by day.', {
  days: t.listOf('In order; days before counting began have no figures.', 'One day.', {
    day: t.day('Which.'),
    found: t.optional(t.count('Foreign changes found; absent before counting began.')),
    reverted: t.optional(t.count('Foreign changes reverted.')),
    written: t.optional(t.count('Writes for other reasons.')),
    failed: t.optional(t.count('Writes that failed.')),
    open: t.optional(t.count('Drifted scopes at its end; absent before counting began.')),
  }),
})

export const POOL_SERIES = t.documentOf('PoolSeries', 'Pools over the billing cycle.', {
  cycle: t.optional(t.cycle),
  ...t.boundedOf('pools', 'By name.', 'One pool.', {
    name: t.text(),
    credits: t.figure('Credits of all members together in a cycle.'),
    exhaustion: t.optional(t.instant('When it is expected to be used up; absent when not within the cycle.')),
    days: t.listOf('From the first day of the cycle until today, in order; days before recording began have no figures.', 'One day.', {
      day: t.day('Which.'),
      used: t.optional(t.figure('Credits used in the cycle, at the end of the day.')),
      dealt: t.dealt,
    }),
  }),
})

export const NEAR_SERIES = t.documentOf('NearSeries', 'How near people are to their cap, by group.', {
  ...t.boundedOf('rows', 'Groups with the most people near their cap first.', 'One group, or the people in no group.', {
    id: t.optional(t.text('Absent: people in no declared group.')),
    name: t.text(),
    people: t.count('How many.'),
    shares: t.list(t.count('People.'), 'By share of the cap used: ten steps of 10 %, then at the cap or above, then without a cap.'),
  }),
})

// The comparison of policies over past cycles.

const banded = (description: string) =>
  t.object(description, {
    low: t.figure('If caps cut off no demand.'),
    middle: t.figure('If cut-off demand was the usual use on such weekdays.'),
    high: t.figure('If cut-off demand was the highest use on such weekdays.'),
  })

const credits = banded('Add-on credits used.')
const blockedPeople = banded('People blocked on at least one day.')
const blockedDays = banded('Working days on which people were blocked, summed over people.')

const ROW = {
  key: t.text('`team`, `group:ID`, `-` for people in no group, or `pool:NAME`.'),
  name: t.text(),
  people: t.count('Approved today, or with use in the cycle.'),
  workingDays: Type.Number({ minimum: 0, description: 'Days with use, summed over people.' }),
  policy: t.object('Under the policies in force.', { credits, blockedPeople, blockedDays }),
  beside: t.object('Under the caps that were in force; before the first cap on record nothing tells who was blocked.', {
    credits,
    blockedPeople: t.optional(blockedPeople),
    blockedDays: t.optional(blockedDays),
  }),
  kept: t.figure('Add-on credits that the policies would have saved; negative: would have spent in addition.'),
  keptMoney: t.optional(t.figure('The same in money, where a price is configured.')),
}

const row = t.object('All people, a group or a pool in one cycle.', ROW)

const cycle = t.object('One billing cycle.', {
  start: t.instant('Its first instant.'),
  end: t.instant('The first instant of the next.'),
  whole: t.flag('It has ended, and all of its days are recorded.'),
  total: row,
  ...t.bounded('groups', row, 'Those with the most blocked days first.'),
  pools: t.list(t.object('A pool.', { ...ROW, credits: t.figure('Its credits for a cycle.') }), 'Pools of the policies.'),
})

const stopped = t.object('How a cap blocked the person.', {
  from: t.day('The first day.'),
  days: t.figure('How many of their working days.'),
  cap: t.figure('The cap on that day.'),
})

const blocked = t.object('A person who would have been blocked in a cycle.', {
  person: t.text(),
  cycleStart: t.instant('The start of the cycle.'),
  workingDays: t.figure('In that cycle.'),
  policy: t.optional(stopped),
  beside: t.optional(stopped),
})

const both = (description: string) =>
  t.object(description, { policy: t.figure('Under the policies.'), beside: t.figure('Under the caps that were in force.') })

const difference = t.object('A person for whom the policies make a difference, over all cycles.', {
  person: t.text(),
  credits: both('Add-on credits used.'),
  blockedDays: both('Working days on which they were blocked.'),
})

const reach = t.object('A cap, and how far it was used.', {
  scope: t.scopeName,
  cap: t.figure('Credits.'),
  highest: t.figure('The highest use of one person with this cap in one cycle.'),
})

const figures = t.object('The comparison.', {
  policy: t.object('The policies that were replayed.', { digest: t.text(), revision: t.text() }),
  addOn: t.words(['measured', 'estimated'], 'Where add-on use comes from.'),
  creditsPerSeat: t.optional(t.figure('Included in each seat.')),
  pricePerCredit: t.optional(t.figure('As configured.')),
  recorded: t.object('Days that are recorded.', { from: t.day('The first.'), through: t.day('The last.') }),
  cycles: t.list(cycle, 'In order.'),
  ...t.bounded('blocked', blocked, 'Blocked under the policies, the latest cycle and the longest first.'),
  ...t.bounded('gains', difference, 'Blocked on fewer days, or allowed to use more; the most first.'),
  ...t.bounded('losses', difference, 'Blocked on more days; the most first.'),
  ...t.bounded('unreached', reach, 'Caps that no person reached.'),
  capsReached: t.count('Caps that at least one person reached.'),
  notes: t.list(t.text(), 'What recorded use cannot tell.'),
})

export const COMPARISON = t.documentOf('Comparison', 'The policies in force beside the caps that were in force, over recorded cycles.', {
  state: t.words(['made', 'running', 'lacking', 'failed'], '`running`: it is being made, and `figures` are older.'),
  message: t.optional(t.text('Why there are no figures.')),
  since: t.optional(t.instant('When making it began.')),
  madeAt: t.optional(t.instant('When it was made.')),
  wholeFrom: t.optional(t.day('When the first whole cycle will be recorded, where none is yet.')),
  figures: t.optional(figures),
})
