// The schema of what is left for the person who asks.
import Type from 'typebox'
import { ADD_ON_SOURCES } from '../../../../core/use/add-on.ts'
import { STOPS } from '../../../../core/use/first-stop.ts'
import { cap, day, figure, instant, list, object, optional, text, words } from './parts-source.ts'

const KIND = text('Where a cap is declared: `user`, `group`, `team`, one of them with `grant`, `rule`, `pool`, or `conflict`.')
const REASON = text('As the policy gives it.')

export const STOP = object('What stops the person first in this cycle.', {
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
