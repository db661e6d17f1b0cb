// The documents about groups and people: lists, one group, one person. Schemas only; see parts-source.ts.
import Type from 'typebox'
import { BANDS } from '../../../../core/model/events.ts'
import { ORIGIN_KINDS } from '../../../../core/model/policy.ts'
import { ADD_ON_SOURCES } from '../../../../core/use/add-on.ts'
import { STOPS } from '../../../../core/use/first-stop.ts'
import { DAY_GRADES } from '../../../../core/use/history.ts'
import * as t from './parts-source.ts'

const KIND = t.text('Where a cap is declared: `user`, `group`, `team`, one of them with `grant`, `rule`, `pool`, or `conflict`.')
const REASON = t.text('As the policy gives it.')

const STOP = t.object('What stops the person first in this cycle.', {
  what: t.words(STOPS, 'Their own cap, the pool that deals it, the add-on credits of the workspace, or nothing.'),
  on: t.optional(t.day('When it is expected, or has happened.')),
})

const GRANT = t.object('A temporary cap.', { kind: KIND, cap: t.cap(), until: t.instant('Its end.'), reason: t.optional(REASON) })

const WORKSPACE = t.object('A workspace that lists the person.', {
  workspace: t.text('The name of the workspace.'),
  readAt: t.optional(t.instant('When the use was read.')),
  used: t.optional(t.figure('All credits used in this cycle.')),
  addOn: t.optional(t.figure('Add-on use.')),
  addOnSource: t.optional(t.words(ADD_ON_SOURCES, 'Where the figure of add-on use comes from.')),
  cap: t.optional(t.cap('The cap in force: whole credits, or `none`.')),
  entry: t.optional(
    t.object('The declaration of the cap in force; where none fits it, the one that decides.', { kind: KIND, reason: t.optional(REASON) }),
  ),
  left: t.optional(t.figure('Credits left of the cap.')),
  stopsFirst: STOP,
  grants: t.list(GRANT, 'Those that run.'),
  cycleEnd: t.optional(t.instant('The first instant of the next cycle.')),
  requestUrl: t.optional(t.text('Where to ask for more, as `requests` of the config says.')),
})

export const ME = t.object('What is left for the person who asks.', {
  apiVersion: Type.Literal('capkeeper/v1'),
  kind: Type.Literal('Me'),
  workspaces: t.list(WORKSPACE, 'One for each workspace that lists the person.'),
})

const GROUP_ENTRY = {
  id: t.text('`group_id` of the service.'),
  name: t.text('`group_name` of the service.'),
  known: t.flag('The service knows it and its members were read.'),
  members: t.count('People in it.'),
  cap: t.optional(t.cap('The desired cap.')),
  observed: t.optional(t.observed()),
  state: t.optional(t.scopeState),
  used: t.optional(t.figure('Credits its members used in this cycle.')),
  addOn: t.optional(t.figure('Their add-on use.')),
  addOnSource: t.optional(t.words(ADD_ON_SOURCES, 'Where the figure of add-on use comes from; the least certain source of its members.')),
  share: t.optional(t.figure("Of the team's use, 0 to 1.")),
  bands: t.optional(t.counts(BANDS, 'Members by how near they are to their cap; absent while none is known.')),
  near: t.optional(t.count('Members at 85 % of their cap or more.')),
  source: t.optional(t.place),
  readAt: t.optional(t.instant('When its members were read.')),
}

export const GROUPS = t.documentOf('GroupList', 'The groups that the policies declare.', {
  ...t.paged(t.object('One group.', GROUP_ENTRY), 'As `sort` says.'),
})

const candidate = t.object('A declaration that applies to a scope.', {
  kind: t.words(ORIGIN_KINDS, '`cap`: a cap declared for the scope; `rule`: a cap for everybody who matches a condition.'),
  scope: t.scopeName,
  cap: t.cap(),
  wins: t.flag('It decides the cap.'),
  why: t.text('Why it won or lost.'),
  state: t.optional(t.words(['pending', 'active', 'expiring', 'ended'], 'Of a grant.')),
  from: t.optional(t.instant('When a grant starts.')),
  until: t.optional(t.instant('When a grant ends.')),
  add: t.optional(Type.Integer({ minimum: 0, description: 'What a grant adds.' })),
  name: t.optional(t.text('Of a rule or pool.')),
  reason: t.optional(t.text()),
  ticket: t.optional(t.text()),
  source: t.optional(t.place),
})

export const write = t.object('One write of capkeeper.', {
  at: t.instant('When it ended.'),
  scope: t.scopeName,
  effect: t.effect,
  from: t.cap('The cap before.'),
  to: t.cap('The cap written.'),
  cause: t.cause,
  result: t.changeResult,
  reason: t.optional(t.text()),
  error: t.optional(t.text('Why it failed.')),
  source: t.optional(t.place),
  planId: t.text('Its plan.'),
  revision: t.text('The revision of the policies in force.'),
})

const reading = t.object('The last reading of one scope of the chain.', {
  scope: t.scopeName,
  observed: t.optional(t.observed()),
  readAt: t.optional(t.instant('When.')),
  failure: t.optional(t.text('Why it could not be read.')),
})

const pending = t.object('The change of the present plan.', {
  effect: t.effect,
  from: t.cap('The cap now.'),
  to: t.cap('The cap to be written.'),
  cause: t.cause,
  disposition: t.words(['ready', 'held', 'deferred', 'excluded']),
  why: t.optional(t.text('Why it is not written now.')),
  hold: t.optional(t.text('The hold it is part of.')),
})

/** Why a scope has its cap. */
const EXPLAINED = {
  chain: t.list(candidate, 'All declarations that apply, the winner first.'),
  desired: t.optional(t.cap('The desired cap.')),
  state: t.optional(t.scopeState),
  readings: t.list(reading, 'This scope, then its ancestors.'),
  nextReadingAt: t.optional(t.instant('When it is expected to be read again.')),
  reading: t.optional(
    t.object('How often it is read, and why.', {
      scope: t.scopeName,
      everySeconds: t.figure('The present time between two readings.'),
      atLeastEverySeconds: t.optional(t.figure('The longest time between two readings; absent where every sweep reads it.')),
      why: t.text(),
    }),
  ),
  change: t.optional(pending),
  lastWrite: t.optional(write),
  history: t.list(write, 'Writes at this scope, the newest first.'),
  why: t.optional(t.text('Why it is held, rejected or skipped, or why a raise by a pool is deferred.')),
  conditions: t.list(t.text(), 'What would change the cap, in words.'),
}

const useDay = t.object('One day.', {
  day: t.day('Which.'),
  used: t.optional(t.figure('Credits burned; absent where not known.')),
})

export const GROUP = t.documentOf('Group', 'One group.', {
  ...GROUP_ENTRY,
  ...EXPLAINED,
  use: t.object('Credits its members burned.', {
    days: t.list(useDay, 'The last days in order.'),
  }),
  ...t.boundedOf('top', 'Those nearest to their cap first.', 'A member.', {
    person: t.text(),
    cap: t.optional(t.cap()),
    addOn: t.optional(t.figure('Add-on use.')),
    band: t.optional(t.band),
  }),
})

const PERSON_ENTRY = {
  person: t.text('An e-mail or a hash, as people are shown.'),
  status: t.words(['approved', 'pending', 'rejected', 'unspecified', 'off-roster']),
  disabled: t.optional(t.flag('The service is disabled for them: caps are written, guards do not count them.')),
  groups: t.list(t.object('A declared group.', { id: t.text(), name: t.text() }), 'Declared groups of the person.'),
  cap: t.optional(t.observed('The cap in force, from the readings.')),
  from: t.optional(t.scopeName),
  declared: t.optional(t.cap('The desired cap.')),
  rule: t.optional(
    t.object('The declaration that decides.', {
      kind: t.text(),
      name: t.text(),
      source: t.optional(t.place),
      reason: t.optional(t.text('For readers who see only some people, in the place of the source.')),
    }),
  ),
  used: t.optional(t.figure('All credits used in this cycle.')),
  addOn: t.optional(t.figure('Add-on use.')),
  addOnSource: t.optional(t.words(ADD_ON_SOURCES, 'Where the figure of add-on use comes from.')),
  isUpperBound: t.optional(t.flag('The credits of a seat are not known, so add-on use is all use.')),
  headRoom: t.optional(t.figure('Credits left of the cap; negative when over it.')),
  share: t.optional(t.figure('Add-on use over the cap; 1 is at the cap.')),
  band: t.optional(t.band),
  state: t.optional(t.scopeState),
}

export const PEOPLE = t.documentOf('PersonList', 'People, searched, filtered and sorted.', {
  ...t.paged(t.object('One person.', PERSON_ENTRY), 'As `sort` says.'),
  bands: t.counts(BANDS, 'People who fit the other filters, by band.'),
  groups: t.list(t.object('A group to filter by.', { id: t.text(), name: t.text() }), 'The declared groups.'),
  rules: t.listOf('The declarations that decide for people.', 'A rule to filter by.', {
    name: t.text(),
    people: t.count('People for whom it decides.'),
  }),
})

const personDay = t.object('One day of a person.', {
  day: t.day('Which.'),
  burned: t.optional(t.figure('Credits burned on it; absent where not known.')),
  used: t.optional(t.figure('Credits used since the start of the cycle, at its end.')),
  addOn: t.optional(t.figure('Add-on use since the start of the cycle, at its end; the last day may be incomplete.')),
  cap: t.optional(t.observed('The cap in force at its end, as far as recorded.')),
  grade: t.optional(t.words(DAY_GRADES, 'What is known of it; absent for the present day.')),
  starts: t.optional(t.flag('A billing cycle starts on it; that of past cycles is assumed.')),
  from: t.optional(t.scopeName),
  changed: t.optional(t.flag('The cap in force changed on it.')),
})

export const PERSON = t.documentOf('Person', 'One person.', {
  ...PERSON_ENTRY,
  ...EXPLAINED,
  protected: t.optional(t.flag('Never lowered, blocked or cleared.')),
  stopsFirst: t.optional(STOP),
  guards: t.list(t.guard, 'Guards that hold a change for this person.'),
  requestUrl: t.optional(t.text('Where to ask for more, where the config has `requests`.')),
  use: t.object('Use by day against the cap.', {
    days: t.list(personDay, 'The last 90 days, or all since the start of the cycle.'),
    addOnSource: t.optional(t.words(['measured', 'estimated'], 'Where the add-on use of the days comes from; absent without any.')),
    runsOutOn: t.optional(t.day('When the cap is used up at the pace of the last 7 days; absent when not within the cycle.')),
    paceADay: t.optional(t.figure('Credits a day in the last 7 days, as far as they are known.')),
  }),
})
