// The timeline, plans, holds, and series for charts. Schemas only; see parts-source.ts.
import Type from 'typebox'
import { CAUSES, EFFECTS } from '../../../../core/model/change.ts'
import { BANDS, CHANGE_KINDS } from '../../../../core/model/events.ts'
import { ADD_ON_SOURCES } from '../../../../core/use/add-on.ts'
import {
  bounded,
  boundedOf,
  cap,
  cause,
  changeResult,
  count,
  cycle,
  day,
  documentOf,
  effect,
  figure,
  flag,
  guard,
  instant,
  list,
  listOf,
  object,
  observed,
  optional,
  paged,
  place,
  projection,
  scopeName,
  text,
  tone,
  words,
} from './parts-source.ts'
import { WRITE } from './people-source.ts'

const PERSON = object('A person at 85 % of their cap or more.', {
  person: text('As `people` says, or as the reader may see them.'),
  cap: cap('The cap in force.'),
  used: figure('Add-on use.'),
  source: optional(words(ADD_ON_SOURCES, 'Where the figure comes from.')),
  band: words(BANDS, 'How near they are to the cap.'),
})

const GRANT = object('A temporary cap that ends within a week.', {
  scope: text('`group:ID`, or a person as shown.'),
  cap: optional(figure('Whole credits.')),
  add: optional(figure('Credits on top.')),
  until: instant('Its end.'),
  reason: text('As the policy gives it.'),
})

const CHANGE = object('A cap that capkeeper wrote.', {
  at: instant('When.'),
  scope: text('`group:ID`, or a person as shown.'),
  from: cap('Before.'),
  to: cap('After.'),
  effect: words(EFFECTS, 'What it did.'),
  cause: words(CAUSES, 'Why: the policy changed, another client had changed it, a grant ended, or it is no longer declared.'),
})

export const LEAD = object('What a lead wants to know of the people they see.', {
  apiVersion: Type.Literal('capkeeper/v1'),
  kind: Type.Literal('Lead'),
  at: instant('When it was made.'),
  peopleShown: words(['hash', 'email'], 'How people are shown.'),
  workspace: text('The name of the workspace.'),
  ...bounded('near', PERSON, 'The nearest first.'),
  ...bounded('grants', GRANT, 'The earliest end first.'),
  ...bounded('changes', CHANGE, 'Of the last seven days, the newest first.'),
})

const entry = object('An entry of the timeline.', {
  id: text('Stays the same.'),
  at: instant('When.'),
  kind: words(CHANGE_KINDS),
  tone,
  text: text('One sentence.'),
  scope: optional(scopeName),
  effect: optional(effect),
  from: optional(observed('The cap before.')),
  to: optional(observed('The cap after.')),
  cause: optional(cause),
  result: optional(changeResult),
  count: optional(count('How many changes this entry is about.')),
  people: optional(count('People whom the hold affects.')),
  reason: optional(text()),
  error: optional(text()),
  hold: optional(text('The id of a hold.')),
  guards: optional(list(guard, 'Of a hold.')),
  planId: optional(text('The plan that wrote it, held it, or found it.')),
  stands: optional(flag('Of a hold, a pause and policies: still in force.')),
  revision: optional(text('The policies in force.')),
  digest: optional(text('The digest of the policies in force.')),
  source: optional(place),
})

export const CHANGES = documentOf('ChangeList', 'What happened, the newest first.', {
  limit: Type.Integer({ minimum: 1, description: 'The most in one answer.' }),
  items: list(entry, 'The newest first.'),
  next: optional(text('The value of `after` for older entries; absent at the end.')),
})

const HOLD_ENTRY = {
  id: text('32 hex digits.'),
  guards: list(guard, 'Which guards.'),
  people: count('People affected, by net effect.'),
  changes: count('Held changes.'),
  message: text(),
  since: optional(instant('When it was first shown.')),
  approval: optional(words(['pending', 'spent', 'void'], 'The state of its approval.')),
}

export const PLAN = documentOf('Plan', 'One plan, as far as it is recorded.', {
  id: text('16 hex digits, the same for the same differences under the same policies.'),
  present: flag('It is the plan of the last cycle.'),
  revision: optional(text('The policies it was made for.')),
  digest: optional(text('The digest of these policies.')),
  first: optional(instant('Its first record.')),
  last: optional(instant('Its last record.')),
  applied: count('Applied writes.'),
  failed: count('Writes that failed, or whose outcome is unverified.'),
  ...boundedOf('changes', 'Only of the present plan, in the order of writing.', 'A remaining change.', {
    scope: scopeName,
    from: cap('The cap now.'),
    to: cap('The cap to be written.'),
    effect,
    cause,
    disposition: words(['ready', 'held', 'deferred', 'excluded']),
    hold: optional(text('The hold it is part of.')),
    why: optional(text('Why it is not written now.')),
    source: optional(place),
  }),
  met: list(entry, 'Holds that it showed first, and foreign changes that it found; the newest first.'),
  ...paged(WRITE, 'Its writes, the newest first.'),
})

export const HOLDS = documentOf('HoldList', 'Holds in force.', {
  ...paged(object('One hold.', HOLD_ENTRY), 'Those that affect the most people first.'),
})

const heldChange = object('A held change.', {
  scope: scopeName,
  from: cap('The cap now.'),
  to: cap('The cap to be written.'),
  effect: optional(effect),
  cause: optional(cause),
  people: optional(count('Approved people in the scope.')),
  reason: optional(text()),
  source: optional(place),
})

const affected = object('A person whose cap in force would change.', {
  person: text(),
  before: observed('The cap in force now.'),
  after: observed('The cap in force afterwards.'),
  effect: words(['raised', 'capped', 'lowered', 'blocked', 'cleared']),
  addOn: figure('Add-on use; a cap at or below it blocks.'),
  protected: optional(flag('Protected by the policy.')),
})

const arithmetic = object('What a guard counted.', {
  guard,
  what: text('What it counts, in words.'),
  counted: optional(figure('The count.')),
  of: optional(figure('The total.')),
  percent: optional(figure('The count in percent of the total.')),
  limit: text('The limit, in words.'),
  allowed: optional(figure('The highest allowed count.')),
  exceeded: flag('The count is above the limit.'),
  setting: text('The setting of the limit.'),
})

const release = object('A way to release the hold.', {
  how: words(['policy', 'command', 'apply', 'setting', 'wait']),
  who: text('Who may do it.'),
  text: text('The exact line or command, or what to wait for.'),
  edit: optional(text('The command that writes the line into the policies.')),
  file: optional(text('Where the line goes.')),
  note: optional(text()),
})

export const HOLD = documentOf('Hold', 'One hold: its changes, the people affected, why, and the ways to release it.', {
  ...HOLD_ENTRY,
  arithmetic: list(arithmetic, 'What each guard counted.'),
  counted: object('People affected, by net effect.', {
    lowered: count('A lower cap.'),
    blocked: count('A cap of 0, or at or below their use.'),
    cleared: count('No cap any more.'),
    raised: count('A higher cap, or a first one above their use.'),
  }),
  ...bounded('held', heldChange, 'Held changes.'),
  releases: list(release, 'The ways to release it.'),
  void: text('When an approval of it is void.'),
  ...paged(affected, 'People affected; those who lose the most first.'),
})

const amountDay = object('One day.', {
  day: day('Which.'),
  used: optional(figure('Credits used since the start of the cycle, at its end.')),
  burned: optional(figure('Credits burned on it.')),
  even: optional(figure('Credits used at its end at an even pace.')),
  projected: optional(projection),
  addOnUsed: optional(figure('Add-on credits used at its end.')),
  addOnLeft: optional(figure('Add-on credits left at its end.')),
})

export const CREDITS_SERIES = documentOf('CreditsSeries', 'Credits over the cycle: used, even pace, projection with its band, balance.', {
  cycle: optional(cycle),
  credits: optional(figure('All credits of the cycle.')),
  included: optional(figure('Credits of the seats.')),
  addOn: optional(figure('Add-on credits.')),
  exhaustion: optional(instant('When the add-on credits are expected to run out.')),
  days: list(amountDay, 'Each day of the cycle in order, future days with the projection.'),
})

export const BURN_SERIES = documentOf('BurnSeries', 'Credits burned by day.', {
  by: words(['team', 'group', 'model', 'mode']),
  days: list(day('Which.'), 'In order.'),
  lines: listOf('The most used first; the rest is summed as `other`.', 'One line of the chart.', {
    name: text('Of the group or model.'),
    id: optional(text('Of the group.')),
    total: figure('Of these days.'),
    values: list(Type.Unsafe<number | null>({ type: ['number', 'null'] }), 'One for each day; null where not known.'),
  }),
})

export const DRIFT_SERIES = documentOf('DriftSeries', 'Drift found and reverted by day.', {
  days: listOf('In order; days before counting began have no figures.', 'One day.', {
    day: day('Which.'),
    found: optional(count('Foreign changes found; absent before counting began.')),
    reverted: optional(count('Foreign changes reverted.')),
    written: optional(count('Writes for other reasons.')),
    failed: optional(count('Writes that failed.')),
    open: optional(count('Drifted scopes at its end; absent before counting began.')),
  }),
})

export const POOL_SERIES = documentOf('PoolSeries', 'Pools over the billing cycle.', {
  cycle: optional(cycle),
  ...boundedOf('pools', 'By name.', 'One pool.', {
    name: text(),
    credits: figure('Credits of all members together in a cycle.'),
    exhaustion: optional(instant('When it is expected to be used up; absent when not within the cycle.')),
    days: listOf('From the first day of the cycle until today, in order; days before recording began have no figures.', 'One day.', {
      day: day('Which.'),
      used: optional(figure('Credits used in the cycle, at the end of the day.')),
      dealt: optional(
        figure(
          'Sum over the members of the greatest of use, cap in force, cap dealt and any cap lowered too lately for use under it to show; absent while somebody counts at no cap.',
        ),
      ),
    }),
  }),
})

export const NEAR_SERIES = documentOf('NearSeries', 'How near people are to their cap, by group.', {
  ...boundedOf('rows', 'Groups with the most people near their cap first.', 'One group, or the people in no group.', {
    id: optional(text('Absent: people in no declared group.')),
    name: text(),
    people: count('How many.'),
    shares: list(count('People.'), 'By share of the cap used: ten steps of 10 %, then at the cap or above, then without a cap.'),
  }),
})
