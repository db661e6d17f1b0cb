// The documents about what happened and what waits: the timeline, holds, and series for charts. Schemas only; see parts-source.ts.
import Type from 'typebox'
import {
  cap,
  cause,
  changeResult,
  count,
  cycle,
  day,
  effect,
  figure,
  flag,
  guard,
  headOf,
  instant,
  list,
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

const CHANGE_KINDS = ['write', 'foreign', 'hold', 'release', 'policy', 'pause', 'resume', 'outage', 'recovery'] as const

const entry = object('Something that happened.', {
  id: text('The same for as long as it is kept.'),
  at: instant('When.'),
  kind: words(CHANGE_KINDS),
  tone,
  text: text('One sentence.'),
  scope: optional(scopeName),
  effect: optional(effect),
  from: optional(observed('What stood there.')),
  to: optional(observed('What stands there since.')),
  cause: optional(cause),
  result: optional(changeResult),
  count: optional(count('How many of the same kind are told in one.')),
  people: optional(count('People a hold affects.')),
  reason: optional(text()),
  error: optional(text()),
  hold: optional(text('The id of a hold.')),
  guards: optional(list(guard, 'Of a hold.')),
  planId: optional(text('The plan that wrote it, held it, or met it.')),
  stands: optional(flag('Of a hold, a pause and policies: whether they stand still.')),
  revision: optional(text('The policies in force.')),
  digest: optional(text('Of the policies in force.')),
  source: optional(place),
})

export const CHANGES = object('What happened, the newest first.', {
  ...headOf('ChangeList'),
  limit: Type.Integer({ minimum: 1, description: 'The most in one answer.' }),
  items: list(entry, 'The newest first.'),
  next: optional(text('Give it as `after` for older ones; absent at the end.')),
})

const HOLD_ENTRY = {
  id: text('32 hex digits.'),
  guards: list(guard, 'Which guards.'),
  people: count('People who are affected by net effect.'),
  changes: count('Changes that are held.'),
  message: text(),
  since: optional(instant('When it was first shown.')),
  approval: optional(words(['pending', 'spent', 'void'], 'What became of its approval.')),
}

export const PLAN = object('One plan, as far as it is remembered.', {
  ...headOf('Plan'),
  id: text('16 hex digits, the same for the same differences under the same policies.'),
  present: flag('It is the plan of the last cycle.'),
  revision: optional(text('The policies it was made for.')),
  digest: optional(text('Of these policies.')),
  first: optional(instant('When it was first heard of.')),
  last: optional(instant('When it was last heard of.')),
  applied: count('Writes that took effect.'),
  failed: count('Writes that failed, or whose end is not known.'),
  changes: list(
    object('A change that is still to come.', {
      scope: scopeName,
      from: cap('What stands there.'),
      to: cap('What is to stand there.'),
      effect,
      cause,
      disposition: words(['ready', 'held', 'deferred', 'excluded']),
      hold: optional(text('The hold that keeps it back.')),
      why: optional(text('Why it is not written now.')),
      source: optional(place),
    }),
    'Of the present plan alone, in the order of writing.',
  ),
  changesOmitted: count('How many more there are.'),
  met: list(entry, 'Holds that it showed first, and changes by others that it met; the newest first.'),
  ...paged(WRITE, 'What it wrote, the newest first.'),
})

export const HOLDS = object('Holds that a person has to decide about.', {
  ...headOf('HoldList'),
  ...paged(object('One hold.', HOLD_ENTRY), 'The one that affects most people first.'),
})

const heldChange = object('A change that is held.', {
  scope: scopeName,
  from: cap('What stands there.'),
  to: cap('What is to stand there.'),
  effect: optional(effect),
  cause: optional(cause),
  people: optional(count('Approved people whom it reaches.')),
  reason: optional(text()),
  source: optional(place),
})

const affected = object('Somebody whose cap in force would change.', {
  person: text(),
  before: observed('The cap in force now.'),
  after: observed('The cap in force afterwards.'),
  effect: words(['raised', 'capped', 'lowered', 'blocked', 'cleared']),
  addOn: figure('Add-on use; what a cap at or below it blocks.'),
  protected: optional(flag('The policy protects them.')),
})

const arithmetic = object('What a guard counted.', {
  guard,
  what: text('What it counts, in words.'),
  counted: optional(figure('What it found.')),
  of: optional(figure('Among how many.')),
  percent: optional(figure('That share.')),
  limit: text('What is allowed, in words.'),
  allowed: optional(figure('The most it would let through.')),
  exceeded: flag('More than is allowed.'),
  setting: text('The setting that says so.'),
})

const release = object('A way to release the hold.', {
  how: words(['policy', 'command', 'apply', 'setting', 'wait']),
  who: text('Who may do it.'),
  text: text('The exact line or command, or what to wait for.'),
  file: optional(text('Where the line goes.')),
  note: optional(text('What to know about it.')),
})

export const HOLD = object('One hold: what, who, why, and the ways to release it.', {
  ...headOf('Hold'),
  ...HOLD_ENTRY,
  arithmetic: list(arithmetic, 'What each guard counted.'),
  counted: object('Everybody it reaches, by net effect.', {
    lowered: count('Less than before.'),
    blocked: count('At 0, or at or below their use.'),
    cleared: count('Without any cap.'),
    raised: count('More than before, or a first cap that blocks nobody.'),
  }),
  held: list(heldChange, 'The changes that are held.'),
  heldOmitted: count('How many more there are.'),
  releases: list(release, 'The ways to release it.'),
  void: text('When an approval of it is void.'),
  ...paged(affected, 'Everybody it reaches; those who lose most first.'),
})

const amountDay = object('One day.', {
  day: day('Which.'),
  used: optional(figure('Credits used since the start of the cycle, at its end.')),
  burned: optional(figure('Credits burned on it.')),
  even: optional(figure('What an even pace would have used at its end.')),
  projected: optional(projection),
  addOnUsed: optional(figure('Add-on credits used at its end.')),
  addOnLeft: optional(figure('Add-on credits left at its end.')),
})

export const CREDITS_SERIES = object('Credits over the cycle: used, even pace, projection with its band, balance.', {
  ...headOf('CreditsSeries'),
  cycle: optional(cycle),
  credits: optional(figure('All credits of the cycle.')),
  included: optional(figure('Those of the seats.')),
  addOn: optional(figure('The add-on credits.')),
  exhaustion: optional(instant('When the add-on credits are expected to run out.')),
  days: list(amountDay, 'Each day of the cycle in order, those to come with what is projected.'),
})

export const BURN_SERIES = object('Credits burned by day.', {
  ...headOf('BurnSeries'),
  by: words(['team', 'group', 'model', 'mode']),
  days: list(day('Which.'), 'In order.'),
  lines: list(
    object('One line of the chart.', {
      name: text('Of the group or model.'),
      id: optional(text('Of the group.')),
      total: figure('Of these days.'),
      values: list(Type.Unsafe<number | null>({ type: ['number', 'null'] }), 'One for each day; null where it is not known.'),
    }),
    'The most used first; the rest is summed as `other`.',
  ),
})

export const DRIFT_SERIES = object('Drift found and repaired by day.', {
  ...headOf('DriftSeries'),
  days: list(
    object('One day.', {
      day: day('Which.'),
      found: optional(count('Foreign changes that were found; absent before it was counted.')),
      reverted: optional(count('Foreign changes that were put back.')),
      written: optional(count('Writes for other reasons.')),
      failed: optional(count('Writes that failed.')),
      open: optional(count('Scopes that differed at its end; absent before it was counted.')),
    }),
    'In order; nothing is told of days before it was counted.',
  ),
})

export const POOL_SERIES = object('Pools over the billing cycle.', {
  ...headOf('PoolSeries'),
  cycle: optional(cycle),
  pools: list(
    object('One pool.', {
      name: text(),
      credits: figure('What its members may use together in a cycle.'),
      exhaustion: optional(instant('When it is expected to be used up; absent when not within the cycle.')),
      days: list(
        object('One day.', {
          day: day('Which.'),
          used: optional(figure('What was used of it in the cycle, at the end of the day.')),
          dealt: optional(
            figure('What its members count at together: use, caps in force and caps dealt; absent while somebody has no known cap.'),
          ),
        }),
        'From the first of the cycle until today, in order; without figures before they were recorded.',
      ),
    }),
    'By name.',
  ),
  poolsOmitted: count('How many more there are.'),
})

export const NEAR_SERIES = object('How near people are to their cap, by group.', {
  ...headOf('NearSeries'),
  rows: list(
    object('One group, or everybody without one.', {
      id: optional(text('Absent: people in no declared group.')),
      name: text(),
      people: count('How many.'),
      shares: list(count('People.'), 'By share of the cap used: ten steps of 10 %, then at the cap or above, then without a cap.'),
    }),
    'Groups with most people near their cap first.',
  ),
  rowsOmitted: count('How many more there are.'),
})
