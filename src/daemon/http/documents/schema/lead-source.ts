// The schema of what a lead wants to know of some people: who is near the cap, grants that end soon, and what changed.
import Type from 'typebox'
import { CAUSES, EFFECTS } from '../../../../core/model/change.ts'
import { BANDS } from '../../../../core/model/events.ts'
import { ADD_ON_SOURCES } from '../../../../core/use/add-on.ts'
import { cap, count, figure, instant, list, object, optional, text, words } from './parts-source.ts'

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
  near: list(PERSON, 'The nearest first.'),
  nearOmitted: count('How many more there are.'),
  grants: list(GRANT, 'The earliest end first.'),
  grantsOmitted: count('How many more there are.'),
  changes: list(CHANGE, 'Of the last seven days, the newest first.'),
  changesOmitted: count('How many more there are.'),
})
