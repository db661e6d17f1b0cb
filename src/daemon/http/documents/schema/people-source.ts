// The documents about groups and people: lists, one group, one person. Schemas only; see parts-source.ts.
import Type from 'typebox'
import { BANDS } from '../../../../core/model/events.ts'
import { ORIGIN_KINDS } from '../../../../core/model/policy.ts'
import { ADD_ON_SOURCES } from '../../../../core/use/add-on.ts'
import { STOPS } from '../../../../core/use/first-stop.ts'
import { DAY_GRADES } from '../../../../core/use/history.ts'
import {
  band,
  boundedOf,
  cap,
  cause,
  changeResult,
  count,
  counts,
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
  scopeName,
  scopeState,
  text,
  words,
} from './parts-source.ts'

const KIND = text('Where a cap is declared: `user`, `group`, `team`, one of them with `grant`, `rule`, `pool`, or `conflict`.')
const REASON = text('As the policy gives it.')

const STOP = object('What stops the person first in this cycle.', {
  what: words(STOPS, 'Their own cap, the pool that deals it, the add-on credits of the workspace, or nothing.'),
  on: optional(day('When it is expected, or has happened.')),
})

const GRANT = object('A temporary cap.', { kind: KIND, cap: cap(), until: instant('Its end.'), reason: optional(REASON) })

const WORKSPACE = object('A workspace that lists the person.', {
  workspace: text('The name of the workspace.'),
  readAt: optional(instant('When the use was read.')),
  used: optional(figure('All credits used in this cycle.')),
  addOn: optional(figure('Add-on use.')),
  addOnSource: optional(words(ADD_ON_SOURCES, 'Where the figure of add-on use comes from.')),
  cap: optional(cap('The cap in force: whole credits, or `none`.')),
  entry: optional(object('The declaration that decides.', { kind: KIND, reason: optional(REASON) })),
  left: optional(figure('Credits left of the cap.')),
  stopsFirst: STOP,
  grants: list(GRANT, 'In force or to come.'),
  cycleEnd: optional(instant('The first instant of the next cycle.')),
  requestUrl: optional(text('Where to ask for more, as `requests` of the config says.')),
})

export const ME = object('What is left for the person who asks.', {
  apiVersion: Type.Literal('capkeeper/v1'),
  kind: Type.Literal('Me'),
  workspaces: list(WORKSPACE, 'One for each workspace that lists the person.'),
})

const GROUP_ENTRY = {
  id: text('`group_id` of the service.'),
  name: text('`group_name` of the service.'),
  known: flag('The service knows it and its members were read.'),
  members: count('People in it.'),
  cap: optional(cap('The desired cap.')),
  observed: optional(observed()),
  state: optional(scopeState),
  used: optional(figure('Credits its members used in this cycle.')),
  addOn: optional(figure('Their add-on use.')),
  addOnSource: optional(words(ADD_ON_SOURCES, 'Where the figure of add-on use comes from; the least certain source of its members.')),
  share: optional(figure("Of the team's use, 0 to 1.")),
  bands: optional(counts(BANDS, 'Members by how near they are to their cap; absent while none is known.')),
  near: optional(count('Members at 85 % of their cap or more.')),
  source: optional(place),
  readAt: optional(instant('When its members were read.')),
}

export const GROUPS = documentOf('GroupList', 'The groups that the policies declare.', {
  ...paged(object('One group.', GROUP_ENTRY), 'As `sort` says.'),
})

const candidate = object('A declaration that applies to a scope.', {
  kind: words(ORIGIN_KINDS, '`cap`: a cap declared for the scope; `rule`: a cap for everybody who matches a condition.'),
  scope: scopeName,
  cap: cap(),
  wins: flag('It decides the cap.'),
  why: text('Why it won or lost.'),
  state: optional(words(['pending', 'active', 'expiring', 'ended'], 'Of a grant.')),
  from: optional(instant('When a grant starts.')),
  until: optional(instant('When a grant ends.')),
  add: optional(Type.Integer({ minimum: 0, description: 'What a grant adds.' })),
  name: optional(text('Of a rule or pool.')),
  reason: optional(text()),
  ticket: optional(text()),
  source: optional(place),
})

const write = object('One write of capkeeper.', {
  at: instant('When it ended.'),
  scope: scopeName,
  effect,
  from: cap('The cap before.'),
  to: cap('The cap written.'),
  cause,
  result: changeResult,
  reason: optional(text()),
  error: optional(text('Why it failed.')),
  source: optional(place),
  planId: text('Its plan.'),
  revision: text('The revision of the policies in force.'),
})

const reading = object('The last reading of one scope of the chain.', {
  scope: scopeName,
  observed: optional(observed()),
  readAt: optional(instant('When.')),
  failure: optional(text('Why it could not be read.')),
})

const pending = object('The change of the present plan.', {
  effect,
  from: cap('The cap now.'),
  to: cap('The cap to be written.'),
  cause,
  disposition: words(['ready', 'held', 'deferred', 'excluded']),
  why: optional(text('Why it is not written now.')),
  hold: optional(text('The hold it is part of.')),
})

/** Why a scope has its cap. */
const EXPLAINED = {
  chain: list(candidate, 'All declarations that apply, the winner first.'),
  desired: optional(cap('The desired cap.')),
  state: optional(scopeState),
  readings: list(reading, 'This scope, then its ancestors.'),
  nextReadingAt: optional(instant('When it is expected to be read again.')),
  reading: optional(
    object('How often it is read, and why.', {
      scope: scopeName,
      everySeconds: figure('The present time between two readings.'),
      atLeastEverySeconds: optional(figure('The longest time between two readings; absent where every sweep reads it.')),
      why: text(),
    }),
  ),
  change: optional(pending),
  lastWrite: optional(write),
  history: list(write, 'Writes at this scope, the newest first.'),
  why: optional(text('Why it is held, rejected or skipped, or why a raise by a pool is deferred.')),
  conditions: list(text(), 'What would change the cap, in words.'),
}

const useDay = object('One day.', {
  day: day('Which.'),
  used: optional(figure('Credits burned; absent where not known.')),
})

export const GROUP = documentOf('Group', 'One group.', {
  ...GROUP_ENTRY,
  ...EXPLAINED,
  use: object('Credits its members burned.', {
    days: list(useDay, 'The last days in order.'),
  }),
  ...boundedOf('top', 'Those nearest to their cap first.', 'A member.', {
    person: text(),
    cap: optional(cap()),
    addOn: optional(figure('Add-on use.')),
    band: optional(band),
  }),
})

const PERSON_ENTRY = {
  person: text('An e-mail or a hash, as people are shown.'),
  status: words(['approved', 'pending', 'rejected', 'unspecified', 'off-roster']),
  disabled: optional(flag('The service is disabled for them: caps are written, guards do not count them.')),
  groups: list(object('A declared group.', { id: text(), name: text() }), 'Declared groups of the person.'),
  cap: optional(observed('The cap in force, from the readings.')),
  from: optional(scopeName),
  declared: optional(cap('The desired cap.')),
  rule: optional(
    object('The declaration that decides.', {
      kind: text(),
      name: text(),
      source: optional(place),
      reason: optional(text('For readers who see only some people, in the place of the source.')),
    }),
  ),
  used: optional(figure('All credits used in this cycle.')),
  addOn: optional(figure('Add-on use.')),
  addOnSource: optional(words(ADD_ON_SOURCES, 'Where the figure of add-on use comes from.')),
  isUpperBound: optional(flag('The credits of a seat are not known, so add-on use is all use.')),
  headRoom: optional(figure('Credits left of the cap; negative when over it.')),
  share: optional(figure('Add-on use over the cap; 1 is at the cap.')),
  band: optional(band),
  state: optional(scopeState),
}

export const PEOPLE = documentOf('PersonList', 'People, searched, filtered and sorted.', {
  ...paged(object('One person.', PERSON_ENTRY), 'As `sort` says.'),
  bands: counts(BANDS, 'People who fit the other filters, by band.'),
  groups: list(object('A group to filter by.', { id: text(), name: text() }), 'The declared groups.'),
  rules: listOf('The declarations that decide for people.', 'A rule to filter by.', {
    name: text(),
    people: count('People for whom it decides.'),
  }),
})

const personDay = object('One day of a person.', {
  day: day('Which.'),
  burned: figure('Credits burned on it.'),
  used: optional(figure('Credits used since the start of the cycle, at its end.')),
  addOn: optional(figure('Add-on use since the start of the cycle, at its end; the last day may be incomplete.')),
  cap: optional(observed('The cap in force at its end, as far as recorded.')),
  grade: optional(words(DAY_GRADES, 'What is known of it; absent for the present day.')),
  starts: optional(flag('A billing cycle starts on it; that of past cycles is assumed.')),
  from: optional(scopeName),
  changed: optional(flag('The cap in force changed on it.')),
})

export const PERSON = documentOf('Person', 'One person.', {
  ...PERSON_ENTRY,
  ...EXPLAINED,
  protected: optional(flag('Never lowered, blocked or cleared.')),
  stopsFirst: optional(STOP),
  guards: list(guard, 'Guards that hold a change for this person.'),
  requestUrl: optional(text('Where to ask for more, where the config has `requests`.')),
  use: object('Use by day against the cap.', {
    days: list(personDay, 'The last 90 days, or all since the start of the cycle.'),
    addOnSource: optional(words(['measured', 'estimated'], 'Where the add-on use of the days comes from; absent without any.')),
    runsOutOn: optional(day('When the cap is used up at the pace of the last 7 days; absent when not within the cycle.')),
    paceADay: optional(figure('Credits a day in the last 7 days.')),
  }),
})

export const WRITE = write
